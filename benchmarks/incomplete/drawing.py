"""A draw that takes as evenly as it can from several kinds."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


def even_parts(sizes: dict[str, int], count: int) -> dict[str, int]:
    """How many to take of each kind: the same of all, except that kinds with fewer give all they have.

    What does not divide goes one each to the largest kinds, by size and then by name.
    """
    parts: dict[str, int] = {}
    left = min(count, sum(sizes.values()))
    for place, kind in enumerate(sorted(sizes, key=lambda kind: (sizes[kind], kind))):
        parts[kind] = min(sizes[kind], left // (len(sizes) - place))
        left -= parts[kind]
    return parts


def drawn_evenly(
    items: Sequence[T], count: int | None, kind: Callable[[T], str], key: Callable[[T], Any], seed: str
) -> list[T]:
    """Up to ``count`` of the items, evenly over their kinds, in their own order; None takes all.

    Args:
        items: What to draw from.
        count: How many.
        kind: The kind of an item.
        key: Orders the items before the draw, so that it does not depend on the order given; without ties.
        seed: Seeds the draw.
    """
    if count is None or count >= len(items):
        return list(items)
    places: dict[str, list[int]] = {}
    for place in sorted(range(len(items)), key=lambda place: key(items[place])):
        places.setdefault(kind(items[place]), []).append(place)
    parts = even_parts({name: len(some) for name, some in places.items()}, count)
    chosen = [
        place
        for name in sorted(places)
        for place in random.Random(f"{seed}|{name}").sample(places[name], parts[name])
    ]
    return [items[place] for place in sorted(chosen)]
