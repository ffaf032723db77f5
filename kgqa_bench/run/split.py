"""Which questions are evaluated: drawing and hashing."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence

from kgqa_bench.domain import Item

SAMPLING_RULE = "ids sorted, shuffled with random.Random(seed), first n"


def draw(ids: Iterable[str], seed: int) -> list[str]:
    """All ids in the order in which they are drawn (``SAMPLING_RULE``), whatever order they come in."""
    ordered = sorted(ids)
    random.Random(seed).shuffle(ordered)
    return ordered


def split_hash(items: Sequence[Item]) -> str:
    """SHA-256 of the sorted question ids, one a line: names a set of questions whatever its order."""
    return hashlib.sha256("\n".join(sorted(item.question.id for item in items)).encode()).hexdigest()
