"""Which of the counted candidates are rules: perfect rules are not refined, and a rule must beat its parts.

*Perfect rules* (AMIE: a closed rule whose PCA confidence is exactly 1 is not refined). A body is reached atom by
atom, each new atom at a variable that is open, if there is one. It is in the search if one such order leads to it
without a perfect rule on the way. Of a body that has a further variable one order never has a closed part before
its end: its atoms at that variable come first, or the ones from x to y before the path is closed. So only bodies
whose atoms all join x and y can be out of the search: they are if every closed part with one atom less is perfect.

*Skyline.* A rule is output if it is in the search, reaches all thresholds, and its PCA confidence is strictly
greater than that of every output rule with the same head whose body is a part of its own (up to the names of
variables). Shorter rules are decided first, so the result depends on nothing but the graph and the thresholds. With
no threshold for standard confidence these are AMIE's rules; with one, AMIE's result depends on the order of its
queue.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .shapes import BODY, EDGES, HEAD, PCA, SHAPE, SUPPORT, UNKNOWN, Body, Shape, Table, body_of, closed_parts

_ALL_PARALLEL = (Shape.PARALLEL2, Shape.PARALLEL3)


def select(table: Table) -> Table:
    """The rows that are output, in the order of the table.

    Args:
        table: [n, 8] All candidates that have the support: a body's closed parts are there as well. A size is
            UNKNOWN where the candidate does not reach the threshold of that confidence.
    """
    perfect = {_key(row) for row in table[table[:, PCA] == table[:, SUPPORT]].tolist()}
    reached = (table[:, PCA] != UNKNOWN) & (table[:, BODY] != UNKNOWN)
    output: dict[tuple[int, Body], tuple[int, int]] = {}
    kept: list[int] = []
    lengths = np.array([len(EDGES[shape]) for shape in sorted(EDGES)])[table[:, SHAPE]]
    for length in (1, 2, 3):
        numbers = np.flatnonzero(reached & (lengths == length))
        for number, row in zip(numbers.tolist(), table[numbers].tolist(), strict=True):
            key = _key(row)
            if _in_search(key, perfect) and _beats_parts(key, row, output):
                output[key] = row[SUPPORT], row[PCA]
                kept.append(number)
    return table[sorted(kept)]


def _key(row: Sequence[int]) -> tuple[int, Body]:
    return row[HEAD], body_of(row)


def _in_search(key: tuple[int, Body], perfect: set[tuple[int, Body]]) -> bool:
    head, body = key
    if body[0] not in _ALL_PARALLEL:
        return True
    return any((head, part) not in perfect for part in closed_parts(*body) if len(part[1]) == len(body[1]) - 1)


def _beats_parts(key: tuple[int, Body], row: Sequence[int], output: dict[tuple[int, Body], tuple[int, int]]) -> bool:
    head, body = key
    for part in closed_parts(*body):
        support, pca = output.get((head, part), (0, 1))
        if row[SUPPORT] * pca <= support * row[PCA]:
            return False
    return True
