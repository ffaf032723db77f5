"""Retrieval without a model: the answer whose facts in the graph read most like the question.

What the graph and a similarity of texts give away by themselves. A method that uses a graph has to beat it, and a
benchmark on which it does well is answered by its graph, not by reasoning.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

import numpy as np
from pydantic import Field

from kgqa_bench.contracts import Method, PluginSettings
from kgqa_bench.domain import Answer, Prediction, Question
from kgqa_bench.graph.protocol import Graph, Path
from kgqa_bench.text.verbalise import path_text
from kgqa_bench.toolbox import Toolbox

from .similarity import Floats, embedding_similarity, tfidf_similarity


class RetrievalOnlySettings(PluginSettings):
    """Settings of retrieval without a model."""

    scorer: Literal["tfidf", "embedding"] = Field(
        default="tfidf",
        description="How texts are compared: `tfidf`, fitted on the facts of the one question, or `embedding`.",
    )
    hops: int = Field(
        default=2, ge=1, le=3, description="Longest path between two linked entities that counts as a fact."
    )
    top_k: int = Field(default=3, ge=1, description="How many of its best facts make an option's score.")
    max_paths: int = Field(
        default=100, ge=1, description="Most paths taken between two entities, shorter ones first."
    )
    threshold: float = Field(
        default=0.3, ge=0, le=1, description="A boolean question is true where its best fact scores at least this."
    )


class RetrievalOnly(Method):
    """No model: picks the option whose graph facts are most similar to the question.

    A fact is a path of at most ``hops`` triples, walked in either direction, in words; its score is the product of
    its confidences times the cosine of its text and the query (0 where that is negative).

    - *choice*: facts join an entity linked in the stem and one linked in the option; the query is stem and option;
      an option's score is the sum of its ``top_k`` best facts' scores divided by ``top_k`` (missing ones count 0).
      Options without any fact score 0; where all do, the question is ``abstained``. Of equal scores the first wins.
    - *boolean* (adaptation): facts join two entities linked in the question; true where the best one scores at least
      ``threshold``, else false.
    - *entities* (adaptation): facts are the triples at the topic entities; the answers are the other ends of all
      triples that share topic entity, relation and direction with the best one.
    """

    Settings = RetrievalOnlySettings
    uses_model = False
    uses_graph = True

    async def answer(self, question: Question, tools: Toolbox) -> Answer:
        """No call. See ``Method.answer``."""
        stem = tools.link(replace(question, options=()))
        if question.kind == "choice":
            return self._choice(question, stem, tools)
        if question.kind == "boolean":
            return self._boolean(question, stem, tools)
        return self._entities(question, stem, tools)

    def _choice(self, question: Question, stem: tuple[int, ...], tools: Toolbox) -> Answer:
        facts: list[Path] = []
        starts = [0]
        for option in question.options:
            ends = tools.link(Question(f"{question.id}/{option.label}", option.text, "entities"))
            facts += self._between(tools.graph, stem, ends)
            starts.append(len(facts))
        if not facts:
            return Answer(status="abstained")
        queries = [f"{question.text} {option.text}" for option in question.options]
        scores = self._scores(facts, queries, tools)
        top_k = self.settings.top_k
        ranked: list[tuple[float, str, tuple[Path, ...]]] = []
        for place, option in enumerate(question.options):
            own = scores[starts[place] : starts[place + 1], place]
            best = np.argsort(-own, kind="stable")[:top_k]
            evidence = tuple(facts[starts[place] + int(index)] for index in best if own[index] > 0)
            ranked.append((float(own[best].sum()) / top_k, option.label, evidence))
        tools.trace["scores"] = {label: round(score, 6) for score, label, _ in ranked}
        ranked.sort(key=lambda entry: -entry[0])
        if ranked[0][0] <= 0:
            return Answer(status="abstained")
        return Answer(
            tuple(Prediction(label) for _, label, _ in ranked), evidence=tuple(map(tools.graph.named, ranked[0][2]))
        )

    def _boolean(self, question: Question, linked: tuple[int, ...], tools: Toolbox) -> Answer:
        facts = [
            fact
            for place, entity in enumerate(linked)
            for fact in self._between(tools.graph, (entity,), linked[place + 1 :])
        ]
        scores = self._scores(facts, [question.text], tools)[:, 0]
        best = int(scores.argmax()) if facts else None
        score = 0.0 if best is None else float(scores[best])
        tools.trace["scores"] = {"true": round(score, 6)}
        holds = best is not None and score >= self.settings.threshold
        evidence = (tools.graph.named(facts[best]),) if best is not None and holds else ()
        return Answer((Prediction("true" if holds else "false"),), evidence=evidence)

    def _entities(self, question: Question, topics: tuple[int, ...], tools: Toolbox) -> Answer:
        graph = tools.graph
        edges = [edge for topic in topics for edge in graph.edges(topic, "both")]
        if not edges:
            return Answer(status="abstained")
        scores = self._scores([(edge,) for edge in edges], [question.text], tools)[:, 0]
        best = edges[int(scores.argmax())]
        same = [
            (float(score), edge)
            for score, edge in zip(scores, edges, strict=True)
            if (edge.source, edge.relation, edge.inverse) == (best.source, best.relation, best.inverse)
        ]
        same.sort(key=lambda pair: -pair[0])
        return Answer(
            tuple(Prediction(graph.entity_name(edge.target)) for _, edge in same),
            evidence=tuple(graph.named((edge,)) for _, edge in same),
        )

    def _between(self, graph: Graph, starts: Iterable[int], ends: Iterable[int]) -> list[Path]:
        settings: RetrievalOnlySettings = self.settings
        ends = tuple(ends)
        return [
            path
            for start in starts
            for end in ends
            if start != end
            for path in graph.paths(start, end, settings.hops, "both", settings.max_paths)
        ]

    def _scores(self, facts: list[Path], queries: list[str], tools: Toolbox) -> Floats:
        """Confidence times similarity, shape (facts, queries)."""
        texts = [path_text(tools.graph, fact) for fact in facts]
        if self.settings.scorer == "embedding":
            similarity = embedding_similarity(texts, queries, tools.embedder)
        else:
            similarity = tfidf_similarity(texts, queries)
        confidences = [float(np.prod([edge.confidence for edge in fact])) for fact in facts]
        return np.maximum(similarity, 0.0) * np.array(confidences, np.float64)[:, np.newaxis]
