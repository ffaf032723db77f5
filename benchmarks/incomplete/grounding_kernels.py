"""The compiled search for the body of a rule that goes with one head triple."""

# mypy: disable-error-code="untyped-decorator"
from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kgqa_bench.graph.compiled import njit

Longs = npt.NDArray[np.int64]
Facts = tuple[Longs, Longs, Longs, Longs]
"""Ascending keys relation · entities + head with the tails, and relation · entities + tail with the heads."""


@njit
def _holds(facts: Any, size: int, atom: Any, bound: Any) -> bool:
    subjects, tails = facts[0], facts[1]
    key = atom[0] * size + bound[atom[1]]
    begin, end = np.searchsorted(subjects, key), np.searchsorted(subjects, key + 1)
    at = begin + np.searchsorted(tails[begin:end], bound[atom[2]])
    return bool(at < end and tails[at] == bound[atom[2]])


@njit
def _candidates(facts: Any, size: int, atoms: Any, bound: Any, variable: int) -> Any:
    """The fewest ascending values that an atom with one other bound variable leaves; -1 first where none does."""
    side, begin, end = -1, 0, 0
    for atom in atoms:
        for place in range(1, 3):
            other = atom[3 - place]
            if atom[place] != variable or other == variable or bound[other] < 0:
                continue
            at = 1 if place == 1 else 0  # the subject is sought by the object, and the other way round
            keys = facts[2 * at]
            key = atom[0] * size + bound[other]
            low, high = np.searchsorted(keys, key), np.searchsorted(keys, key + 1)
            if side < 0 or high - low < end - begin:
                side, begin, end = at, low, high
    return side, begin, end


@njit
def _fits(facts: Any, size: int, atoms: Any, bound: Any, last: int, head: int) -> bool:
    """Whether all atoms hold whose variables are bound, ``last`` among them, and none is the head triple."""
    for atom in atoms:
        if bound[atom[1]] < 0 or bound[atom[2]] < 0 or (last > 1 and last != atom[1] and last != atom[2]):
            continue
        if atom[0] == head and bound[atom[1]] == bound[0] and bound[atom[2]] == bound[1]:
            return False
        if not _holds(facts, size, atom, bound):
            return False
    return True


@njit
def find_body(facts: Any, size: int, atoms: Any, free: int, head: Any, wanted: int) -> Any:
    """Search the values of a rule's other variables for one head triple, in ascending order.

    Args:
        facts: See ``Facts``.
        size: Number of entities.
        atoms: int64 (body atoms, 3): relation, subject variable, object variable.
        free: Number of variables other than x and y, at most 2; the first is joined to x or y.
        head: int64 (3,): head, relation and tail.
        wanted: Which one to stop at, counted from 0; -1 counts all.

    Returns:
        int64 (3,): how many came before the one wanted, and its z and w (-1 where there is no such variable); the
        number of all and -2, -2 where there are no more.
    """
    bound = np.full(4, -1, np.int64)
    bound[0], bound[1] = head[0], head[2]
    relation = head[1]
    none = np.full(3, -2, np.int64)
    none[0] = 0
    if not _fits(facts, size, atoms, bound, 1, relation):
        return none
    if free == 0:
        if wanted == 0:
            none[1:] = -1
        else:
            none[0] = 1
        return none
    seen = 0
    side, begin, end = _candidates(facts, size, atoms, bound, 2)
    if side < 0:
        return none
    values = facts[2 * side + 1]
    for place in range(begin, end):
        bound[2], bound[3] = values[place], -1
        if not _fits(facts, size, atoms, bound, 2, relation):
            continue
        if free == 1:
            if seen == wanted:
                return np.array([seen, bound[2], -1])
            seen += 1
            continue
        inner, low, high = _candidates(facts, size, atoms, bound, 3)
        if inner < 0:
            return none
        others = facts[2 * inner + 1]
        for at in range(low, high):
            bound[3] = others[at]
            if _fits(facts, size, atoms, bound, 3, relation):
                if seen == wanted:
                    return np.array([seen, bound[2], bound[3]])
                seen += 1
        bound[3] = -1
    none[0] = seen
    return none
