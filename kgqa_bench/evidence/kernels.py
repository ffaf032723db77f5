"""Compiled searches for relation paths between a topic entity and the answers, and for constraints on the answers.

Arguments are as in ``kgqa_bench.graph.kernels``; both directions of every edge are walked. A step is a number: the
relation r forward is r, inverse R + r, with R relations.
"""

# mypy: disable-error-code="no-untyped-def,assignment"
from __future__ import annotations

import numpy as np

from kgqa_bench.graph.compiled import njit
from kgqa_bench.graph.kernels import follow_step

_NEVER = np.int64(-1)
_SPREAD = np.int64(2_654_435_761)  # Knuth's multiplier, so that neighbouring keys lie apart


@njit
def shortest_relation_paths(view, num_relations, source, targets, max_hops, limit, distance, useful, queue):
    """The distinct relation paths of the shortest paths from ``source`` to each of ``targets`` (distinct).

    A walk as long as the distance is a shortest path. So entities are grouped by their distance from the source,
    those from which a target can be reached in time are marked with a bit for each distance of a target, and steps
    are taken from sets of entities, so that no path is looked at twice, however many entities it passes.

    Returns:
        The hops to each target (0 for none within ``max_hops``, or the source itself), and the relation paths, one a
        row, shorter first, then by their steps; -1 fills up. One more than ``limit`` says that there are more.
    """
    reached = _distances(view, source, targets, max_hops, distance, queue)
    hops = np.zeros(len(targets), np.int64)
    for at in range(len(targets)):
        hops[at] = max(distance[targets[at]] - 1, 0)
    _mark_useful(view, targets, hops, max_hops, distance, useful, queue, reached)

    rows = np.full((8, max_hops), _NEVER, np.int64)
    count = 0
    flags = np.zeros((max_hops, 2 * num_relations), np.bool_)
    step = np.zeros(max_hops, np.int64)
    begin, end = np.zeros(max_hops + 1, np.int64), np.zeros(max_hops + 1, np.int64)
    pool = np.empty(64, np.int32)
    for length in range(1, max_hops + 1):
        if not np.any(hops == length):
            continue
        bit = 1 << length
        pool[0] = source
        begin[0], end[0] = 0, 1
        depth = 0
        step[0] = 0
        _flag_steps(view, num_relations, pool, 0, 1, 2, bit, distance, useful, flags[0])
        while depth >= 0 and count <= limit:
            if step[depth] == 2 * num_relations:
                depth -= 1
                continue
            taken = step[depth]
            step[depth] += 1
            if not flags[depth, taken]:
                continue
            flags[depth, taken] = False
            if depth + 1 == length:
                if count == len(rows):
                    rows = _more_rows(rows)
                for part in range(length):
                    rows[count, part] = step[part] - 1
                count += 1
                continue
            pool, size = _next_set(
                view, num_relations, pool, begin[depth], end[depth], taken, depth + 2, bit, distance, useful
            )
            depth += 1
            begin[depth], end[depth] = end[depth - 1], size
            step[depth] = 0
            _flag_steps(
                view, num_relations, pool, begin[depth], end[depth], depth + 2, bit, distance, useful, flags[depth]
            )
    for at in range(reached):
        distance[queue[at]] = 0
        useful[queue[at]] = 0
    return hops, rows[:count]


@njit
def _distances(view, source, targets, max_hops, distance, queue):
    """Write 1 + hops from ``source`` until all targets are found; returns how many of the queue's entities."""
    out_start, tails, _relations, in_start, heads, in_edge, visible = view
    everything = len(visible) == 0
    distance[source] = 1
    queue[0] = source
    begin, count = 0, 1
    for hop in range(max_hops):
        missing = False
        for target in targets:
            missing = missing or distance[target] == 0
        if not missing:
            break
        end = count
        for position in range(begin, end):
            entity = queue[position]
            for edge in range(out_start[entity], out_start[entity + 1]):
                other = tails[edge]
                if distance[other] == 0 and (everything or visible[edge]):
                    distance[other] = hop + 2
                    queue[count] = other
                    count += 1
            for back in range(in_start[entity], in_start[entity + 1]):
                other = heads[back]
                if distance[other] == 0 and (everything or visible[in_edge[back]]):
                    distance[other] = hop + 2
                    queue[count] = other
                    count += 1
        begin = end
    return count


@njit
def _mark_useful(view, targets, hops, max_hops, distance, useful, queue, reached):
    """Mark entities by bits: bit d where a shortest path to a target d hops away leads through them."""
    out_start, tails, _relations, in_start, heads, in_edge, visible = view
    everything = len(visible) == 0
    for at in range(len(targets)):
        if hops[at]:
            useful[targets[at]] |= 1 << hops[at]
    for position in range(reached - 1, 0, -1):  # farther entities first
        entity = queue[position]
        bits = useful[entity]
        if bits == 0:
            continue
        before = distance[entity] - 1
        for edge in range(out_start[entity], out_start[entity + 1]):
            if distance[tails[edge]] == before and (everything or visible[edge]):
                useful[tails[edge]] |= bits
        for back in range(in_start[entity], in_start[entity + 1]):
            if distance[heads[back]] == before and (everything or visible[in_edge[back]]):
                useful[heads[back]] |= bits


