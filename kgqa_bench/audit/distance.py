"""How far answers are from topics, directions of triples left out of account."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.protocol import Ids
from kgqa_bench.question_sets.model import Named


class Reach(NamedTuple):
    """Where a question's topics and answers lie in its graph.

    Attributes:
        hops: Fewest triples between a topic and an answer; None where none is connected to any.
        missing_topics: Topics that the graph has not.
        missing_answers: Answers that the graph has not.
    """

    hops: int | None
    missing_topics: tuple[str, ...]
    missing_answers: tuple[str, ...]


class SharedGraph:
    """Reach in a graph that many questions share."""

    def __init__(self, graph: MemoryGraph) -> None:
        from kgqa_bench.graph.whole import to_igraph

        self.graph = graph
        self._find = cache(graph.find_entity)  # the same names are asked for again and again
        parts = to_igraph(graph, attributes=False).connected_components(mode="weak")
        self._component = np.asarray(parts.membership, np.int64)

    def reach(self, topics: Sequence[str], answers: Sequence[str]) -> Reach:
        """Where the topics and answers lie."""
        topic_ids, missing_topics = self._ids(topics)
        answer_ids, missing_answers = self._ids(answers)
        hops = self._hops(topic_ids, answer_ids)
        return Reach(hops, missing_topics, missing_answers)

    def _ids(self, names: Iterable[str]) -> tuple[list[int], tuple[str, ...]]:
        found, missing = [], []
        for name in names:
            entity = self._find(name)
            if entity is None:
                missing.append(name)
            else:
                found.append(entity)
        return found, tuple(missing)

    def _hops(self, topics: list[int], answers: list[int]) -> int | None:
        if not set(topics).isdisjoint(answers):
            return 0
        around = set(self._component[topics].tolist())
        wanted = np.array([answer for answer in answers if int(self._component[answer]) in around], np.int32)
        if not len(wanted):
            return None
        hops = 1
        while not _has_any(self.graph.within_hops(topics, hops), wanted):
            hops += 1
        return hops


def _has_any(ascending: Ids, wanted: Ids) -> bool:
    """Whether any of ``wanted`` is in an array in ascending order."""
    places = np.searchsorted(ascending, wanted)
    return bool((ascending[np.minimum(places, len(ascending) - 1)] == wanted).any())


def reach_in(triples: Iterable[Named], topics: Sequence[str], answers: Sequence[str]) -> Reach:
    """Where topics and answers lie in a question's own graph."""
    beside: dict[str, list[str]] = {}
    for head, _relation, tail in triples:
        beside.setdefault(head, []).append(tail)
        beside.setdefault(tail, []).append(head)
    wanted = {answer for answer in answers if answer in beside}
    reached = {topic for topic in topics if topic in beside}
    front, hops = list(reached), 0
    while front and wanted.isdisjoint(front):
        following = []
        for entity in front:
            for other in beside[entity]:
                if other not in reached:
                    reached.add(other)
                    following.append(other)
        front, hops = following, hops + 1
    return Reach(
        hops if front else None,
        tuple(topic for topic in topics if topic not in beside),
        tuple(answer for answer in answers if answer not in beside),
    )
