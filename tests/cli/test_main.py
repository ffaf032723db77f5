"""`kgqa-bench`: version, help, and what errors turn into."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from kgqa_bench import __version__
from kgqa_bench.cli import EXIT_CODES, main
from kgqa_bench.errors import ConfigError, DataError, ModelError, StorageError


def test_version(cli) -> None:
    assert cli("--version") == (0, f"kgqa-bench {__version__}\n", "")


def test_help_names_every_command_and_exit_code(cli) -> None:
    done = cli("--help")
    assert done.code == 0
    assert EXIT_CODES in " ".join(done.out.split())
    for command in ("run", "list", "info", "validate", "doctor"):
        assert f" {command} " in done.out


def test_an_unknown_command_is_wrong_usage(cli) -> None:
    done = cli("evaluate")
    assert done.code == 2
    assert "evaluate" in done.err


@pytest.mark.parametrize(
    ("problem", "code", "message"),
    [
        (ConfigError("Wrong.", hint="Do right."), 2, "Error: Wrong. Do right.\n"),
        (DataError("No head.", file="g.tsv", line=3), 2, "Error: g.tsv, line 3: No head.\n"),
        (ModelError("Silent.", reason="timeout"), 3, "Error: Silent.\n"),
        (StorageError("Full."), 3, "Error: Full.\n"),
        (
            PermissionError(13, "Permission denied", "a/run.json"),
            3,
            "Error: [Errno 13] Permission denied: 'a/run.json'\n",
        ),
        (DataError("bad name '\x1b[31mred'"), 2, "Error: bad name '\ufffd[31mred'\n"),
        (KeyboardInterrupt(), 130, "Interrupted.\n"),
    ],
)
def test_errors_become_a_message_and_an_exit_code(cli, monkeypatch, problem, code: int, message: str) -> None:
    def fail() -> None:
        raise problem

    monkeypatch.setattr(main, "app", fail)
    assert cli("run") == (code, "", message)


def test_tables_are_shown_where_the_terminal_knows_only_ascii() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kgqa_bench.cli.main", "info", "dog"],
        env=os.environ | {"PYTHONIOENCODING": "ascii"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "levels" in done.stdout
