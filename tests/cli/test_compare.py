"""``kgqa-bench compare`` on runs made by ``kgqa-bench run``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]


@pytest.fixture
def runs(cli: Cli, tmp_path: Path) -> tuple[str, str]:
    """The incomplete and the complete family-mini, answered without a model."""
    paths = str(tmp_path / "incomplete"), str(tmp_path / "complete")
    for path, view in zip(paths, ("incomplete", "complete"), strict=True):
        words = ("run", "--method", "retrieval-only", "--benchmark", "family-mini", "--out", path)
        assert cli(*words, "--set", f"graph.view={view}").code == 0
    return paths


def test_tables_and_lists(cli: Cli, runs: tuple[str, str]) -> None:
    done = cli("compare", *runs, "--across", "graph", "-m", "hits-any", "--first", "1")
    assert done.code == 0, done.err
    assert "hits_any (higher is better)" in done.out
    assert "McNemar clustered exact" in done.out
    assert "wrong in A, right in B by hits_any: 5: 020, and 4 more (--all)" in done.out
    assert "and 4 more" not in cli("compare", *runs, "--across", "graph", "-m", "hits-any", "--all").out


def test_json(cli: Cli, runs: tuple[str, str]) -> None:
    report = json.loads(cli("compare", *runs, "--across", "graph", "--json", "--samples", "200").out)
    assert set(report["metrics"]) == {"hits_at_1", "hits_any", "f1", "hits_hard_primary"}
    pair = report["metrics"]["hits_hard_primary"]["pairs"][0]
    assert pair["difference"] == pytest.approx(pair["value_b"] - pair["value_a"])
    assert pair["difference"] > 0
    same = json.loads(cli("compare", runs[0], runs[0], "--json").out)
    for found in same["metrics"].values():
        assert [found["pairs"][0][name] for name in ("difference", "p", "smallest_detectable")] == [0, 1, None]


def test_refusals(cli: Cli, runs: tuple[str, str], tmp_path: Path) -> None:
    done = cli("compare", *runs)
    assert done.code == 2
    assert "differ in the part graph" in done.err
    assert cli("compare", runs[0]).code == 2
    done = cli("compare", runs[0], str(tmp_path / "nothing"))
    assert (done.code, "no run directory" in done.err) == (2, True)
    assert cli("compare", runs[0], runs[0], "-m", "ece").code == 2


def test_an_unanswered_question_gives_exit_code_1(cli: Cli, runs: tuple[str, str]) -> None:
    records = Path(runs[1], "records.jsonl")
    records.write_text("".join(records.read_text().splitlines(keepends=True)[1:]))
    done = cli("compare", *runs, "--across", "graph")
    assert done.code == 1
    assert "B never reached, others did: 1: " in done.out
