"""A graph laid out for mining: 2R signed relations, seen from relations and from entities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kgqa_bench.errors import ConfigError
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.protocol import Graph

from . import kernels_index

Ints = npt.NDArray[np.int32]

_MOST_TRIPLES = 2**30 - 1


class IndexArrays(NamedTuple):
    """The arrays of a ``SignedIndex``, in the one tuple that every kernel takes first.

    With E entities, R relations and T distinct triples there are S = 2R signed relations and 2T signed edges:
    ``p < R`` leads from head to tail, ``p + R`` from tail to head. A *block* is the set of targets of one
    (signed relation, source); there are B of them, numbered by (signed relation, source). All arrays are int32.

    Attributes:
        relation_start: [S + 1] The blocks of signed relation p are ``relation_start[p] … relation_start[p + 1] - 1``.
        block_source: [B] The source of each block; within a relation the sources are distinct and sorted.
        block_start: [B + 1] The targets of block b are ``target[block_start[b] : block_start[b + 1]]``.
        target: [2T] Targets; within a block they are distinct and sorted.
        entity_start: [E + 1] The blocks of entity e are at ``entity_start[e] …`` of the next two.
        entity_relation: [B] Signed relation of those blocks, sorted within an entity.
        entity_block: [B] Number of those blocks.
        near_start: [E + 1] The edges of entity e are at ``near_start[e] …`` of the next two.
        near_entity: [2T] Neighbours, within an entity sorted by (neighbour, signed relation).
        near_relation: [2T] Signed relations that lead from the entity to that neighbour.

    A self-loop (e, r, e) is two edges like any triple: r and r + R, both from e to e.
    """

    relation_start: Ints
    block_source: Ints
    block_start: Ints
    target: Ints
    entity_start: Ints
    entity_relation: Ints
    entity_block: Ints
    near_start: Ints
    near_entity: Ints
    near_relation: Ints


@dataclass(frozen=True)
class SignedIndex:
    """What the miner's kernels work on. See ``IndexArrays`` for the layout.

    Attributes:
        arrays: The arrays.
        num_entities: E.
        num_relations: R; the inverse of signed relation p is ``inverse(p)``.
        relation_names: Name of each of the R relations.
    """

    arrays: IndexArrays
    num_entities: int
    num_relations: int
    relation_names: tuple[str, ...]

    @staticmethod
    def of(graph: Graph) -> SignedIndex:
        """Lay out the visible triples of a graph, each counted once.

        Raises:
            ConfigError: The graph has more than 2^30 - 1 triples.
        """
        if graph.num_triples > _MOST_TRIPLES:
            raise ConfigError(f"The miner takes at most {_MOST_TRIPLES} triples; the graph has {graph.num_triples}.")
        heads, relations, tails = _columns(graph)
        entities, count = graph.num_entities, graph.num_relations
        sources, signed, targets = kernels_index.signed_edges(heads, relations, tails, entities, count)
        block_source, block_relation, block_start, relation_start = kernels_index.blocks(sources, signed, 2 * count)
        arrays = IndexArrays(
            relation_start, block_source, block_start, targets,
            *kernels_index.by_entity(block_source, block_relation, entities),
            *kernels_index.merged(sources, signed, targets, entities),
        )  # fmt: skip
        return SignedIndex(arrays, entities, count, tuple(map(graph.relation_name, range(count))))

    @property
    def num_signed(self) -> int:
        """S = 2R."""
        return 2 * self.num_relations

    def inverse(self, signed: int) -> int:
        """The signed relation that leads back."""
        return signed - self.num_relations if signed >= self.num_relations else signed + self.num_relations

    @cached_property
    def facts(self) -> npt.NDArray[np.int64]:
        """[S] Facts of each signed relation."""
        starts = self.arrays.block_start[self.arrays.relation_start].astype(np.int64)
        return starts[1:] - starts[:-1]

    @cached_property
    def domain_sizes(self) -> npt.NDArray[np.int64]:
        """[S] Distinct sources of each signed relation: subjects for p < R, objects for p + R."""
        starts = self.arrays.relation_start.astype(np.int64)
        return starts[1:] - starts[:-1]

    @cached_property
    def functional_subject(self) -> npt.NDArray[np.bool_]:
        """[R] Whether a relation's functional side is its subject: at least as many distinct subjects as objects."""
        functional: npt.NDArray[np.bool_] = (
            self.domain_sizes[: self.num_relations] >= self.domain_sizes[self.num_relations :]
        )
        return functional

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(array.nbytes for array in self.arrays)


def index_bytes(entities: int, relations: int, triples: int) -> int:
    """Most bytes that laying out a graph takes at one moment: the arrays and what sorting them needs."""
    edges = 2 * triples
    arrays, sorting = 7 * edges + 2 * entities + 2 * relations, 5 * edges
    return 4 * (arrays + sorting)


def _columns(graph: Graph) -> tuple[Ints, Ints, Ints]:
    """Heads, relations and tails of the visible triples by (head, relation, tail)."""
    if isinstance(graph, MemoryGraph):
        heads, relations, tails, _confidences = graph.columns()
        return (
            heads.copy(),
            relations.copy(),
            tails.copy(),
        )  # a graph's own are read-only: another type to compile for
    rows = np.array([quad[:3] for quad in graph.quads()], dtype=np.int32).reshape(-1, 3)
    heads, relations, tails = np.ascontiguousarray(rows.T)
    return heads, relations, tails
