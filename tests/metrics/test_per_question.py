"""Scores of a run question by question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgqa_bench.errors import UnknownNameError
from kgqa_bench.metrics.per_question import per_question
from kgqa_bench.metrics.signature import written


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of three questions: one right, one failed, one never reached."""
    info = {
        "created": "2026-01-01", "config": {"repeats": 1}, "method_settings": {}, "model": "m", "uses_gold": False,
        "versions": {"kgqa-bench": "0"}, "hashes": {"code": "c", "prompts": "p" * 64, "split": "s" * 64},
        "benchmark": {"name": "b", "asked": 3},
    }  # fmt: skip
    derivation = {
        "rule": 1, "rule_type": "symmetry", "rule_subtype": None, "removed": ["9", "r", "2", 1.0],
        "grounding": [["2", "r", "9", 1.0]], "hops": 1, "twin": None,
    }  # fmt: skip
    gold = {"gold": ["2", "3"], "hard_answers": ["2"], "primary": "2", "derivation": derivation, "score": 0.0}
    rows = [
        {"question_id": "a", "repeat": 0, "status": "ok", "predictions": [["2", None]]} | gold,
        {"question_id": "b", "repeat": 0, "status": "error", "error": {"reason": "timeout", "message": ""}} | gold,
    ]
    (tmp_path / "run.json").write_text(json.dumps(info))
    (tmp_path / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_per_question(run: Path) -> None:
    found = per_question(run, "strict_ids")
    assert found.ids == ("a", "b", "(not reached 1)")
    assert found.clusters == ("9", "9", "(not reached 1)")
    assert found.scores["f1"].tolist() == pytest.approx([2 / 3, 0, 0])
    assert found.scores["hits_hard_primary"].tolist() == [1, 0, 0]
    assert found.groups[0]["rule_type"] == "symmetry"


def test_signature(run: Path) -> None:
    parts = per_question(run, "STRICT-IDS").signature
    assert written("f1", parts).startswith("f1|protocol:strict_ids|protocol_v:1|unit:ids|split:ssssssss|gold:")
    assert {
        "benchmark": "b",
        "graph": "none",
        "prompts": "pppppppp",
        "n": "3",
        "failures": "0",
    }.items() <= parts.items()


def test_unknown_protocol(run: Path) -> None:
    with pytest.raises(UnknownNameError, match="strict-ids"):
        per_question(run, "strict-id")
