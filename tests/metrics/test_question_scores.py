"""Averages, intervals and hard hits rates by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa_bench import registry
from kgqa_bench.contracts import ScoreRow
from kgqa_bench.metrics.averages import MANY, average
from kgqa_bench.metrics.hits_hard import hard_hits_rate
from kgqa_bench.metrics.question_scores import score_questions

STRICT = registry.create("protocols", "strict-ids")


def row(number: int, predictions: str, **more) -> ScoreRow:
    return ScoreRow(f"q{number}", tuple(predictions), tuple("abh"), ("h",), "h", **more)


def test_macro_averages() -> None:
    scores = score_questions(STRICT, [row(1, "ax"), row(2, "h"), row(3, "x"), row(4, "abh")])
    found = scores.averages()
    assert found["hits_any"].value == 0.75
    assert found["precision"].value == pytest.approx((1 / 2 + 1 + 0 + 1) / 4)
    assert found["recall"].value == found["accuracy"].value == pytest.approx((1 / 3 + 1 / 3 + 0 + 1) / 4)
    assert found["f1"].value == pytest.approx((2 / 5 + 1 / 2 + 0 + 1) / 4)
    assert found["exact_match"].value == 0.25
    assert found["hhr"].value == pytest.approx(2 / 3)  # of 3 hits 2 are hard
    assert found["hhr"].n == 4


def test_hhr_is_a_quotient_of_means() -> None:
    """Not a mean of quotients; and questions without hard answer do not touch it."""
    easy = ScoreRow("easy", ("a",), ("a",))
    scores = score_questions(STRICT, [row(1, "a"), row(2, "h"), row(3, ""), easy])
    found = scores.averages()
    assert found["hhr"].value == 0.5
    assert found["hits_any"].n == 4
    assert found["hits_hard_primary"].n == 3


def test_hhr_is_undefined_where_nothing_is_hit() -> None:
    found = score_questions(STRICT, [row(1, "x"), row(2, "")]).averages()
    assert found["hhr"] is None
    assert found["hhr_any_of_set"] is None
    assert "hhr" not in score_questions(STRICT, [ScoreRow("q", ("a",), ("a",))]).averages()


def test_primary_and_any_of_the_set() -> None:
    asked = ScoreRow("q", ("i",), tuple("ahi"), ("h", "i"), "h")
    found = score_questions(STRICT, [asked]).averages()
    assert (found["hhr"].value, found["hhr_any_of_set"].value) == (0.0, 1.0)


def test_by_group() -> None:
    rows = [
        row(1, "h", groups={"rule_type": "symmetry"}),
        row(2, "a", groups={"rule_type": "symmetry"}),
        row(3, "x", groups={"rule_type": "composition"}),
        row(4, "h"),
    ]
    parts = score_questions(STRICT, rows).split_by("rule_type")
    assert list(parts) == ["composition", "symmetry"]
    assert parts["symmetry"].averages()["hhr"].value == 0.5
    assert parts["composition"].averages()["hhr"] is None
    assert parts["symmetry"].ids == ("q1", "q2")


def test_what_was_not_answered_scores_0_everywhere() -> None:
    rows = [row(1, "h"), row(2, "abh", answered=False), ScoreRow("lost", (), (), answered=False)]
    found = score_questions(STRICT, rows).averages()
    assert {name: each.value for name, each in found.items() if not name.startswith("hhr")} == pytest.approx(
        {
            "hits_any": 1 / 3, "hits_at_1": 1 / 3, "precision": 1 / 3, "recall": 1 / 9, "accuracy": 1 / 9,
            "f1": 1 / 6, "exact_match": 0, "hits_hard_primary": 1 / 3, "hits_hard_any": 1 / 3,
        }
    )  # fmt: skip
    gerbil = registry.create("protocols", "gerbil")
    assert score_questions(gerbil, [ScoreRow("q", (), (), answered=False)]).columns["f1"].tolist() == [0.0]
    tog = registry.create("protocols", "tog")
    assert score_questions(tog, [ScoreRow("q", ("",), ("a",), answered=False)]).columns["hits_any"].tolist() == [0.0]


def test_repeats_count_by_their_mean() -> None:
    scores = score_questions(STRICT, [row(1, "abh"), row(1, "x"), row(2, "x"), row(2, "x")])
    assert scores.ids == ("q1", "q2")
    assert scores.columns["f1"].tolist() == [0.5, 0.0]


def test_undefined_fields_are_no_columns() -> None:
    columns = score_questions(registry.create("protocols", "tog"), [row(1, "a")]).columns
    assert list(columns) == ["hits_any"]


def test_no_question() -> None:
    assert score_questions(STRICT, []).averages() == {}
    with pytest.raises(ValueError, match="undefined"):
        average("f1", np.array([]))


def test_intervals() -> None:
    """Student's t of 0.1, 0.2, 0.6: mean 0.3, s = 0.2646, t(2) = 4.3027."""
    found = average("f1", np.array([0.1, 0.2, 0.6]))
    assert found.value == pytest.approx(0.3)
    assert (found.low, found.high) == (0.0, pytest.approx(0.3 + 4.3027 * math.sqrt(0.07) / math.sqrt(3), abs=1e-4))
    assert average("hits_any", np.array([1.0, 0.0]))[1:3] == pytest.approx((0.0945, 0.9055), abs=1e-4)
    alone = average("f1", np.array([0.4]))
    assert alone.value == 0.4
    assert math.isnan(alone.low)


def test_many_degrees_of_freedom_need_no_scipy() -> None:
    from scipy.stats import t

    values = np.linspace(0, 1, MANY + 1)
    half = average("f1", values).high - 0.5
    exact = t.ppf(0.975, MANY) * values.std(ddof=1) / math.sqrt(MANY + 1)
    assert half == pytest.approx(exact, rel=2e-3)


def test_bootstrap_of_hhr_is_that_of_questions() -> None:
    """The multinomial draw of pairs is the resampling of questions."""
    random = np.random.default_rng(1)
    hits = (random.random(200) < 0.6).astype(float)
    hard = hits * (random.random(200) < 0.3)
    found = hard_hits_rate(hits, hard)
    assert found is not None
    drawn = random.integers(0, 200, (10_000, 200))
    rates = hard[drawn].sum(axis=1) / hits[drawn].sum(axis=1)
    assert (found.low, found.high) == pytest.approx(np.quantile(rates, [0.025, 0.975]), abs=0.01)
    assert found == hard_hits_rate(hits, hard)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_hhr_lies_in_its_interval(pairs: list[tuple[bool, bool]]) -> None:
    hits = np.array([float(hit) for hit, _hard in pairs])
    hard = np.array([float(hit and hard) for hit, hard in pairs])
    found = hard_hits_rate(hits, hard)
    if found is None:
        assert not hits.any()
    else:
        assert 0 <= found.low <= found.value + 1e-12
        assert found.value <= found.high + 1e-12
        assert found.high <= 1
