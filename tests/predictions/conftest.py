"""Prediction files, and a small run directory."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes rows (a text stands for a line as it is) as JSON lines, or as one JSON list."""

    def call(name: str, rows: list[Any]) -> Path:
        path = tmp_path / name
        if name.endswith(".json"):
            path.write_text(json.dumps(rows))
        else:
            path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
        return path

    return call


@pytest.fixture
def run_directory(tmp_path: Path) -> Callable[..., Path]:
    """Writes a run directory with these rows of records.jsonl; what a row leaves out is filled in."""

    def call(rows: list[dict[str, Any]], *, asked: int, repeats: int = 1) -> Path:
        path = tmp_path / "run"
        path.mkdir()
        info = {
            "created": "2026-01-01",
            "config": {"method": "zero-shot", "repeats": repeats},
            "method_settings": {},
            "model": "m",
            "uses_gold": False,
            "versions": {"kgqa-bench": "0"},
            "hashes": {"code": "c" * 64, "prompts": "d" * 64, "split": "e" * 64, "graph": "f" * 64},
            "benchmark": {"name": "b", "asked": asked},
        }
        (path / "run.json").write_text(json.dumps(info))
        filled = {"repeat": 0, "status": "ok", "predictions": [], "gold": ["1"], "score": 0.0}
        lines = [json.dumps(filled | row) + "\n" for row in rows]
        (path / "records.jsonl").write_text("".join(lines))
        return path

    return call


@pytest.fixture
def derivation() -> dict[str, Any]:
    """How a primary hard answer 2 of the topic 9 follows."""
    return {
        "rule": 1,
        "rule_type": "symmetry",
        "rule_subtype": None,
        "removed": ["9", "r", "2", 1.0],
        "grounding": [["2", "r", "9", 1.0]],
        "hops": 1,
        "twin": "symmetric",
    }
