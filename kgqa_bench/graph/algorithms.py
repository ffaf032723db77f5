"""Paths, neighbourhoods and name search on nothing but ``neighbours`` and the names: for any back end.

A back end inherits ``GraphAlgorithms``, gives the abstract members, and overrides what it can do faster.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice, repeat
from typing import Any

import numpy as np

from kgqa_bench.domain import Triple
from kgqa_bench.errors import UnknownNameError
from kgqa_bench.graph.labels import LabelSearch
from kgqa_bench.graph.protocol import Direction, Edge, Ids, Neighbours, Path, Quad, RelationPath, Step

# from a tuple of the fields, without the call of a Python function that a class call or ``_make`` costs
new_edge: Callable[[tuple[Any, ...]], Edge] = partial(tuple.__new__, Edge)
new_quad: Callable[[tuple[Any, ...]], Quad] = partial(tuple.__new__, Quad)

REVERSED: dict[Direction, Direction] = {"out": "in", "in": "out", "both": "both"}


class GraphAlgorithms(ABC):
    """The derived part of the Graph protocol."""

    # -- given by the back end -------------------------------------------------------------------------

    @property
    @abstractmethod
    def num_entities(self) -> int:
        """Number of entities."""

    @property
    @abstractmethod
    def num_relations(self) -> int:
        """Number of relations."""

    @abstractmethod
    def neighbours(self, entity: int, direction: Direction = "out", relation: int | None = None) -> Neighbours:
        """The edges at an entity as arrays, ordered by (direction, relation, other entity)."""

    @abstractmethod
    def entity_name(self, entity: int) -> str:
        """The entity's unique name."""

    @abstractmethod
    def relation_name(self, relation: int) -> str:
        """The relation's unique name."""

    @abstractmethod
    def find_entity(self, name: str) -> int | None:
        """The id of the entity called ``name``, or None."""

    @abstractmethod
    def find_relation(self, name: str) -> int | None:
        """The id of the relation called ``name``, or None."""

    @abstractmethod
    def entity_labels(self) -> Sequence[str]:
        """The labels of all entities in id order."""

    # -- names -----------------------------------------------------------------------------------------

    def entity(self, name: str) -> int:
        """The id of the entity called ``name``. UnknownNameError with suggestions."""
        found = self.find_entity(name)
        if found is None:
            raise UnknownNameError("entity", name, (self.entity_name(near) for near in self.search_labels(name, 20)))
        return found

    def relation(self, name: str) -> int:
        """The id of the relation called ``name``. UnknownNameError with suggestions."""
        found = self.find_relation(name)
        if found is None:
            raise UnknownNameError("relation", name, map(self.relation_name, range(self.num_relations)))
        return found

    @cached_property
    def _label_search(self) -> LabelSearch:
        return LabelSearch(self.entity_labels())

    def search_labels(self, text: str, limit: int = 10) -> list[int]:
        """Entities whose label is like ``text``: exact (ignoring case), then prefix, then near, best first."""
        return self._label_search.find(text, limit)

    def named(self, path: Path) -> tuple[Triple, ...]:
        """A path as triples by name in stored direction."""
        return tuple(
            Triple(
                self.entity_name(edge.head),
                self.relation_name(edge.relation),
                self.entity_name(edge.tail),
                edge.confidence,
            )
            for edge in path
        )

    # -- edges -----------------------------------------------------------------------------------------

    def edges(self, entity: int, direction: Direction = "out", relation: int | None = None) -> list[Edge]:
        """The edges at an entity as a list."""
        found = self.neighbours(entity, direction, relation)
        columns = (found.relations, found.entities, found.confidences, found.inverse)
        return list(map(new_edge, zip(repeat(int(entity)), *(column.tolist() for column in columns), strict=False)))

    def relations_at(self, entity: int, direction: Direction = "out") -> list[Step]:
        """The distinct steps that leave an entity, forward ones first, by relation."""
        found = self.neighbours(entity, direction)
        steps = set(zip(found.inverse.tolist(), found.relations.tolist(), strict=True))
        return [Step(relation, inverse) for inverse, relation in sorted(steps)]

    def has_triple(self, head: int, relation: int, tail: int) -> bool:
        """Whether the triple is visible."""
        self.check_entities((tail,))
        return bool(np.any(self.neighbours(head, "out", relation).entities == tail))

    def quads(self) -> Iterator[Quad]:
        """All visible quadruples ordered by (head, relation, tail)."""
        for head in range(self.num_entities):
            for edge in self.edges(head):
                yield Quad(head, edge.relation, edge.target, edge.confidence)

    def triples_among(self, entities: Iterable[int]) -> list[Quad]:
        """The quadruples whose head and tail both lie in the set, ordered by (head, relation, tail)."""
        members = set(self.check_entities(entities))
        return [
            Quad(head, edge.relation, edge.target, edge.confidence)
            for head in sorted(members)
            for edge in self.edges(head)
            if edge.target in members
        ]

    # -- relation paths --------------------------------------------------------------------------------

    def follow(self, entities: Iterable[int], relation_path: RelationPath) -> Ids:
        """The entities at the end of a relation path from any of ``entities``: sorted, distinct."""
        reached = set(self.check_entities(entities))
        for relation, inverse in relation_path:
            direction: Direction = "in" if inverse else "out"
            reached = {
                target
                for entity in reached
                for target in self.neighbours(entity, direction, relation).entities.tolist()
            }
        return np.array(sorted(reached), np.int32)

    def relation_paths(
        self, entity: int, max_hops: int, direction: Direction = "both", limit: int | None = None
    ) -> list[RelationPath]:
        """The distinct relation paths of 1 to ``max_hops`` steps with at least one grounding.

        Shorter first, then by their steps (forward before inverse, then by relation). A grounding may visit an
        entity twice, so with direction ``both`` a path may turn back on itself.
        """
        self.check_entities((entity,))
        found: list[RelationPath] = []
        layer: list[tuple[RelationPath, Ids]] = [((), np.array([entity], np.int32))]
        for hop in range(1, max_hops + 1):
            following: list[tuple[RelationPath, Ids]] = []
            for prefix, reached in layer:
                for step in self.steps_from(reached, direction):
                    if limit is not None and len(found) >= limit:
                        return found
                    found.append((*prefix, step))
                    if hop < max_hops:
                        following.append(((*prefix, step), self.follow(reached, (step,))))
            layer = following
        return found

    def steps_from(self, entities: Iterable[int], direction: Direction = "out") -> list[Step]:
        """The distinct steps that leave any of ``entities``, forward ones first, by relation."""
        checked = self.check_entities(entities)
        steps = {step for entity in checked for step in self.relations_at(entity, direction)}
        return sorted(steps, key=lambda step: (step.inverse, step.relation))

    def groundings(self, entity: int, relation_path: RelationPath, limit: int | None = None) -> list[Path]:
        """The paths from ``entity`` along a relation path, in stable order; they may visit an entity twice."""
        self.check_entities((entity,))
        self.check_relations(step.relation for step in relation_path)
        dead: set[tuple[int, int]] = set()

        def extend(at: int, depth: int) -> Iterator[Path]:
            if depth == len(relation_path):
                yield ()
                return
            if (at, depth) in dead:
                return
            alive = False
            relation, inverse = relation_path[depth]
            for edge in self.edges(at, "in" if inverse else "out", relation):
                for rest in extend(edge.target, depth + 1):
                    alive = True
                    yield (edge, *rest)
            if not alive:
                dead.add((at, depth))

        return list(islice(extend(entity, 0), limit))

    # -- paths between entities ------------------------------------------------------------------------

    def shortest_paths(
        self, source: int, target: int, max_hops: int, direction: Direction = "out", limit: int | None = None
    ) -> list[Path]:
        """All shortest paths (parallel relations apart); empty where none is within ``max_hops``.

        Ordered by their steps (direction, relation, other entity). ``source == target`` gives the empty path.
        """
        self.check_entities((source, target))
        if source == target:
            return [()] if limit is None or limit > 0 else []
        distance = self._distances_to(target, max_hops, direction, stop_at=source)
        if source not in distance:
            return []

        def extend(at: int) -> Iterator[Path]:
            if at == target:
                yield ()
                return
            for edge in self.edges(at, direction):
                if distance.get(edge.target) == distance[at] - 1:
                    for rest in extend(edge.target):
                        yield (edge, *rest)

        return list(islice(extend(source), limit))

    def paths(
        self, source: int, target: int, max_hops: int, direction: Direction = "out", limit: int | None = None
    ) -> list[Path]:
        """All paths of 1 to ``max_hops`` edges that visit no entity twice.

        Shorter first, then by their steps (direction, relation, other entity). ``source == target`` has none.
        """
        self.check_entities((source, target))
        distance = self._distances_to(target, max_hops, direction)

        def extend(at: int, left: int, visited: frozenset[int]) -> Iterator[Path]:
            if at == target:
                if left == 0:
                    yield ()
                return
            for edge in self.edges(at, direction):
                if edge.target not in visited and distance.get(edge.target, max_hops) <= left - 1:
                    for rest in extend(edge.target, left - 1, visited | {edge.target}):
                        yield (edge, *rest)

        every = (path for hops in range(1, max_hops + 1) for path in extend(source, hops, frozenset({source})))
        return list(islice(every, limit))

    def _distances_to(
        self, target: int, max_hops: int, direction: Direction, stop_at: int | None = None
    ) -> dict[int, int]:
        """Hops to ``target`` of the entities within ``max_hops``; no layer beyond that of ``stop_at``."""
        distance = {target: 0}
        layer = [target]
        for hop in range(1, max_hops + 1):
            following = []
            for entity in layer:
                for other in self.neighbours(entity, REVERSED[direction]).entities.tolist():
                    if other not in distance:
                        distance[other] = hop
                        following.append(other)
            layer = following
            if not layer or stop_at in distance:
                break
        return distance

    def within_hops(self, entities: Iterable[int], hops: int, direction: Direction = "both") -> Ids:
        """The entities within ``hops`` steps of any of ``entities``, those included: sorted, distinct."""
        reached = set(self.check_entities(entities))
        layer = reached
        for _hop in range(hops):
            layer = {other for at in layer for other in self.neighbours(at, direction).entities.tolist()} - reached
            if not layer:
                break
            reached = reached | layer
        return np.array(sorted(reached), np.int32)

    # -- checks ----------------------------------------------------------------------------------------

    def check_entities(self, entities: Iterable[int]) -> list[int]:
        """The ids as a list. IndexError where one is not an entity; TypeError where one is no integer."""
        return _checked(entities, self.num_entities, "entity")

    def check_relations(self, relations: Iterable[int]) -> list[int]:
        """As ``check_entities`` for relations."""
        return _checked(relations, self.num_relations, "relation")


def _checked(ids: Iterable[int], size: int, what: str) -> list[int]:
    result: list[int] = ids.tolist() if isinstance(ids, np.ndarray) else list(map(operator.index, ids))
    if result and not (min(result) >= 0 and max(result) < size):
        wrong = next(each for each in result if not 0 <= each < size)
        raise IndexError(f"no {what} {wrong}: ids are 0 to {size - 1}")
    return result
