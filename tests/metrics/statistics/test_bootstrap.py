"""The paired bootstrap: its interval, its p, its symmetry, against scipy and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa_bench.metrics.statistics.bootstrap import mean, paired_bootstrap, ratio
from kgqa_bench.metrics.statistics.clusters import numbered, standard_error
from kgqa_bench.metrics.statistics.detectable import smallest_detectable
from kgqa_bench.metrics.statistics.holm import holm


def test_interval_agrees_with_scipy() -> None:
    from scipy.stats import bootstrap

    rng = np.random.default_rng(3)
    a, b = rng.random(300), rng.random(300) ** 0.8
    found = paired_bootstrap(mean(a), mean(b), np.arange(300))
    other = bootstrap((b - a,), np.mean, method="percentile", n_resamples=9999, rng=np.random.default_rng(4))
    assert found.effect == pytest.approx((b - a).mean())
    assert (found.low, found.high) == pytest.approx(other.confidence_interval, abs=0.003)
    assert found.error == pytest.approx(other.standard_error, rel=0.03)
    assert found.error == pytest.approx(standard_error(b - a, np.arange(300)), rel=0.03)


def test_p_is_below_5_percent_where_the_interval_leaves_out_0() -> None:
    rng = np.random.default_rng(5)
    for shift in np.linspace(0, 0.1, 12):
        a = rng.random(200)
        found = paired_bootstrap(mean(a), mean(rng.random(200) + shift), np.arange(200), samples=1999)
        assert (found.p < 0.05) == (found.low > 0 or found.high < 0) or found.p == pytest.approx(0.05, abs=0.003)


def test_two_clusters_by_hand() -> None:
    """Of clusters with differences 1 (twice) and 0, samples have means 1, 2/3, 2/3 and 0, equally often."""
    a, b = np.zeros(3), np.array([1.0, 1.0, 0.0])
    found = paired_bootstrap(mean(a), mean(b), np.array([0, 0, 1]), samples=20_000)
    assert found.effect == pytest.approx(2 / 3)
    assert (found.low, found.high) == (0.0, 1.0)
    assert found.p == pytest.approx(0.5, abs=0.02)


scores = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(0, 6)), min_size=1, max_size=30)


@settings(max_examples=50)
@given(scores)
def test_swapping_flips_the_sign_and_a_system_equals_itself(rows: list[tuple[float, float, int]]) -> None:
    a, b, _ = (np.array(column) for column in zip(*rows, strict=True))
    clusters = numbered([str(row[2]) for row in rows])
    there = paired_bootstrap(mean(a), mean(b), clusters, samples=200)
    back = paired_bootstrap(mean(b), mean(a), clusters, samples=200)
    assert back.effect == -there.effect
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low), abs=1e-12)
    assert (back.p, back.error) == pytest.approx((there.p, there.error))
    same = paired_bootstrap(mean(a), mean(a), clusters, samples=200)
    assert (same.effect, same.low, same.high, same.p) == (0, 0, 0, 1)


def test_a_seed_gives_the_same_samples() -> None:
    rng = np.random.default_rng(1)
    a, b, clusters = rng.random(50), rng.random(50), np.arange(50)
    first = paired_bootstrap(mean(a), mean(b), clusters, samples=501)
    assert paired_bootstrap(mean(a), mean(b), clusters, samples=501) == first
    assert paired_bootstrap(mean(a), mean(b), clusters, samples=501, seed=1) != first


def test_samples_without_a_rate_are_counted() -> None:
    hits, hard = np.array([1.0, 0.0]), np.array([1.0, 0.0])
    found = paired_bootstrap(ratio(hard, hits), ratio(hard * 0, hits), np.arange(2), samples=4000)
    assert found.effect == -1
    assert found.undefined == pytest.approx(1000, abs=120)
    nothing = paired_bootstrap(ratio(hard * 0, hits * 0), ratio(hard, hits), np.arange(2), samples=10)
    assert np.isnan(nothing.effect)
    assert np.isnan(nothing.p)


def test_coverage_with_clusters() -> None:
    """400 samples of 80 clusters that share half of their variance; 95 % of the intervals hold the truth 0.1."""
    rng = np.random.default_rng(11)
    clusters = np.repeat(np.arange(80), 4)
    covered = without = 0
    for _ in range(400):
        difference = 0.1 + (rng.normal(size=80)[clusters] + rng.normal(size=320)) / 2
        for numbers in (clusters, np.arange(320)):
            found = paired_bootstrap(mean(np.zeros(320)), mean(difference), numbers, samples=500)
            inside = found.low <= 0.1 <= found.high
            covered += inside and numbers is clusters
            without += inside and numbers is not clusters
    assert 0.91 <= covered / 400 <= 0.98
    assert without / 400 < 0.88


def test_cluster_error_agrees_with_statsmodels() -> None:
    import statsmodels.api as sm

    rng = np.random.default_rng(2)
    clusters = np.sort(rng.integers(20, size=100))
    values = rng.random(100)
    clusters = numbered([str(each) for each in clusters])
    fit = sm.OLS(values, np.ones(100)).fit(cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": True})
    # its correction has (n-1)/(n-k), which is 1 for a mean
    assert standard_error(values, clusters) == pytest.approx(float(fit.bse[0]))
    assert np.isnan(standard_error(np.ones(3), np.zeros(3, dtype=int)))


def test_smallest_detectable_difference_has_80_percent_power() -> None:
    from scipy.stats import norm

    found = smallest_detectable(0.01)
    assert found == pytest.approx(0.0280159, abs=1e-6)
    assert norm.sf(norm.isf(0.025) - found / 0.01) == pytest.approx(0.8, abs=1e-4)
    assert smallest_detectable(0.0) is None
    assert smallest_detectable(float("nan")) is None


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    found = holm([0.02, float("nan"), 0.03])
    assert (found[0], found[2]) == pytest.approx((0.04, 0.04))
    assert np.isnan(found[1])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_never_lowers_p_and_keeps_the_order(values: list[float]) -> None:
    found = holm(values)
    assert all(after >= before - 1e-12 for before, after in zip(values, found, strict=True))
    order = np.argsort(values, kind="stable")
    assert all(np.diff(np.array(found)[order]) >= -1e-12)
