"""Breadth-first searches over undirected links, compiled."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from kgqa_bench.graph.compiled import njit


@njit
def shortest_counts(start, other, source, goals, hops, distance, count):
    """Distance and number of shortest paths from ``source``, up to the level where the last goal is found.

    Args:
        start: (N + 1), where the links of each entity begin.
        other: (2 E), the entity at the other end.
        source: The entity to begin at.
        goals: (N), the entities looked for.
        hops: Most links of a path; negative for no limit.
        distance: (N), all -1; filled in.
        count: (N), all 0; filled in. Parallel links count as different paths.
    """
    queue = np.empty(len(distance), np.int32)
    queue[0] = source
    distance[source], count[source] = 0, 1.0
    left = np.count_nonzero(goals) - goals[source]
    begin, end, level = 0, 1, 0
    while begin < end and left > 0 and level != hops:
        level += 1
        last = end
        for at in range(begin, last):
            entity = queue[at]
            for link in range(start[entity], start[entity + 1]):
                near = other[link]
                if distance[near] < 0:
                    distance[near] = level
                    queue[end] = near
                    end += 1
                    left -= goals[near]
                if distance[near] == level:
                    count[near] += count[entity]
        begin = last


@njit
def least_distance(start, other, edge, gone, sources, goals, hops):
    """Fewest links from any source to any goal, over the edges that are not gone; -1 where more than ``hops``."""
    seen = np.zeros(len(start) - 1, np.bool_)
    queue = np.empty(len(seen), np.int32)
    end = 0
    for source in sources:
        if goals[source]:
            return 0
        if not seen[source]:
            seen[source] = True
            queue[end] = source
            end += 1
    begin = 0
    for level in range(1, hops + 1):
        last = end
        for at in range(begin, last):
            entity = queue[at]
            for link in range(start[entity], start[entity + 1]):
                near = other[link]
                if seen[near] or gone[edge[link]]:
                    continue
                if goals[near]:
                    return level
                seen[near] = True
                queue[end] = near
                end += 1
        begin = last
    return -1