@njit
def _flag_steps(view, num_relations, pool, begin, end, level, bit, distance, useful, flags):
    """Flag the steps that lead from the entities ``pool[begin:end]`` to useful ones of the next level."""
    out_start, tails, relations, in_start, heads, in_edge, visible = view
    everything = len(visible) == 0
    for position in range(begin, end):
        entity = pool[position]
        for edge in range(out_start[entity], out_start[entity + 1]):
            other = tails[edge]
            if distance[other] == level and useful[other] & bit and (everything or visible[edge]):
                flags[relations[edge]] = True
        for back in range(in_start[entity], in_start[entity + 1]):
            other = heads[back]
            edge = in_edge[back]
            if distance[other] == level and useful[other] & bit and (everything or visible[edge]):
                flags[num_relations + relations[edge]] = True


@njit
def _next_set(view, num_relations, pool, begin, end, step, level, bit, distance, useful):
    """Append to the pool the useful entities of ``level`` one step from ``pool[begin:end]``, each once."""
    out_start, tails, relations, in_start, heads, in_edge, visible = view
    everything = len(visible) == 0
    size = end
    for position in range(begin, end):
        entity = pool[position]
        inverse = step >= num_relations
        first, last = (
            (in_start[entity], in_start[entity + 1]) if inverse else (out_start[entity], out_start[entity + 1])
        )
        for at in range(first, last):
            edge = in_edge[at] if inverse else at
            other = heads[at] if inverse else tails[at]
            if relations[edge] != step % num_relations or distance[other] != level or not useful[other] & bit:
                continue
            if not (everything or visible[edge]):
                continue
            if size == len(pool):
                larger = np.empty(2 * size, np.int32)
                for each in range(size):
                    larger[each] = pool[each]
                pool = larger
            pool[size] = other
            size += 1
            distance[other] = -level  # it is in the set
    for at in range(end, size):
        distance[pool[at]] = level
    return pool, size


@njit
def _more_rows(rows):
    larger = np.full((2 * len(rows), rows.shape[1]), _NEVER, np.int64)
    for row in range(len(rows)):
        for column in range(rows.shape[1]):
            larger[row, column] = rows[row, column]
    return larger


@njit
def terminals(view, num_relations, sources, steps, seen, queue):
    """The entities at the end of a relation path, given as steps (-1 ends it), in order of discovery."""
    reached = sources
    for step in steps:
        if step < 0:
            break
        reached = follow_step(view, reached, step % num_relations, step >= num_relations, seen, queue)
    return reached


@njit
def constraints(view, num_relations, found, right, alpha, beta):
    """The constraints on the end of a path that make it more certain (appendix E.3).

    A constraint is a step from a right candidate to an entity; it holds of all candidates that the step leads to
    that entity. Edges are counted in a hash table that holds those of right candidates alone.

    Args:
        view: The graph.
        num_relations: R.
        found: The candidates that the path leads to, distinct.
        right: A flag for each, whether it is right.
        alpha: Of the prior.
        beta: Of the prior.

    Returns:
        Of each constraint, in no certain order: step, entity, candidates it holds of (n), right ones of these (s).
    """
    num_entities = np.int64(len(view[0]) - 1)
    edges = 0
    correct = 0
    for at in range(len(found)):
        if right[at]:
            correct += 1
            edges += _degree(view, found[at])
    size = np.int64(16)
    while size < 2 * edges:
        size *= 2
    keys = np.full(size, _NEVER, np.int64)
    counts = np.zeros((size, 2), np.int64)
    for wanted in (True, False):
        for at in range(len(found)):
            if right[at] == wanted:
                _count_edges(view, num_relations, num_entities, found[at], wanted, keys, counts)

    # (alpha + s) / (alpha + beta + n) is compared as it is computed elsewhere: equal fractions are equal numbers
    least = (alpha + correct) / (alpha + beta + len(found))
    rows = 0
    for place in range(size):
        if keys[place] >= 0 and (alpha + counts[place, 1]) / (alpha + beta + counts[place, 0]) > least:
            rows += 1
    result = np.empty((rows, 4), np.int64)
    row = 0
    for place in range(size):
        if keys[place] >= 0 and (alpha + counts[place, 1]) / (alpha + beta + counts[place, 0]) > least:
            result[row, 0], result[row, 1] = keys[place] // num_entities, keys[place] % num_entities
            result[row, 2], result[row, 3] = counts[place, 0], counts[place, 1]
            row += 1
    return result


@njit
def _degree(view, entity):
    out_start, in_start = view[0], view[3]
    return np.int64(out_start[entity + 1] - out_start[entity]) + np.int64(in_start[entity + 1] - in_start[entity])


@njit
def _count_edges(view, num_relations, num_entities, entity, right, keys, counts):
    """Count the edges of one candidate: those of right ones are put into the table, of others only looked up."""
    out_start, tails, relations, in_start, heads, in_edge, visible = view
    everything = len(visible) == 0
    outward = np.int64(out_start[entity + 1] - out_start[entity])
    mask = len(keys) - 1
    for at in range(_degree(view, entity)):
        inverse = at >= outward
        back = in_start[entity] + at - outward
        edge = np.int64(in_edge[back]) if inverse else np.int64(out_start[entity] + at)
        other = heads[back] if inverse else tails[edge]
        if not (everything or visible[edge]):
            continue
        key = (relations[edge] + num_relations * inverse) * num_entities + other
        place = (key * _SPREAD >> 15) & mask
        while keys[place] != key and keys[place] >= 0:
            place = (place + 1) & mask
        if keys[place] < 0:
            if not right:
                continue
            keys[place] = key
        counts[place, 0] += 1
        counts[place, 1] += right
