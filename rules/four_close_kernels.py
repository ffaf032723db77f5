"""Compiled counting of the bodies of three atoms that are not paths x–z–w–y.

``edges`` is ``(edge_start, neighbour, relation)``: each entity's edges by (neighbour, signed relation).
A *double edge* x–z is a pair of different signed relations that both lead from x to z; the pairs are numbered.
``doubles`` is like ``edges`` with the number of the pair for the relation. Distinct pairs by entity are ``pairs``,
``(pair_start, pair)``. ``index`` is the ``IndexArrays`` of a ``SignedIndex``; relations are signed.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from kgqa_bench.graph.compiled import njit

from .four_path_kernels import block_of, first_edge


@njit
def double_edge_starts(edges):
    """Where each entity's double edges begin."""
    edge_start, neighbour, _relation = edges
    start = np.zeros(len(edge_start), np.int64)
    for entity in range(len(edge_start) - 1):
        start[entity + 1] = start[entity]
        run = edge_start[entity]
        for edge in range(edge_start[entity], edge_start[entity + 1]):
            if neighbour[edge] != neighbour[run]:
                run = edge
            start[entity + 1] += edge - run
    return start


@njit
def double_edges(edges, total):
    """Every double edge, by (entity, neighbour, first relation): neighbours, smaller and larger relations."""
    edge_start, neighbour, relation = edges
    to = np.empty(total, np.int32)
    first = np.empty(total, np.int32)
    second = np.empty(total, np.int32)
    at = 0
    for entity in range(len(edge_start) - 1):
        for edge in range(edge_start[entity], edge_start[entity + 1]):
            other = edge + 1
            while other < edge_start[entity + 1] and neighbour[other] == neighbour[edge]:
                to[at], first[at], second[at] = neighbour[edge], relation[edge], relation[other]
                at += 1
                other += 1
    return to, first, second


@njit
def relations_beside(edges, xs, ys, head):
    """The signed relations from x to y of each fact, the head relation left out; where each fact's begin."""
    edge_start, neighbour, relation = edges
    start = np.zeros(len(xs) + 1, np.int64)
    found = np.empty(4 * len(xs) + 16, np.int32)
    size = 0
    for fact in range(len(xs)):
        end = edge_start[xs[fact] + 1]
        edge = first_edge(neighbour, edge_start[xs[fact]], end, ys[fact])
        while edge < end and neighbour[edge] == ys[fact]:
            if relation[edge] != head:
                if size == len(found):
                    larger = np.empty(2 * size, np.int32)
                    for at in range(size):
                        larger[at] = found[at]
                    found = larger
                found[size] = relation[edge]
                size += 1
            edge += 1
        start[fact + 1] = size
    return start, found[:size]


@njit
def _common(near, near_begin, near_end, far, far_begin, far_end, ranges):
    # ranges[:, :count]: where each common neighbour's edges begin and end on the near and on the far side
    count = 0
    at, low = near_begin, far_begin
    while at < near_end and low < far_end:
        wanted = near[at]
        stop = at + 1
        while stop < near_end and near[stop] == wanted:
            stop += 1
        step = 1
        while low + step < far_end and far[low + step] < wanted:
            step *= 2
        low = first_edge(far, low, min(low + step, far_end), wanted)
        if low < far_end and far[low] == wanted:
            last = low + 1
            while last < far_end and far[last] == wanted:
                last += 1
            ranges[0, count], ranges[1, count] = at, stop
            ranges[2, count], ranges[3, count] = low, last
            count += 1
            low = last
        at = stop
    return count


@njit
def _common_neighbours(left, right, x, y, ranges):
    # as _common, the ranges of x (in left) first, whichever side is the shorter
    left_start, left_neighbour, _left_label = left
    right_start, right_neighbour, _right_label = right
    begin_x, end_x, begin_y, end_y = left_start[x], left_start[x + 1], right_start[y], right_start[y + 1]
    if end_x - begin_x <= end_y - begin_y:
        return _common(left_neighbour, begin_x, end_x, right_neighbour, begin_y, end_y, ranges)
    count = _common(right_neighbour, begin_y, end_y, left_neighbour, begin_x, end_x, ranges)
    for at in range(count):
        ranges[0, at], ranges[2, at] = ranges[2, at], ranges[0, at]
        ranges[1, at], ranges[3, at] = ranges[3, at], ranges[1, at]
    return count


