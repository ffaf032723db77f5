"""Compiled loops over the adjacency arrays.

``view`` is ``(out_start, tails, relations, in_start, heads, in_edge, visible)`` as in ``MemoryGraph``, where
``visible`` is empty if nothing is hidden. ``direction`` is 1 (out), 2 (in) or 3 (both). ``seen``, ``seen_back``
(int16, all zero between calls) and ``queue``, ``queue_back`` (int32) are scratch,
one element an entity; the queues have one more.
"""

# mypy: disable-error-code="no-untyped-def,assignment"
from __future__ import annotations

import numpy as np

from kgqa_bench.graph.compiled import njit

_DENSE = 16  # looking at all entities in order beats sorting where at least one in so many is found
SORTED, UNSORTED, REPEATED = 0, 1, 2  # states of a result: REPEATED is unsorted and has entities twice


@njit
def edges_in_set(view, members, seen):
    """Heads and forward positions of the visible edges among ``members`` (distinct), in the order given."""
    out_start, tails, _relations, _in_start, _heads, _in_edge, visible = view
    for member in members:
        seen[member] = 1
    capacity = 64
    found_heads = np.empty(capacity, np.int32)
    found_edges = np.empty(capacity, np.int64)
    count = 0
    for member in members:
        for edge in range(out_start[member], out_start[member + 1]):
            if seen[tails[edge]] and (len(visible) == 0 or visible[edge]):
                if count == capacity:
                    capacity *= 2
                    found_heads = _grown(found_heads, capacity)
                    found_edges = _grown(found_edges, capacity)
                found_heads[count] = member
                found_edges[count] = edge
                count += 1
    for member in members:
        seen[member] = 0
    return found_heads[:count], found_edges[:count]


@njit
def _grown(array, capacity):
    larger = np.empty(capacity, array.dtype)
    for at in range(len(array)):  # a slice assignment takes seconds to compile
        larger[at] = array[at]
    return larger


@njit
def find_edges(view, heads, relations_wanted, tails_wanted):
    """Forward positions of triples given by id, visible or not; -1 where the store has no such triple."""
    out_start, tails, relations, _in_start, _heads, _in_edge, _visible = view
    result = np.full(len(heads), -1, np.int64)
    for row in range(len(heads)):
        low, end = out_start[heads[row]], out_start[heads[row] + 1]
        high = end
        relation, tail = relations_wanted[row], tails_wanted[row]
        while low < high:
            middle = (low + high) // 2
            if relations[middle] < relation or (relations[middle] == relation and tails[middle] < tail):
                low = middle + 1
            else:
                high = middle
        if low < end and relations[low] == relation and tails[low] == tail:
            result[row] = low
    return result


