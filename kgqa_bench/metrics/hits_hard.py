"""Hard hits rate (HHR): how much of what is found was not to be read off the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgqa_bench.contracts import Interval
from kgqa_bench.metrics.accuracy import CONFIDENCE_LEVEL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 10_000
SEED = 0


def hard_hits_rate(hits_any: NDArray[np.float64], hits_hard: NDArray[np.float64]) -> Interval | None:
    """HHR = mean(Hits@Hard) / mean(Hits@Any), on the aggregates (arXiv 2512.14766, section 5).

    Args:
        hits_any: Hits@Any of the questions that have a hard answer.
        hits_hard: Their Hits@Hard, in the same order.

    Returns:
        The rate with its bootstrap percentile interval (``RESAMPLES`` samples of questions, seed ``SEED``; samples
        without a hit are left out). None where nothing is hit: it is undefined then, not 0.
    """
    import numpy as np

    if not hits_any.sum():
        return None
    pairs, counts = np.unique(np.stack([hits_any, hits_hard], axis=1), axis=0, return_counts=True)
    n = len(hits_any)
    # A sample of n questions is a draw of how often each pair of values occurs: a multinomial one.
    drawn = np.random.default_rng(SEED).multinomial(n, counts / n, RESAMPLES) @ pairs
    drawn = drawn[drawn[:, 0] > 0]
    tail = (1 - CONFIDENCE_LEVEL) / 2
    low, high = np.quantile(drawn[:, 1] / drawn[:, 0], [tail, 1 - tail])
    return Interval(float(hits_hard.sum() / hits_any.sum()), float(low), float(high), n)
