"""The in-memory back end: compressed adjacency in both directions, compiled searches, cheap views."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from kgqa_bench.graph import kernels, path_kernels
from kgqa_bench.graph.algorithms import GraphAlgorithms, new_edge, new_quad
from kgqa_bench.graph.names import frozen
from kgqa_bench.graph.protocol import Direction, Edge, Flags, Ids, Neighbours, Path, Quad, RelationPath, Step
from kgqa_bench.graph.store import Store, fingerprint

_neighbours: Callable[[tuple[Any, ...]], Neighbours] = partial(tuple.__new__, Neighbours)
_CODES: dict[Direction, int] = {"out": 1, "in": 2, "both": 3}
_ALL: Flags = frozen(np.zeros(0, np.bool_))
_MOST_HOPS = 32_000  # distances are 16-bit; no path of use is that long


class MemoryGraph(GraphAlgorithms):
    """A graph in arrays. ``kgqa_bench.graph.build.build_graph`` makes one.

    Overlays and subgraphs share the arrays and add one flag a quadruple. Safe to use from several threads.

    Attributes:
        store: The arrays.
    """

    def __init__(self, store: Store, visible: Flags = _ALL, facts: Mapping[str, Any] | None = None) -> None:
        self.store = store
        self._visible = frozen(visible)
        self._masked = len(visible) > 0
        self._facts = dict(facts or {})
        self._num_entities = len(store.entity_names)
        self._out_start = store.out_start.data  # indexed faster than an array
        self._in_start = store.in_start.data
        self._columns = (store.relations, store.tails, store.confidences, store.forward)
        self._view = (
            store.out_start, store.tails, store.relations, store.in_start, store.heads, store.in_edge, self._visible,
        )  # fmt: skip

    @property
    def num_entities(self) -> int:
        """Number of entities; ids are 0 … num_entities - 1."""
        return self._num_entities

    @property
    def num_relations(self) -> int:
        """Number of relations."""
        return len(self.store.relation_names)

    @cached_property
    def num_triples(self) -> int:
        """Number of visible triples."""
        return int(np.count_nonzero(self._visible)) if self._masked else len(self.store.tails)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the visible quadruples and names."""
        store = self.store
        heads, relations, tails, confidences = self.columns()
        return fingerprint(store.entity_names, store.relation_names, heads, relations, tails, confidences)

    @property
    def provenance(self) -> Mapping[str, Any]:
        """JSON-able facts about source, merging, and what a view hides."""
        return {**self.store.provenance, **self._facts}

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays (shared with all views), the names, and this view's flags."""
        return self.store.nbytes + self._visible.nbytes

    @property
    def view(self) -> tuple[Any, ...]:
        """The arrays that compiled loops work on, see ``kernels``; not to be written to."""
        return self._view

    def columns(self) -> tuple[Ids, Ids, Ids, npt.NDArray[np.float64]]:
        """Heads, relations, tails and confidences of the visible quadruples by (head, relation, tail)."""
        store = self.store
        heads = np.repeat(np.arange(self._num_entities, dtype=np.int32), np.diff(store.out_start))
        if self._masked:
            shown = self._visible
            return heads[shown], store.relations[shown], store.tails[shown], store.confidences[shown]
        return heads, store.relations, store.tails, store.confidences

    # -- names -----------------------------------------------------------------------------------------

    def find_entity(self, name: str) -> int | None:
        """The id of the entity called ``name``, or None."""
        return self.store.entity_names.find(name)

    def find_relation(self, name: str) -> int | None:
        """The id of the relation called ``name``, or None."""
        return self.store.relation_names.find(name)

    def entity_name(self, entity: int) -> str:
        """The entity's unique name."""
        return self.store.entity_names[entity]

    def entity_label(self, entity: int) -> str:
        """The entity's label."""
        return self.entity_labels()[entity]

    def relation_name(self, relation: int) -> str:
        """The relation's unique name."""
        return self.store.relation_names[relation]

    def relation_label(self, relation: int) -> str:
        """The relation in words."""
        return (self.store.relation_label_table or self.store.relation_names)[relation]

    def entity_labels(self) -> Sequence[str]:
        """The labels of all entities in id order, decoded when read."""
        return self.store.entity_label_table or self.store.entity_names

    # -- edges -----------------------------------------------------------------------------------------

    def neighbours(self, entity: int, direction: Direction = "out", relation: int | None = None) -> Neighbours:
        """The edges at an entity as arrays; outgoing edges of a graph without mask are views of the store."""
        if not 0 <= entity < self._num_entities:
            raise IndexError(f"no entity {entity}: ids are 0 to {self._num_entities - 1}")
        if relation is not None:
            self.check_relations((relation,))
        if direction == "out":
            if relation is None and not self._masked:
                return self._view_of(self._out_start[entity], self._out_start[entity + 1])
            return self._outgoing(entity, relation)
        if direction == "in":
            return self._incoming(entity, relation)
        if direction != "both":
            raise ValueError(f"no direction {direction!r}: choose out, in or both")
        there, back = self._outgoing(entity, relation), self._incoming(entity, relation)
        return Neighbours(
            np.concatenate((there.relations, back.relations)),
            np.concatenate((there.entities, back.entities)),
            np.concatenate((there.confidences, back.confidences)),
            np.concatenate((there.inverse, back.inverse)),
        )

    def _outgoing(self, entity: int, relation: int | None) -> Neighbours:
        store = self.store
        begin, end = self._out_start[entity], self._out_start[entity + 1]
        if relation is not None:
            first = bisect_left(store.relations, relation, begin, end)
            begin, end = first, bisect_right(store.relations, relation, first, end)
        if self._masked:
            shown = begin + np.flatnonzero(self._visible[begin:end])
            if len(shown) < end - begin:
                return Neighbours(
                    store.relations[shown], store.tails[shown], store.confidences[shown], store.forward[: len(shown)]
                )
        return self._view_of(begin, end)

    def _view_of(self, begin: int, end: int) -> Neighbours:
        relations, tails, confidences, forward = self._columns
        part = slice(begin, end)
        return _neighbours((relations[part], tails[part], confidences[part], forward[: end - begin]))

    def _incoming(self, entity: int, relation: int | None) -> Neighbours:
        store = self.store
        begin, end = self._in_start[entity], self._in_start[entity + 1]
        if relation is not None:
            first = bisect_left(range(end), relation, begin, end, key=self._relation_into)
            begin, end = first, bisect_right(range(end), relation, first, end, key=self._relation_into)
        edges, heads = store.in_edge[begin:end], store.heads[begin:end]
        if self._masked:
            shown = self._visible[edges]
            edges, heads = edges[shown], heads[shown]
        return Neighbours(store.relations[edges], heads, store.confidences[edges], store.backward[: len(edges)])

    def edges(self, entity: int, direction: Direction = "out", relation: int | None = None) -> list[Edge]:
        """The edges at an entity as a list."""
        if direction != "out" or relation is not None or self._masked or not 0 <= entity < self._num_entities:
            return super().edges(entity, direction, relation)
        store = self.store
        begin, end = self._out_start[entity], self._out_start[entity + 1]
        relations, tails = store.relations[begin:end].tolist(), store.tails[begin:end].tolist()
        confidences = store.confidences[begin:end].tolist()
        rows = zip(repeat(int(entity)), relations, tails, confidences, repeat(False), strict=False)
        return list(map(new_edge, rows))

    def _relation_into(self, back: int) -> int:
        return int(self.store.relations[self.store.in_edge[back]])

    def has_triple(self, head: int, relation: int, tail: int) -> bool:
        """Whether the triple is visible."""
        edge = int(self._find_edges([(head, relation, tail)])[0])
        return edge >= 0 and (not self._masked or bool(self._visible[edge]))

    def quads(self) -> Iterator[Quad]:
        """All visible quadruples ordered by (head, relation, tail)."""
        columns = self.columns()
        for begin in range(0, len(columns[0]), 65_536):
            part = (column[begin : begin + 65_536].tolist() for column in columns)
            yield from map(new_quad, zip(*part, strict=True))

    def triples_among(self, entities: Iterable[int]) -> list[Quad]:
        """The quadruples whose head and tail both lie in the set, ordered by (head, relation, tail)."""
        store = self.store
        heads, edges = kernels.edges_in_set(self._view, self._set(entities), store.scratch.seen)
        columns = (heads, store.relations[edges], store.tails[edges], store.confidences[edges])
        return list(map(new_quad, zip(*(column.tolist() for column in columns), strict=True)))

    # -- paths -----------------------------------------------------------------------------------------

    def follow(self, entities: Iterable[int], relation_path: RelationPath) -> Ids:
        """The entities at the end of a relation path from any of ``entities``: sorted, distinct."""
        self.check_relations(step.relation for step in relation_path)
        scratch = self.store.scratch
        reached = self._set(entities)
        for relation, inverse in relation_path:
            reached = kernels.follow_step(self._view, reached, relation, inverse, scratch.seen, scratch.queue)
        reached.sort()
        return reached

    def steps_from(self, entities: Iterable[int], direction: Direction = "out") -> list[Step]:
        """The distinct steps that leave any of ``entities``, forward ones first, by relation."""
        flags = kernels.steps_at(self._view, _CODES[direction], self._set(entities), self.num_relations)
        return [Step(at % self.num_relations, at >= self.num_relations) for at in np.flatnonzero(flags).tolist()]

    def relations_at(self, entity: int, direction: Direction = "out") -> list[Step]:
        """The distinct steps that leave an entity, forward ones first, by relation."""
        return self.steps_from((entity,), direction)

    def shortest_paths(
        self, source: int, target: int, max_hops: int, direction: Direction = "out", limit: int | None = None
    ) -> list[Path]:
        """All shortest paths (parallel relations apart); empty where none is within ``max_hops``."""
        self.check_entities((source, target))
        if source == target:
            return [()] if limit is None or limit > 0 else []
        scratch = self.store.scratch
        hops, rows = path_kernels.shortest(
            self._view, _CODES[direction], source, target, min(max_hops, _MOST_HOPS), _limit(limit),
            scratch.seen, scratch.seen_back, scratch.queue, scratch.queue_back,
        )  # fmt: skip
        return self._paths(rows, hops)[:limit]

    def paths(
        self, source: int, target: int, max_hops: int, direction: Direction = "out", limit: int | None = None
    ) -> list[Path]:
        """All paths of 1 to ``max_hops`` edges that visit no entity twice, shorter first."""
        self.check_entities((source, target))
        if source == target:
            return []
        scratch = self.store.scratch
        code, distance = _CODES[direction], scratch.seen
        longest = min(max_hops, _MOST_HOPS, self._num_entities - 1)
        found: list[Path] = []
        reached = path_kernels.distances_to(self._view, code, target, longest - 1, distance, scratch.queue)
        try:
            for hops in range(1, longest + 1):
                left = None if limit is None else limit - len(found)
                rows = path_kernels.simple_paths(self._view, code, source, target, hops, _limit(left), distance)
                found += self._paths(rows, hops)[:left]
        finally:
            distance[reached] = 0
        return found

    def _paths(self, rows: npt.NDArray[np.int64], hops: int) -> list[Path]:
        """Rows (from, 2 * forward position + inverse, to), ``hops`` a path, as paths."""
        if len(rows) == 0:
            return []
        sources, codes, targets = rows.T
        positions = codes >> 1
        edges = map(
            new_edge,
            zip(
                sources.tolist(),
                self.store.relations[positions].tolist(),
                targets.tolist(),
                self.store.confidences[positions].tolist(),
                (codes & 1).astype(np.bool_).tolist(),
                strict=True,
            ),
        )
        return list(zip(*repeat(edges, hops), strict=True))

    def within_hops(self, entities: Iterable[int], hops: int, direction: Direction = "both") -> Ids:
        """The entities within ``hops`` steps of any of ``entities``, those included: sorted, distinct."""
        scratch = self.store.scratch
        reached: Ids
        reached, state = kernels.within(
            self._view, _CODES[direction], self._array(entities), hops, scratch.seen, scratch.queue
        )
        if state == kernels.SORTED:
            return reached
        reached.sort()
        return reached if state == kernels.UNSORTED else kernels.distinct(reached)

    # -- derived graphs --------------------------------------------------------------------------------

    def subgraph(self, entities: Iterable[int], hops: int, direction: Direction = "both") -> MemoryGraph:
        """A view in which only triples among the entities within ``hops`` are visible; ids are unchanged."""
        members = self.within_hops(entities, hops, direction)
        _heads, edges = kernels.edges_in_set(self._view, members, self.store.scratch.seen)
        visible = np.zeros(len(self.store.tails), np.bool_)
        visible[edges] = True
        return MemoryGraph(self.store, visible, {**self._facts, "subgraph_entities": len(members)})

    def hide(self, triples: Iterable[tuple[int, int, int]]) -> MemoryGraph:
        """An overlay that hides (head, relation, tail) id triples; triples it does not have are ignored."""
        edges = self._find_edges(list(triples))
        visible = self._visible.copy() if self._masked else np.ones(len(self.store.tails), np.bool_)
        before = int(np.count_nonzero(visible))
        visible[edges[edges >= 0]] = False
        hidden = self._facts.get("hidden_triples", 0) + before - int(np.count_nonzero(visible))
        return MemoryGraph(self.store, visible, {**self._facts, "hidden_triples": hidden})

    # -- ids for the kernels ---------------------------------------------------------------------------

    def _find_edges(self, triples: list[tuple[int, int, int]]) -> npt.NDArray[np.int64]:
        columns = list(zip(*triples, strict=True)) or [(), (), ()]
        heads, tails = self._array(columns[0]), self._array(columns[2])
        relations = np.array(self.check_relations(columns[1]), np.int32)
        found: npt.NDArray[np.int64] = kernels.find_edges(self._view, heads, relations, tails)
        return found

    def _array(self, entities: Iterable[int]) -> Ids:
        return np.array(self.check_entities(entities), np.int32)

    def _set(self, entities: Iterable[int]) -> Ids:
        if isinstance(entities, np.ndarray) and entities.dtype == np.int32 and np.all(entities[1:] > entities[:-1]):
            self.check_entities(entities[[0, -1]] if len(entities) else ())  # it is a set already, as follow gives
            return entities
        return np.array(sorted(set(self.check_entities(entities))), np.int32)


def _limit(limit: int | None) -> int:
    return -1 if limit is None else max(limit, 0)
