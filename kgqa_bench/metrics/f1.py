"""Precision, recall and F1 of sets of answers."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple


class Overlap(NamedTuple):
    """Precision, recall and their harmonic mean, all in [0, 1] for sets."""

    precision: float
    recall: float
    f1: float


NOTHING = Overlap(0.0, 0.0, 0.0)


def overlap(predicted: Set[str], gold: Set[str]) -> Overlap:
    """|P ∩ A| / |P|, |P ∩ A| / |A| and 2 |P ∩ A| / (|P| + |A|) (arXiv 2512.14766, section 5).

    All are 0 where nothing was predicted, and where nothing is right: who says nothing earns nothing.
    """
    found = len(predicted & gold)
    if not found:
        return NOTHING
    return Overlap(found / len(predicted), found / len(gold), 2 * found / (len(predicted) + len(gold)))