@njit
def two_step_supports(left, right, xs, ys, place_left, num_left, place_right, num_right, threshold):
    """The pairs of labels that meet in a common neighbour for at least ``threshold`` of the facts.

    Args:
        left: ``edges`` or ``doubles``, walked from x.
        right: ``edges``, walked from y.
        xs: Subjects of the facts.
        ys: Objects.
        place_left: Places of the labels of ``left`` that count, -1 for others.
        num_left: How many there are.
        place_right: Likewise for ``right``.
        num_right: Likewise.
        threshold: Least support.

    Returns:
        Rows (place left, place right, support) in rising order.
    """
    count = np.zeros((num_left, num_right), np.int32)
    seen = np.zeros((num_left, num_right), np.int32)
    ranges = np.empty((4, len(left[0])), np.int64)
    for fact in range(len(xs)):
        for shared in range(_common_neighbours(left, right, xs[fact], ys[fact], ranges)):
            for at in range(ranges[0, shared], ranges[1, shared]):
                near = place_left[left[2][at]]
                if near < 0:
                    continue
                for other in range(ranges[2, shared], ranges[3, shared]):
                    far = place_right[right[2][other]]
                    if far >= 0 and seen[near, far] != fact + 1:
                        seen[near, far] = fact + 1
                        count[near, far] += 1
    size = 0
    for near in range(num_left):
        for far in range(num_right):
            size += count[near, far] >= threshold
    rows = np.empty((size, 3), np.int32)
    size = 0
    for near in range(num_left):
        for far in range(num_right):
            if count[near, far] >= threshold:
                rows[size, 0], rows[size, 1], rows[size, 2] = near, far, count[near, far]
                size += 1
    return rows


@njit
def triangle_sizes(
    edges, xs, ys, known, place_left, num_left, place_right, num_right, lefts, rights, pca_limit, std_limit
):
    """Of the facts (x, y) of one relation, those over which two more relations meet in a neighbour of both.

    Args:
        edges: See the module.
        xs: Subjects of the facts, those with a known entity first.
        ys: Objects.
        known: How many facts have a functional-side entity with a fact of the head relation.
        place_left: Places of the relations from x, -1 for such as are in no candidate.
        num_left: How many there are.
        place_right: Likewise from y.
        num_right: Likewise.
        lefts: Candidates: place of the relation from x.
        rights: Place of the relation from y.
        pca_limit: Most known pairs by candidate; a candidate with more is given up.
        std_limit: Most pairs.

    Returns:
        Known pairs and all pairs; -1 for both where a limit is passed.
    """
    candidate_at = np.full((num_left, num_right), -1, np.int32)
    for candidate in range(len(lefts)):
        candidate_at[lefts[candidate], rights[candidate]] = candidate
    pca = np.zeros(len(lefts), np.int64)
    std = np.zeros(len(lefts), np.int64)
    seen = np.full(len(lefts), -1, np.int64)
    ranges = np.empty((4, len(edges[0])), np.int64)
    alive = len(lefts)
    for fact in range(len(xs)):
        if alive == 0:
            break
        for shared in range(_common_neighbours(edges, edges, xs[fact], ys[fact], ranges)):
            for at in range(ranges[0, shared], ranges[1, shared]):
                near = place_left[edges[2][at]]
                if near < 0:
                    continue
                for other in range(ranges[2, shared], ranges[3, shared]):
                    far = place_right[edges[2][other]]
                    candidate = candidate_at[near, far] if far >= 0 else -1
                    if candidate < 0 or seen[candidate] == fact:
                        continue
                    seen[candidate] = fact
                    std[candidate] += 1
                    pca[candidate] += fact < known
                    if std[candidate] > std_limit[candidate] or pca[candidate] > pca_limit[candidate]:
                        std[candidate] = pca[candidate] = -1
                        candidate_at[near, far] = -1
                        alive -= 1
    return pca, std


@njit
def pair_sums(pairs, entities, weights, num_pairs):
    """Sum of the weights of the entities that have each pair."""
    pair_start, pair = pairs
    total = np.zeros(num_pairs, np.int64)
    for at in range(len(entities)):
        for place in range(pair_start[entities[at]], pair_start[entities[at] + 1]):
            total[pair[place]] += weights[at]
    return total


