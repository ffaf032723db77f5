"""Exact match: the right answers, no more and no less."""

from __future__ import annotations

from collections.abc import Set


def exact_match(predicted: Set[str], gold: Set[str]) -> float:
    """1 where the two sets are equal and not empty."""
    return float(bool(gold) and predicted == gold)
