"""How small a difference a comparison can find."""

from __future__ import annotations

import math
from statistics import NormalDist

from kgqa_bench.metrics.accuracy import CONFIDENCE_LEVEL

POWER = 0.8


def smallest_detectable(error: float) -> float | None:
    """The smallest true difference that a two-sided test at 5 % finds with 80 % power.

    (z_0.975 + z_0.8) · standard error = 2.80 standard errors (Bloom 1995, "minimum detectable effects"), of one test
    by itself.

    Args:
        error: The standard error of the difference.

    Returns:
        None where it is unknown, as the questions show no variation: then even their number says little.
    """
    if not error > 0 or math.isinf(error):
        return None
    normal = NormalDist()
    return (normal.inv_cdf(0.5 + CONFIDENCE_LEVEL / 2) + normal.inv_cdf(POWER)) * error
