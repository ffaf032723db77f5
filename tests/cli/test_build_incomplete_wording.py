"""`build-incomplete --wording llm` with a scripted model and with a server, interrupted and gone on with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgqa_bench.cli import EXIT_FAILED
from kgqa_bench.storage import CACHE_VARIABLE

TREE = [
    "--kg", "family-synthetic", "--people", "120", "--min-head-size", "20", "--max-rules", "40", "--max-questions",
    "80",
]  # fmt: skip
IN_FLIGHT = 8
SLOW = 0.02


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the command runs in, empty; the cache is empty too."""
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    return place


@pytest.fixture
def start() -> Callable[..., subprocess.Popen[str]]:
    """Starts ``kgqa-bench build-incomplete --wording llm`` with these words."""

    def call(*words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "kgqa_bench.cli.main", "build-incomplete", *TREE, "--wording", "llm", *words]
        return subprocess.Popen(
            command, env=os.environ | {"OPENAI_API_KEY": "sk-very-secret"}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            # where the tests run in the background, children inherit that Ctrl-C is ignored
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip

    return call


def rows(folder: Path) -> list[dict[str, Any]]:
    files = sorted(folder.glob("questions.*.jsonl"))
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]


def figures(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text())["figures"]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def reworded(plain: str) -> str:
    return f"So {plain[0].lower()}{plain[1:]}"


def answer(body: dict[str, Any]) -> str:
    """A model that rewords the plain question, and never fails to tell which question is the same."""
    prompt = body["messages"][-1]["content"]
    lines = dict(line.split(": ", 1) for line in prompt.split("\n") if ": " in line)
    if "This one" in prompt:
        asked = next(line.partition(": ")[2] for line in prompt.split("\n\n") if line.startswith("This one"))
        question = asked.split("\n")[0]
        return json.dumps({"same_as": "A" if reworded(lines["A"]) == question else "B"})
    return json.dumps({"question": reworded(lines["Plainly put it asks"])})


def test_a_scripted_model(cli: Any, here: Path, tmp_path: Path) -> None:
    assert cli("build-incomplete", *TREE, "--out", "plain").code == 0
    plain = [row["question"] for row in rows(here / "plain")]
    assert len(plain) == 80
    script = tmp_path / "script.jsonl"
    rules: list[dict[str, Any]] = []
    for number, question in enumerate(plain):
        reply = json.dumps({"question": reworded(question)})
        replies = [reply, ["no JSON", reply], "nothing that can be read"][number % 3]
        rules += [
            {
                "role": "compare_questions",
                "contains": [reworded(question), f"A: {question}"],
                "reply": '{"same_as":"A"}',
            },
            {
                "role": "compare_questions",
                "contains": [reworded(question), f"B: {question}"],
                "reply": '{"same_as":"B"}',
            },
            {"role": "word_question", "contains": f"asks: {question}", "reply": replies},
        ]
    script.write_text("".join(json.dumps(rule) + "\n" for rule in rules))

    done = cli("build-incomplete", *TREE, "--wording", "llm", "--model", f"scripted/{script}", "--out", "out")
    assert done.code == 0, done.err
    assert "wording: 80/80" in done.err
    assert cli("verify", "out").code == 0
    worded = rows(here / "out")
    assert [row["wording"] for row in worded] == [["llm", "llm", "template"][number % 3] for number in range(80)]
    assert [row["question"] for row in worded] == [
        question if number % 3 == 2 else reworded(question) for number, question in enumerate(plain)
    ]
    made = figures(here / "out")
    # 27 questions in one attempt of two calls, 27 in two of three calls, 26 in three of one
    assert made["build"]["wording"] == {
        "llm": 54,
        "template": 26,
        "calls": 27 * 2 + 27 * 3 + 26 * 3,
        "rejected": {"unreadable": 27 + 26 * 3},
    }
    assert sum(made["questions by wording"]["llm"].values()) == 54
    assert sum(made["questions by wording"]["template"].values()) == 26
    # all else is as with the template's words
    other = ("question", "wording")
    assert [{key: row[key] for key in row if key not in other} for row in worded] == [
        {key: row[key] for key in row if key not in other} for row in rows(here / "plain")
    ]
    assert {row["wording"] for row in rows(here / "plain")} == {"template"}


def test_a_server(cli: Any, here: Path, stub_server: Any, tmp_path: Path) -> None:
    stub_server.reply = answer
    stub_server.failures.extend([500, "drop", "truncated"])
    words = [
        "--wording",
        "llm",
        "--model",
        "m",
        "--base-url",
        stub_server.url,
        "--removal",
        "random",
        "--rate",
        "0.2",
    ]
    done = cli("build-incomplete", *TREE, *words, "--out", "out")
    assert done.code == 0, done.err
    assert len(stub_server.bodies) == 160 + 3
    assert all(row["question"].startswith("So who") for row in rows(here / "out"))
    assert cli("verify", "out").code == 0
    assert list((tmp_path / "cache" / "wording").iterdir()) == []
    assert stub_server.url not in "".join(content.decode() for content in contents(here / "out").values())


