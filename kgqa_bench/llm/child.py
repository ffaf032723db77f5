"""A server as a child process that cannot outlive this one.

Run as a program, ``python -m kgqa_bench.llm.child COMMAND…``, this module is the guard between the two: it starts the
command in a process group of its own and ends the group when its standard input closes, which happens however the
parent ends, kill -9 included.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import IO

_GRACE = 10.0  # seconds between asking the group to end and killing it
_POLL = 0.2
_TAIL = 64 * 1024
_PR_SET_PDEATHSIG = 1


class Child:
    """A running command; everything it prints goes into a log.

    Args:
        command: Program and arguments.
        environment: Variables set beside those of this process.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in stop
        self._guard = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "kgqa_bench.llm.child", *command],
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            start_new_session=True,  # Ctrl-C is for the parent, which then stops the child in order
        )

    @property
    def pid(self) -> int:
        """Process id of the guard."""
        return self._guard.pid

    def exit_code(self) -> int | None:
        """The command's exit code, or None while it runs."""
        return self._guard.poll()

    def log_tail(self, lines: int = 30) -> str:
        """The last lines that the command printed."""
        descriptor = self._log.fileno()
        start = max(0, os.fstat(descriptor).st_size - _TAIL)
        # read by position: the offset is shared with the writer
        text = os.pread(descriptor, _TAIL, start).decode("utf-8", "replace")
        return "\n".join(text.splitlines()[-lines:])

    def stop(self) -> None:
        """End the command and all that it started; waits for it."""
        if self._guard.stdin is not None:
            with contextlib.suppress(OSError):
                self._guard.stdin.close()
        try:
            self._guard.wait(timeout=_GRACE + 5)
        except subprocess.TimeoutExpired:
            self._guard.kill()
            self._guard.wait()
        self._log.close()


def guard(command: Sequence[str]) -> int:
    """Run ``command`` until it ends or standard input closes; returns its exit code."""
    process = subprocess.Popen(  # noqa: S603
        command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_die_with_parent()
    )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_end(process)))
    while process.poll() is None:
        readable, _, _ = select.select([sys.stdin], [], [], _POLL)
        if readable and not os.read(sys.stdin.fileno(), 1024):
            return _end(process)
    _end(process)  # what it started may still run
    return process.returncode


def _end(process: subprocess.Popen[bytes]) -> int:
    """Ask the process group to end, then kill it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=_GRACE)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return 128 + signal.SIGTERM


def _die_with_parent() -> Callable[[], None] | None:
    """On Linux the command is also killed should the guard be."""
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(guard(sys.argv[1:]))
