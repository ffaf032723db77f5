"""Exact counts of given bodies and rules."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np
import numpy.typing as npt

from kgqa_bench.horn.rule import MinedRule, Rule

from . import kernels_count
from .index import SignedIndex
from .shapes import BODY, COLUMNS, FIRST, HEAD, NONE, PCA, SECOND, SHAPE, SUPPORT, THIRD, Shape, Table, body_from
from .thresholds import NO_LIMIT

_TURNED: dict[int, tuple[Shape, tuple[int, ...], tuple[bool, ...]]] = {
    # shape -> the shape seen from y; which relation stands where; whether it is walked the other way
    Shape.SINGLE: (Shape.SINGLE, (0, 1, 2), (True, False, False)),
    Shape.PATH2: (Shape.PATH2, (1, 0, 2), (True, True, False)),
    Shape.PARALLEL2: (Shape.PARALLEL2, (0, 1, 2), (True, True, False)),
    Shape.PATH3: (Shape.PATH3, (2, 1, 0), (True, True, True)),
    Shape.TRIANGLE: (Shape.TRIANGLE, (0, 2, 1), (True, True, True)),
    Shape.PENDANT_X: (Shape.PENDANT_Y, (0, 1, 2), (True, False, False)),
    Shape.PENDANT_Y: (Shape.PENDANT_X, (0, 1, 2), (True, False, False)),
    Shape.DOUBLED_X: (Shape.DOUBLED_Y, (2, 0, 1), (True, True, True)),
    Shape.DOUBLED_Y: (Shape.DOUBLED_X, (1, 2, 0), (True, True, True)),
    Shape.PARALLEL3: (Shape.PARALLEL3, (0, 1, 2), (True, True, True)),
}
_CHUNK = 32
_COUNTED = (HEAD, SHAPE, FIRST, SECOND, THIRD)


def count_bodies(
    index: SignedIndex,
    table: Table,
    most_pca: npt.NDArray[np.int64] | int = NO_LIMIT,
    most_body: npt.NDArray[np.int64] | int = NO_LIMIT,
) -> npt.NDArray[np.int64]:
    """Count the pairs (x, y) of each row's body.

    Args:
        index: The graph.
        table: [n, 8] Candidates; their counts are not looked at.
        most_pca: [n] or one for all: a PCA body size above it is given as UNKNOWN, and so is what else is not known
            by then.
        most_body: The same for body sizes.

    Returns:
        [n, 3] Support, PCA body size, body size.
    """
    limits = np.empty((len(table), 2), np.int64)
    limits[:, 0], limits[:, 1] = most_pca, most_body
    counts: npt.NDArray[np.int64] = kernels_count.count_rows(
        index.arrays, _from_functional_side(index, table), limits, kernels_count.new_scratch(index.num_entities)
    )
    return counts


def _from_functional_side(index: SignedIndex, table: Table) -> npt.NDArray[np.int64]:
    """[n, 5] Signed head, shape and relations of each row, turned round where the functional side is the object."""
    rows: npt.NDArray[np.int64] = np.ascontiguousarray(table[:, _COUNTED])
    turned = ~index.functional_subject[table[:, HEAD]]
    for shape in np.unique(table[turned, SHAPE]).tolist():
        chosen = turned & (table[:, SHAPE] == shape)
        new_shape, places, inverted = _TURNED[shape]
        rows[chosen, 0] += index.num_relations
        rows[chosen, 1] = new_shape
        for to, (place, invert) in enumerate(zip(places, inverted, strict=True)):
            relations = table[chosen, FIRST + place]
            rows[chosen, 2 + to] = (relations + index.num_relations) % index.num_signed if invert else relations
    return rows


def measure_rules(index: SignedIndex, rules: Sequence[Rule], threads: int = 0) -> list[MinedRule]:
    """The counts of rules, in their order.

    Raises:
        UnknownNameError: A rule has a relation that the graph has not.
        ConfigError: A rule is not closed and connected, or has more than four atoms.
    """
    ids = {name: number for number, name in enumerate(index.relation_names)}
    table = np.full((len(rules), COLUMNS), NONE, np.int64)
    for row, rule in enumerate(rules):
        shape, relations = body_from(rule, ids)
        table[row, HEAD], table[row, SHAPE] = ids[rule.head], shape
        table[row, FIRST : FIRST + len(relations)] = relations
    workers = threads or os.cpu_count() or 1
    parts = [slice(begin, begin + _CHUNK) for begin in range(0, len(rules), _CHUNK)]
    with ThreadPoolExecutor(workers) as pool:
        for part, counts in zip(parts, pool.map(lambda part: count_bodies(index, table[part]), parts), strict=True):
            table[part, SUPPORT], table[part, PCA], table[part, BODY] = counts.T
    return [mined(index, rule, row) for rule, row in zip(rules, table.tolist(), strict=True)]


def mined(index: SignedIndex, rule: Rule, row: Sequence[int]) -> MinedRule:
    """A rule with the counts of its row."""
    side: Literal["subject", "object"] = "subject" if index.functional_subject[row[HEAD]] else "object"
    return MinedRule(rule, row[SUPPORT], int(index.facts[row[HEAD]]), row[BODY], row[PCA], side)
