from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from kgqa_bench.cli.audit import audit

app = typer.Typer()
app.command()(audit)


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setenv("COLUMNS", "200")
    return CliRunner()


def rows_file(folder: Path, answer: str) -> Path:
    row = {"id": "1", "question": "where\u001b[31m [b]is[/b] it", "answer": [answer], "q_entity": ["a"]}
    path = folder / "test.jsonl"
    path.write_text(json.dumps(row | {"graph": [["a", "r", "b"]]}) + "\n")
    return path


def test_tables(tmp_path: Path, runner: CliRunner) -> None:
    done = runner.invoke(app, [str(rows_file(tmp_path, "z"))])
    assert done.exit_code == 0
    assert "unreachable answers" in done.output
    assert "\u001b[31m" not in done.output
    assert "[b]is[/b] it" in done.output


def test_json_and_exit_codes(tmp_path: Path, runner: CliRunner) -> None:
    done = runner.invoke(app, [str(rows_file(tmp_path, "z")), "--json"])
    assert done.exit_code == 0
    assert json.loads(done.output)["defects"]["unreachable_answers"] == 1
    assert runner.invoke(app, [str(rows_file(tmp_path, "z")), "--fail-on-defects"]).exit_code == 1
    assert runner.invoke(app, [str(rows_file(tmp_path, "b")), "--fail-on-defects"]).exit_code == 0


def test_a_graph_of_the_users(tmp_path: Path, runner: CliRunner) -> None:
    questions, graph = tmp_path / "mine.jsonl", tmp_path / "graph.tsv"
    row = {"id": "1", "kind": "entities", "question": "q", "answer": ["b"], "topic_entities": ["a"]}
    questions.write_text(json.dumps(row) + "\n")
    graph.write_text("a\tr\tb\n")
    found = runner.invoke(app, [str(questions), "--graph", str(graph), "--json"])
    assert json.loads(found.output)["reach"]["by_hops"]["1"] == 1
    alone = runner.invoke(app, [str(questions)])
    assert alone.exit_code == 0
    assert "nearest answer" not in alone.output
