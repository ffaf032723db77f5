"""McNemar's test for paired scores of 0 or 1, also where questions come in clusters."""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kgqa_bench.metrics.accuracy import CONFIDENCE_LEVEL
from kgqa_bench.metrics.statistics.clusters import cluster_sums, standard_error

EXACT_BELOW = 25
"""With fewer discordant questions (or clusters) the test is exact: the chi-square approximation is poor there."""


class McNemar(NamedTuple):
    """What the test says.

    Attributes:
        p: Two-sided p-value.
        test: Its name, such as ``McNemar exact``.
    """

    p: float
    test: str


def mcnemar(a: NDArray[np.float64], b: NDArray[np.float64], clusters: NDArray[np.intp]) -> McNemar:
    """Tests whether two systems are right equally often (McNemar 1947).

    With every question its own cluster: binomial where fewer than ``EXACT_BELOW`` questions are discordant, else
    chi-square without continuity correction. Else the test of clustered pairs by Yang, Sun and Hardin (2010), a
    modification of Obuchowski's (1998): z² = (Σ d_k)² / Σ d_k², d_k being the wins minus the losses within cluster k.
    It is McNemar's where clusters are single questions. Durkalski's (2003) would weigh a cluster of one question as
    much as one of a hundred, and so test another difference than that of the scores. With fewer than ``EXACT_BELOW``
    clusters of d_k ≠ 0, p is that of all ways to swap the systems cluster by cluster.

    Args:
        a: Scores of one system, 0 or 1, one a question.
        b: The other's.
        clusters: The number of each question's cluster, 0 … K-1.

    Raises:
        ValueError: A score is neither 0 nor 1.
    """
    if not is_binary(a, b):
        raise ValueError("McNemar's test is for scores of 0 or 1.")
    net = cluster_sums(b - a, clusters)
    discordant = net[net != 0]
    exact = len(discordant) < EXACT_BELOW
    if len(net) == len(a):
        from statsmodels.stats.contingency_tables import mcnemar as test

        lost, won = int((discordant < 0).sum()), int((discordant > 0).sum())
        if not len(discordant):
            return McNemar(1.0, "McNemar exact")
        table = [[0, lost], [won, 0]]
        return McNemar(float(test(table, exact, correction=False).pvalue), f"McNemar {_kind(exact)}")
    p = _swaps(discordant.astype(np.int64)) if exact else _chi_square(float(net.sum() ** 2 / (net**2).sum()))
    return McNemar(p, f"McNemar clustered {_kind(exact)}")


def is_binary(*scores: NDArray[np.float64]) -> bool:
    """Whether all scores are 0 or 1."""
    return all(bool(((each == 0) | (each == 1)).all()) for each in scores)


def share_interval(a: NDArray[np.float64], b: NDArray[np.float64], clusters: NDArray[np.intp]) -> tuple[float, float]:
    """The 95 % interval of the difference of two paired shares, mean(b) - mean(a).

    Wald's after one more win and one more loss in n + 2 questions (Bonett and Price 2012), which keeps its coverage
    with few questions and does not shrink to a point where none is discordant; with the standard error of clustered
    questions, the two added ones being clusters of their own.
    """
    count = int(clusters.max()) + 1
    differences = np.concatenate([b - a, [1.0, -1.0]])
    centre = float(differences.mean())
    error = standard_error(differences, np.concatenate([clusters, [count, count + 1]]))
    half = NormalDist().inv_cdf(0.5 + CONFIDENCE_LEVEL / 2) * error
    return max(-1.0, centre - half), min(1.0, centre + half)


def _kind(exact: bool) -> str:
    return "exact" if exact else "chi-square"


def _chi_square(statistic: float) -> float:
    from scipy.special import chdtrc

    return float(chdtrc(1, statistic))


def _swaps(net: NDArray[np.int64]) -> float:
    """Two-sided p of Σ d_k among all 2^K sums of ±d_k, which are equally likely where the systems are alike."""
    reach = int(np.abs(net).sum())
    ways = np.zeros(2 * reach + 1)  # ways[s + reach]: the share of the ways to get the sum s
    ways[reach] = 1.0
    for size in np.abs(net):
        ways = (np.roll(ways, size) + np.roll(ways, -size)) / 2
    sums = np.arange(-reach, reach + 1)
    return min(1.0, float(ways[np.abs(sums) >= abs(int(net.sum()))].sum()))
