"""`kgqa-bench validate`: what each kind of file is checked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

GOOD = {"id": "1", "kind": "boolean", "question": "Ice floats.", "answer": True}


def write(path: Path, *rows: object) -> str:
    path.write_text("".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_good_questions_are_counted(cli, tmp_path: Path) -> None:
    file = write(tmp_path / "q.jsonl", GOOD, GOOD | {"id": "2"}, GOOD | {"id": "3", "exemplar": True})
    assert cli("validate", file) == (0, f"{file}: 2 questions, no problem found\n", "")


def test_every_bad_question_is_named(cli, tmp_path: Path) -> None:
    file = write(tmp_path / "q.jsonl", GOOD, GOOD | {"id": "2", "answer": "perhaps"}, "{\n", GOOD)
    done = cli("validate", file)
    assert (done.code, done.out) == (2, "")
    assert [line.partition(": ")[0] for line in done.err.splitlines()] == [f"{file}, line {n}" for n in (2, 3, 4)]


def test_graph_files(cli, tmp_path: Path) -> None:
    good = write(tmp_path / "good.tsv", "a\tr\tb\t0.5\n", "b\tr\tc\t1\n")
    bad = write(tmp_path / "bad.tsv", "a\tr\tb\t0.5\n", "b\tr\tc\t1.5\n")
    assert cli("validate", good) == (0, f"{good}: 2 triples over 3 entities, no problem found\n", "")
    done = cli("validate", bad)
    assert done.code == 2
    assert f"{bad}, line 2" in done.err
    assert "(0, 1]" in done.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("method: dogg", "Did you mean dog?"),
        ("method: dog\nset: {alpah: 1}", "Did you mean alpha?"),
        ("method: dog\nset: {alpha: -1}", "alpha"),
        ("benchmark: obqa-mimi", "obqa-mini?"),
        ("benchmark: obqa\nset: {benchmark.size: 0}", "size"),
        ("benchmark: own.jsonl\nset: {benchmark.size: 3}", "a question file"),
        ("method: dog\nlimit: 0", "--limit"),
    ],
)
def test_what_is_wrong_in_a_configuration(cli, tmp_path: Path, text: str, message: str) -> None:
    file = write(tmp_path / "table.yaml", f"variants:\n  bad: {{}}\n{text}\n")
    done = cli("validate", file)
    assert (done.code, done.out) == (2, "")
    assert "variant bad" in done.err
    assert message in done.err


def test_a_good_configuration_counts_its_runs(cli, tmp_path: Path) -> None:
    file = write(tmp_path / "table.yaml", "method: dog\nbenchmark: obqa\nvariants: {a: {}, b: {set: {alpha: 0}}}\n")
    assert cli("validate", file) == (0, f"{file}: 2 runs, no problem found\n", "")


def test_run_directories(cli, tmp_path: Path) -> None:
    script = write(tmp_path / "script.jsonl", {"reply": "Answer: true"})
    questions = write(tmp_path / "q.jsonl", GOOD, GOOD | {"id": "2", "answer": False})
    run = tmp_path / "run"
    words = ("--method", "zero-shot", "--benchmark", questions, "--model", f"scripted/{script}", "--out", str(run))
    assert cli("run", *words).code == 0
    assert cli("validate", str(run)) == (0, f"{run}: asked 2, scored 2, no problem found\n", "")
    with (run / "records.jsonl").open("a") as stream:
        stream.write("{}\n")
    done = cli("validate", str(run))
    assert done.code == 2
    assert "records.jsonl, line 3" in done.err


def test_no_such_file(cli, tmp_path: Path) -> None:
    done = cli("validate", str(tmp_path / "none.tsv"))
    assert done.code == 2
    assert "There is no file" in done.err
