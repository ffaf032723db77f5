"""A rule as text, as AMIE writes it, into a ``Rule``."""

from __future__ import annotations

import re

from kgqa_bench.horn.rule import Atom, Rule, X, Y, canonical_rule, is_closed

MOST_ATOMS = 4

_VARIABLE = r"\?\w+"
_IS_VARIABLE = re.compile(_VARIABLE)
_ATOM = re.compile(rf"({_VARIABLE}) +((?:(?! *(?<= ){_VARIABLE}(?: |$)).)+?) +({_VARIABLE})(?: +|$)")
_ARROW = re.compile(r"(?:^| )=>(?= |$)")
_FORM = "Write rules like: ?a father ?c ?c brother ?b => ?a uncle ?b"


class RuleTextError(ValueError):
    """A text is no rule that can be used; ``hint`` says what to do."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def parse_rule(text: str) -> tuple[Rule, tuple[str, str]]:
    """The rule in canonical form, and what its head variables were called.

    Raises:
        RuleTextError: It is malformed; has a constant or an atom r(x, x); is not closed or not connected; has the
            same atom twice, its head included; has more than four atoms.
    """
    sides = _ARROW.split(text.strip())
    if len(sides) != 2:
        raise RuleTextError(f"a rule has one => between spaces, this text has {len(sides) - 1}.", _FORM)
    body, head = _atoms(sides[0].strip(" "), "body"), _atoms(sides[1].strip(" "), "head")
    if len(head) != 1:
        raise RuleTextError(f"a rule has one head atom, this one has {len(head)}.", _FORM)
    if len(body) + 1 > MOST_ATOMS:
        raise RuleTextError(
            f"the rule has {len(body) + 1} atoms, its head included.", f"Leave out rules of more than {MOST_ATOMS}."
        )
    relation, subject, object_ = head[0]
    for name, first, second in (*body, head[0]):
        if first == second:
            raise RuleTextError(f"the atom {first} {name} {second} joins a variable with itself.", "Leave it out.")
    numbers = {subject: X, object_: Y}
    for atom in body:
        for variable in atom[1:]:
            numbers.setdefault(variable, len(numbers))
    atoms = [Atom(name, numbers[first], numbers[second]) for name, first, second in body]
    if len({*atoms, Atom(relation, X, Y)}) < len(atoms) + 1:
        raise RuleTextError("the rule has the same atom twice, its head included.", "Leave it out.")
    if not is_closed(atoms):
        raise RuleTextError(
            "the rule is not closed: a variable occurs in one atom only.", "Leave it out: it says nothing."
        )
    if not _connected(atoms):
        raise RuleTextError("the rule is not connected: a part of its body shares no variable with its head.")
    return canonical_rule(relation, atoms), (subject, object_)


def unwritable(name: str) -> str | None:
    """Why a relation of this name could not be read back from a rule; None where it could."""
    if re.search("[\t\r\n]", name):
        return "has a tab or a line break"
    if name != name.strip(" ") or "  " in name or not name:
        return "is empty, begins or ends with a space or has two in a row"
    word = next((word for word in name.split(" ") if word == "=>" or _IS_VARIABLE.fullmatch(word)), None)
    if word is not None:
        return f"has the word {word!r}"
    return None if _encodable(name) else "is not Unicode"


def _encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _atoms(text: str, side: str) -> list[tuple[str, str, str]]:
    """Relation, subject and object of each atom."""
    found = []
    position = 0
    while position < len(text):
        match = _ATOM.match(text, position)
        if match is None or "  " in match.group(2):
            raise _malformed(text, side)
        found.append((match.group(2), match.group(1), match.group(3)))
        position = match.end()
    if not found:
        raise RuleTextError(f"the rule has no {side}.", _FORM)
    return found


def _malformed(text: str, side: str) -> RuleTextError:
    for separator in ("  +", " +"):
        terms = re.split(separator, text)
        ends = [term for place, term in enumerate(terms) if place % 3 != 1]
        constants = [term for term in ends if not _IS_VARIABLE.fullmatch(term)]
        if len(terms) % 3 == 0 and constants and len(constants) < len(ends):
            return RuleTextError(
                f"the {side} has the constant {constants[0]!r}; rules have variables (?x) only.",
                "Mine without constants, or leave the rule out.",
            )
    return RuleTextError(f"the {side} {text!r} is not made of atoms ?x relation ?y.", _FORM)


def _connected(body: list[Atom]) -> bool:
    reached = {X, Y}
    for _ in body:
        for atom in body:
            if reached & set(atom[1:]):
                reached |= set(atom[1:])
    return all(atom.subject in reached for atom in body)
