"""The shapes of closed rules up to four atoms, and candidates as rows of integers.

A body is a shape and one signed relation (see ``index``) for each of the shape's edges, in the edge's direction.
Where a shape has equal edges their relations are sorted, so that every rule has exactly one such form.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from itertools import combinations, permutations
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from kgqa_bench.errors import ConfigError, UnknownNameError
from kgqa_bench.horn.rule import Atom, Rule, X, Y, canonical_rule

Table = npt.NDArray[np.int64]
"""[n, 8] Candidates: the columns below. ``PCA`` and ``BODY`` are UNKNOWN where counting was given up because the
rule cannot reach a threshold any more."""
HEAD, SHAPE, FIRST, SECOND, THIRD, SUPPORT, PCA, BODY = range(8)
"""Head relation (< R), shape, up to three signed relations (NONE where there are fewer), support, PCA body size,
body size."""
COLUMNS = 8
NONE = -1
UNKNOWN = -1

Body = tuple[int, tuple[int, ...]]
"""A shape and its signed relations."""
Relations = TypeVar("Relations", int, npt.NDArray[np.int64])
"""A signed relation, or a column of them."""


class Shape(IntEnum):
    """The closed connected bodies; z and w are further variables."""

    SINGLE = 0
    PATH2 = 1
    PARALLEL2 = 2
    PATH3 = 3
    TRIANGLE = 4
    PENDANT_X = 5
    PENDANT_Y = 6
    DOUBLED_X = 7
    DOUBLED_Y = 8
    PARALLEL3 = 9


EDGES: dict[int, tuple[tuple[int, int], ...]] = {
    Shape.SINGLE: ((X, Y),),
    Shape.PATH2: ((X, 2), (2, Y)),
    Shape.PARALLEL2: ((X, Y), (X, Y)),
    Shape.PATH3: ((X, 2), (2, 3), (3, Y)),
    Shape.TRIANGLE: ((X, Y), (X, 2), (2, Y)),
    Shape.PENDANT_X: ((X, Y), (X, 2), (X, 2)),
    Shape.PENDANT_Y: ((X, Y), (Y, 2), (Y, 2)),
    Shape.DOUBLED_X: ((X, 2), (X, 2), (2, Y)),
    Shape.DOUBLED_Y: ((X, 2), (2, Y), (2, Y)),
    Shape.PARALLEL3: ((X, Y), (X, Y), (X, Y)),
}
"""The edges of each shape as (from, to)."""


def _pairs(edges: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((min(edge), max(edge)) for edge in edges))


_SHAPES = {_pairs(edges): shape for shape, edges in EDGES.items()}


def empty_table(rows: int = 0) -> Table:
    """A table of that many rows whose cells are all NONE."""
    return np.full((rows, COLUMNS), NONE, np.int64)


def body_of(row: Sequence[int]) -> Body:
    """Shape and signed relations of a row."""
    shape = row[SHAPE]
    return shape, tuple(row[FIRST : FIRST + len(EDGES[shape])])


def closed_parts(shape: int, relations: Sequence[Relations]) -> list[tuple[int, tuple[Relations, ...]]]:
    """The closed bodies that are a proper, non-empty subset of a body's atoms (``Rule.closed_subrules``)."""
    if shape in (Shape.SINGLE, Shape.PATH2, Shape.PATH3):
        return []
    if shape == Shape.PARALLEL2:
        return [(Shape.SINGLE, (relation,)) for relation in relations]
    first, second, third = relations
    if shape == Shape.TRIANGLE:
        return [(Shape.SINGLE, (first,)), (Shape.PATH2, (second, third))]
    if shape in (Shape.PENDANT_X, Shape.PENDANT_Y):
        return [(Shape.SINGLE, (first,))]
    if shape == Shape.DOUBLED_X:
        return [(Shape.PATH2, (first, third)), (Shape.PATH2, (second, third))]
    if shape == Shape.DOUBLED_Y:
        return [(Shape.PATH2, (first, second)), (Shape.PATH2, (first, third))]
    singles: list[tuple[int, tuple[Relations, ...]]] = [(Shape.SINGLE, (relation,)) for relation in relations]
    return singles + [(Shape.PARALLEL2, pair) for pair in combinations(relations, 2)]


def rule_of(head: int, body: Body, names: Sequence[str]) -> Rule:
    """The rule by names; ``names`` are those of the R relations."""
    shape, relations = body
    count = len(names)
    atoms = [
        Atom(names[signed], start, end) if signed < count else Atom(names[signed - count], end, start)
        for signed, (start, end) in zip(relations, EDGES[shape], strict=True)
    ]
    return canonical_rule(names[head], atoms)


def body_from(rule: Rule, ids: dict[str, int]) -> Body:
    """The body of a rule in this module's form; ``ids`` numbers the R relations.

    Raises:
        UnknownNameError: A relation is not in the graph.
        ConfigError: The rule is not closed and connected, or has more than four atoms.
    """
    for name in (rule.head, *(atom.relation for atom in rule.body)):
        if name not in ids:
            raise UnknownNameError("relation", name, ids, hint=f"It is in the rule {rule}.")
    free = sorted({variable for atom in rule.body for variable in atom[1:]} - {X, Y})
    for numbers in permutations(range(2, 2 + len(free))):
        renamed = dict(zip(free, numbers, strict=True)) | {X: X, Y: Y}
        edges = [(renamed[atom.subject], renamed[atom.object]) for atom in rule.body]
        shape = _SHAPES.get(_pairs(edges))
        if shape is not None:
            return shape, _signed(rule, edges, shape, ids)
    raise ConfigError(
        f"The rule {rule} cannot be counted.",
        hint="Rules are connected, have at most four atoms, and every variable twice.",
    )


def _signed(rule: Rule, edges: list[tuple[int, int]], shape: int, ids: dict[str, int]) -> tuple[int, ...]:
    found: list[int] = []
    wanted = list(dict.fromkeys(EDGES[shape]))
    for start, end in wanted:
        forward = [ids[a.relation] for a, edge in zip(rule.body, edges, strict=True) if edge == (start, end)]
        back = [ids[a.relation] + len(ids) for a, edge in zip(rule.body, edges, strict=True) if edge == (end, start)]
        found += sorted(forward + back)
    return tuple(found)
