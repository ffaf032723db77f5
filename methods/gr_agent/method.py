"""The method plugin: from a question to the answer that the agent synthesizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kgqa_bench.contracts import Method
from kgqa_bench.domain import Answer, AnswerStatus, Prediction, Question
from kgqa_bench.text.verbalise import entity_text
from kgqa_bench.toolbox import Toolbox

from .answers import name_answers
from .environment import Environment
from .episode import Episode
from .exploration import Relevance
from .prompts import PROMPTS
from .settings import GrAgentSettings


class GrAgent(Method):
    """GR-Agent: a model explores relation paths, grounds them and synthesizes an answer (arXiv 2512.14766).

    Choice and boolean questions, which the paper does not cover, are asked and read as by every method. Answers to
    entity questions are looked up in the graph; the trace tells those that name several entities or none.
    """

    Settings = GrAgentSettings
    uses_graph: ClassVar[bool] = True
    prompts: ClassVar[Mapping[str, str]] = PROMPTS

    settings: GrAgentSettings

    def call_range(self) -> tuple[int, int]:
        """One call an action and one to write the answer; a model may answer in words at once."""
        return (1, self.settings.max_steps + 1)

    async def answer(self, question: Question, tools: Toolbox) -> Answer:
        """Let the model act. The trace tells the actions, their problems, and how the episode ended."""
        graph, topics = tools.graph, tuple(dict.fromkeys(tools.link(question)))
        words = (*question.topic_entities, *(entity_text(graph, topic) for topic in topics))
        environment = Environment(graph, Relevance(graph, question.text, words), self.settings)
        episode = Episode(question, tools.llm, environment, topics, self.settings)
        tools.trace["topic_entities"] = [graph.entity_name(topic) for topic in topics]
        try:
            await episode.run()
        finally:  # an episode that a failed call broke off is told of as well
            tools.trace.update(episode.trace())
        answers = episode.answers
        if question.kind == "entities" and answers:
            chosen = [entity for path in episode.chosen for edge in path for entity in (edge.source, edge.target)]
            named = name_answers(graph, answers, (chosen, episode.state.entities))
            answers = named.values
            tools.trace.update(ambiguous_answers=list(named.ambiguous), unknown_answers=list(named.unknown))
        return Answer(
            predictions=tuple(Prediction(value) for value in answers),
            raw=episode.raw,
            status=_status(episode),
            evidence=tuple(graph.named(path) for path in episode.chosen),
        )


def _status(episode: Episode) -> AnswerStatus:
    if not episode.answers:
        ended = episode.ending in ("step limit", "nothing left to do")
        return "abstained" if ended and not episode.chosen else "parse_failed"
    return "ok" if episode.chosen else "closed_book"
