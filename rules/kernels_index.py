"""Compiled loops that lay out a graph for mining."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from kgqa_bench.graph.build_kernels import counting_order, row_starts
from kgqa_bench.graph.compiled import njit


@njit
def signed_edges(heads, relations, tails, num_entities, num_relations):
    """The edges of both directions, sorted by (signed relation, source, target), as three columns.

    The triples are sorted by (head, relation, tail), so that stable counting sorts are enough.
    """
    size = len(heads)
    sources = np.empty(2 * size, np.int32)
    signed = np.empty(2 * size, np.int32)
    targets = np.empty(2 * size, np.int32)
    forward = counting_order(relations, num_relations, np.arange(size, dtype=np.int32))
    back = counting_order(tails, num_entities, np.arange(size, dtype=np.int32))
    back = counting_order(relations, num_relations, back)
    for at in range(size):
        row = forward[at]
        sources[at], signed[at], targets[at] = heads[row], relations[row], tails[row]
        row = back[at]
        sources[size + at], signed[size + at], targets[size + at] = (
            tails[row],
            relations[row] + num_relations,
            heads[row],
        )
    return sources, signed, targets


@njit
def blocks(sources, signed, num_signed):
    """Runs of equal (signed relation, source): their sources and beginnings, and each relation's first block."""
    size = len(sources)
    count = 0
    for at in range(size):
        if at == 0 or sources[at] != sources[at - 1] or signed[at] != signed[at - 1]:
            count += 1
    block_source = np.empty(count, np.int32)
    block_relation = np.empty(count, np.int32)
    block_start = np.empty(count + 1, np.int32)
    block_start[count] = size
    count = 0
    for at in range(size):
        if at == 0 or sources[at] != sources[at - 1] or signed[at] != signed[at - 1]:
            block_source[count], block_relation[count], block_start[count] = sources[at], signed[at], at
            count += 1
    return block_source, block_relation, block_start, row_starts(block_relation, num_signed)


@njit
def by_entity(block_source, block_relation, num_entities):
    """The blocks of each entity by signed relation: where an entity's begin, their relations, and their numbers."""
    order = counting_order(block_source, num_entities, np.arange(len(block_source), dtype=np.int32))
    return row_starts(block_source, num_entities), block_relation[order], order


@njit
def merged(sources, signed, targets, num_entities):
    """The edges of each entity by (neighbour, signed relation)."""
    order = counting_order(targets, num_entities, np.arange(len(sources), dtype=np.int32))
    order = counting_order(sources, num_entities, order)
    return row_starts(sources, num_entities), targets[order], signed[order]
