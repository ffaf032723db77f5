"""Compiled loops that count the pairs (x, y) of one body.

All work on relations as (sources, starts, targets): sorted distinct sources, where the targets of each begin (and
the last end), and targets, sorted and distinct within a source. The functional side is always x: bodies are turned
round before where it is y.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from kgqa_bench.graph.compiled import njit

from .shapes import Shape

# numba takes plain integers for constants
SINGLE, PATH2, PARALLEL2, PATH3, TRIANGLE, PENDANT_X, PENDANT_Y, DOUBLED_X, DOUBLED_Y, PARALLEL3 = map(int, Shape)
_FEW = 8


@njit
def new_scratch(num_entities):
    """What one thread needs: positions in four relations, three columns of marks, and the last mark used."""
    return (
        np.full((4, num_entities), -1, np.int32),
        np.zeros((3, num_entities), np.int64),
        np.zeros(1, np.int64),
    )


@njit
def relation_of(arrays, signed):
    """A signed relation of the index."""
    first, last = arrays.relation_start[signed], arrays.relation_start[signed + 1]
    return arrays.block_source[first:last], arrays.block_start[first : last + 1], arrays.target


@njit
def both(left, right):
    """The pairs that two relations have in common."""
    sources, starts, targets = left
    other_sources, other_starts, other_targets = right
    room = min(starts[-1] - starts[0], other_starts[-1] - other_starts[0])
    common = np.empty(room, np.int32)
    kept = np.empty(min(len(sources), len(other_sources)), np.int32)
    kept_starts = np.zeros(len(kept) + 1, np.int32)
    count, rows, other = 0, 0, 0
    for row in range(len(sources)):
        while other < len(other_sources) and other_sources[other] < sources[row]:
            other += 1
        if other == len(other_sources):
            break
        if other_sources[other] != sources[row]:
            continue
        before = count
        at, end = starts[row], starts[row + 1]
        other_at, other_end = other_starts[other], other_starts[other + 1]
        while at < end and other_at < other_end:
            if targets[at] == other_targets[other_at]:
                common[count] = targets[at]
                count += 1
                at += 1
                other_at += 1
            elif targets[at] < other_targets[other_at]:
                at += 1
            else:
                other_at += 1
        if count > before:
            kept[rows] = sources[row]
            rows += 1
            kept_starts[rows] = count
    return kept[:rows], kept_starts[: rows + 1], common[:count]


@njit
def _locate(relation, places):
    """Note where each source of a relation stands; what other relations noted before does no harm."""
    sources = relation[0]
    for row in range(len(sources)):
        places[sources[row]] = row


@njit
def _row(relation, places, entity):
    """Row of an entity among a relation's sources, or -1."""
    row = places[entity]
    return row if 0 <= row < len(relation[0]) and relation[0][row] == entity else -1


@njit
def _restricted(relation, allowed, by_target, scratch):
    """The pairs of a relation whose source, or target, is a source of another."""
    places = scratch[0][3]
    _locate(allowed, places)
    sources, starts, targets = relation
    kept = np.empty(len(sources), np.int32)
    kept_starts = np.zeros(len(sources) + 1, np.int32)
    common = np.empty(starts[-1] - starts[0], np.int32)
    count, rows = 0, 0
    for row in range(len(sources)):
        before = count
        if by_target or _row(allowed, places, sources[row]) >= 0:
            for at in range(starts[row], starts[row + 1]):
                if not by_target or _row(allowed, places, targets[at]) >= 0:
                    common[count] = targets[at]
                    count += 1
        if count > before:
            kept[rows] = sources[row]
            rows += 1
            kept_starts[rows] = count
    return kept[:rows], kept_starts[: rows + 1], common[:count]


@njit
def _count_row(row, hops, first, second, third, head_row, head, room, scratch):
    """Distinct ends of the path of relations from one source, and how many of them the head has too.

    Stops early where there are more than ``room``.
    """
    places, marks, clock = scratch
    clock[0] += 1
    now = clock[0]
    seen, middle, wanted = marks[0], marks[1], marks[2]
    _sources, starts, targets = first
    pairs, support = 0, 0
    if head_row >= 0:
        for at in range(head[1][head_row], head[1][head_row + 1]):
            wanted[head[2][at]] = now
    if hops == 1:
        if head_row >= 0:
            for at in range(starts[row], starts[row + 1]):
                support += wanted[targets[at]] == now
        return starts[row + 1] - starts[row], support
    for at in range(starts[row], starts[row + 1]):
        second_row = _row(second, places[1], targets[at])
        if second_row < 0:
            continue
        for second_at in range(second[1][second_row], second[1][second_row + 1]):
            if hops == 2:
                y = second[2][second_at]
                if seen[y] != now:
                    seen[y] = now
                    pairs += 1
                    support += head_row >= 0 and wanted[y] == now
                continue
            w = second[2][second_at]
            if middle[w] == now:
                continue
            middle[w] = now
            third_row = _row(third, places[2], w)
            if third_row < 0:
                continue
            for third_at in range(third[1][third_row], third[1][third_row + 1]):
                y = third[2][third_at]
                if seen[y] != now:
                    seen[y] = now
                    pairs += 1
                    support += head_row >= 0 and wanted[y] == now
        if pairs > room:
            break
    return pairs, support


