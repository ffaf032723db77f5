"""Train, validation and test such that what one of them asks or removes is in no other."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from kgqa_bench.errors import DataError

from .model import Draft, Split

_FOLDS = 10


class SplitRow(NamedTuple):
    """What the split needs to know of a question.

    Attributes:
        id: Its id; rows are taken in the order of ids.
        keys: Its removed triples, and its (topic, relation, asked end); rows that share one are not parted.
        rule_type: The type of its rule.
    """

    id: str
    keys: tuple[Hashable, ...]
    rule_type: str


def draft_keys(draft: Draft) -> tuple[Hashable, ...]:
    """The keys of a question by ids."""
    triples = {draft.grounding.head, *(draft.ask.triple(answer) for answer in draft.hard)}
    return (draft.ask, *sorted(triples))


def split_rows(rows: Iterable[SplitRow], seed: int) -> dict[str, Split]:
    """The split of each row by id, about 8:1:1, a function of the rows and the seed alone.

    Rows that share a key, directly or through others, are one group. The groups, in a seeded order, go to ten folds
    that are alike in size and in rule types (scikit-learn's StratifiedGroupKFold); the two folds nearest to a tenth
    of the rows are test and validation, so that a group of more than a tenth stays in train. Rule types are left out
    of account where none has ten rows. Fewer than ten groups are not balanced: the first two of at least three, from
    the smallest up, are test and validation.

    Raises:
        DataError: Fewer than three groups, or an id twice.
    """
    ordered = sorted(rows, key=lambda row: row.id)
    if len({row.id for row in ordered}) < len(ordered):
        raise DataError("Two questions have the same id.")
    groups = _groups(ordered)
    count = len(set(groups))
    if count < 3:
        raise DataError(
            f"The {len(ordered)} questions fall into {count} groups that share no removed triple; three splits need "
            "at least three.",
            hint="Take a larger graph, more rules, or more groundings a rule.",
        )
    names = list(range(count))
    random.Random(f"{seed}|split").shuffle(names)
    groups = [names[group] for group in groups]
    folds = groups if count < _FOLDS else _folds(ordered, groups)
    sizes = Counter(folds)
    if count < _FOLDS:
        test, validation = sorted(sizes, key=lambda fold: (sizes[fold], fold))[:2]
    else:
        test, validation = sorted(sizes, key=lambda fold: (abs(_FOLDS * sizes[fold] - len(ordered)), fold))[:2]
    special: dict[int, Split] = {test: "test", validation: "validation"}
    return {row.id: special.get(fold, "train") for row, fold in zip(ordered, folds, strict=True)}


def _groups(rows: Sequence[SplitRow]) -> list[int]:
    """The group of each row, numbered in the order of their first rows."""
    parent = list(range(len(rows)))

    def root(row: int) -> int:
        while parent[row] != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    first: dict[Hashable, int] = {}
    for number, row in enumerate(rows):
        for key in row.keys:
            one, other = root(number), root(first.setdefault(key, number))
            parent[max(one, other)] = min(one, other)
    numbers: dict[int, int] = {}
    return [numbers.setdefault(root(row), len(numbers)) for row in range(len(rows))]


def _folds(rows: Sequence[SplitRow], groups: Sequence[int]) -> list[int]:
    from sklearn.model_selection import StratifiedGroupKFold

    types = [row.rule_type for row in rows]
    if max(Counter(types).values()) < _FOLDS:
        types = [""] * len(rows)
    folds = [0] * len(rows)
    with warnings.catch_warnings():  # of rule types with fewer rows than folds
        warnings.simplefilter("ignore", UserWarning)
        # the groups' numbers are shuffled already, by a generator that is the same everywhere
        for fold, (_others, members) in enumerate(StratifiedGroupKFold(_FOLDS).split(rows, types, groups)):
            for row in members.tolist():
                folds[row] = fold
    return folds
