"""What the mining of four atoms adds to the index of a graph: the double edges; and how much memory it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from . import four_close_kernels as close
from . import four_path_kernels as paths
from . import kernels_support, memory
from .index import IndexArrays, SignedIndex

Ints = npt.NDArray[np.int64]
Ids = npt.NDArray[np.int32]
_Signed = TypeVar("_Signed", Ints, Ids)

MOST_CELLS = 2**22
"""Most pairs of relations counted in one pass over the doubled paths."""

_DOUBLE_EDGE = 100
"""Bytes that sorting takes for one double edge."""


@dataclass(frozen=True)
class DoubleGraph:
    """The index and its double edges (see ``four_close_kernels``), shared by all head relations.

    Attributes:
        index: The graph.
        onward: ``onward_edges``.
        doubles: ``(start, neighbour, pair)``, the double edges of each entity by neighbour.
        instances: ``(start, entity, neighbour)``, the double edges of each pair by entity.
        pairs: ``(start, pair)``, the distinct pairs of each entity.
        pair_keys: Smaller relation · S + larger relation of each pair; rising.
    """

    index: SignedIndex
    onward: Ints
    doubles: tuple[Ints, Ids, Ids]
    instances: tuple[Ints, Ids, Ids]
    pairs: tuple[Ints, Ids]
    pair_keys: Ints

    @staticmethod
    def of(index: SignedIndex) -> DoubleGraph:
        """Find the double edges.

        Raises:
            ConfigError: They do not fit into memory.
        """
        edges = _edges(index)
        start = close.double_edge_starts(edges)
        memory.require(_DOUBLE_EDGE * int(start[-1]), f"{start[-1]} pairs of relations between the same two entities")
        to, first, second = close.double_edges(edges, int(start[-1]))
        keys, places = np.unique(first.astype(np.int64) * index.num_signed + second, return_inverse=True)
        pair: Ids = places.astype(np.int32)
        sources = np.repeat(np.arange(index.num_entities, dtype=np.int32), np.diff(start))
        order = np.argsort(pair, kind="stable")
        begins = np.searchsorted(pair[order], np.arange(len(keys) + 1))
        instances = (begins, sources[order], to[order])
        holders, held = np.divmod(np.unique(sources * np.int64(max(len(keys), 1)) + pair), max(len(keys), 1))
        pairs = (np.searchsorted(holders, np.arange(index.num_entities + 1)), held.astype(np.int32))
        return DoubleGraph(index, paths.onward_edges(index.arrays), (start, to, pair), instances, pairs, keys)

    @property
    def arrays(self) -> IndexArrays:
        """The index's arrays."""
        return self.index.arrays

    @property
    def edges(self) -> tuple[Ids, Ids, Ids]:
        """``(start, neighbour, relation)``, the edges of each entity by neighbour."""
        return _edges(self.index)

    @property
    def num_pairs(self) -> int:
        """Number of pairs of relations that are double edges."""
        return len(self.pair_keys)

    def relations_of(self, pairs: npt.NDArray[Any]) -> Ints:
        """[n, 2] Smaller and larger relation of pairs."""
        return np.stack(np.divmod(self.pair_keys[pairs], self.index.num_signed), axis=1)

    def pairs_of(self, relations: Ints) -> Ints:
        """The pairs of [n, 2] relations, the smaller first; all of them are double edges."""
        return np.searchsorted(self.pair_keys, relations[:, 0] * self.index.num_signed + relations[:, 1])

    def inverse(self, signed: _Signed) -> _Signed:
        """The relations that lead back."""
        count = self.index.num_relations
        return np.where(signed < count, signed + count, signed - count).astype(signed.dtype)

    def facts(self, signed: int) -> tuple[Ids, Ids]:
        """Sources and targets of a signed relation's facts."""
        arrays = self.arrays
        begin, end = arrays.relation_start[signed], arrays.relation_start[signed + 1]
        starts = arrays.block_start[begin : end + 1]
        return np.repeat(arrays.block_source[begin:end], np.diff(starts)), arrays.target[starts[0] : starts[-1]]


def scratch_bytes(index: SignedIndex, least: Mapping[int, int], threads: int) -> int:
    """Most bytes that counting takes at one moment, beside the index and the double edges.

    Args:
        index: The graph.
        least: Least support by head relation.
        threads: Heads counted at once.
    """
    sizes = []
    for head, support in least.items():
        counts = [
            kernels_support.facts_with(index.arrays, index.num_signed, signed)
            for signed in (head, index.inverse(head))
        ]
        ends = [count[count >= support] for count in counts]
        cells = len(ends[0]) * len(ends[1])
        listed = int(ends[0].sum() + ends[1].sum())
        # joint ends, and two counters for pairs of a relation or a double edge with a relation
        sizes.append(8 * listed + 4 * cells + 8 * max(cells, MOST_CELLS) + 50 * int(index.facts[head]))
    return sum(sorted(sizes)[-threads:]) + threads * 100 * index.num_entities


def _edges(index: SignedIndex) -> tuple[Ids, Ids, Ids]:
    return index.arrays.near_start, index.arrays.near_entity, index.arrays.near_relation
