"""Calibration: how far confidences are from how often they are right.

Two measures that differ in their bins. Values of confidence on the edge of a bin belong to the bin above it, 1 to the
last; the mean confidence of a bin's answers stands for it; empty bins are skipped.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kgqa_bench.metrics.statistics.bootstrap import Statistic

BINS = 10

Values = NDArray[np.float64]


def ece(confidence: Values, correct: Values, bins: int = BINS) -> float:
    """Expected calibration error: Σ_b n_b/n · |mean confidence - share right| over bins of equal width.

    Naeini, Cooper and Hauskrecht 2015; Guo et al. 2017, equation 3. Edges are the floats k / bins.

    Args:
        confidence: Of each answer, in [0, 1].
        correct: 1 where it is right, else 0.
        bins: Number of bins.

    Raises:
        ValueError: There is no answer, or a value out of its range.
    """
    return float(ece_statistic(confidence, correct, bins)(np.ones((1, len(confidence))))[0])


def ace(confidence: Values, correct: Values, bins: int = BINS) -> float:
    """Adaptive calibration error: the unweighted mean over bins of |mean confidence - share right|.

    After Nixon et al. 2019, of the confidence in the answer given. The edges lie at the quantiles of the confidences,
    those of the ends at 0 and 1; equal confidences are never split, edges that repeat are merged, so that there may
    be fewer bins than ``bins``. For arguments and errors see ``ece``.
    """
    return float(ace_statistic(confidence, correct, bins)(np.ones((1, len(confidence))))[0])


def ece_statistic(confidence: Values, correct: Values, bins: int = BINS) -> Statistic:
    """``ece`` of samples of the answers."""
    _check(confidence, correct)
    number = np.minimum(np.searchsorted(np.arange(bins + 1) / bins, confidence, side="right") - 1, bins - 1)
    order = np.argsort(number, kind="stable")
    gaps = (confidence - correct)[order]
    starts = np.flatnonzero(np.diff(number[order], prepend=-1))

    def statistic(weights: Values) -> Values:
        sample = weights[:, order]
        total = sample.sum(axis=1)
        sample *= gaps
        errors: Values = np.abs(np.add.reduceat(sample, starts, axis=1)).sum(axis=1) / total
        return errors

    return statistic


def ace_statistic(confidence: Values, correct: Values, bins: int = BINS) -> Statistic:
    """``ace`` of samples of the answers, each with its own quantiles."""
    _check(confidence, correct)
    order = np.argsort(confidence, kind="stable")
    ordered = confidence[order]
    gaps = (confidence - correct)[order]
    shares = np.arange(1, bins) / bins

    def statistic(weights: Values) -> Values:
        sample = weights[:, order]
        counts = _running(sample)
        sums = _running(np.multiply(sample, gaps, out=sample))
        edges = np.searchsorted(ordered, _quantiles(ordered, counts, shares), side="left")
        edges = np.pad(edges, ((0, 0), (1, 1)), constant_values=(0, len(ordered)))
        number = np.diff(np.take_along_axis(counts, edges, axis=1), axis=1)
        gap = np.abs(np.diff(np.take_along_axis(sums, edges, axis=1), axis=1))
        filled = number > 0  # edges that repeat have nothing between them
        errors: Values = np.divide(gap, number, out=np.zeros_like(gap), where=filled).sum(axis=1) / filled.sum(axis=1)
        return errors

    return statistic


def _running(values: Values) -> Values:
    """Running sums along rows, from 0, shapes (samples, n) to (samples, n + 1)."""
    sums = np.zeros((len(values), values.shape[1] + 1))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return sums


def _quantiles(ordered: Values, counts: Values, shares: Values) -> Values:
    """The quantiles, as ``np.quantile`` makes them, of sorted values that occur several times.

    Args:
        ordered: The values, shape (n,).
        counts: In each sample, how often the values before each occur, and last how many there are; shape
            (samples, n + 1).
        shares: Which quantiles, shape (q,).

    Returns:
        Rising, shape (samples, q).
    """
    last = counts[:, -1:] - 1
    rank = shares * last
    below = np.floor(rank)
    sought = np.concatenate([below, np.minimum(below + 1, last)], axis=1)
    places = np.stack([np.searchsorted(row, each, side="right") for row, each in zip(counts, sought, strict=True)])
    low, high = np.split(ordered[places - 1], 2, axis=1)
    return np.maximum.accumulate(low + (high - low) * (rank - below), axis=1)


def _check(confidence: Values, correct: Values) -> None:
    if not len(confidence):
        raise ValueError("The calibration of no answer is undefined.")
    if not ((confidence >= 0) & (confidence <= 1)).all():
        raise ValueError("A confidence is no number between 0 and 1.")
    if not ((correct == 0) | (correct == 1)).all():
        raise ValueError("Whether an answer is right is 0 or 1.")
