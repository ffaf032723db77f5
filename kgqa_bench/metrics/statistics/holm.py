"""Several comparisons at once."""

from __future__ import annotations

import math
from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted by Holm's step-down method (Holm 1979), in the order given.

    One that is nan stays so and does not count: no test was made.
    """
    made = [p for p in p_values if not math.isnan(p)]
    if len(made) < 2:
        return list(p_values)
    from statsmodels.stats.multitest import multipletests

    adjusted = iter(multipletests(made, method="holm")[1])
    return [p if math.isnan(p) else float(next(adjusted)) for p in p_values]
