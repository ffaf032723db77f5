"""A closed Horn rule ``B1 ∧ … ∧ Bn ⇒ r(x, y)`` by relation names, in one canonical form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from typing import Literal, NamedTuple, get_args

X, Y = 0, 1
"""The head's subject and object. Further variables count from 2."""

RuleType = Literal["symmetry", "inversion", "hierarchy", "composition", "other"]
RuleSubtype = Literal["three-hop chain", "triangle", "intersection", "recursive", "rest"]
RULE_TYPES: tuple[RuleType, ...] = get_args(RuleType)
RULE_SUBTYPES: tuple[RuleSubtype, ...] = get_args(RuleSubtype)


class Atom(NamedTuple):
    """``relation(subject, object)``: a relation name and two variables, 0 for x, 1 for y, 2 and 3 for others."""

    relation: str
    subject: int
    object: int

    @property
    def pair(self) -> tuple[int, int]:
        """Its two variables, the smaller first."""
        return (self.subject, self.object) if self.subject < self.object else (self.object, self.subject)


@dataclass(frozen=True, slots=False)
class Rule:
    """``body ⇒ head(x, y)``. Make it by ``canonical_rule``, so that equal rules are equal objects.

    Attributes:
        head: Name of the head relation; the head atom is always ``head(0, 1)``.
        body: The body atoms in canonical order.
    """

    head: str
    body: tuple[Atom, ...]

    @property
    def length(self) -> int:
        """Number of atoms, the head included (AMIE's ``-maxad``)."""
        return len(self.body) + 1

    @cached_property
    def type(self) -> RuleType:
        """Symmetry, inversion, hierarchy, composition (both atoms forward) or other (GR-Agent, Table 1)."""
        if len(self.body) == 1:
            atom = self.body[0]
            if (atom.subject, atom.object) == (X, Y):
                return "hierarchy"
            return "symmetry" if atom.relation == self.head else "inversion"
        if [(atom.subject, atom.object) for atom in self.body] == [(X, 2), (2, Y)]:
            return "composition"
        return "other"

    @cached_property
    def subtype(self) -> RuleSubtype | None:
        """The part of type *other* it belongs to, by the first that fits; None for the other types.

        Three-hop chain x–z–w–y; triangle (one atom each on x–y, x–z and z–y); intersection (all atoms on x–y);
        recursive (the head relation is in the body); rest.
        """
        if self.type != "other":
            return None
        pairs = sorted(atom.pair for atom in self.body)
        if pairs == [(X, 2), (Y, 3), (2, 3)]:
            return "three-hop chain"
        if pairs == [(X, Y), (X, 2), (Y, 2)]:
            return "triangle"
        if all(pair == (X, Y) for pair in pairs):
            return "intersection"
        return "recursive" if any(atom.relation == self.head for atom in self.body) else "rest"

    def closed_subrules(self) -> Iterator[Rule]:
        """The closed rules with the same head whose body is a proper, non-empty subset of this body."""
        for size in range(1, len(self.body)):
            for body in combinations(self.body, size):
                if is_closed(body):
                    yield canonical_rule(self.head, body)

    def __str__(self) -> str:
        """As AMIE writes it, head variables ``?a`` and ``?b``: ``?a father ?c ?c sister ?b => ?a father ?b``."""
        body = " ".join(f"{_variable(atom.subject)} {atom.relation} {_variable(atom.object)}" for atom in self.body)
        return f"{body} => ?a {self.head} ?b"


def canonical_rule(head: str, body: Iterable[Atom]) -> Rule:
    """The rule with its other variables numbered and its atoms ordered in the one canonical way.

    Atoms go along the way from x to y: by the variables they join, x first and y last, then by relation and
    direction; variables other than x and y are numbered such that this order is the smallest.
    """
    atoms = list(body)
    free = sorted({variable for atom in atoms for variable in atom[1:]} - {X, Y})
    best: list[Atom] | None = None
    for numbers in permutations(range(2, 2 + len(free))):
        renamed = dict(zip(free, numbers, strict=True)) | {X: X, Y: Y}
        candidate = sorted((Atom(r, renamed[s], renamed[o]) for r, s, o in atoms), key=_order)
        if best is None or [_order(atom) for atom in candidate] < [_order(atom) for atom in best]:
            best = candidate
    return Rule(head, tuple(best or ()))


def is_closed(body: Iterable[Atom]) -> bool:
    """Whether every variable is in at least two atoms, the head r(x, y) included."""
    count = {X: 1, Y: 1}
    for atom in body:
        for variable in atom[1:]:
            count[variable] = count.get(variable, 0) + 1
    return all(times >= 2 for times in count.values())


def _order(atom: Atom) -> tuple[int, int, str, bool]:
    # y comes after all others
    near, far = sorted(1_000 if variable == Y else variable for variable in atom[1:])
    forward = atom.object == Y or (atom.subject != Y and atom.subject < atom.object)
    return near, far, atom.relation, not forward


def _variable(number: int) -> str:
    return f"?{chr(ord('a') + number)}"


@dataclass(frozen=True, slots=True)
class MinedRule:
    """A rule with its counts on one graph (Galárraga et al. 2015; Lajus et al. 2020).

    Attributes:
        rule: The rule.
        support: Distinct (x, y) for which body and head hold.
        head_size: Facts of the head relation.
        body_size: Distinct (x, y) for which the body holds.
        pca_body_size: Those of them whose functional-side entity has a fact of the head relation.
        functional: The functional side: ``subject`` if the head relation has at least as many distinct subjects as
            distinct objects, else ``object``.
    """

    rule: Rule
    support: int
    head_size: int
    body_size: int
    pca_body_size: int
    functional: Literal["subject", "object"]

    @property
    def head_coverage(self) -> float:
        """Support by facts of the head relation."""
        return self.support / self.head_size

    @property
    def std_confidence(self) -> float:
        """Support by body size."""
        return self.support / self.body_size

    @property
    def pca_confidence(self) -> float:
        """Support by PCA body size."""
        return self.support / self.pca_body_size
