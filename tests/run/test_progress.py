"""What is said while a run goes on."""

from __future__ import annotations

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
