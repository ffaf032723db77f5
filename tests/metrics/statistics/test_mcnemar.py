"""McNemar's test against scipy and statsmodels, by hand, and with clusters."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa_bench.metrics.statistics.clusters import numbered
from kgqa_bench.metrics.statistics.mcnemar import mcnemar, share_interval

binary = st.sampled_from([0.0, 1.0])


def pairs(won: int, lost: int, alike: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    a = np.array([0.0] * won + [1.0] * lost + [1.0] * alike)
    b = np.array([1.0] * won + [0.0] * lost + [1.0] * alike)
    return a, b, np.arange(len(a))


def test_few_discordant_questions_are_tested_exactly() -> None:
    found = mcnemar(*pairs(5, 1))
    assert found.test == "McNemar exact"
    assert found.p == pytest.approx(2 * (1 + 6) / 2**6)


def test_many_discordant_questions_are_tested_by_chi_square() -> None:
    from scipy.stats import chi2

    found = mcnemar(*pairs(30, 15))
    assert found.test == "McNemar chi-square"
    assert found.p == pytest.approx(chi2.sf(15**2 / 45, 1))


@given(st.integers(0, 40), st.integers(0, 40))
def test_clusters_of_one_question_give_the_plain_test(won: int, lost: int) -> None:
    a, b, alone = pairs(won, lost)
    first = mcnemar(a, b, alone)
    # one further question makes it the clustered test, a pair without discordance changes nothing
    second = mcnemar(np.append(a, 1.0), np.append(b, 1.0), np.append(alone, len(a) - 1))
    assert second.p == pytest.approx(first.p)
    assert second.test == (first.test.replace("McNemar", "McNemar clustered"))


@given(st.lists(st.tuples(binary, binary, st.integers(0, 5)), min_size=2, max_size=20))
def test_swaps_of_clusters_by_brute_force(rows: list[tuple[float, float, int]]) -> None:
    a, b, _ = (np.array(column) for column in zip(*rows, strict=True))
    names = [str(row[2]) for row in rows]
    net = [sum(row[1] - row[0] for row in rows if str(row[2]) == name) for name in dict.fromkeys(names)]
    sums = [
        abs(sum(s * d for s, d in zip(signs, net, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(net))
    ]
    expected = np.mean([each >= abs(sum(net)) for each in sums])
    assert mcnemar(a, b, numbered(names)).p == pytest.approx(expected)


@given(st.lists(st.tuples(binary, binary, st.integers(0, 9)), min_size=1, max_size=60))
def test_swapping_the_systems_keeps_p_and_flips_the_interval(rows: list[tuple[float, float, int]]) -> None:
    a, b, _ = (np.array(column) for column in zip(*rows, strict=True))
    clusters = numbered([str(row[2]) for row in rows])
    assert mcnemar(a, b, clusters).p == pytest.approx(mcnemar(b, a, clusters).p)
    assert mcnemar(a, a, clusters).p == 1.0
    alone = np.arange(len(a))
    low, high = share_interval(a, b, alone)
    assert share_interval(b, a, alone) == pytest.approx((-high, -low))
    assert low <= (b - a).mean() <= high


def test_interval_by_hand() -> None:
    a, b, clusters = pairs(7, 2, 41)
    half = 1.959964 * ((8 + 3 - 25 / 52) / (52 * 51)) ** 0.5
    assert share_interval(a, b, clusters) == pytest.approx((5 / 52 - half, 5 / 52 + half), abs=1e-6)


def test_half_scores_have_no_test() -> None:
    with pytest.raises(ValueError, match="0 or 1"):
        mcnemar(np.array([0.5]), np.array([1.0]), np.array([0]))


def test_interval_without_a_discordant_question_is_no_point() -> None:
    a = np.ones(50)
    low, high = share_interval(a, a, np.arange(50) // 2)
    assert low == -high
    assert 0.05 < high < 0.08  # 1.96 · √2 / 52, and some


def test_questions_that_hang_together_count_less() -> None:
    a, b, alone = pairs(40, 20)
    together = alone // 10
    assert mcnemar(a, b, alone).p < 0.05 < mcnemar(a, b, together).p


def test_level_with_clusters_under_no_difference() -> None:
    """In 600 simulated comparisons without a difference, 5 % may be found, the plain test finds many more."""
    rng = np.random.default_rng(7)
    clusters = np.repeat(np.arange(60), 5)
    found = plain = 0
    for _ in range(600):
        shared = rng.random((2, 60))[:, clusters]  # each cluster has one system that is good at it
        a, b = (rng.random((2, 300)) < shared).astype(float)
        found += mcnemar(a, b, clusters).p < 0.05
        plain += mcnemar(a, b, np.arange(300)).p < 0.05
    assert 0.03 <= found / 600 <= 0.07
    assert plain / 600 > 0.1


def test_coverage_of_the_interval_with_clusters() -> None:
    """In 1000 simulated comparisons of 120 questions about 40 entities, 95 % of the intervals hold the truth 0."""
    rng = np.random.default_rng(9)
    clusters = np.repeat(np.arange(40), 3)
    covered = 0
    for _ in range(1000):
        shared = rng.random((2, 40))[:, clusters]
        a, b = (rng.random((2, 120)) < shared).astype(float)
        low, high = share_interval(a, b, clusters)
        covered += low <= 0 <= high
    assert 0.93 <= covered / 1000 <= 0.975