@pytest.mark.parametrize(("how", "removal"), [(signal.SIGKILL, "rules"), (signal.SIGINT, "random")])
def test_an_interrupted_wording_pays_for_nothing_twice(
    start: Any, cli: Any, here: Path, stub_server: Any, tmp_path: Path, how: signal.Signals, removal: str
) -> None:
    stub_server.reply = answer
    stub_server.latency = SLOW
    words = ["--model", "m", "--base-url", stub_server.url, "--removal", removal]
    process = start(*words, "--out", "out")
    while len(stub_server.bodies) < 50:
        time.sleep(0.01)
        assert process.poll() is None, process.communicate()
    process.send_signal(how)
    _, err = process.communicate(timeout=60)
    assert process.returncode == (130 if how is signal.SIGINT else -signal.SIGKILL)
    assert "Traceback" not in err
    assert list(here.iterdir()) == []
    (kept,) = (tmp_path / "cache" / "wording").glob("*/calls.jsonl")
    assert "sk-very-secret" not in kept.read_text()
    with kept.open("ab") as stream:
        stream.write(b'{"question_id":"7","rep')  # as if the kill had come within a write

    process = start(*words, "--out", "elsewhere")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "replies of an interrupted build" in err
    asked = Counter(json.dumps(body) for body in stub_server.bodies)
    assert len(asked) == 160
    assert sum(asked.values()) <= 160 + IN_FLIGHT  # only what was in flight is asked again
    assert list((tmp_path / "cache" / "wording").iterdir()) == []

    whole = [*TREE, "--wording", "llm", *words, "--out", "whole"]
    before = len(stub_server.bodies)
    assert cli("build-incomplete", *whole).code == 0
    assert len(stub_server.bodies) == before + 160  # what is done is forgotten
    assert contents(here / "elsewhere") == contents(here / "whole")
    assert cli("verify", "elsewhere").code == 0


def test_replies_are_kept_where_the_folder_cannot_be_written(
    cli: Any, here: Path, stub_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub_server.reply = answer
    words = [*TREE, "--wording", "llm", "--model", "m", "--base-url", stub_server.url, "--out", "out"]

    def full(path: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as context:
        context.setattr(Path, "write_bytes", full)
        done = cli("build-incomplete", *words)
    assert done.code == EXIT_FAILED
    assert "No space left" in done.err
    assert list(here.iterdir()) == []
    assert cli("build-incomplete", *words).code == 0
    assert len(stub_server.bodies) == 160


def test_a_damaged_reply_is_named(cli: Any, here: Path, stub_server: Any, tmp_path: Path) -> None:
    words = [*TREE, "--wording", "llm", "--model", "m", "--base-url", stub_server.url, "--out", "out"]
    folder = tmp_path / "cache" / "wording"

    def stop(body: dict[str, Any]) -> str:
        (kept,) = folder.glob("*/calls.jsonl")
        kept.write_text('{"key": 1}\n')
        return "x"

    stub_server.reply = stop
    with pytest.MonkeyPatch.context() as context:
        context.setattr(Path, "rename", lambda path, target: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            cli("build-incomplete", *words)
    done = cli("build-incomplete", *words)
    assert done.code == 2
    assert "calls.jsonl, line 1 is damaged: key" in done.err and "Delete that line" in done.err
    assert "--out" not in done.err


@pytest.mark.parametrize("changed", [["--seed", "1"], ["--model", "other"], ["--max-answers", "99"]])
def test_another_build_is_not_served_with_these_replies(
    cli: Any, here: Path, stub_server: Any, monkeypatch: pytest.MonkeyPatch, changed: list[str]
) -> None:
    stub_server.reply = answer
    words = [*TREE, "--wording", "llm", "--model", "m", "--base-url", stub_server.url, "--out", "out"]
    with monkeypatch.context() as context:
        context.setattr(Path, "write_bytes", lambda path, data: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            cli("build-incomplete", *words)
    assert len(stub_server.bodies) == 160
    assert cli("build-incomplete", *words, *changed).code == 0
    assert len(stub_server.bodies) == 320


def test_a_model_out_of_reach(cli: Any, here: Path, stub_server: Any) -> None:
    stub_server.failures.extend([401] * 500)
    words = ["--wording", "llm", "--model", "m", "--base-url", stub_server.url]
    done = cli("build-incomplete", *TREE, *words)
    assert done.code == EXIT_FAILED
    assert "No question could be worded" in done.err
    assert len(stub_server.bodies) < 60
    assert list(here.iterdir()) == []


def test_the_same_build_twice_at_once(start: Any, cli: Any, here: Path, stub_server: Any) -> None:
    stub_server.reply = answer
    stub_server.latency = SLOW
    words = ["--model", "m", "--base-url", stub_server.url]
    process = start(*words, "--out", "first")
    while len(stub_server.bodies) < 20:
        time.sleep(0.01)
        assert process.poll() is None, process.communicate()
    done = cli("build-incomplete", *TREE, "--wording", "llm", *words, "--out", "second")
    assert process.wait(60) == 0
    assert done.code == EXIT_FAILED
    assert "another process" in done.err
    assert len(stub_server.bodies) == 160
    assert [path.name for path in here.iterdir()] == ["first"]
