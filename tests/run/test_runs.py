"""Whole runs through the command line against a stub server: totals, failures, interruption, budgets."""

from __future__ import annotations

import json
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

SLOW = 0.25  # seconds a reply: a signal on a busy machine must come before the last one


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def without_time(metrics: dict) -> dict:
    """Figures without what depends on the clock and the place."""
    cost = {key: value for key, value in metrics["cost"].items() if "seconds" not in key}
    return {key: value for key, value in metrics.items() if key not in {"path", "cost"}} | {"cost": cost}


def test_a_run_counts_everything(stub_server, question_file, finish, tmp_path: Path) -> None:
    stub_server.reply = lambda body: "Answer: A" if "Number 3?" in str(body["messages"]) else "Answer: B"
    out = tmp_path / "run"
    code, metrics, _ = finish(
        "--benchmark", str(question_file(20)), "--base-url", stub_server.url, "--model", "m", "--out", str(out)
    )
    assert code == 0
    assert metrics["ledger"] == {"asked": 20, "scored": 20, "unscored": {}, "statuses": {"ok": 20}}
    assert (metrics["scores"][0]["value"], metrics["scores"][0]["n"]) == (0.05, 20)
    cost = metrics["cost"]
    assert (cost["calls"], cost["prompt_tokens"], cost["completion_tokens"]) == (20, 140, 60)
    assert cost["usd"] is None  # the server states no price: unknown, not 0
    assert metrics["scores"][0]["signature"].startswith("accuracy|match:exact|benchmark:questions-20.jsonl|split:")
    assert "sk-very-secret" not in "".join(file.read_text() for file in out.glob("*.json*"))
    assert stub_server.headers[0]["Authorization"] == "Bearer sk-very-secret"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_run_ends_with_the_same_totals(
    stub_server, question_file, start, finish, tmp_path, how
) -> None:
    stub_server.reply = lambda body: "Answer: A" if "1?" in str(body["messages"]) else "no idea"
    words = [
        "--benchmark",
        str(question_file(60)),
        "--base-url",
        stub_server.url,
        "--model",
        "m",
        "--concurrency",
        "4",
    ]
    stub_server.latency = SLOW
    out = tmp_path / "interrupted"
    process = start(*words, "--out", str(out))
    records = out / "records.jsonl"
    while not (records.exists() and records.read_bytes().count(b"\n") >= 10):
        time.sleep(0.01)
        assert process.poll() is None, process.communicate()
    process.send_signal(how)
    process.communicate(timeout=60)
    kept = records.read_bytes().count(b"\n")
    assert 10 <= kept < 60
    if how is signal.SIGINT:
        assert process.returncode == 130
        partial = json.loads((out / "metrics.json").read_text())
        assert partial["ledger"]["unscored"] == {"not reached (interrupted)": 60 - kept}
    with records.open("ab") as stream:
        stream.write(b'{"question_id":"q59","rep')  # as if the kill had come within a write
    code, resumed, _ = finish(*words, "--out", str(out))
    assert code == 0
    asked = Counter(str(body["messages"]) for body in stub_server.bodies)
    assert sum(asked.values()) <= 60 + 4  # only what was in flight is asked again
    code, whole, _ = finish(*words, "--out", str(tmp_path / "whole"))
    ours, theirs = without_time(resumed), without_time(whole)
    extra = ours["cost"].pop("calls") - theirs["cost"].pop("calls")
    assert 0 <= extra <= 4  # cancelled calls are counted too
    assert ours == theirs
    assert {row["question_id"] for row in rows(records)} == {f"q{i}" for i in range(60)}


def test_the_same_command_continues_by_itself(stub_server, question_file, finish, tmp_path: Path) -> None:
    words = ["--benchmark", str(question_file(10)), "--base-url", stub_server.url, "--model", "m"]
    code, first, _ = finish(*words, "--budget-calls", "4")
    assert code == 1
    assert first["stopped"] == "budget"
    assert first["ledger"] == {
        "asked": 10, "scored": 4, "unscored": {"not reached (budget)": 6}, "statuses": {"ok": 4},
    }  # fmt: skip
    code, second, err = finish(*words)
    assert code == 0, err
    assert second["path"] == first["path"]
    assert "Continuing" in err
    assert len(stub_server.bodies) == 10
    _, third, _ = finish(*words)
    assert third["path"] != first["path"]


def test_a_twentieth_of_the_calls_fails(stub_server, question_file, finish, tmp_path: Path) -> None:
    draw = random.Random(5)
    kinds = [(429, {"Retry-After": "0"}), 500, "truncated", "html", "drop"]
    failures = [draw.choice(kinds) if draw.random() < 0.05 else None for _ in range(2000)]
    stub_server.failures.extend(failures)
    code, metrics, _ = finish(
        "--benchmark", str(question_file(300)), "--base-url", stub_server.url, "--model", "m",
        "--set", "model.first_wait=0.01",
    )  # fmt: skip
    assert code == 0
    assert metrics["ledger"]["scored"] == 300
    assert len(stub_server.bodies) > 300


