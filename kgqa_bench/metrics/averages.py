"""Macro averages over questions, with 95 % intervals.

Questions are taken as independent; clusters are the subject of comparisons.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

from kgqa_bench.contracts import Interval
from kgqa_bench.metrics.accuracy import CONFIDENCE_LEVEL, wilson

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

SHARES = frozenset({"hits_any", "hits_at_1", "exact_match", "hits_hard_primary", "hits_hard_any"})
"""Scores that are 0 or 1 a question (or the mean of such over repeats)."""

MANY = 1000


def average(field: str, values: Values) -> Interval:
    """Mean of one field of ``Scores`` over questions.

    The interval is Wilson's for shares; else Student's, mean ± t·s/√n, cut where no score can lie. Of a single
    question that is no share it is not a number (nan).

    Raises:
        ValueError: There is no question, for which it is undefined.
    """
    n = len(values)
    if not n:
        raise ValueError(f"{field} of no question is undefined")
    if field in SHARES:
        return wilson(float(values.sum()), n)
    mean = float(values.mean())
    if n == 1:
        return Interval(mean, math.nan, math.nan, n)
    half = _student_quantile(n - 1) * float(values.std(ddof=1)) / math.sqrt(n)
    return Interval(mean, max(0.0, mean - half), min(mean + half, max(1.0, float(values.max()))), n)


def _student_quantile(degrees: int) -> float:
    """The normal distribution's, within 0.2 %, where degrees of freedom are many: scipy takes long to load."""
    if degrees >= MANY:
        return NormalDist().inv_cdf(0.5 + CONFIDENCE_LEVEL / 2)
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.5 + CONFIDENCE_LEVEL / 2))
