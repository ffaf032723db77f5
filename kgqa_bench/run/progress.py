"""What a person sees while a run goes on: a live line on a terminal, a line now and then in a log."""

from __future__ import annotations

import contextlib
import sys
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from kgqa_bench.errors import without_controls

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

    from kgqa_bench.domain import Record

LINES_PER_RUN = 20


class Progress(Protocol):
    """Told what happens in a run."""

    def start(self, total: int, done: int) -> None:
        """The run has ``total`` answers to give, ``done`` of them in an earlier part."""
        ...

    def record(self, record: Record) -> None:
        """One more question is done."""
        ...

    def wait(self, seconds: float, reason: str) -> None:
        """The run waits."""
        ...

    def finish(self) -> None:
        """Nothing more comes."""
        ...


class Counters:
    """The figures that both forms of progress show."""

    def __init__(self) -> None:
        self.total = self.done = self.before = self.failed = self.tokens = 0
        self.usd = 0.0
        self.priced = True
        self.reasons: set[str] = set()
        self.started = monotonic()

    def start(self, total: int, done: int) -> None:
        """Set the goal."""
        self.total, self.done, self.before = total, done, done
        self.started = monotonic()

    def add(self, record: Record) -> str | None:
        """Count a record. The first failure of each kind is returned in words."""
        self.done += 1
        self.failed += record.error is not None
        for call in record.calls:
            self.tokens += (call.prompt_tokens or 0) + (call.completion_tokens or 0)
            if call.cost_usd is None:
                self.priced = False
            else:
                self.usd += call.cost_usd
        if record.error is None or record.error[0] in self.reasons:
            return None
        self.reasons.add(record.error[0])
        return without_controls(f"question {record.question_id} failed ({record.error[0]}): {record.error[1]}")

    @property
    def eta(self) -> float | None:
        """Seconds left at the speed so far; None before the first answer."""
        new = self.done - self.before
        return (monotonic() - self.started) / new * (self.total - self.done) if new else None

    def __str__(self) -> str:
        money = f"${self.usd:.4f}" if self.priced else "price unknown"
        eta = self.eta
        left = "" if eta is None else f", {eta:.0f} s left"
        return f"{self.done}/{self.total} done, {self.failed} failed, {self.tokens:,} tokens, {money}{left}"


class LogProgress:
    """A line on stderr at every twentieth of the run, and when it waits."""

    def __init__(self) -> None:
        self._counters = Counters()
        self._every = 1

    def start(self, total: int, done: int) -> None:
        """See ``Progress``."""
        self._counters.start(total, done)
        self._every = max(1, total // LINES_PER_RUN)

    def record(self, record: Record) -> None:
        """See ``Progress``."""
        failure = self._counters.add(record)
        if failure is not None:
            _say(failure)
        if self._counters.done % self._every == 0 or self._counters.done == self._counters.total:
            _say(str(self._counters))

    def wait(self, seconds: float, reason: str) -> None:
        """See ``Progress``."""
        if seconds >= 1:
            _say(f"waiting {seconds:.0f} s: {reason}")

    def finish(self) -> None:
        """See ``Progress``."""


class TerminalProgress:
    """One live line on a terminal."""

    def __init__(self) -> None:
        self._counters = Counters()
        self._bar: RichProgress | None = None

    def start(self, total: int, done: int) -> None:
        """See ``Progress``."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._counters.start(total, done)
        columns = (BarColumn(bar_width=24), TextColumn("{task.description}"), TimeElapsedColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), refresh_per_second=4, transient=True)
        self._task = self._bar.add_task(str(self._counters), total=total, completed=done)
        self._bar.start()

    def record(self, record: Record) -> None:
        """See ``Progress``."""
        failure = self._counters.add(record)
        if self._bar is not None:
            if failure is not None:
                self._bar.console.print(failure, markup=False, highlight=False)
            self._bar.update(self._task, completed=self._counters.done, description=str(self._counters))

    def wait(self, seconds: float, reason: str) -> None:
        """See ``Progress``."""
        if self._bar is not None and seconds >= 1:
            self._bar.update(self._task, description=f"{self._counters}; waiting {seconds:.0f} s: {reason}")

    def finish(self) -> None:
        """See ``Progress``."""
        if self._bar is not None:
            self._bar.stop()


def _say(line: str) -> None:
    with contextlib.suppress(OSError):  # a closed pipe or a full disk behind the log is no reason to end the run
        print(line, file=sys.stderr, flush=True)


def default_progress() -> Progress:
    """A live line where stderr is a terminal, else a line now and then."""
    return TerminalProgress() if sys.stderr.isatty() else LogProgress()
