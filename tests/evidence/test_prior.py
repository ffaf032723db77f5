"""Eq. 4 with every figure that is published about it, and the curves of Fig. 6."""

from __future__ import annotations

import numpy as np
import pytest

from kgqa_bench.evidence.prior import PRIORS, prior_curves

JEFFREYS, UNIFORM, MLE = PRIORS["jeffreys"], PRIORS["uniform"], PRIORS["mle"]


@pytest.mark.parametrize(
    ("candidates", "right", "confidence"),
    [
        (2, 1, 0.5),  # the example's z3
        (1, 1, 0.75),  # z2, and the example of appendix B.1
        (4, 2, 0.5),
        (5, 4, 0.75),
        (9, 7, 0.75),
        (3, 3, 0.875),
        (10, 2, 2.5 / 11),
    ],
)
def test_jeffreys(candidates: int, right: int, confidence: float) -> None:
    assert JEFFREYS.confidence(right, candidates) == confidence


def test_only_jeffreys_gives_the_examples_figure() -> None:
    assert UNIFORM.confidence(1, 1) == pytest.approx(0.667, abs=0.0005)
    assert MLE.confidence(1, 1) == 1.0
    assert JEFFREYS.confidence(2, 10) == pytest.approx(0.227, abs=0.0005)
    assert f"{JEFFREYS.confidence(1, 1):.1f}" == "0.8"  # as the case study prints it
    assert f"{JEFFREYS.confidence(1, 2):.1f}" == "0.5"


def test_the_uniform_estimator_is_printed_in_appendix_a() -> None:
    for n in range(1, 30):
        for s in range(n + 1):
            assert UNIFORM.confidence(s, n) == (1 + s) / (2 + n)
            assert JEFFREYS.confidence(s, n) == (s + 0.5) / (n + 1)
            assert MLE.confidence(s, n) == s / n


@pytest.mark.parametrize("prior", PRIORS.values())
@pytest.mark.parametrize(("right", "candidates"), [(0, 0), (2, 1), (-1, 1), (0, -1)])
def test_no_candidates_no_confidence(prior, right: int, candidates: int) -> None:
    with pytest.raises(ValueError):
        prior.confidence(right, candidates)
    if candidates < 1:
        with pytest.raises(ValueError):
            prior.curve(candidates)


def test_the_curves_of_figure_6() -> None:
    for prior, extremes in ((MLE, (0.0, 1.0)), (JEFFREYS, (0.25, 0.75)), (UNIFORM, (1 / 3, 2 / 3))):
        first = prior_curves(prior, [1])[0]
        assert first.shares.tolist() == [0.0, 1.0]
        assert tuple(first.confidences.tolist()) == extremes
    for small in (1, 2, 5):  # pulled towards 0.5, by the uniform prior more than by Jeffreys'
        curves = [prior.curve(small).confidences[[0, -1]] for prior in (MLE, JEFFREYS, UNIFORM)]
        distances = [np.abs(curve - 0.5).max() for curve in curves]
        assert distances == sorted(distances, reverse=True)
        assert len(set(distances)) == 3
    for prior in (JEFFREYS, UNIFORM):  # and to the maximum-likelihood estimate as n grows
        gaps = [np.abs(curve.confidences - curve.shares).max() for curve in prior_curves(prior)]
        assert gaps == sorted(gaps, reverse=True)
        assert gaps[-1] < 0.01
        for curve in prior_curves(prior):
            assert len(curve.shares) == curve.candidates + 1
            np.testing.assert_allclose(curve.confidences[curve.shares == 0.5], 0.5)


def test_the_curves_are_the_confidences() -> None:
    for prior in PRIORS.values():
        curve = prior.curve(7)
        assert curve.confidences.tolist() == [prior.confidence(s, 7) for s in range(8)]
