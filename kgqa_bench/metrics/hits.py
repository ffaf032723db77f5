"""Hits: whether a right answer was given at all, first, or one of the hard ones."""

from __future__ import annotations

from collections.abc import Sequence, Set


def hits_any(predicted: Set[str], gold: Set[str]) -> float:
    """Hits@Any of the GR-Agent paper (arXiv 2512.14766, section 5): 1 where predictions and gold share an answer."""
    return float(not predicted.isdisjoint(gold))


def hits_at_1(predictions: Sequence[str], gold: Set[str]) -> float:
    """Hits@1: 1 where the first prediction is a gold answer."""
    return float(bool(predictions) and predictions[0] in gold)
