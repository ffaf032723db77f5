"""Which triples are removed such that each still follows from triples that stay."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, get_args

from .model import Fact, Grounding

Reason = Literal[
    "head already removed", "head in a kept body", "body triple removed", "twin in a kept body", "twin in its body"
]
REASONS: tuple[Reason, ...] = get_args(Reason)


Reverse = Callable[[Fact], list[Fact]]
"""Gives the reverse triples of a removed one, which are removed with it."""


class Removal(NamedTuple):
    """Which groundings a removal keeps.

    Attributes:
        kept: Those whose head triples are removed, in the order of removal.
        dropped: How many are not kept, by the first reason that applied.
    """

    kept: tuple[Grounding, ...]
    dropped: dict[Reason, int]


def certified_removal(groundings: Iterable[Grounding], seed: int, twins: Reverse | None = None) -> Removal:
    """Choose, greedily in one seeded order over all rules, groundings whose head triples can go together.

    A grounding is kept if its head triple is neither removed nor in the body of a kept grounding, and none of its
    body triples is removed; then its head triple is removed. So no removed triple is in the body of a kept grounding,
    and every removed triple has one grounding. The same holds of any part of the kept ones.

    Args:
        groundings: The sampled ones; their order is of no account.
        seed: Seeds the order.
        twins: None leaves the reverse triples. Else a grounding is only kept if none of its twins is in a kept body
            or its own.
    """
    order = sorted(groundings)
    random.Random(f"{seed}|removal").shuffle(order)
    removed: set[Fact] = set()
    protected: set[Fact] = set()
    kept: list[Grounding] = []
    dropped: Counter[Reason] = Counter()
    for grounding in order:
        back = [] if twins is None else twins(grounding.head)
        reason = _reason(grounding, back, removed, protected)
        if reason is not None:
            dropped[reason] += 1
            continue
        kept.append(grounding)
        removed.update((grounding.head, *back))
        protected.update(grounding.body)
    return Removal(tuple(kept), {reason: dropped[reason] for reason in REASONS})


def certificates_of(kept: Sequence[Grounding], twins: Reverse | None = None) -> dict[Fact, Grounding]:
    """All removed triples with what certifies them: head triples first, then their twins, by the first they go with.

    Args:
        kept: Kept groundings, all or some, in the order of removal.
        twins: As for ``certified_removal``.
    """
    certificates = {grounding.head: grounding for grounding in kept}
    if twins is not None:
        for grounding in kept:
            for twin in twins(grounding.head):
                certificates.setdefault(twin, grounding)
    return certificates


def _reason(grounding: Grounding, back: list[Fact], removed: set[Fact], protected: set[Fact]) -> Reason | None:
    """Why a grounding cannot be kept; None where it can."""
    if grounding.head in removed:
        return "head already removed"
    if grounding.head in protected:
        return "head in a kept body"
    if not removed.isdisjoint(grounding.body):
        return "body triple removed"
    if not protected.isdisjoint(back):
        return "twin in a kept body"
    return "twin in its body" if not set(back).isdisjoint(grounding.body) else None