@njit
def double_path_sizes(index, instances, double, step, known, near_side, pca_limit, std_limit):
    """Distinct (x, y) with a double edge x–z and an edge from z to y.

    Args:
        index: See the module.
        instances: ``(instance_start, xs, zs)``: the double edges by number of the pair, then x.
        double: Candidates: number of the pair.
        step: Signed relation from z to y.
        known: By entity, whether it has a fact of the head relation on the functional side.
        near_side: Whether the functional side is x.
        pca_limit: Most known pairs by candidate; a candidate with more is given up.
        std_limit: Most pairs.

    Returns:
        Known pairs and all pairs; -1 for both where a limit is passed.
    """
    instance_start, xs, zs = instances
    pca = np.zeros(len(double), np.int64)
    std = np.zeros(len(double), np.int64)
    seen = np.zeros(len(index.near_start) - 1, np.int64)
    tick = 0
    for candidate in range(len(double)):
        last = -1
        for at in range(instance_start[double[candidate]], instance_start[double[candidate] + 1]):
            if xs[at] != last:
                last = xs[at]
                tick += 1
            block = block_of(index, zs[at], step[candidate])
            if block < 0:
                continue
            for y_at in range(index.block_start[block], index.block_start[block + 1]):
                y = index.target[y_at]
                if seen[y] != tick:
                    seen[y] = tick
                    std[candidate] += 1
                    pca[candidate] += known[last] if near_side else known[y]
            if std[candidate] > std_limit[candidate] or pca[candidate] > pca_limit[candidate]:
                std[candidate] = pca[candidate] = -1
                break
    return pca, std


@njit
def parallel_supports(start, places, num_places, threshold):
    """The threes of relations that at least ``threshold`` facts have beside the head.

    Args:
        start: Where each fact's relations begin.
        places: Places of the relations among the frequent ones, -1 for others; rising within a fact.
        num_places: How many there are.
        threshold: Least support.

    Returns:
        Rows (first, second, third place, support) in rising order.
    """
    holder_start = np.zeros(num_places + 1, np.int64)
    for place in places:
        if place >= 0:
            holder_start[place + 1] += 1
    for place in range(num_places):
        holder_start[place + 1] += holder_start[place]
    cursor = holder_start[:-1].copy()
    holders = np.empty(holder_start[num_places], np.int64)
    for fact in range(len(start) - 1):
        for at in range(start[fact], start[fact + 1]):
            if places[at] >= 0:
                holders[cursor[places[at]]] = at
                cursor[places[at]] += 1
    ends = np.empty(len(places), np.int64)
    for fact in range(len(start) - 1):
        for at in range(start[fact], start[fact + 1]):
            ends[at] = start[fact + 1]
    capacity = 64
    rows = np.empty((capacity, 4), np.int32)
    size = 0
    count = np.zeros((num_places, num_places), np.int32)
    for first in range(num_places):
        for row in range(2):  # count, then read and clear
            for holder in range(holder_start[first], holder_start[first + 1]):
                at = holders[holder]
                for second in range(at + 1, ends[at]):
                    if places[second] < 0:
                        continue
                    for third in range(second + 1, ends[at]):
                        if places[third] < 0:
                            continue
                        if row == 0:
                            count[places[second], places[third]] += 1
                            continue
                        support = count[places[second], places[third]]
                        count[places[second], places[third]] = 0
                        if support < threshold:
                            continue
                        if size == capacity:
                            capacity *= 2
                            larger = np.empty((capacity, 4), np.int32)
                            for old in range(size):
                                for column in range(4):
                                    larger[old, column] = rows[old, column]
                            rows = larger
                        rows[size, 0], rows[size, 1] = first, places[second]
                        rows[size, 2], rows[size, 3] = places[third], support
                        size += 1
    return rows[:size]


@njit
def parallel_sizes(edges, xs, ys, known, second, third, pca_limit, std_limit):
    """Of the facts (x, y) of one relation, how many two more relations have too.

    Args:
        edges: See the module.
        xs: Subjects of the facts, those with a known entity first.
        ys: Objects.
        known: How many facts have a functional-side entity with a fact of the head relation.
        second: Candidates: one more signed relation from x to y.
        third: The other one.
        pca_limit: Most known pairs by candidate; a candidate with more is given up.
        std_limit: Most pairs.

    Returns:
        Known pairs and all pairs; -1 for both where a limit is passed.
    """
    edge_start, neighbour, relation = edges
    pca = np.zeros(len(second), np.int64)
    std = np.zeros(len(second), np.int64)
    for candidate in range(len(second)):
        for fact in range(len(xs)):
            end = edge_start[xs[fact] + 1]
            edge = first_edge(neighbour, edge_start[xs[fact]], end, ys[fact])
            found = 0
            while edge < end and neighbour[edge] == ys[fact]:
                found += relation[edge] == second[candidate] or relation[edge] == third[candidate]
                edge += 1
            if found == 2:
                std[candidate] += 1
                pca[candidate] += fact < known
                if std[candidate] > std_limit[candidate] or pca[candidate] > pca_limit[candidate]:
                    std[candidate] = pca[candidate] = -1
                    break
    return pca, std
