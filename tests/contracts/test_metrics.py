"""The contract of metrics, over every registered one."""

from __future__ import annotations

import pytest

from kgqa_bench import registry
from kgqa_bench.contracts import Metric
from kgqa_bench.domain import Answer, AnswerStatus, Gold, Prediction


@pytest.fixture(params=registry.names("metrics"))
def metric(request: pytest.FixtureRequest) -> Metric:
    """Each registered metric with its default settings."""
    created: Metric = registry.create("metrics", request.param)
    return created


def test_names_itself(metric: Metric) -> None:
    assert metric.name in registry.names("metrics")
    assert metric.matching


def test_right_scores_above_wrong(metric: Metric) -> None:
    gold = Gold(("B",))
    assert metric.score(gold, Answer((Prediction("B"),))) > metric.score(gold, Answer((Prediction("A"),)))


@pytest.mark.parametrize("status", ["parse_failed", "abstained", "error"])
def test_no_answer_scores_like_a_wrong_one(metric: Metric, status: AnswerStatus) -> None:
    gold = Gold(("B",))
    assert metric.score(gold, Answer(status=status)) == metric.score(gold, Answer((Prediction("A"),)))


def test_interval_holds_the_mean_of_all(metric: Metric) -> None:
    interval = metric.interval([1.0, 0.0, 0.0, 0.0])
    assert interval.n == 4
    assert interval.low < interval.value < interval.high
    assert interval.value == 0.25


def test_nothing_to_score_is_no_zero(metric: Metric) -> None:
    with pytest.raises(ValueError, match="undefined"):
        metric.interval([])
