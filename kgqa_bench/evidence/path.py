r"""Constrained relation paths by name: what a proxy writes, what is grounded, and what a match compares.

A path leads from a topic entity over relations to candidate answers; a constraint says of a candidate that it is
joined to a given entity by a given relation. All is by name, so that a path can be written, learnt and read without
a graph; ``grounding`` takes it to one.

As text, a step is the relation's name, behind ``^`` where it is walked from tail to head. A name that itself begins
with ``^`` or ``\`` gets a ``\`` in front.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

INVERSE = "^"
_ESCAPE = "\\"


class PathStep(NamedTuple):
    """One step of a path: a relation by name, walked from tail to head where ``inverse``."""

    relation: str
    inverse: bool = False

    def __str__(self) -> str:
        escape = _ESCAPE if self.relation.startswith((INVERSE, _ESCAPE)) else ""
        return f"{INVERSE if self.inverse else ''}{escape}{self.relation}"


def read_step(text: str) -> PathStep:
    """The step that ``str`` of a step has written."""
    bare = text.removeprefix(INVERSE)
    return PathStep(bare.strip().removeprefix(_ESCAPE), bare != text)


class Constraint(NamedTuple):
    """What must hold of a candidate answer: ``step`` leads from it to the entity called ``entity``."""

    step: PathStep
    entity: str


@dataclass(frozen=True, slots=True)
class ConstrainedPath:
    """A relation path of one or more steps, perhaps with a constraint on where it ends."""

    steps: tuple[PathStep, ...]
    constraint: Constraint | None = None

    @property
    def relations(self) -> tuple[str, ...]:
        """The steps of the path as text."""
        return tuple(map(str, self.steps))

    @property
    def items(self) -> tuple[str, ...]:
        """All parts in order: the steps, then the constraint's step and entity if there is one."""
        if self.constraint is None:
            return self.relations
        return (*self.relations, str(self.constraint.step), self.constraint.entity)


class ScoredPath(NamedTuple):
    """A path with the confidence in [0, 1] it was given; None where it was given none."""

    path: ConstrainedPath
    confidence: float | None = None
