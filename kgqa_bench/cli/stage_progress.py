"""How far a long command is, on stderr: a live line on a terminal, a line now and then in a log."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

    from kgqa_bench.contracts import MiningProgress

LINES_A_STAGE = 10


@contextlib.contextmanager
def stage_progress() -> Iterator[MiningProgress]:
    """Shows the stages it is told of while the block runs."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(bar_width=24), TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), refresh_per_second=4, transient=True) as bar:
        yield _Bar(bar)


class _Lines:
    """A line at every tenth of a stage."""

    def __init__(self) -> None:
        self._stage, self._tenth = "", -1

    def __call__(self, stage: str, done: int, total: int) -> None:
        tenth = LINES_A_STAGE * done // max(total, 1)
        if stage == self._stage and tenth <= self._tenth:
            return
        self._stage, self._tenth = stage, tenth
        with contextlib.suppress(OSError):  # a closed pipe behind the log is no reason to end
            print(f"{stage}: {done:,}/{total:,}", file=sys.stderr, flush=True)


class _Bar:
    """One live line, that of the stage at work."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._stage = ""
        self._task = bar.add_task("starting", total=None)

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage:
            self._stage = stage
            self._bar.reset(self._task, description=stage, total=total, completed=done)
        self._bar.update(self._task, total=total, completed=done)
