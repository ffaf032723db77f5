"""Questions that hang together: those about one topic entity."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def numbered(names: Sequence[str]) -> NDArray[np.intp]:
    """The clusters by number, 0 … K-1 in the order they first occur."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.intp)


def cluster_sums(values: NDArray[np.float64], clusters: NDArray[np.intp]) -> NDArray[np.float64]:
    """The sum of ``values`` within each cluster, shape (K,)."""
    sums: NDArray[np.float64] = np.bincount(clusters, values).astype(np.float64, copy=False)
    return sums


def standard_error(values: NDArray[np.float64], clusters: NDArray[np.intp]) -> float:
    """The standard error of the mean of values that are independent between clusters only.

    √(K/(K-1) · Σ_k (Σ_i∈k (x_i - x̄))²) / n (Liang and Zeger 1986, of a mean); with single questions s/√n. nan for
    fewer than two clusters.
    """
    residuals = cluster_sums(values - values.mean(), clusters)
    count = len(residuals)
    if count < 2:
        return math.nan
    return math.sqrt(count / (count - 1) * float((residuals**2).sum())) / len(values)
