"""Accuracy by hand and Wilson's interval against scipy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from kgqa_bench.domain import Answer, Gold, Prediction
from kgqa_bench.metrics.accuracy import Accuracy, wilson


@given(st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_scipy(case: tuple[int, int]) -> None:
    hits, n = case
    ours = wilson(hits, n)
    theirs = binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert ours.value == hits / n
    assert ours.low == pytest.approx(theirs.low, abs=1e-9)
    assert ours.high == pytest.approx(theirs.high, abs=1e-9)


def test_wilson_of_a_published_example() -> None:
    """8 of 10: the textbook interval is 49 % to 94 %."""
    interval = wilson(8, 10)
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.4902, 0.9433)


def test_only_the_first_prediction_counts() -> None:
    gold = Gold(("B",))
    score = Accuracy().score
    assert score(gold, Answer((Prediction("B"), Prediction("A")))) == 1.0
    assert score(gold, Answer((Prediction("A"), Prediction("B")))) == 0.0
    assert score(gold, Answer((Prediction("b"),))) == 0.0
    assert score(gold, Answer(status="parse_failed")) == 0.0


def test_no_score_is_undefined_not_zero() -> None:
    with pytest.raises(ValueError, match="undefined"):
        Accuracy().interval([])
