"""A policy in GR-Agent's environment that asks no model: what the graph alone gives."""

from __future__ import annotations

import asyncio
import math
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from kgqa_bench.contracts import Method
from kgqa_bench.domain import Answer, Prediction, Question, QuestionKind
from kgqa_bench.graph.protocol import Graph, Path, RelationPath
from kgqa_bench.text.verbalise import entity_text
from kgqa_bench.toolbox import Toolbox

from .exploration import Relevance, explore, ground
from .prediction import knowledge
from .relation_link import Linked
from .settings import EnvironmentSettings
from .vocabulary import Vocabulary


class ReferenceSettings(EnvironmentSettings):
    """Settings of the reference policy; all are ours."""

    sample: int = Field(default=50, ge=1, description="Entities on which a path's confidence is measured, at most.")
    min_confidence: float = Field(default=0.1, ge=0, le=1, description="Least confidence of a path that votes.")
    min_support: int = Field(default=2, ge=1, description="Least support of a path that votes.")
    voters: int = Field(default=20, ge=1, description="Most paths that vote, by confidence, then support.")
    vote: Literal["best", "any"] = Field(
        default="best",
        description="An entity's vote: the `best` confidence among the paths that lead to it, or `any`: 1 less the "
        "product of 1 less each, which takes the paths as independent.",
    )
    threshold: float = Field(
        default=0.5, ge=0, le=1, description="Least vote of an answer; the best one is given in any case."
    )


class Voter(NamedTuple):
    """A relation path with its confidence."""

    path: RelationPath
    confidence: float
    support: int


class GrReference(Method):
    """Reference policy of GR-Agent: explores, votes by how well each path predicts the relation; asks no model.

    1. The relation that the question asks for is linked from the question's words (``relation_link``). The trace
       tells it, for its accuracy to be found from the records.
    2. The relation paths from the topic are explored up to the hop limit.
    3. Each is ranked by how well it predicts the relation on the graph in use (``prediction``); the relation itself
       has confidence 1.
    4. The entities that they lead to get votes (``vote``). Those over the threshold are the answers, and the
       reasoning paths to them the evidence.

    Answers entity questions only.
    """

    Settings = ReferenceSettings
    uses_model: ClassVar[bool] = False
    uses_graph: ClassVar[bool] = True
    kinds: ClassVar[frozenset[QuestionKind]] = frozenset({"entities"})

    settings: ReferenceSettings

    async def answer(self, question: Question, tools: Toolbox) -> Answer:
        """Vote, in a thread so that other questions go on. Abstains without a topic, a relation or a path."""
        return await asyncio.to_thread(self._answer, question, tools.graph, tools.link(question), tools.trace)

    def _answer(self, question: Question, graph: Graph, topics: tuple[int, ...], trace: dict[str, Any]) -> Answer:
        trace["topic_entities"] = [graph.entity_name(topic) for topic in topics]
        if not topics:
            return Answer(status="abstained")
        topic, known = topics[0], knowledge(graph)
        mentions = (*question.topic_entities, entity_text(graph, topic))
        linked = known.linker.link(question.text, mentions, topic)
        if linked is None:
            trace["relation"] = None
            return Answer(status="abstained")
        voters = self._voters(question, graph, topic, linked, mentions)
        trace.update(self._told(graph, linked, voters))
        against: dict[int, list[float]] = {}
        for voter in voters:
            for entity in graph.follow((topic,), voter.path).tolist():
                if entity != topic:
                    against.setdefault(entity, []).append(1 - voter.confidence)
        one = self.settings.vote == "best"
        votes = {entity: 1 - (min(shares) if one else math.prod(shares)) for entity, shares in against.items()}
        # of equal votes the one with more paths for it
        ranked = sorted(votes, key=lambda entity: (-votes[entity], math.prod(against[entity]), entity))
        answers = [entity for entity in ranked if votes[entity] >= self.settings.threshold] or ranked[:1]
        return Answer(
            predictions=tuple(Prediction(graph.entity_name(each), votes[each]) for each in answers),
            status="ok" if answers else "abstained",
            evidence=tuple(graph.named(path) for path in self._evidence(graph, topic, voters, set(answers))),
        )

    def _voters(
        self, question: Question, graph: Graph, topic: int, linked: Linked, mentions: tuple[str, ...]
    ) -> list[Voter]:
        settings = self.settings
        relevance = Relevance(graph, question.text, mentions)
        found = explore(graph, topic, settings.hop_limit, relevance, settings).paths
        voters = []
        for path in found:
            if path == (linked.step,):
                voters.append(Voter(path, 1.0, 0))
                continue
            counts = knowledge(graph).prediction(graph, linked.step, path, settings.sample)
            if counts.confidence >= settings.min_confidence and counts.support >= settings.min_support:
                voters.append(Voter(path, counts.confidence, counts.support))
        voters.sort(key=lambda each: (-each.confidence, -each.support, len(each.path), each.path))
        return voters[: settings.voters]

    def _told(self, graph: Graph, linked: Linked, voters: list[Voter]) -> dict[str, Any]:
        vocabulary = Vocabulary(graph)
        return {
            "relation": graph.relation_name(linked.step.relation),
            "asked": "head" if linked.step.inverse else "tail",
            "link_score": round(linked.score, 4),
            "link_ties": linked.ties,
            "voters": [[vocabulary.path(each.path), round(each.confidence, 4), each.support] for each in voters[:5]],
        }

    def _evidence(self, graph: Graph, topic: int, voters: list[Voter], answers: set[int]) -> list[Path]:
        """To each answer one reasoning path, that of the voter of highest confidence."""
        left, evidence = set(answers), []
        for voter in voters:
            for path in ground(graph, topic, voter.path, self.settings).paths if left else ():
                if path[-1].target in left:
                    left.remove(path[-1].target)
                    evidence.append(path)
        return evidence
