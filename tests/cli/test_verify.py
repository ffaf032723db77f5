"""`kgqa-bench verify`: what it says of right and of wrong folders, and its exit codes."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from kgqa_bench.benchmarks.family_mini import FOLDER as FAMILY_MINI
from kgqa_bench.cli.verify import MOST_SHOWN

FILES = sorted(path.name for path in FAMILY_MINI.iterdir() if path.suffix in (".tsv", ".jsonl", ".md", ".json"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of family-mini."""
    (tmp_path / "mini").mkdir()
    for name in FILES:
        shutil.copyfile(FAMILY_MINI / name, tmp_path / "mini" / name)
    return tmp_path / "mini"


def test_a_right_folder(cli: Any, folder: Path) -> None:
    done = cli("verify", str(folder))
    assert (done.code, done.err) == (0, "")
    assert done.out == f"{folder}: verified, no problem found\n"


@pytest.mark.parametrize("name", FILES)
def test_any_file_changed_or_missing(cli: Any, folder: Path, name: str) -> None:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:-2] + b"x\n")
    done = cli("verify", str(folder))
    assert (done.code, done.out) == (2, "")
    assert name in done.err
    (folder / name).unlink()
    done = cli("verify", str(folder))
    assert (done.code, done.out) == (2, "")
    assert name in done.err


@pytest.mark.parametrize("name", ["triples.complete.tsv", "questions.test.jsonl", "README.md"])
def test_a_pipe_in_place_of_a_file_is_not_waited_for(cli: Any, folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    done = cli("verify", str(folder))
    assert (done.code, done.out) == (2, "")
    assert name in done.err


def test_only_so_many_problems_unless_all_are_asked_for(cli: Any, folder: Path) -> None:
    left = (folder / "triples.incomplete.tsv").read_text() + (folder / "triples.removed.tsv").read_text()
    (folder / "triples.incomplete.tsv").write_text("".join(sorted(left.splitlines(keepends=True))))
    removed = len((folder / "triples.removed.tsv").read_text().splitlines())
    some, every = cli("verify", str(folder)), cli("verify", str(folder), "--all")
    assert (some.code, every.code) == (2, 2)
    assert every.err.count("the removed triple") == removed > MOST_SHOWN
    number = len(every.err.splitlines())
    assert len(some.err.splitlines()) == MOST_SHOWN + 1
    assert some.err.splitlines()[-1] == f"... and {number - MOST_SHOWN} more (--all shows them)"
    assert every.err.startswith("\n".join(some.err.splitlines()[:-1]))


def test_what_files_say_cannot_steer_the_terminal(cli: Any, folder: Path) -> None:
    path = folder / "questions.test.jsonl"
    first, *rest = path.read_text().splitlines()
    row = json.loads(first)
    path.write_text("\n".join([json.dumps(row | {"id": "\x1b[2J\x07", "question": "\x1b]0;x\x07"}), *rest]) + "\n")
    done = cli("verify", str(folder))
    assert done.code == 2
    assert not {"\x1b", "\x07"} & set(done.err)


@pytest.mark.parametrize("removal", ["random", "shortest-path"])
@pytest.mark.parametrize("form", ["shared", "own"])
def test_sets_made_incomplete_to_a_degree(cli: Any, tmp_path: Path, removal: str, form: str) -> None:
    source = FAMILY_MINI
    if form == "own":
        source = tmp_path / "graphs.jsonl"
        graph = [["a", "r", "b"], ["b", "s", "c"], ["c", "t", "d"]]
        row = {"question": "?", "answer": ["c"], "q_entity": ["a"], "a_entity": ["c"], "graph": graph}
        source.write_text("".join(json.dumps(row | {"id": f"q{number}"}) + "\n" for number in range(5)))
    out = tmp_path / "out"
    words = ["--questions", str(source), "--removal", removal, "--rate", "0.4", "--seed", "1", "--out", str(out)]
    assert cli("build-incomplete", *words).code == 0
    assert cli("verify", str(out)).code == 0
    lost = sorted(out.glob("*removed*"))[0]
    content = lost.read_text()
    lost.write_text(content.replace("r", "t", 1) if form == "own" else content.partition("\n")[2])
    done = cli("verify", str(out))
    assert done.code == 2
    assert lost.name in done.err
    assert "the file is not the one that manifest.json has the hash of" in done.err


@pytest.mark.parametrize("what", ["nothing", "a file", "an empty folder"])
def test_what_is_no_built_folder(cli: Any, tmp_path: Path, what: str) -> None:
    place = tmp_path / "place"
    if what == "a file":
        place.write_text("x")
    elif what == "an empty folder":
        place.mkdir()
    done = cli("verify", str(place))
    assert (done.code, done.out) == (2, "")
    assert "place" in done.err and "build-incomplete" in done.err


@pytest.mark.parametrize(
    "text", ["", "nul", "[]", "{}", '{"settings": 3}', '{"settings": {"removal": "random"}}', "\xff"]
)
def test_a_manifest_that_is_none(cli: Any, folder: Path, text: str) -> None:
    (folder / "manifest.json").write_text(text, encoding="latin-1")
    done = cli("verify", str(folder))
    assert (done.code, done.out) == (2, "")
    assert "manifest.json" in done.err
    assert "Traceback" not in done.err
