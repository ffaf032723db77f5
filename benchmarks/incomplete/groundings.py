"""Where rules hold in a graph: head triples with body triples that are all there.

A grounding's head triple is never among its body triples. The bodies of a head triple are ordered by the values of
the other variables in the order of their numbers, all by entity ids.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from kgqa_bench.errors import DataError
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.horn.rule import Rule, is_closed

from .grounding_kernels import Longs, find_body
from .model import Fact, Grounding

_MOST_FREE = 2


class Grounder:
    """Finds groundings in one graph.

    Args:
        graph: The complete graph.
    """

    def __init__(self, graph: MemoryGraph) -> None:
        heads, relations, tails, _confidences = graph.columns()
        self._graph = graph
        self._size = max(graph.num_entities, 1)
        of_head = relations.astype(np.int64) * self._size + heads
        of_tail = relations.astype(np.int64) * self._size + tails
        by_head, by_tail = np.lexsort((tails, of_head)), np.lexsort((heads, of_tail))
        self._facts = (
            of_head[by_head],
            tails[by_head].astype(np.int64),
            of_tail[by_tail],
            heads[by_tail].astype(np.int64),
        )

    def sample(self, rules: Sequence[Rule], count: int, seed: int) -> list[Grounding]:
        """Up to ``count`` groundings of each rule with distinct head triples.

        The head triples are a uniform draw without replacement from those that the rule's body supports, and the
        body of each is a uniform draw from its bodies. A rule's draw depends on the rule and the seed alone, not on
        the other rules.

        Args:
            rules: The rules; ``Grounding.rule`` is the position here.
            count: Most groundings a rule.
            seed: Seeds the draw.

        Returns:
            The groundings by rule, then in the order drawn; fewer of a rule that supports fewer head triples.

        Raises:
            DataError: A rule has a relation that the graph has not, is not closed, or has more than two variables
                besides x and y.
        """
        drawn: list[Grounding] = []
        for number, rule in enumerate(rules):
            chance = random.Random(f"{seed}|groundings|{rule}")
            drawn += islice(self._drawn(number, _Search(self._graph, rule), chance), count)
        return drawn

    def _drawn(self, number: int, search: _Search, chance: random.Random) -> Iterator[Grounding]:
        heads = self._heads(search.head)
        for place in _shuffled(len(heads), chance):
            total = int(self._find(search, heads[place], -1)[0])
            if total:
                found = self._find(search, heads[place], chance.randrange(total))
                yield search.grounding(number, heads[place], found)

    def _heads(self, relation: int) -> Longs:
        """The facts of a relation, int64 (n, 3), by head and tail."""
        keys, tails, _of_tail, _heads = self._facts
        begin, end = np.searchsorted(keys, (relation * self._size, (relation + 1) * self._size))
        heads = keys[begin:end] - relation * self._size
        return np.column_stack((heads, np.full(end - begin, relation), tails[begin:end]))

    def _find(self, search: _Search, head: Longs, wanted: int) -> Longs:
        found: Longs = find_body(self._facts, self._size, search.atoms, search.free, head, wanted)
        return found


class _Search:
    """A rule by the graph's ids, as the kernel takes it."""

    def __init__(self, graph: MemoryGraph, rule: Rule) -> None:
        variables = {variable for atom in rule.body for variable in atom[1:]} - {0, 1}
        if not is_closed(rule.body) or len(variables) > _MOST_FREE or variables - set(range(2, 2 + _MOST_FREE)):
            raise DataError(
                f"The rule {rule} cannot be grounded.", hint="Give closed rules with at most four variables."
            )
        self.head = _relation(graph, rule.head, rule)
        self.free = len(variables)
        self.atoms = np.array(
            [(_relation(graph, relation, rule), subject, object_) for relation, subject, object_ in rule.body],
            np.int64,
        )

    def grounding(self, number: int, head: Longs, found: Longs) -> Grounding:
        entities = (int(head[0]), int(head[2]), int(found[1]), int(found[2]))
        body = tuple(
            Fact(entities[subject], relation, entities[object_]) for relation, subject, object_ in self.atoms.tolist()
        )
        return Grounding(number, Fact(*head.tolist()), body)


def _relation(graph: MemoryGraph, name: str, rule: Rule) -> int:
    found = graph.find_relation(name)
    if found is None:
        raise DataError(
            f"The graph has no relation {name!r}, which the rule {rule} needs.", hint="Give rules of this graph."
        )
    return found


def _shuffled(size: int, chance: random.Random) -> Iterator[int]:
    """0 … size - 1 in a random order, drawn as far as it is read (Fisher and Yates)."""
    moved: dict[int, int] = {}
    for place in range(size):
        other = chance.randrange(place, size)
        yield moved.get(other, other)
        moved[other] = moved.get(place, place)