@njit
def within(view, direction, sources, hops, seen, queue):
    """Entities within ``hops`` steps of any of ``sources``, and the state they are in, as below.

    The last layer needs no marks: where it is small, sorting it is faster than to look up each entity in memory.
    Elsewhere about every other entity is new, and no processor foretells which: so there is no branch on that.
    What is not new is written behind the queue's end (it has one place more than there are entities).
    """
    out_start, tails, _relations, in_start, heads, in_edge, visible = view
    everything = len(visible) == 0
    few = np.uint64(len(seen) // _DENSE)
    count = np.uint64(0)  # unsigned, so that indexing needs no check for a negative
    for source in sources:
        queue[count] = source
        count += np.uint64(seen[source] == 0)
        seen[source] = 1
    begin = np.uint64(0)
    state = UNSORTED
    marked = count
    for hop in range(hops):
        end = count
        mark = True
        if hop == hops - 1:
            work = end
            for position in range(begin, end):
                entity = queue[position]
                if direction & 1:
                    work += np.uint64(out_start[entity + 1] - out_start[entity])
                if direction & 2:
                    work += np.uint64(in_start[entity + 1] - in_start[entity])
            mark = work >= few
        for position in range(begin, end):
            entity = queue[position]
            if direction & 1:
                for edge in range(out_start[entity], out_start[entity + 1]):
                    if everything or visible[edge]:
                        other = tails[edge]
                        queue[count] = other
                        if mark:
                            count += np.uint64(seen[other] == 0)
                            seen[other] = 1
                        else:
                            count += np.uint64(1)
            if direction & 2:
                for back in range(in_start[entity], in_start[entity + 1]):
                    if everything or visible[in_edge[back]]:
                        other = heads[back]
                        queue[count] = other
                        if mark:
                            count += np.uint64(seen[other] == 0)
                            seen[other] = 1
                        else:
                            count += np.uint64(1)
        if mark:
            marked = count
        else:
            state = REPEATED
        if count == end:
            break
        begin = end
    if count < few or state == REPEATED:
        for position in range(marked):
            seen[queue[position]] = 0
        return queue[:count].copy(), state
    result = np.empty(count + np.uint64(1), np.int32)
    place = np.uint64(0)
    for entity in range(len(seen)):
        result[place] = entity
        place += np.uint64(seen[entity])
    for entity in range(len(seen)):
        seen[entity] = 0
    return result[:count], SORTED


@njit
def distinct(ascending):
    """The values of an ascending array, each once."""
    result = np.empty(len(ascending) + 1, np.int32)
    count = np.uint64(0)
    for at in range(len(ascending)):
        result[count] = ascending[at]
        count += np.uint64(at + 1 == len(ascending) or ascending[at + 1] != ascending[at])
    return result[:count]


@njit
def _segment(relations, relation, begin, end):
    """The part of ``begin`` … ``end`` with this relation; ``relations`` is ascending there."""
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if relations[middle] < relation:
            low = middle + 1
        else:
            high = middle
    first, high = low, end
    while low < high:
        middle = (low + high) // 2
        if relations[middle] <= relation:
            low = middle + 1
        else:
            high = middle
    return first, low


@njit
def _segment_in(relations, in_edge, relation, begin, end):
    """As ``_segment`` for a reverse row, whose relations are looked up through ``in_edge``."""
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if relations[in_edge[middle]] < relation:
            low = middle + 1
        else:
            high = middle
    first, high = low, end
    while low < high:
        middle = (low + high) // 2
        if relations[in_edge[middle]] <= relation:
            low = middle + 1
        else:
            high = middle
    return first, low


@njit
def follow_step(view, entities, relation, inverse, seen, queue):
    """The entities one step from ``entities`` over ``relation``, in order of discovery."""
    out_start, tails, relations, in_start, heads, in_edge, visible = view
    everything = len(visible) == 0
    count = 0
    for entity in entities:
        if inverse:
            begin, end = _segment_in(relations, in_edge, relation, in_start[entity], in_start[entity + 1])
            for back in range(begin, end):
                other = heads[back]
                if not seen[other] and (everything or visible[in_edge[back]]):
                    seen[other] = 1
                    queue[count] = other
                    count += 1
        else:
            begin, end = _segment(relations, relation, out_start[entity], out_start[entity + 1])
            for edge in range(begin, end):
                other = tails[edge]
                if not seen[other] and (everything or visible[edge]):
                    seen[other] = 1
                    queue[count] = other
                    count += 1
    result = queue[:count].copy()
    for entity in result:
        seen[entity] = 0
    return result


@njit
def steps_at(view, direction, entities, num_relations):
    """Flags of the steps that leave any of ``entities``: relation r forward at r, inverse at R + r."""
    out_start, _tails, relations, in_start, _heads, in_edge, visible = view
    everything = len(visible) == 0
    flags = np.zeros(2 * num_relations, np.bool_)
    for entity in entities:
        if direction & 1:
            edge, end = out_start[entity], out_start[entity + 1]
            while edge < end:
                relation = relations[edge]
                if flags[relation] or everything or visible[edge]:
                    flags[relation] = True
                    _first, edge = _segment(relations, relation, edge, end)
                else:
                    edge += 1
        if direction & 2:
            back, end = in_start[entity], in_start[entity + 1]
            while back < end:
                relation = relations[in_edge[back]]
                if flags[num_relations + relation] or everything or visible[in_edge[back]]:
                    flags[num_relations + relation] = True
                    _first, back = _segment_in(relations, in_edge, relation, back, end)
                else:
                    back += 1
    return flags
