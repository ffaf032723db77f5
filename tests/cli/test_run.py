"""`kgqa-bench run`: what is printed, and what it exits with. Runs themselves are tested in tests/run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def run(cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    """Four questions, all with the answer A, and a model whose replies are A, B, A, B … by sample."""
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": f"q{i}", "kind": "choice", "question": f"[b]Number {i}?", "options": ["x", "y"], "answer": "A"}
        for i in range(4)
    ]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "script.jsonl").write_text(
        '{"contains": "Number 0", "reply": "hm"}\n{"contains": "Number 1", "reply": "Answer: B"}\n'
        '{"reply": "Answer: A"}\n'
    )
    words = ("run", "--method", "zero-shot", "--benchmark", "own.jsonl", "--model", "scripted/script.jsonl")
    return lambda *more: cli(*words, *more)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("│┃ ").replace("┃", "│").split("│")]


def test_the_table_and_what_stands_under_it(run, tmp_path: Path) -> None:
    code, out, _ = run("--out", "here")
    assert code == 0
    title, _, head, _, row, _, *notes = out.splitlines()
    assert title.strip() == "zero-shot on own.jsonl"
    figures = dict(zip(cells(head), cells(row), strict=True))
    assert figures["accuracy ↑"] == "0.500"
    assert figures["95 % interval"] == "0.150–0.850"
    assert (figures["n"], figures["calls/q"], figures["cost"]) == ("4", "1.0", "$0.0000")
    assert notes[0] == "asked 4 = scored 4 (3 ok, 1 parse_failed) + unscored 0"
    assert notes[1] == "model scripted/script.jsonl, graph none"
    assert notes[2].startswith("signature accuracy|match:exact|benchmark:own.jsonl|")
    assert notes[3:] == ["run directory here"]


def test_a_recorded_run_is_shown_again(run, cli) -> None:
    _, shown, _ = run("--out", "here")
    assert cli("info", "here") == (0, shown, "")


def test_repeats_are_told_with_their_spread(run) -> None:
    _, out, _ = run("--repeats", "2")
    assert "0.500 ± 0.000" in out
    assert "repeats: 0.500, 0.500 (± is their standard deviation)" in out


def test_questions_without_a_reply_exit_with_1(run, tmp_path: Path) -> None:
    (tmp_path / "script.jsonl").write_text('{"contains": ["Number 3"], "reply": "Answer: A"}\n')
    code, out, _ = run()
    assert code == 1
    assert "asked 4 = scored 1 (1 ok) + unscored 3 (3 unavailable)" in out


def test_a_budget_stops_with_a_reason(run) -> None:
    code, out, err = run("--budget-calls", "2", "--concurrency", "1")
    assert code == 1
    assert "unscored 2 (2 not reached (budget))" in out
    assert "Stopped: The budget of calls is used up: 2 of 2 calls." in err


def test_variants_are_rows_of_one_table(run, tmp_path: Path) -> None:
    (tmp_path / "table.yaml").write_text("variants: {first: {limit: 1}, both: {limit: 2}, all: {}}\n")
    code, out, _ = run("--config", "table.yaml", "--out", "runs", "--variant", "first", "--variant", "all")
    assert code == 0
    rows = [cells(line) for line in out.splitlines() if line.startswith("│")]
    assert [(row[0], row[1]) for row in rows] == [("first", "0.000"), ("all", "0.500")]
    assert "all: run directory runs/all" in out
    assert not (tmp_path / "runs" / "both").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--variant", "x"), "--variant needs --config"),
        (("--config", "none.yaml"), "Cannot read none.yaml"),
        (("--set", "temprature=1"), "Did you mean temperature?"),
        (("--questions", "q0,q9"), "Unknown question 'q9'"),
    ],
)
def test_wrong_usage_exits_with_2(run, words: tuple[str, ...], message: str) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert message in err


def test_a_dry_run_tells_what_would_be_asked(run, tmp_path: Path) -> None:
    code, out, _ = run("--dry-run", "--repeats", "3", "--method", "self-consistency", "--set", "samples=5")
    assert code == 0
    facts = {name: value for name, value in map(cells, (line for line in out.splitlines() if line[:1] == "│"))}
    assert (facts["questions"], facts["repeats"], facts["calls"]) == ("4", "3", "60 to 60")
    assert facts["first question"] == "[b]Number 0?"
    assert not (tmp_path / "runs").exists()


def test_a_benchmark_over_an_incomplete_graph_runs_on_both_graphs(cli, tmp_path: Path) -> None:
    words = ("run", "--method", "retrieval-only", "--benchmark", "family-mini", "--limit", "3")
    code, out, _ = cli(*words, "--setting", "both", "--out", str(tmp_path), "--json")
    assert code == 0
    assert list(json.loads(out)) == ["incomplete", "complete"]
    views = {
        view: json.loads((tmp_path / view / "run.json").read_text())["graph"]["triples"]
        for view in ("incomplete", "complete")
    }
    assert views["incomplete"] < views["complete"]
    code, out, _ = cli(*words, "--setting", "complete", "--out", str(tmp_path / "one"), "--json")
    assert json.loads((tmp_path / "one" / "run.json").read_text())["graph"]["triples"] == views["complete"]


def test_settings_that_change_nothing_are_refused(cli) -> None:
    code, _, err = cli("run", "--method", "zero-shot", "--benchmark", "family-mini", "--setting", "both")
    assert (code, "zero-shot uses no graph" in err) == (2, True)
    code, _, err = cli("run", "--method", "dog", "--benchmark", "family-mini", "--setting", "half")
    assert (code, "incomplete, complete or both" in err) == (2, True)
