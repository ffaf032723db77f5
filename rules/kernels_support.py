"""Compiled loops that count the support of all bodies of one and two atoms in one pass over a head's facts."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from kgqa_bench.graph.compiled import njit

_FEW = 8  # a list this many times shorter than the other is looked up in it


@njit
def facts_with(arrays, num_signed, signed):
    """[S] For each signed relation, the edges of ``signed`` whose source has it."""
    counts = np.zeros(num_signed, np.int64)
    for block in range(arrays.relation_start[signed], arrays.relation_start[signed + 1]):
        size = arrays.block_start[block + 1] - arrays.block_start[block]
        source = arrays.block_source[block]
        for at in range(arrays.entity_start[source], arrays.entity_start[source + 1]):
            counts[arrays.entity_relation[at]] += size
    return counts


@njit
def _kept_edges(arrays, signed, local):
    """The edges at the sources of ``signed`` over relations that have a local number.

    Returns where each source's begin, in the order of its blocks, then neighbours and local numbers.
    """
    first, last = arrays.relation_start[signed], arrays.relation_start[signed + 1]
    starts = np.zeros(last - first + 1, np.int64)
    for block in range(first, last):
        source = arrays.block_source[block]
        count = 0
        for at in range(arrays.near_start[source], arrays.near_start[source + 1]):
            count += local[arrays.near_relation[at]] >= 0
        starts[block - first + 1] = starts[block - first] + count
    entities = np.empty(starts[-1], np.int32)
    relations = np.empty(starts[-1], np.int32)
    count = 0
    for block in range(first, last):
        source = arrays.block_source[block]
        for at in range(arrays.near_start[source], arrays.near_start[source + 1]):
            number = local[arrays.near_relation[at]]
            if number >= 0:
                entities[count], relations[count] = arrays.near_entity[at], number
                count += 1
    return starts, entities, relations


@njit
def _first_at(entities, begin, end, entity):
    """The first position of a sorted column from ``begin`` whose entity is not smaller, looked for near ``begin``."""
    step = 1
    low = begin
    while low + step < end and entities[low + step] < entity:
        low += step
        step *= 2
    high = min(low + step, end)
    while low < high:
        middle = (low + high) // 2
        if entities[middle] < entity:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def _locals(counts, least, num_signed):
    """Relations with at least that count, and each relation's position among them or -1."""
    kept = np.flatnonzero(counts >= least).astype(np.int32)
    local = np.full(num_signed, -1, np.int32)
    for number in range(len(kept)):
        local[kept[number]] = number
    return kept, local


@njit
def supported_bodies(arrays, num_relations, head, least, longest):
    """The bodies of one and two atoms that hold for at least ``least`` facts of the relation ``head``.

    An atom p(x, z) of such a body holds for at least as many facts, and so does its atom at y; only such relations
    are looked at. Every fact (x, y) marks each pair (p, q) that a common neighbour z of x and y gives, once.

    Args:
        arrays: IndexArrays.
        num_relations: R.
        head: Head relation, < R.
        least: Least support, at least 1.
        longest: 2 for bodies of one atom only, 3 for those of two as well.

    Returns:
        [n, 3] and [n]: (p, NONE, SINGLE), (p, q, PATH2 or PARALLEL2), and their supports.
    """
    num_signed = 2 * num_relations
    x_kept, x_local = _locals(facts_with(arrays, num_signed, head), least, num_signed)
    y_kept, y_local = _locals(facts_with(arrays, num_signed, head + num_relations), least, num_signed)
    x_starts, x_near, x_over = _kept_edges(arrays, head, x_local)
    singles = np.zeros(len(x_kept), np.int32)
    parallel = np.zeros((len(x_kept) if longest >= 3 else 0, len(x_kept)), np.int32)
    if longest < 3:
        y_kept = y_kept[:0]
        y_local[:] = -1
    y_starts, y_near, y_over = _kept_edges(arrays, head + num_relations, y_local)
    paths = np.zeros((len(x_kept), len(y_kept)), np.int32)
    marks = np.full((len(x_kept), len(y_kept)), -1, np.int32)
    y_block = np.empty(len(arrays.near_start) - 1, np.int32)
    first_y = arrays.relation_start[head + num_relations]
    for block in range(first_y, arrays.relation_start[head + num_relations + 1]):
        y_block[arrays.block_source[block]] = block - first_y
    first = arrays.relation_start[head]
    for block in range(first, arrays.relation_start[head + 1]):
        x_begin, x_end = x_starts[block - first], x_starts[block - first + 1]
        for fact in range(arrays.block_start[block], arrays.block_start[block + 1]):
            y = arrays.target[fact]
            begin = _first_at(x_near, x_begin, x_end, y)
            end = begin
            while end < x_end and x_near[end] == y:
                one = x_over[end]
                if x_kept[one] != head:
                    singles[one] += 1
                    if longest >= 3:
                        for at in range(begin, end):
                            if x_kept[x_over[at]] != head:
                                parallel[x_over[at], one] += 1
                end += 1
            at_x, at_y = x_begin, y_starts[y_block[y]]
            y_end = y_starts[y_block[y] + 1]
            short_x = (x_end - at_x) * _FEW < y_end - at_y
            short_y = (y_end - at_y) * _FEW < x_end - at_x
            while at_x < x_end and at_y < y_end:
                z = x_near[at_x]
                if z < y_near[at_y]:
                    at_x = _first_at(x_near, at_x, x_end, y_near[at_y]) if short_y else at_x + 1
                elif z > y_near[at_y]:
                    at_y = _first_at(y_near, at_y, y_end, z) if short_x else at_y + 1
                else:
                    y_run = at_y
                    while y_run < y_end and y_near[y_run] == z:
                        y_run += 1
                    while at_x < x_end and x_near[at_x] == z:
                        p = x_over[at_x]
                        for at in range(at_y, y_run):
                            if marks[p, y_over[at]] != fact:
                                marks[p, y_over[at]] = fact
                                paths[p, y_over[at]] += 1
                        at_x += 1
                    at_y = y_run
    return _frequent(singles, paths, parallel, x_kept, y_kept, num_relations, least)


@njit
def _frequent(singles, paths, parallel, x_kept, y_kept, num_relations, least):
    count = np.sum(singles >= least) + np.sum(paths >= least) + np.sum(parallel >= least)
    bodies = np.empty((count, 3), np.int64)
    supports = np.empty(count, np.int64)
    row = 0
    for p in range(len(x_kept)):
        if singles[p] >= least:
            bodies[row, 0], bodies[row, 1], bodies[row, 2] = x_kept[p], -1, 0
            supports[row] = singles[p]
            row += 1
    for q in range(len(y_kept)):  # the last relation outside: counting lays it out once for all the first ones
        for p in range(len(x_kept)):
            if paths[p, q] >= least:
                back = y_kept[q] - num_relations if y_kept[q] >= num_relations else y_kept[q] + num_relations
                bodies[row, 0], bodies[row, 1], bodies[row, 2] = x_kept[p], back, 1
                supports[row] = paths[p, q]
                row += 1
    for q in range(len(x_kept)):
        for p in range(min(q, len(parallel))):
            if parallel[p, q] >= least:
                bodies[row, 0], bodies[row, 1], bodies[row, 2] = x_kept[p], x_kept[q], 2
                supports[row] = parallel[p, q]
                row += 1
    return bodies, supports
