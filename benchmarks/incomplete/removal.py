"""Which triples are removed such that each still follows from triples that stay."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

from .degrees import part_of
from .model import Fact, Grounding

Reason = Literal[
    "head already removed", "head in a kept body", "body triple removed", "twin in a kept body", "twin in its body"
]
REASONS: tuple[Reason, ...] = get_args(Reason)


@dataclass(frozen=True)
class Removal:
    """What a removal takes and keeps.

    Attributes:
        kept: The groundings whose head triples are removed, in the order of removal.
        twins: Triples removed as the reverse of another one: the kept head triple by twin, in the order of removal.
        dropped: Groundings not kept, by the first reason that applied; of the whole removal, whatever the rate.
        removable: Groundings that are kept at rate 1.
    """

    kept: tuple[Grounding, ...]
    twins: Mapping[Fact, Fact] = field(default_factory=dict)
    dropped: Mapping[Reason, int] = field(default_factory=dict)
    removable: int = 0

    @cached_property
    def removed(self) -> frozenset[Fact]:
        """All removed triples, twins included."""
        return frozenset(grounding.head for grounding in self.kept) | self.twins.keys()


def certified_removal(
    groundings: Iterable[Grounding], seed: int, rate: float = 1.0, twins: Callable[[Fact], list[Fact]] | None = None
) -> Removal:
    """Choose, greedily in one seeded order over all rules, groundings whose head triples can go together.

    A grounding is kept if its head triple is neither removed nor in the body of a kept grounding, and none of its
    body triples is removed; then its head triple is removed. So no removed triple is in the body of a kept grounding,
    and every removed triple has one grounding. A lower rate keeps the first part of the same order.

    Args:
        groundings: The sampled ones; their order is of no account.
        seed: Seeds the order.
        rate: Share of the removable groundings that is kept, in (0, 1].
        twins: Gives the reverse triples of a removed one, which are removed with it; None leaves them. A grounding is
            then only kept if none of its twins is in a kept body or its own.
    """
    order = sorted(groundings)
    random.Random(f"{seed}|removal").shuffle(order)
    removed: set[Fact] = set()
    protected: set[Fact] = set()
    kept: list[tuple[Grounding, list[Fact]]] = []
    dropped: Counter[Reason] = Counter()
    for grounding in order:
        back = [] if twins is None else twins(grounding.head)
        reason = _reason(grounding, back, removed, protected)
        if reason is not None:
            dropped[reason] += 1
            continue
        kept.append((grounding, [twin for twin in back if twin not in removed]))
        removed.update((grounding.head, *back))
        protected.update(grounding.body)
    part = kept[: part_of(rate, len(kept))]
    return Removal(
        tuple(grounding for grounding, _back in part),
        {twin: grounding.head for grounding, back in part for twin in back},
        {reason: dropped[reason] for reason in REASONS},
        len(kept),
    )


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
