"""Compiled counting of three-atom paths ``p(x, z), q(z, w), r(w, y)``.

``index`` is the ``IndexArrays`` of a ``SignedIndex``; relations are signed.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from kgqa_bench.graph.compiled import njit

_PROBE = 8  # a binary search in an entity's edges costs about as much as looking at so many edges in a row


@njit
def block_of(index, entity, relation):
    """The block of an entity's signed relation, or -1."""
    low, end = index.entity_start[entity], index.entity_start[entity + 1]
    high = end
    while low < high:
        middle = (low + high) >> 1
        if index.entity_relation[middle] < relation:
            low = middle + 1
        else:
            high = middle
    return index.entity_block[low] if low < end and index.entity_relation[low] == relation else -1


@njit
def first_edge(neighbour, low, end, wanted):
    """The first edge from ``low`` on whose neighbour is not before ``wanted``; ``end`` where there is none."""
    high = end
    while low < high:
        middle = (low + high) >> 1
        if neighbour[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def onward_edges(index):
    """[B] Edges of all targets of each block together."""
    total = np.zeros(len(index.block_source), np.int64)
    for block in range(len(total)):
        for at in range(index.block_start[block], index.block_start[block + 1]):
            target = index.target[at]
            total[block] += index.near_start[target + 1] - index.near_start[target]
    return total


@njit
def frequent_ends(index, entities, threshold):
    """The signed relations that at least ``threshold`` of the facts' entities have.

    Returns:
        Their numbers; the place of each signed relation among them, or -1; and as a compressed table by place, the
        facts (positions in ``entities``, rising) and the block of the relation at the fact's entity.
    """
    num_signed = len(index.relation_start) - 1
    count = np.zeros(num_signed, np.int64)
    for entity in entities:
        for at_entity in range(index.entity_start[entity], index.entity_start[entity + 1]):
            count[index.entity_relation[at_entity]] += 1
    place = np.full(num_signed, -1, np.int32)
    kept = 0
    for relation in range(num_signed):
        if count[relation] >= threshold:
            place[relation] = kept
            kept += 1
    relations = np.empty(kept, np.int32)
    start = np.zeros(kept + 1, np.int64)
    cursor = np.empty(kept, np.int64)
    for relation in range(num_signed):
        at = place[relation]
        if at >= 0:
            relations[at] = relation
            cursor[at] = start[at]
            start[at + 1] = start[at] + count[relation]
    facts = np.empty(start[kept], np.int32)
    found = np.empty(start[kept], np.int32)
    for fact in range(len(entities)):
        entity = entities[fact]
        for at_entity in range(index.entity_start[entity], index.entity_start[entity + 1]):
            at = place[index.entity_relation[at_entity]]
            if at >= 0:
                facts[cursor[at]] = fact
                found[cursor[at]] = index.entity_block[at_entity]
                cursor[at] += 1
    return relations, place, start, facts, found


@njit
def joint_ends(index, xs, ys, place_x, place_y, num_x, num_y):
    """For each pair of end relations, the facts that have both."""
    count = np.zeros((num_x, num_y), np.int32)
    right = np.empty(num_y, np.int32)
    for fact in range(len(xs)):
        size = 0
        for at_entity in range(index.entity_start[ys[fact]], index.entity_start[ys[fact] + 1]):
            at = place_y[index.entity_relation[at_entity]]
            if at >= 0:
                right[size] = at
                size += 1
        for at_entity in range(index.entity_start[xs[fact]], index.entity_start[xs[fact] + 1]):
            left = place_x[index.entity_relation[at_entity]]
            if left >= 0:
                for at in range(size):
                    count[left, right[at]] += 1
    return count


@njit
def path_supports(index, onward, ends_x, ends_y, joint, num_facts, threshold):
    """All paths that hold for at least ``threshold`` of a head relation's facts.

    Args:
        index: See the module.
        onward: Of ``onward_edges``.
        ends_x: Of ``frequent_ends`` for the facts' subjects.
        ends_y: Likewise for the objects.
        joint: Of ``joint_ends``.
        num_facts: Facts of the head relation.
        threshold: Least support.

    Returns:
        Rows (first relation from x, middle relation, last relation as seen from y, support).
    """
    relations_x, _place_x, start_x, facts_x, blocks_x = ends_x
    relations_y, _place_y, start_y, facts_y, blocks_y = ends_y
    num_entities = len(index.near_start) - 1
    block_start, target, near_start = index.block_start, index.target, index.near_start
    near_entity, near_relation = index.near_entity, index.near_relation
    num_relations = len(index.relation_start) // 2
    capacity = 256
    rows = np.empty((capacity, 4), np.int32)
    size = 0
    block_y = np.full(num_facts, -1, np.int32)
    seen_entity = np.zeros(num_entities, np.int64)
    seen_relation = np.zeros(2 * num_relations, np.int64)
    count = np.zeros(2 * num_relations, np.int32)
    touched = np.empty(2 * num_relations, np.int32)
    tick = 0
    for right in range(len(relations_y)):
        for at in range(start_y[right], start_y[right + 1]):
            block_y[facts_y[at]] = blocks_y[at]
        for left in range(len(relations_x)):
            remaining = joint[left, right]
            if remaining < threshold:
                continue
            best = 0
            num_touched = 0
            for at in range(start_x[left], start_x[left + 1]):
                back = block_y[facts_x[at]]
                if back < 0:
                    continue
                remaining -= 1
                tick += 1
                block = blocks_x[at]
                z_begin, z_end = block_start[block], block_start[block + 1]
                w_begin, w_end = block_start[back], block_start[back + 1]
                by_pairs = (z_end - z_begin) * (w_end - w_begin) * _PROBE
                from_x = onward[block] + w_end - w_begin
                from_y = onward[back] + z_end - z_begin
                if by_pairs <= from_x and by_pairs <= from_y:
                    for z_at in range(z_begin, z_end):
                        z = target[z_at]
                        begin, end = near_start[z], near_start[z + 1]
                        for w_at in range(w_begin, w_end):
                            w = target[w_at]
                            begin_w, end_w = near_start[w], near_start[w + 1]
                            flipped = end_w - begin_w < end - begin
                            if flipped:
                                other, last = z, end_w
                                edge = first_edge(near_entity, begin_w, end_w, z)
                            else:
                                other, last = w, end
                                edge = first_edge(near_entity, begin, end, w)
                            while edge < last and near_entity[edge] == other:
                                middle = near_relation[edge]
                                if flipped:
                                    middle += num_relations if middle < num_relations else -num_relations
                                if seen_relation[middle] != tick:
                                    seen_relation[middle] = tick
                                    if count[middle] == 0:
                                        touched[num_touched] = middle
                                        num_touched += 1
                                    count[middle] += 1
                                    best = max(best, count[middle])
                                edge += 1
                else:
                    flipped = from_y < from_x
                    if flipped:
                        near_begin, near_end, far_begin, far_end = w_begin, w_end, z_begin, z_end
                    else:
                        near_begin, near_end, far_begin, far_end = z_begin, z_end, w_begin, w_end
                    for far in range(far_begin, far_end):
                        seen_entity[target[far]] = tick
                    for near in range(near_begin, near_end):
                        entity = target[near]
                        begin = near_start[entity]
                        for edge in range(begin, near_start[entity + 1]):
                            if seen_entity[near_entity[edge]] == tick:
                                middle = near_relation[edge]
                                if flipped:
                                    middle += num_relations if middle < num_relations else -num_relations
                                if seen_relation[middle] != tick:
                                    seen_relation[middle] = tick
                                    if count[middle] == 0:
                                        touched[num_touched] = middle
                                        num_touched += 1
                                    count[middle] += 1
                                    best = max(best, count[middle])
                if best + remaining < threshold:
                    break
            for at in range(num_touched):
                middle = touched[at]
                support, count[middle] = count[middle], 0
                if support < threshold:
                    continue
                if size == capacity:
                    capacity *= 2
                    larger = np.empty((capacity, 4), np.int32)
                    for row in range(size):
                        for column in range(4):
                            larger[row, column] = rows[row, column]
                    rows = larger
                rows[size, 0], rows[size, 1] = relations_x[left], middle
                rows[size, 2], rows[size, 3] = relations_y[right], support
                size += 1
        for at in range(start_y[right], start_y[right + 1]):
            block_y[facts_y[at]] = -1
    return rows[:size]


@njit
def path_sizes(index, first, second, third, known, pca_limit, std_limit):
    """Distinct end pairs of paths, counted from the functional side.

    Args:
        index: See the module.
        first: Signed relations of the paths' first step, as walked from the functional side.
        second: Likewise; paths with the same first two steps lie side by side.
        third: Likewise.
        known: By entity, whether it has a fact of the head relation on the functional side.
        pca_limit: Most pairs with a known first entity by path; a path with more is given up.
        std_limit: Most pairs.

    Returns:
        Pairs with a known first entity, and all pairs; -1 for both where a limit is passed.
    """
    block_start, target = index.block_start, index.target
    num_entities = len(index.near_start) - 1
    pca = np.zeros(len(first), np.int64)
    std = np.zeros(len(first), np.int64)
    seen_w = np.zeros(num_entities, np.int64)
    seen_y = np.zeros(num_entities, np.int64)
    ws = np.empty(num_entities, np.int32)
    alive = np.empty(len(first), np.int64)
    tick = 0
    row = 0
    while row < len(first):
        step, then = first[row], second[row]
        num_alive = 0
        while row < len(first) and first[row] == step and second[row] == then:
            alive[num_alive] = row
            num_alive += 1
            row += 1
        for phase in range(2):
            for at in range(index.relation_start[step], index.relation_start[step + 1]):
                if num_alive == 0:
                    break
                if known[index.block_source[at]] == (phase == 1):
                    continue
                tick += 1
                mark = tick
                size = 0
                for z_at in range(block_start[at], block_start[at + 1]):
                    onward = block_of(index, target[z_at], then)
                    if onward < 0:
                        continue
                    for w_at in range(block_start[onward], block_start[onward + 1]):
                        w = target[w_at]
                        if seen_w[w] != mark:
                            seen_w[w] = mark
                            ws[size] = w
                            size += 1
                if size == 0:
                    continue
                place = 0
                while place < num_alive:
                    candidate = alive[place]
                    last = third[candidate]
                    begin, end = index.relation_start[last], index.relation_start[last + 1]
                    tick += 1
                    found = 0
                    if end - begin < 4 * size:
                        for onward in range(begin, end):
                            if seen_w[index.block_source[onward]] == mark:
                                for y_at in range(block_start[onward], block_start[onward + 1]):
                                    if seen_y[target[y_at]] != tick:
                                        seen_y[target[y_at]] = tick
                                        found += 1
                    else:
                        for w_at in range(size):
                            onward = block_of(index, ws[w_at], last)
                            if onward >= 0:
                                for y_at in range(block_start[onward], block_start[onward + 1]):
                                    if seen_y[target[y_at]] != tick:
                                        seen_y[target[y_at]] = tick
                                        found += 1
                    std[candidate] += found
                    if phase == 0:
                        pca[candidate] += found
                    if pca[candidate] > pca_limit[candidate] or std[candidate] > std_limit[candidate]:
                        std[candidate] = -1
                        pca[candidate] = -1
                        num_alive -= 1
                        alive[place] = alive[num_alive]
                    else:
                        place += 1
    return pca, std
