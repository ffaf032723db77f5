"""Compiled searches for paths between two entities. Arguments as in ``kernels``.

A traversed edge is (from, code, to) where ``code = 2 * forward position + inverse``. Results are flat arrays,
``hops`` edges a path, the paths in the order of their steps (direction, relation, other entity).
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from kgqa_bench.graph.compiled import njit


@njit
def _append(rows, count, source, code, target):
    """Put an edge into row ``count``, in a larger array if there is no room."""
    if count == len(rows):
        larger = np.empty((2 * count, 3), np.int64)
        for row in range(count):  # a slice assignment takes seconds to compile
            for column in range(3):
                larger[row, column] = rows[row, column]
        rows = larger
    rows[count, 0], rows[count, 1], rows[count, 2] = source, code, target
    return rows


@njit
def _work(view, direction, queue, begin, end):
    """How many edges an expansion of ``queue[begin:end]`` looks at, to either side of each entity."""
    out_start, in_start = view[0], view[3]
    outward, inward = np.int64(0), np.int64(0)
    for position in range(begin, end):
        entity = queue[position]
        if direction & 1:
            outward += out_start[entity + 1] - out_start[entity]
        if direction & 2:
            inward += in_start[entity + 1] - in_start[entity]
    return outward + inward


@njit
def _expand(view, direction, queue, begin, end, near, far, level, last, backward, tree, tree_size):
    """Expand one layer. Returns the queue's new end, the tree and the edges that meet the other side.

    ``direction`` is the one to look in from here: a search from the target (``backward`` 1, else 0) gets it
    reversed.
    """
    out_start, tails, _relations, in_start, heads, in_edge, visible = view
    everything = len(visible) == 0
    fresh = end
    meeting = np.empty((8, 3), np.int64)
    met = np.int64(0)
    for position in range(begin, end):
        entity = np.int64(queue[position])
        for side in range(1, 3):
            if not direction & side:
                continue
            start = out_start if side == 1 else in_start
            for at in range(start[entity], start[entity + 1]):
                other = np.int64(tails[at] if side == 1 else heads[at])
                meets = far[other] != 0
                if not meets and (last or met > 0 or (near[other] != 0 and near[other] != level)):
                    continue
                edge = at if side == 1 else in_edge[at]
                if not (everything or visible[edge]):
                    continue
                # seen from the source, a backward search walks the edge the other way round
                inverse = (side == 2) != (backward == 1)
                code = 2 * np.int64(edge) + inverse
                if meets:
                    if backward == 1:
                        meeting = _append(meeting, met, other, code, entity)
                    else:
                        meeting = _append(meeting, met, entity, code, other)
                    met += 1
                    continue
                if near[other] == 0:
                    near[other] = level
                    queue[fresh] = other
                    fresh += 1
                if backward == 1:
                    tree = _append(tree, tree_size, other, code, entity)
                else:
                    tree = _append(tree, tree_size, entity, code, other)
                tree_size += 1
    return fresh, tree, tree_size, meeting[:met]


@njit
def shortest(view, direction, source, target, max_hops, limit, seen, seen_back, queue, queue_back):
    """All shortest paths by a search from both ends, each time from the side with less to look at.

    Until the two sides meet no path has at most ``ahead + behind`` edges. So an edge that reaches the other
    side reaches its outermost layer, every shortest path has exactly one such edge, and an expansion that may
    be the last need not note where else it comes to.

    Returns:
        The number of hops (0 for none) and the edges of the paths.
    """
    relations = view[2]
    reversed_direction = (direction & 1) << 1 | direction >> 1
    seen[source], seen_back[target] = 1, 1
    queue[0], queue_back[0] = source, target
    # numba would compile the callees again for literal 0 and 1
    zero, one = np.int64(0), np.int64(1)
    begin, end, begin_back, end_back = zero, one, zero, one
    ahead, behind = zero, zero
    tree, tree_back = np.empty((64, 3), np.int64), np.empty((64, 3), np.int64)
    size, size_back = zero, zero
    meeting = np.empty((0, 3), np.int64)
    while len(meeting) == 0 and ahead + behind < max_hops and begin < end and begin_back < end_back:
        last = ahead + behind + 1 == max_hops
        forward_work = _work(view, direction, queue, begin, end)
        if forward_work <= _work(view, reversed_direction, queue_back, begin_back, end_back):
            ahead += 1
            fresh, tree, size, meeting = _expand(
                view, direction, queue, begin, end, seen, seen_back, ahead + 1, last, zero, tree, size
            )
            begin, end = end, fresh
        else:
            behind += 1
            fresh, tree_back, size_back, meeting = _expand(
                view, reversed_direction, queue_back, begin_back, end_back, seen_back, seen, behind + 1, last,
                one, tree_back, size_back,
            )  # fmt: skip
            begin_back, end_back = end_back, fresh

    # keep the edges from which the meeting edges can be reached: marked entities are negative
    kept = meeting
    count = len(meeting)
    for row in range(len(meeting)):
        if seen[meeting[row, 0]] > 0:
            seen[meeting[row, 0]] *= -1
        if seen_back[meeting[row, 2]] > 0:
            seen_back[meeting[row, 2]] *= -1
    if count > 0:
        for row in range(size - 1, -1, -1):
            if seen[tree[row, 2]] < 0:
                kept = _append(kept, count, tree[row, 0], tree[row, 1], tree[row, 2])
                count += 1
                if seen[tree[row, 0]] > 0:
                    seen[tree[row, 0]] *= -1
        for row in range(size_back - 1, -1, -1):
            if seen_back[tree_back[row, 0]] < 0:
                kept = _append(kept, count, tree_back[row, 0], tree_back[row, 1], tree_back[row, 2])
                count += 1
                if seen_back[tree_back[row, 2]] > 0:
                    seen_back[tree_back[row, 2]] *= -1
    for position in range(end):
        seen[queue[position]] = 0
    for position in range(end_back):
        seen_back[queue_back[position]] = 0
    if count == 0:
        return 0, np.empty((0, 3), np.int64)
    hops = ahead + behind
    return hops, _enumerate(_sorted(kept[:count], relations, len(seen)), source, hops, limit)


@njit
def _sorted(edges, relations, num_entities):
    """Sort edges by (from, direction, relation, to)."""
    keys = np.empty(len(edges), np.int64)
    for row in range(len(edges)):
        code = edges[row, 1]
        # relations times entities stays below 2^62
        keys[row] = (code & 1) << 62 | (np.int64(relations[code >> 1]) * num_entities + edges[row, 2])
    order = np.argsort(keys, kind="mergesort")
    order = order[np.argsort(edges[order, 0], kind="mergesort")]
    return edges[order]


@njit
def _enumerate(edges, source, hops, limit):
    """Walk the layered edges, sorted by where they start, from ``source`` through ``hops`` edges."""
    stack = np.empty(hops, np.int64)
    result = np.empty((hops * 4, 3), np.int64)
    count = np.int64(0)
    starts = edges[:, 0].copy()
    depth = 0
    stack[0] = np.searchsorted(starts, source)
    while depth >= 0:
        row = stack[depth]
        expected = source if depth == 0 else edges[stack[depth - 1], 2]
        if row == len(edges) or starts[row] != expected:
            depth -= 1
            if depth >= 0:
                stack[depth] += 1
            continue
        if depth < hops - 1:
            depth += 1
            stack[depth] = np.searchsorted(starts, edges[row, 2])
            continue
        for part in range(hops):
            at = stack[part]
            result = _append(result, count, edges[at, 0], edges[at, 1], edges[at, 2])
            count += 1
        if limit >= 0 and count == limit * hops:
            break
        stack[depth] += 1
    return result[:count]


@njit
def simple_paths(view, direction, source, target, hops, limit, distance):
    """All paths of exactly ``hops`` edges that visit no entity twice.

    ``distance`` (int16) is 1 + the hops from an entity to ``target``, 0 where that is unknown or too far.
    """
    out_start, tails, _relations, in_start, heads, in_edge, visible = view
    everything = len(visible) == 0
    result = np.empty((4 * hops, 3), np.int64)
    count = np.int64(0)
    entities = np.empty(hops + 1, np.int64)
    codes = np.empty(hops, np.int64)
    place = np.zeros(hops, np.int64)
    entities[0] = source
    depth = 0
    while depth >= 0:
        entity = entities[depth]
        outward = out_start[entity + 1] - out_start[entity] if direction & 1 else 0
        inward = in_start[entity + 1] - in_start[entity] if direction & 2 else 0
        if place[depth] == outward + inward:
            place[depth] = 0
            depth -= 1
            continue
        at = place[depth]
        place[depth] += 1
        if at < outward:
            edge = np.int64(out_start[entity] + at)
            other = np.int64(tails[edge])
        else:
            back = in_start[entity] + at - outward
            other = np.int64(heads[back])
            edge = np.int64(in_edge[back])
        remaining = hops - depth - 1
        if distance[other] == 0 or distance[other] - 1 > remaining or (remaining > 0 and other == target):
            continue
        if not (everything or visible[edge]):
            continue
        again = False
        for earlier in range(depth + 1):
            again = again or entities[earlier] == other
        if again:
            continue
        codes[depth] = 2 * edge + (at >= outward)
        entities[depth + 1] = other
        if remaining > 0:
            depth += 1
            continue
        for part in range(hops):
            result = _append(result, count, entities[part], codes[part], entities[part + 1])
            count += 1
        if limit >= 0 and count == limit * hops:
            break
    return result[:count]


@njit
def distances_to(view, direction, target, hops, distance, queue):
    """Write 1 + hops to ``target`` (at most ``hops``) into ``distance``; returns the entities written."""
    out_start, tails, _relations, in_start, heads, in_edge, visible = view
    everything = len(visible) == 0
    distance[target] = 1
    queue[0] = target
    begin, count = 0, 1
    for hop in range(hops):
        end = count
        for position in range(begin, end):
            entity = queue[position]
            if direction & 1:
                for back in range(in_start[entity], in_start[entity + 1]):
                    other = heads[back]
                    if distance[other] == 0 and (everything or visible[in_edge[back]]):
                        distance[other] = hop + 2
                        queue[count] = other
                        count += 1
            if direction & 2:
                for edge in range(out_start[entity], out_start[entity + 1]):
                    other = tails[edge]
                    if distance[other] == 0 and (everything or visible[edge]):
                        distance[other] = hop + 2
                        queue[count] = other
                        count += 1
        begin = end
    return queue[:count].copy()
