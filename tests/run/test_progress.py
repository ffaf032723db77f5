"""What is said while a run goes on."""

from __future__ import annotations

import io
import sys

import pytest

from kgqa_bench.domain import Answer, Gold, Record
from kgqa_bench.run.progress import LogProgress


def failed(number: int, reason: str) -> Record:
    return Record(str(number), 0, Answer(status="error"), Gold(("A",)), 0.0, error=(reason, f"told {number}"))


def test_the_first_failure_of_each_kind_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    progress = LogProgress()
    progress.start(100, 0)
    for number, reason in enumerate(["refused", "refused", "timeout", "refused"]):
        progress.record(failed(number, reason))
    assert capsys.readouterr().err.splitlines() == [
        "question 0 failed (refused): told 0",
        "question 2 failed (timeout): told 2",
    ]


def test_what_a_server_said_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    progress = LogProgress()
    progress.start(100, 0)
    progress.record(failed(0, "\x1b[2Jrefused"))
    assert capsys.readouterr().err == "question 0 failed (\ufffd[2Jrefused): told 0\n"


def test_a_run_outlives_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(sys, "stderr", Closed())
    progress = LogProgress()
    progress.start(1, 0)
    progress.wait(30, "rate limit")
    progress.record(failed(0, "refused"))
    progress.finish()
