"""Triples from the tail of a removed triple back to its head, through which it may be read off all the same."""

from __future__ import annotations

from collections.abc import Iterable, Set

from kgqa_bench.domain import TwinStratum
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.horn.rule import Rule

from .model import Fact


def twins_of(graph: MemoryGraph, fact: Fact) -> list[Fact]:
    """The graph's triples from the tail to the head of ``fact``, without itself, by relation."""
    near = graph.neighbours(fact.tail, "out")
    relations = near.relations[near.entities == fact.head].tolist()
    return [twin for relation in relations if (twin := Fact(fact.tail, relation, fact.head)) != fact]


def inversions_of(graph: MemoryGraph, rules: Iterable[Rule]) -> frozenset[tuple[int, int]]:
    """(head relation, body relation) of the inversion rules ``body(y, x) ⇒ head(x, y)``."""
    return frozenset(
        (graph.relation(rule.head), graph.relation(rule.body[0].relation))
        for rule in rules
        if rule.type == "inversion"
    )


def twin_stratum(graph: MemoryGraph, fact: Fact, removed: Set[Fact], inversions: Set[tuple[int, int]]) -> TwinStratum:
    """What is left from the tail of a removed triple back to its head; see ``kgqa_bench.domain.Derivation``.

    Args:
        graph: The complete graph.
        fact: The removed triple.
        removed: All removed triples.
        inversions: See ``inversions_of``.
    """
    back = {twin.relation for twin in twins_of(graph, fact) if twin not in removed}
    if fact.relation in back:
        return "symmetric"
    if any((fact.relation, other) in inversions for other in back):
        return "inverse"
    return "other reverse" if back else "none"
