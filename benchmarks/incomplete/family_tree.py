"""Family trees by seed, with the twelve relations of the graph Family and much of its make-up.

Shares follow the published graph (3,007 people, 28,356 triples): the number of children of a couple, marriages within
the tree and with people from outside, second marriages. As there, only children of the same two parents are
brothers and sisters, and uncles, aunts, nephews and nieces are such by blood and not by marriage.
"""

from __future__ import annotations

import random
from array import array
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

RELATIONS = (
    "aunt", "brother", "daughter", "father", "husband", "mother",
    "nephew", "niece", "sister", "son", "uncle", "wife",
)  # fmt: skip
"""A triple's head is the RELATION of its tail."""

FEWEST = 10
"""People of the smallest tree that has all relations, which every tree contains."""

_CHILDREN = (39, 29, 11, 8, 4, 3, 2, 1, 1, 1, 1)  # of 100 couples, those with 0, 1, 2 … children
_MARRY = 0.85  # share of those born in the tree who marry
_WITHIN = 0.4  # share of these who look for someone of their generation in the tree
_AGAIN = 0.12  # share of couples one of whom marries a second time
_PEOPLE_A_FOUNDER = 30  # people for each couple that a tree begins with: some eight generations


class Couple(NamedTuple):
    """Husband and wife by number."""

    husband: int
    wife: int


@dataclass
class FamilyTree:
    """People by number.

    Attributes:
        male: Whether each is.
        birth: The number of each one's parents in ``couples``; -1 where they are not known.
        couples: All marriages; someone may be in several.
        children: The children of each couple.
    """

    male: list[bool] = field(default_factory=list)
    birth: list[int] = field(default_factory=list)
    couples: list[Couple] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=list)

    def add(self, male: bool, birth: int = -1) -> int:
        """A person, born to a couple or from outside."""
        person = len(self.male)
        self.male.append(male)
        self.birth.append(birth)
        if birth >= 0:
            self.children[birth].append(person)
        return person

    def marry(self, one: int, other: int) -> int:
        """A marriage of a man and a woman."""
        self.couples.append(Couple(one, other) if self.male[one] else Couple(other, one))
        self.children.append([])
        return len(self.couples) - 1

    def siblings(self, person: int) -> list[int]:
        """All with the same two parents."""
        birth = self.birth[person]
        return [] if birth < 0 else [other for other in self.children[birth] if other != person]


def grow_tree(people: int, seed: int) -> FamilyTree:
    """A tree of exactly ``people`` people, generation by generation.

    The time it takes grows with the number of people.

    Raises:
        ValueError: ``people`` is less than ``FEWEST``.
    """
    if people < FEWEST:
        raise ValueError(f"a tree with all relations has at least {FEWEST} people")
    grower = _Grower(people, random.Random(f"{seed}|family"))
    youngest = grower.begin()
    founders = people // _PEOPLE_A_FOUNDER - 1
    while grower.room:
        couples = grower.found(max(founders, 0 if youngest else 1))
        founders = 0
        youngest = grower.bear(grower.wed(youngest) + couples)
    return grower.tree


class _Grower:
    def __init__(self, people: int, rng: random.Random) -> None:
        self.people = people
        self.rng = rng
        self.tree = FamilyTree()

    @property
    def room(self) -> int:
        return self.people - len(self.tree.male)

    def begin(self) -> list[int]:
        """The smallest tree with all relations: a son and a daughter who both have a son and a daughter."""
        tree = self.tree
        first = tree.marry(tree.add(True), tree.add(False))
        parents = [
            tree.marry(child, tree.add(not tree.male[child]))
            for child in (tree.add(True, first), tree.add(False, first))
        ]
        return [tree.add(male, couple) for couple in parents for male in (True, False)]

    def found(self, count: int) -> list[int]:
        """Couples from outside; where there is room for one person only, an only child instead."""
        tree = self.tree
        if count and self.room == 1:
            tree.add(self._coin(), len(tree.couples) - 1)
        return [tree.marry(tree.add(True), tree.add(False)) for _ in range(min(count, self.room // 2))]

    def wed(self, generation: list[int]) -> list[int]:
        """Marriages of a generation, with one another unless they are siblings, and with people from outside."""
        tree, rng = self.tree, self.rng
        within: dict[bool, list[int]] = {True: [], False: []}
        alone: list[int] = []
        for person in generation:
            if rng.random() < _MARRY:
                (within[tree.male[person]] if rng.random() < _WITHIN else alone).append(person)
        couples = []
        rng.shuffle(within[True])
        rng.shuffle(within[False])
        for man, woman in zip_longest(within[True], within[False]):
            if man is None or woman is None or tree.birth[man] == tree.birth[woman]:
                alone += [person for person in (man, woman) if person is not None]
            else:
                couples.append(tree.marry(man, woman))
        for person in alone:
            if self.room:
                couples.append(tree.marry(person, tree.add(not tree.male[person])))
        for couple in couples[:]:
            if rng.random() < _AGAIN and self.room:
                person = tree.couples[couple][rng.randrange(2)]
                couples.append(tree.marry(person, tree.add(not tree.male[person])))
        return couples

    def bear(self, couples: list[int]) -> list[int]:
        """The couples' children."""
        counts = self.rng.choices(range(len(_CHILDREN)), _CHILDREN, k=len(couples))
        return [
            self.tree.add(self._coin(), couple)
            for couple, count in zip(couples, counts, strict=True)
            for _ in range(min(count, self.room))
        ]

    def _coin(self) -> bool:
        return self.rng.random() < 0.5


class Columns(NamedTuple):
    """Triples as columns: heads and tails by number, relations by position in ``RELATIONS``."""

    heads: array[int]
    relations: array[int]
    tails: array[int]


def tree_triples(tree: FamilyTree) -> Columns:
    """All relations that hold in a tree, each once."""
    columns = Columns(array("i"), array("i"), array("i"))
    code = {name: at for at, name in enumerate(RELATIONS)}

    def add(head: int, relation: str, tail: int) -> None:
        columns.heads.append(head)
        columns.relations.append(code[relation])
        columns.tails.append(tail)

    for (husband, wife), children in zip(tree.couples, tree.children, strict=True):
        add(husband, "husband", wife)
        add(wife, "wife", husband)
        kin = tree.siblings(husband) + tree.siblings(wife)
        for child in children:
            male = tree.male[child]
            add(husband, "father", child)
            add(wife, "mother", child)
            for parent in (husband, wife):
                add(child, "son" if male else "daughter", parent)
            for other in children:
                if other != child:
                    add(child, "brother" if male else "sister", other)
            for one in kin:
                add(one, "uncle" if tree.male[one] else "aunt", child)
                add(child, "nephew" if male else "niece", one)
    return columns
