"""Runs compared: what is refused, who is counted, and that the figures are those of the tests on arrays."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kgqa_bench.errors import ConfigError, DataError, UnknownNameError
from kgqa_bench.metrics.calibration import ece
from kgqa_bench.metrics.comparison import compare_runs
from kgqa_bench.metrics.statistics.bootstrap import mean, paired_bootstrap
from kgqa_bench.metrics.statistics.mcnemar import mcnemar, share_interval

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes a run directory: answers (a list, or several for repeats) by question; the gold is 1, or given."""

    def call(
        name: str, answers: dict[str, Any], *, asked: int = 0, repeats: int = 1, gold: Any = None, **changes: Any
    ) -> Path:
        path = tmp_path / name
        path.mkdir()
        hashes = {"code": "c", "prompts": name * 9, "split": "e" * 9, "graph": "f" * 9}
        info = {
            "created": "2026-01-01", "config": {"repeats": repeats}, "method_settings": {}, "model": "m",
            "uses_gold": changes.pop("oracle", False), "versions": {"kgqa-bench": "0"}, "hashes": hashes | changes,
            "benchmark": {"name": "b", "asked": asked or len(answers)},
        }  # fmt: skip
        rows = []
        for question_id, given in answers.items():
            for repeat, predictions in enumerate(given if repeats > 1 else [given]):
                pairs = [each if isinstance(each, list) else [each, None] for each in predictions]
                row = {"question_id": question_id, "repeat": repeat, "status": "ok", "predictions": pairs, "score": 0}
                rows.append(row | {"gold": ["1"]} | ((gold or {}).get(question_id) or {}))
        (path / "run.json").write_text(json.dumps(info))
        (path / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return call


def of_topic(topic: str) -> dict[str, Any]:
    removed = [topic, "r", "1", 1.0]
    return {
        "hard_answers": ["1"], "primary": "1",
        "derivation": {
            "rule": 1, "rule_type": "symmetry", "rule_subtype": None, "removed": removed,
            "grounding": [["1", "r", topic, 1.0]], "hops": 1, "twin": None,
        },
    }  # fmt: skip


def test_difference_test_and_ids(make: Make) -> None:
    a = make("a", {f"q{i}": ["1"] if i < 2 else ["2"] for i in range(10)})
    b = make("b", {f"q{i}": ["1"] if i > 0 else ["2"] for i in range(10)})
    report = compare_runs([a, b], "strict_ids", ["hits_at_1"])
    pair = report["metrics"]["hits_at_1"]["pairs"][0]
    scores = np.array([1.0] * 2 + [0.0] * 8), np.array([0.0] + [1.0] * 9), np.arange(10)
    assert pair["difference"] == pytest.approx(0.7)
    assert (pair["p"], pair["test"]) == mcnemar(*scores)
    assert (pair["low"], pair["high"]) == pytest.approx(share_interval(*scores))
    assert pair["p"] == pytest.approx(2 * (1 + 9) / 2**9)
    assert pair["p_holm"] == pair["p"]
    assert (pair["only_b_right"], pair["only_a_right"]) == (8, 1)
    assert report["disagreements"][0]["only_b_right"] == [f"q{i}" for i in range(2, 10)]
    assert report["disagreements"][0]["only_a_right"] == ["q0"]
    assert "cluster:question" in report["signature"]


def test_scores_between_0_and_1_are_bootstrapped(make: Make) -> None:
    a = make("a", {f"q{i}": ["1", "2"] for i in range(10)})
    b = make("b", {f"q{i}": ["1"] if i % 2 else ["2"] for i in range(10)})
    pair = compare_runs([a, b], "strict_ids", ["f1"], samples=500, seed=3)["metrics"]["f1"]["pairs"][0]
    expected = paired_bootstrap(
        mean(np.full(10, 2 / 3)), mean(np.array([0.0, 1.0] * 5)), np.arange(10), samples=500, seed=3
    )
    assert pair["test"] == "paired bootstrap"
    assert (pair["difference"], pair["low"], pair["high"], pair["p"]) == pytest.approx(expected[:4])


def test_topic_entities_are_clusters(make: Make) -> None:
    gold = {f"q{i}": of_topic(f"t{i // 2}") for i in range(8)}
    a = make("a", {f"q{i}": ["2"] for i in range(8)}, gold=gold)
    b = make("b", {f"q{i}": ["1"] for i in range(8)}, gold=gold)
    report = compare_runs([a, b], "strict_ids", ["hits_hard_primary"])
    pair = report["metrics"]["hits_hard_primary"]["pairs"][0]
    assert report["clusters"] == {"by": "topic", "count": 4}
    assert pair["test"] == "McNemar clustered exact"
    assert pair["p"] == pytest.approx(2 / 2**4)
    assert pair["few_clusters"]
    assert "cluster:topic" in report["signature"]


def test_repeats_count_by_their_mean(make: Make) -> None:
    a = make("a", {"q0": [["1"], ["2"]], "q1": [["1"], ["1"]]}, repeats=2)
    b = make("b", {"q0": [["1"], ["1"]], "q1": [["2"], ["2"]]}, repeats=2)
    report = compare_runs([a, b], "strict_ids", ["hits_at_1"], samples=100)
    pair = report["metrics"]["hits_at_1"]["pairs"][0]
    assert (pair["value_a"], pair["value_b"], pair["test"]) == (0.75, 0.5, "paired bootstrap")
    assert report["disagreements"][0]["only_a_right"] == ["q1"]
    assert report["disagreements"][0]["only_b_right"] == []


def test_questions_that_one_run_never_reached_score_0_and_are_named(make: Make) -> None:
    gold = {"q1": of_topic("t")}
    a = make("a", {f"q{i}": ["1"] for i in range(3)}, asked=5, gold=gold)
    b = make("b", {"q0": ["1"], "q3": ["1"]}, asked=5)
    report = compare_runs([a, b], "strict_ids", ["hits_at_1", "hits_hard_any"])
    assert report["runs"]["A"]["missing"] == ["q3"]
    assert report["runs"]["B"]["missing"] == ["q1", "q2"]
    assert report["runs"]["B"]["unanswered"] == {"missing": 3}
    pair = report["metrics"]["hits_at_1"]["pairs"][0]
    assert (pair["value_a"], pair["value_b"], pair["n"]) == (0.6, 0.4, 5)
    assert report["metrics"]["hits_hard_any"]["pairs"][0]["n"] == 1
    assert report["clusters"]["by"] == "topic-or-question"


def test_a_run_that_reached_nothing_scores_0(make: Make) -> None:
    a, b = make("a", {"q0": ["1"]}, asked=1), make("b", {}, asked=1)
    pair = compare_runs([a, b], "strict_ids", ["hits_any"])["metrics"]["hits_any"]["pairs"][0]
    assert (pair["value_a"], pair["value_b"]) == (1.0, 0.0)
    with pytest.raises(DataError, match="No run has reached"):
        compare_runs([b, b], "strict_ids")


@pytest.mark.parametrize(
    ("changes", "part", "hint"),
    [
        ({"split": "x" * 9}, "split of their signatures: eeeeeeee and xxxxxxxx", "Only in .*/a: 1 questions"),
        ({"graph": "x" * 9}, "graph of their signatures: ffffffff and xxxxxxxx", "--across graph"),
        ({"oracle": True}, "oracle of their signatures: no and yes", "--across oracle"),
    ],
)
def test_other_signatures_are_refused_by_part(make: Make, changes: dict[str, Any], part: str, hint: str) -> None:
    a, b = make("a", {"q0": ["1"]}), make("b", {"q1": ["1"]}, **changes)
    with pytest.raises(ConfigError, match=f"differ in the part {part}.*{hint}"):
        compare_runs([a, b], "strict_ids")


def test_other_gold_answers_are_refused(make: Make) -> None:
    a, b = make("a", {"q0": ["1"]}), make("b", {"q0": ["1"]}, gold={"q0": {"gold": ["2"]}})
    with pytest.raises(ConfigError, match="gold answers of question 'q0' differ"):
        compare_runs([a, b], "strict_ids")


def test_graphs_may_differ_where_asked_and_a_run_may_have_none(make: Make) -> None:
    a = make("a", {"q0": ["1"]})
    b, c = make("b", {"q0": ["1"]}, graph="x" * 9), make("c", {"q0": ["1"]}, graph=None)
    assert "graph:ffffffff/xxxxxxxx" in compare_runs([a, b], "strict_ids", across=["graph"])["signature"]
    assert "graph:ffffffff/none" in compare_runs([a, c], "strict_ids")["signature"]
    with pytest.raises(UnknownNameError, match="part for --across 'split'"):
        compare_runs([a, b], "strict_ids", across=["split"])
    with pytest.raises(ConfigError, match="differ in the part graph"):
        compare_runs([c, a, b], "strict_ids")


def test_calibration_over_answers_with_confidence_in_both(make: Make) -> None:
    a = make("a", {"q0": [["1", 0.9]], "q1": [["2", 0.8]], "q2": [["1", None]], "q3": [["1", 0.5]]})
    b = make("b", {"q0": [["1", 1.0]], "q1": [["2", 0.2]], "q2": [["1", 0.5]], "q3": []})
    report = compare_runs([a, b], "strict_ids", ["ece", "ace"], samples=200)
    pair = report["metrics"]["ece"]["pairs"][0]
    right = np.array([1.0, 0.0])
    assert pair["value_a"] == pytest.approx(ece(np.array([0.9, 0.8]), right))
    assert pair["value_b"] == pytest.approx(ece(np.array([1.0, 0.2]), right))
    assert (pair["n"], pair["without_confidence"]) == (2, 2)
    none = make("none", {f"q{i}": ["1"] for i in range(4)})
    with pytest.raises(DataError, match="No answer has a confidence"):
        compare_runs([a, none], "strict_ids", ["ece"])


def test_calibration_takes_every_repeat(make: Make) -> None:
    a = make("a", {"q0": [[["1", 0.9]], [["2", 0.7]]]}, repeats=2)
    found = compare_runs([a, a], "strict_ids", ["ece"], samples=100)["metrics"]["ece"]["pairs"][0]
    assert found["value_a"] == pytest.approx((0.1 + 0.7) / 2)
    assert (found["difference"], found["p"]) == (0, 1)


def test_a_rate_that_is_undefined_has_no_test(make: Make) -> None:
    gold = {f"q{i}": of_topic(f"t{i}") for i in range(3)}
    a = make("a", {f"q{i}": ["2"] for i in range(3)}, gold=gold)
    b = make("b", {f"q{i}": ["1"] for i in range(3)}, gold=gold)
    pair = compare_runs([a, b], "strict_ids", ["hhr"], samples=100)["metrics"]["hhr"]["pairs"][0]
    assert (pair["value_a"], pair["value_b"], pair["difference"], pair["p"], pair["p_holm"]) == (
        None, 1.0, None, None, None,
    )  # fmt: skip


def test_several_pairs_are_adjusted_and_swapping_flips(make: Make) -> None:
    a = make("a", {f"q{i:02}": ["1"] if i < 3 else ["2"] for i in range(20)})
    b = make("b", {f"q{i:02}": ["1"] if i > 9 else ["2"] for i in range(20)})
    c = make("c", {f"q{i:02}": ["1"] for i in range(20)})
    there = compare_runs([a, b, c], "strict_ids", ["hits_any"])["metrics"]["hits_any"]["pairs"]
    assert [(pair["a"], pair["b"]) for pair in there] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert min(pair["p_holm"] for pair in there) == pytest.approx(3 * min(pair["p"] for pair in there))
    back = compare_runs([b, a], "strict_ids", ["hits_any"])["metrics"]["hits_any"]["pairs"][0]
    assert (back["difference"], back["low"], back["high"]) == pytest.approx(
        (-there[0]["difference"], -there[0]["high"], -there[0]["low"])
    )
    assert back["p"] == there[0]["p"]


def test_options_are_compared_by_the_first_one_named(make: Make) -> None:
    gold = {f"q{i}": {"gold": ["A"]} for i in range(4)}
    a = make("a", {f"q{i}": ["B", "A"] for i in range(4)}, gold=gold)
    b = make("b", {f"q{i}": ["A", "B"] for i in range(4)}, gold=gold)
    assert list(compare_runs([a, b], "strict_ids")["metrics"]) == ["hits_at_1"]
    assert compare_runs([a, b], "strict_ids", ["accuracy"])["metrics"]["accuracy"]["pairs"][0]["difference"] == 1


def test_bad_requests(make: Make) -> None:
    a = make("a", {"q0": ["1"]})
    with pytest.raises(ConfigError, match="Two runs are needed"):
        compare_runs([a], "strict_ids")
    with pytest.raises(UnknownNameError, match="metric 'hit_any'"):
        compare_runs([a, a], "strict_ids", ["hit_any"])
    with pytest.raises(DataError, match="hhr is not defined"):
        compare_runs([a, a], "strict_ids", ["hhr"])