@njit
def _count_path(hops, first, second, third, head, most_pca, most_body, scratch):
    """Support, PCA body size and body size of a path; -1 for a size greater than its limit, and what follows it."""
    places = scratch[0]
    _locate(head, places[0])
    if hops >= 2:
        _locate(second, places[1])
    if hops >= 3:
        _locate(third, places[2])
    sources = first[0]
    pca, body, support = 0, 0, 0
    for with_head in (True, False):
        most = most_pca if with_head else most_body
        for row in range(len(sources)):
            head_row = _row(head, places[0], sources[row])
            if (head_row >= 0) != with_head:
                continue
            pairs, hits = _count_row(row, hops, first, second, third, head_row, head, most - body, scratch)
            body += pairs
            support += hits
            if body > most:
                return (-1, -1, -1) if with_head else (support, pca, -1)
        if with_head:
            pca = body
    return support, pca, body if body <= most_body else -1


@njit
def _closed_by_path(direct, first, second, scratch):
    """The pairs (x, y) of a relation with a z such that first(x, z) and second(z, y)."""
    places, marks, clock = scratch
    _locate(first, places[1])
    _locate(second, places[2])
    sources, starts, targets = direct
    open_end = marks[0]
    kept = np.empty(len(sources), np.int32)
    kept_starts = np.zeros(len(sources) + 1, np.int32)
    common = np.empty(starts[-1] - starts[0], np.int32)
    count, rows = 0, 0
    for row in range(len(sources)):
        first_row = _row(first, places[1], sources[row])
        if first_row < 0:
            continue
        clock[0] += 1
        now = clock[0]
        left = starts[row + 1] - starts[row]
        before = count
        for at in range(starts[row], starts[row + 1]):
            open_end[targets[at]] = now
        for first_at in range(first[1][first_row], first[1][first_row + 1]):
            second_row = _row(second, places[2], first[2][first_at])
            if second_row < 0:
                continue
            begin, end = second[1][second_row], second[1][second_row + 1]
            if left * _FEW < end - begin:
                for at in range(starts[row], starts[row + 1]):
                    y = targets[at]
                    if open_end[y] == now:
                        found = begin + np.searchsorted(second[2][begin:end], y)
                        if found < end and second[2][found] == y:
                            open_end[y] = 0
                            left -= 1
            else:
                for at in range(begin, end):
                    if open_end[second[2][at]] == now:
                        open_end[second[2][at]] = 0
                        left -= 1
            if left == 0:
                break
        for at in range(starts[row], starts[row + 1]):
            if open_end[targets[at]] != now:
                common[count] = targets[at]
                count += 1
        if count > before:
            kept[rows] = sources[row]
            rows += 1
            kept_starts[rows] = count
    return kept[:rows], kept_starts[: rows + 1], common[:count]


@njit
def count_body(arrays, head, shape, a, b, c, most_pca, most_body, scratch):
    """Support, PCA body size and body size of one body.

    Args:
        arrays: IndexArrays.
        head: Signed relation of the head; its source x is the functional side.
        shape: The body's shape.
        a: First signed relation of the body.
        b: Second, or -1.
        c: Third, or -1.
        most_pca: A greater PCA body size need not be known.
        most_body: A greater body size need not be known.
        scratch: From ``new_scratch``.

    Returns:
        The three counts. A size above its limit is -1, and after the PCA body size the support is -1 as well.
    """
    goal = relation_of(arrays, head)
    first = relation_of(arrays, a)
    second = first if b < 0 else relation_of(arrays, b)
    third = first if c < 0 else relation_of(arrays, c)
    hops = 1
    if shape == PATH2:
        hops = 2
    elif shape == PATH3:
        hops = 3
    elif shape == PARALLEL2:
        first = both(first, second)
    elif shape == PARALLEL3:
        first = both(both(first, second), third)
    elif shape == TRIANGLE:
        first = _closed_by_path(first, second, third, scratch)
    elif shape in (PENDANT_X, PENDANT_Y):
        first = _restricted(first, both(second, third), shape == PENDANT_Y, scratch)
    elif shape == DOUBLED_X:
        hops = 2
        first, second = both(first, second), third
    elif shape == DOUBLED_Y:
        hops = 2
        second = both(second, third)
    return _count_path(hops, first, second, third, goal, most_pca, most_body, scratch)


@njit
def count_rows(arrays, table, limits, scratch):
    """``count_body`` for rows (signed head, shape, a, b, c) with limits (PCA body size, body size): [n, 3]."""
    counts = np.empty((len(table), 3), np.int64)
    for row in range(len(table)):
        counts[row] = count_body(
            arrays, table[row, 0], table[row, 1], table[row, 2], table[row, 3], table[row, 4],
            limits[row, 0], limits[row, 1], scratch,
        )  # fmt: skip
    return counts
