"""Paired bootstrap: clusters of questions are drawn with replacement, for both systems the same ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kgqa_bench.metrics.accuracy import CONFIDENCE_LEVEL

SAMPLES = 10_000
SEED = 0

Values = NDArray[np.float64]

Statistic = Callable[[Values], Values]
"""A score as a function of how often each question is counted: weights of shape (samples, questions), no row of zeros
alone, to values of shape (samples,); nan where it is not defined for a sample."""

_CELLS = 40_000
"""Weights held at once: few enough for a processor's cache."""


class Bootstrap(NamedTuple):
    """A difference of two scores.

    Attributes:
        effect: The difference on the questions as they are; nan where a score is not defined.
        low: Lower end of its 95 % percentile interval.
        high: Its upper end.
        p: Two-sided: the least α at which the percentile interval of level 1 - α leaves out 0; no less than
            2/(samples + 1).
        error: Standard deviation of the samples: its standard error.
        undefined: Samples left out since a score was not defined for them.
    """

    effect: float
    low: float
    high: float
    p: float
    error: float
    undefined: int


def paired_bootstrap(
    first: Statistic,
    second: Statistic,
    clusters: NDArray[np.intp],
    *,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> Bootstrap:
    """The difference second - first over samples of clusters (Efron and Tibshirani 1993, chapters 13 and 15).

    Args:
        first: One system's score, over the questions in a fixed order.
        second: The other's, over the same.
        clusters: The number of each question's cluster, 0 … K-1.
        samples: How many samples are drawn.
        seed: Seeds the draw; the same clusters and seed give the same samples.
    """
    n, count = len(clusters), int(clusters.max()) + 1
    whole = np.ones((1, n))
    effect = float((second(whole) - first(whole))[0])
    rng = np.random.default_rng(seed)
    rows = max(1, _CELLS // n)
    parts = []
    for start in range(0, samples, rows):
        size = min(rows, samples - start)
        drawn = rng.integers(count, size=(size, count), dtype=np.int32)
        drawn += (np.arange(size, dtype=np.int32) * count)[:, None]
        weights = np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count).astype(np.float64)
        if count < n or not np.array_equal(clusters, np.arange(n)):
            weights = weights[:, clusters]
        parts.append(second(weights) - first(weights))
    differences = np.concatenate(parts)
    kept = differences[~np.isnan(differences)]
    if np.isnan(effect) or len(kept) < 2:
        return Bootstrap(effect, np.nan, np.nan, np.nan, np.nan, samples - len(kept))
    tail = (1 - CONFIDENCE_LEVEL) / 2
    low, high = np.quantile(kept, [tail, 1 - tail])
    beyond = min(int((kept <= 0).sum()), int((kept >= 0).sum()))
    p = min(1.0, 2 * (beyond + 1) / (len(kept) + 1))
    return Bootstrap(effect, float(low), float(high), p, float(kept.std(ddof=1)), samples - len(kept))


def mean(scores: Values) -> Statistic:
    """The mean of scores, shape (questions,)."""
    return ratio(scores, np.ones(len(scores)))


def ratio(above: Values, below: Values) -> Statistic:
    """The sum of ``above`` by that of ``below``, such as the hard hits rate; nan where the latter is 0."""

    def statistic(weights: Values) -> Values:
        # einsum and not @: the threads of a matrix product on small rows get in one another's way
        over, under = (np.einsum("sq,q->s", weights, column) for column in (above, below))
        found: Values = np.divide(over, under, out=np.full(len(under), np.nan), where=under != 0)
        return found

    return statistic
