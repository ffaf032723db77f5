"""Fixtures for runs: a question file, and the command line as a child process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def question_file(tmp_path: Path) -> Callable[[int], Path]:
    """Writes a file of ``count`` four-option questions, all with the answer A."""

    def write(count: int) -> Path:
        path = tmp_path / f"questions-{count}.jsonl"
        rows = (
            {"id": f"q{i}", "kind": "choice", "question": f"Number {i}?", "options": list("wxyz"), "answer": "A"}
            for i in range(count)
        )
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Starts ``kgqa-bench run`` with these words, zero_shot unless they say otherwise."""

    def call(*words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "kgqa_bench.cli.main", "run", "--method", "zero-shot", "--json", *words]
        return subprocess.Popen(
            command, cwd=tmp_path, env=os.environ | {"OPENAI_API_KEY": "sk-very-secret"}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            # where the tests run in the background, children inherit that Ctrl-C is ignored
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip

    return call


@pytest.fixture
def finish(start: Callable[..., subprocess.Popen[str]]) -> Callable[..., tuple[int, dict, str]]:
    """Runs to the end: exit code, figures, stderr."""

    def call(*words: str) -> tuple[int, dict, str]:
        process = start(*words)
        out, err = process.communicate(timeout=120)
        return process.returncode, json.loads(out) if out.strip() else {}, err

    return call
