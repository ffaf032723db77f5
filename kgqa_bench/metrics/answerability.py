"""Whether a question can be answered from a graph at all: facts that tables are split by.

For the evaluation only: they are made from the gold answers, which no method gets to see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kgqa_bench.domain import Derivation, Gold, Question
from kgqa_bench.errors import UnknownNameError
from kgqa_bench.graph.protocol import Graph

HOPS = 3

Presence = Literal["all", "some", "none"]


@dataclass(frozen=True)
class Answerability:
    """What a graph has of the answer to a question.

    Attributes:
        gold_present: How many of the right answers are entities of the graph.
        hops: Triples, walked in either direction, on the shortest way from a topic entity to a right answer; None
            where there is none within ``max_hops``, or no topic entity in the graph.
        primary_hops: The same to the primary hard answer; None also where the question has none.
        direct: Whether the triple that states the primary hard answer is visible; None where it is not known which
            one that is, as only built questions say.
        removed: Whether it was taken out by the builder of the benchmark, and is not visible.
        max_hops: How far was looked.
    """

    gold_present: Presence
    hops: int | None
    primary_hops: int | None
    direct: bool | None
    removed: bool
    max_hops: int

    def facts(self) -> dict[str, str]:
        """The same as group facts by name. What is not known is left out; nothing near is ``>k``."""
        found = {"gold_present": self.gold_present, "reachable": self._far(self.hops)}
        if self.direct is not None:
            found |= {
                "primary_reachable": self._far(self.primary_hops),
                "direct": "yes" if self.direct else "no",
                "removed": "yes" if self.removed else "no",
            }
        return found

    def _far(self, hops: int | None) -> str:
        return f">{self.max_hops}" if hops is None else str(hops)


def answerability(graph: Graph, question: Question, gold: Gold, max_hops: int = HOPS) -> Answerability | None:
    """What ``graph`` has of the answer to ``question``.

    Args:
        graph: The graph that the method saw.
        question: A question with topic entities, or one whose gold answer has a derivation, which names the topic.
        gold: Its gold answer.
        max_hops: How far to look from the topic entities.

    Returns:
        None where the answers are no entities: of options and truth values a graph knows nothing.
    """
    if question.kind != "entities":
        return None
    answers = [graph.find_entity(name) for name in gold.answers]
    there = {entity for entity in answers if entity is not None}
    primary = None if gold.primary is None else graph.find_entity(gold.primary)
    topics = [graph.find_entity(name) for name in question.topic_entities or _topic(gold)]
    sought = there | ({primary} if primary is not None else set())
    distances = _distances(graph, [topic for topic in topics if topic is not None], sought, max_hops)
    direct = None if gold.derivation is None else _visible(graph, gold.derivation)
    return Answerability(
        "none" if not there else "some" if None in answers else "all",
        min((distances[entity] for entity in there & distances.keys()), default=None),
        None if primary is None else distances.get(primary),
        direct,
        direct is False,
        max_hops,
    )


def _topic(gold: Gold) -> tuple[str, ...]:
    if gold.derivation is None:
        return ()
    removed = gold.derivation.removed
    return (removed.head if gold.primary == removed.tail else removed.tail,)


def _distances(graph: Graph, topics: Sequence[int], sought: set[int], max_hops: int) -> dict[int, int]:
    """How far each of the ``sought`` that is within ``max_hops`` is from the nearest topic entity."""
    found: dict[int, int] = {}
    near = set(topics)
    for hops in range(max_hops + 1):
        if hops:
            near = set(graph.within_hops(near, 1).tolist())
        for entity in (sought & near) - found.keys():
            found[entity] = hops
        if not near or len(found) == len(sought):
            break
    return found


def _visible(graph: Graph, derivation: Derivation) -> bool:
    head, tail = (graph.find_entity(name) for name in (derivation.removed.head, derivation.removed.tail))
    if head is None or tail is None:
        return False
    try:
        relation = graph.relation(derivation.removed.relation)
    except UnknownNameError:  # all triples of the relation were removed
        return False
    return graph.has_triple(head, relation, tail)