def test_questions_that_keep_failing_are_counted_wrong_and_asked_again(
    stub_server, question_file, finish, tmp_path: Path
) -> None:
    words = [
        "--benchmark", str(question_file(12)), "--base-url", stub_server.url, "--model", "m", "--concurrency", "1",
        "--set", "model.attempts=2", "--set", "model.first_wait=0", "--out", str(tmp_path / "run"),
    ]  # fmt: skip
    stub_server.reply = lambda body: "Answer: A"
    stub_server.failures.extend([None, None, 500, 500, (429, {"Retry-After": "0"}), "html", 400])
    code, metrics, _ = finish(*words)
    assert code == 1
    assert metrics["ledger"]["unscored"] == {"bad_response": 1, "refused": 1, "server_error": 1}
    assert metrics["scores"][0]["value"] == 9 / 12
    assert metrics["scores"][0]["n"] == 12
    code, metrics, _ = finish(*words)
    assert code == 0
    assert metrics["scores"][0]["value"] == 1.0


def test_a_wrong_key_stops_early(stub_server, question_file, finish) -> None:
    stub_server.failures.extend([401] * 100)
    code, metrics, err = finish(
        "--benchmark", str(question_file(100)), "--base-url", stub_server.url, "--model", "m", "--concurrency", "1"
    )
    assert code == 3
    assert len(stub_server.bodies) == 10
    assert metrics["ledger"]["unscored"]["refused"] == 10
    assert "sk-very-secret" not in err


def test_a_directory_of_another_run_is_refused(stub_server, question_file, finish, tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    words = ["--base-url", stub_server.url, "--model", "m", "--out", out, "--benchmark"]
    finish(*words, str(question_file(3)))
    code, _, err = finish(*words, str(question_file(4)))
    assert code == 2
    assert "another config: benchmark was" in err
    code, _, err = finish(*words, str(question_file(3)), "--seed", "1")
    assert "seed was 0, is 1" in err


def test_repeats_report_their_spread(stub_server, question_file, finish) -> None:
    seen: Counter[str] = Counter()

    def reply(body: dict) -> str:
        seen[str(body["messages"])] += 1
        return "Answer: A" if seen[str(body["messages"])] == 1 else "Answer: B"

    stub_server.reply = reply
    code, metrics, _ = finish(
        "--benchmark", str(question_file(5)), "--base-url", stub_server.url, "--model", "m", "--repeats", "2",
        "--concurrency", "1",
    )  # fmt: skip
    assert code == 0
    score = metrics["scores"][0]
    assert score["per_repeat"] == pytest.approx([1.0, 0.0])
    assert (score["value"], score["n"]) == (0.5, 5)
    seeds = [body["seed"] for body in stub_server.bodies]
    assert len(set(seeds)) == 10  # every draw has its own


def test_a_run_can_be_replayed_without_its_model(stub_server, question_file, finish, tmp_path: Path) -> None:
    file = str(question_file(6))
    stub_server.reply = lambda body: f"Answer: {'AB'[len(str(body['messages'])) % 2]}"
    out = tmp_path / "first"
    _, first, _ = finish("--benchmark", file, "--base-url", stub_server.url, "--model", "m", "--out", str(out))
    calls = len(stub_server.bodies)
    code, again, _ = finish("--benchmark", file, "--model", f"replay/{out}", "--out", str(tmp_path / "again"))
    assert code == 0
    assert len(stub_server.bodies) == calls
    assert again["scores"][0]["value"] == first["scores"][0]["value"]
    assert without_time(again)["cost"] == without_time(first)["cost"]


def test_limit_and_questions_select(stub_server, question_file, finish) -> None:
    words = ["--benchmark", str(question_file(9)), "--base-url", stub_server.url, "--model", "m"]
    _, metrics, _ = finish(*words, "--limit", "2")
    assert metrics["ledger"]["asked"] == 2
    _, metrics, _ = finish(*words, "--questions", "q7,q1")
    assert metrics["ledger"]["asked"] == 2
    code, _, err = finish(*words, "--questions", "q77")
    assert code == 2
    assert "Unknown question 'q77'" in err


def test_dry_run_asks_nothing(stub_server, question_file, finish) -> None:
    code, plan, _ = finish("--benchmark", str(question_file(9)), "--base-url", stub_server.url, "--dry-run")
    assert code == 0
    assert (plan["questions"], plan["calls"]) == (9, "9 to 9")
    assert not stub_server.bodies


def test_config_file_is_the_same_command(stub_server, question_file, finish, tmp_path: Path) -> None:
    config = tmp_path / "run.yaml"
    file = question_file(4)
    config.write_text(
        f"benchmark: {file}\nbase-url: {stub_server.url}\nmodel: m\nset: {{model.max_tokens: 9}}\n"
        "variants:\n  plain: {}\n  few: {limit: 2}\n"
    )
    code, metrics, _ = finish("--config", str(config), "--out", str(tmp_path / "out"))
    assert code == 0
    assert {name: row["ledger"]["asked"] for name, row in metrics.items()} == {"plain": 4, "few": 2}
    assert stub_server.bodies[0]["max_tokens"] == 9
    assert (tmp_path / "out" / "few" / "metrics.json").exists()
    code, metrics, _ = finish("--config", str(config), "--variant", "few", "--out", str(tmp_path / "out"))
    assert metrics["few"]["ledger"]["asked"] == 2
