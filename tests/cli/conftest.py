"""The command line in this process, as its entry point runs it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from kgqa_bench.cli.main import main


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Runs ``kgqa-bench`` with these words, on a terminal wide enough for one line a row."""
    monkeypatch.setenv("COLUMNS", "200")

    def call(*words: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["kgqa-bench", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return Done(int(ended.value.code or 0), out, err)

    return call
