"""The subgraph as the debate sees it: extracted level by level, written out, expanded when asked for."""

from __future__ import annotations

import asyncio
from typing import Any

from kgqa_bench.domain import Question, Triple
from kgqa_bench.graph.protocol import Graph, Path, Quad
from kgqa_bench.text.question import format_question
from kgqa_bench.text.verbalise import entity_text, relation_text, triple_text
from kgqa_bench.toolbox import Toolbox

from .extraction import Subgraph, extract_levels
from .prompts import PROMPTS
from .settings import DogSettings


class NoGraph:
    """Stands in for the evidence where the debate goes without a graph (Table 3, w/o UKG)."""

    text: str | None = None
    level: int | None = None
    can_expand = False

    async def expand(self) -> None:
        """Nothing to expand."""


class Evidence:
    """The subgraphs of one question. ``open`` before use.

    A level is extracted when the debate reaches it: most questions never expand, and what two levels compare with
    the question is embedded once, because the embedder keeps its vectors.
    """

    def __init__(self, question: Question, tools: Toolbox, settings: DogSettings) -> None:
        self._question, self._tools, self._settings = question, tools, settings
        self._position = 0
        self._centres: tuple[int, ...] = ()
        self._subgraphs: list[Subgraph] = []
        self._triples: list[Quad] = []
        self._text = PROMPTS["no_facts"] if settings.without_evidence == "state" else None

    async def open(self) -> Evidence:
        """Link the question and extract the first level, in a thread so that other questions go on."""
        await asyncio.to_thread(self._open)
        return self

    async def expand(self) -> None:
        """Extract the next level."""
        self._position += 1
        await asyncio.to_thread(self._extract)

    @property
    def level(self) -> int:
        """The present K."""
        return self._settings.levels[self._position]

    @property
    def can_expand(self) -> bool:
        """Whether there is a next level, and a topic entity to search from."""
        return bool(self._centres) and self._position + 1 < len(self._settings.levels)

    @property
    def triples(self) -> list[Quad]:
        """The triples shown at the present level, in the order shown."""
        return self._triples[: self._settings.evidence_limit]

    @property
    def text(self) -> str | None:
        """The shown triples, one a line; where there is none, what ``without_evidence`` says."""
        return self._text

    def paths(self) -> tuple[tuple[Triple, ...], ...]:
        """The kept paths whose triples are all shown, by name, best first; parts of a longer one are left out."""
        shown = {triple[:3] for triple in self.triples}
        scores: dict[Path, float] = {}
        for subgraph in self._subgraphs if self._settings.expansion == "union" else self._subgraphs[-1:]:
            for extraction in subgraph.extractions:
                for visit in extraction.visits:
                    scores.update((kept.path, kept.score) for kept in visit.paths if kept.path)
        whole = [path for path in scores if all((edge.head, edge.relation, edge.tail) in shown for edge in path)]
        parts = {path[:end] for path in whole for end in range(1, len(path))}
        ranked = sorted((path for path in whole if path not in parts), key=lambda path: (-scores[path], path))
        return tuple(self._graph.named(path) for path in ranked)

    def names(self, answers: tuple[str, ...]) -> tuple[str, ...]:
        """Answers in words as entity names, without repeats: of the entity shown under that label, else as given."""
        shown = {entity for triple in self.triples for entity in (triple.head, triple.tail)}
        by_label = {entity_text(self._graph, entity).casefold(): entity for entity in sorted(shown, reverse=True)}
        named = [by_label.get(answer.casefold()) for answer in answers]
        return tuple(
            dict.fromkeys(
                answer if entity is None else self._graph.entity_name(entity)
                for answer, entity in zip(answers, named, strict=True)
            )
        )

    def trace(self) -> dict[str, Any]:
        """JSON-able facts about retrieval: topic entities, K at the end, and the size of each level's subgraph."""
        return {
            "topic_entities": [self._graph.entity_name(centre) for centre in self._centres],
            "k": self.level,
            "shown": len(self.triples),
            "subgraphs": [
                {
                    "k": subgraph.level,
                    "triples": len(subgraph.triples),
                    "visited": sum(len(extraction.visits) for extraction in subgraph.extractions),
                    "hops": {str(hops): count for hops, count in subgraph.hops.items()},
                }
                for subgraph in self._subgraphs
            ],
        }

    @property
    def _graph(self) -> Graph:
        return self._tools.graph

    def _open(self) -> None:
        self._centres = tuple(dict.fromkeys(self._tools.link(self._question)))
        self._extract()

    def _extract(self) -> None:
        if not self._centres:
            return
        level, settings = self.level, self._settings
        text = format_question(self._question, options=settings.retrieval_options)
        subgraph = extract_levels(self._graph, self._tools.embedder, text, self._centres, [level], settings)[level]
        self._subgraphs.append(subgraph)
        found = _in_order(subgraph, settings)
        if settings.expansion == "union":
            found = list(dict.fromkeys([*found, *self._triples]))
        self._triples = found
        if self.triples:
            self._text = "\n".join(f"- {self._line(triple)}" for triple in self.triples)

    def _line(self, triple: Quad) -> str:
        if self._settings.verbalisation == "sentence":
            return triple_text(self._graph, triple, self._settings.show_confidence)
        parts = [
            entity_text(self._graph, triple.head),
            relation_text(self._graph, triple.relation),
            entity_text(self._graph, triple.tail),
        ]
        if self._settings.show_confidence:
            parts.append(f"{triple.confidence:.2f}")
        return f"({', '.join(parts)})"


def _in_order(subgraph: Subgraph, settings: DogSettings) -> list[Quad]:
    if settings.evidence_order == "score":
        return [scored.triple for scored in subgraph.triples]
    edges = (
        edge
        for extraction in subgraph.extractions
        for visit in extraction.visits
        for kept in visit.paths
        for edge in kept.path
    )
    return list(dict.fromkeys(Quad(edge.head, edge.relation, edge.tail, edge.confidence) for edge in edges))
