"""Compiled loops that turn columns of ids into a sorted, merged graph."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from kgqa_bench.graph.compiled import njit
from kgqa_bench.graph.merging import MergeRule

MERGE_CODES: dict[MergeRule, int] = {"max": 0, "mean": 1, "noisy_or": 2, "first": 3, "last": 4}


@njit
def counting_order(keys, size, order):
    """Reorder ``order`` stably by ``keys[order]``, which lie in 0 … size - 1."""
    starts = np.zeros(size + 1, np.int64)
    for key in keys:
        starts[key + 1] += 1
    for key in range(size):
        starts[key + 1] += starts[key]
    result = np.empty_like(order)
    for row in order:
        key = keys[row]
        result[starts[key]] = row
        starts[key] += 1
    return result


@njit
def row_starts(keys, size):
    """Where the rows of each key begin in a column sorted by ``keys``."""
    starts = np.zeros(size + 1, np.int32)
    for key in keys:
        starts[key + 1] += 1
    for key in range(size):
        starts[key + 1] += starts[key]
    return starts


@njit
def first_bad_confidence(confidences):
    """The first row whose confidence is not in (0, 1] (NaN is not), or -1."""
    for row in range(len(confidences)):
        if not (confidences[row] > 0.0 and confidences[row] <= 1.0):
            return row
    return -1


@njit
def first_outside(keys, size):
    """The first row whose key is not in 0 … size - 1, or -1."""
    for row in range(len(keys)):
        if keys[row] < 0 or keys[row] >= size:
            return row
    return -1


@njit
def merge_sorted(order, heads, relations, tails, confidences, rule):
    """Merge equal (head, relation, tail), which ``order`` has brought together in input order.

    Returns the four merged columns and, over distinct triples: how many had several rows, how many of those
    had differing confidences, how many are self-loops; and how many rows are self-loops.
    """
    size = len(order)
    out_heads = np.empty(size, np.int32)
    out_relations = np.empty(size, np.int32)
    out_tails = np.empty(size, np.int32)
    out_confidences = np.empty(size, np.float64)
    count = 0
    duplicated = 0
    conflicting = 0
    loops = 0
    loop_rows = 0
    at = 0
    while at < size:
        row = order[at]
        head, relation, tail = heads[row], relations[row], tails[row]
        first = confidences[row]
        merged = first
        total = first
        missing = 1.0 - first
        differ = False
        end = at + 1
        while end < size:
            row = order[end]
            if heads[row] != head or relations[row] != relation or tails[row] != tail:
                break
            confidence = confidences[row]
            differ = differ or confidence != first
            total += confidence
            missing *= 1.0 - confidence
            if rule == 0 or rule == 2:
                merged = max(merged, confidence)
            elif rule == 4:
                merged = confidence
            end += 1
        rows = end - at
        if rows > 1:
            duplicated += 1
            if differ:
                conflicting += 1
            if rule == 1:
                # rounding must not move equal confidences, nor leave (0, 1]
                merged = min(total / rows, 1.0) if differ else first
            elif rule == 2:
                # at least the maximum: 1 - missing rounds to 0 for tiny confidences
                merged = min(max(merged, 1.0 - missing), 1.0)
        if head == tail:
            loops += 1
            loop_rows += rows
        out_heads[count], out_relations[count], out_tails[count] = head, relation, tail
        out_confidences[count] = merged
        count += 1
        at = end
    return (
        out_heads[:count].copy(),
        out_relations[:count].copy(),
        out_tails[:count].copy(),
        out_confidences[:count].copy(),
        duplicated,
        conflicting,
        loops,
        loop_rows,
    )
