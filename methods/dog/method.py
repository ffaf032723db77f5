"""The method plugin: from a question to the debate's answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from kgqa_bench.contracts import Method
from kgqa_bench.domain import Answer, AnswerStatus, Prediction, Question
from kgqa_bench.toolbox import Toolbox

from .debate import Debate
from .evidence import Evidence, NoGraph
from .prompts import PROMPTS
from .settings import DogSettings


class DebateOnGraph(Method):
    """Debate-on-Graph (DoG): agents debate over a subgraph of an uncertain knowledge graph (arXiv 2607.17266).

    Not to be confused with the question-simplifying "Debate on Graph" of AAAI 2025, which knows no confidences and
    no opposing debaters.

    Entity questions, which the paper does not cover, are debated in the same way: each agent lists its answers one a
    line, two replies agree if they list the same set, and the Judge's list in its order is the ranking. An answer
    that is the label of an entity in the subgraph shown is given by that entity's name, any other as written.
    """

    Settings = DogSettings
    uses_graph: ClassVar[bool] = True
    prompts: ClassVar[Mapping[str, str]] = PROMPTS

    settings: DogSettings

    def call_range(self) -> tuple[int, int]:
        """3 · rounds + 1 (section 5.6), or the one call without debate."""
        return (4, 3 * self.settings.max_rounds + 1) if self.settings.debate else (1, 1)

    async def answer(self, question: Question, tools: Toolbox) -> Answer:
        """Debate the question. The trace tells K, rounds, actions, hops and how the verdict was reached."""
        settings = self.settings
        evidence = await Evidence(question, tools, settings).open() if settings.use_graph else None
        facts = NoGraph() if evidence is None else evidence
        debate = Debate(question, tools.llm, settings)
        try:
            verdict = await (debate.hold(facts) if settings.debate else debate.answer_alone(facts))
        finally:  # a debate that a failed call broke off is told of as well
            tools.trace.update(debate.trace(), **({} if evidence is None else evidence.trace()))
        tools.trace["verdict"] = verdict.source
        answers = verdict.statement.answers
        status = _status(bool(answers), evidence)
        if evidence is not None and question.kind == "entities":
            answers = evidence.names(answers)
        return Answer(
            predictions=tuple(Prediction(value) for value in answers),
            raw=verdict.statement.text,
            status=status,
            evidence=() if evidence is None else evidence.paths(),
        )


def _status(read: bool, evidence: Evidence | None) -> AnswerStatus:
    if not read:
        return "parse_failed"
    return "closed_book" if evidence is not None and not evidence.triples else "ok"
