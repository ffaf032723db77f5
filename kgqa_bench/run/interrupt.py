"""Ctrl-C during a run: what is in work is dropped in order, and the figures so far are still written.

asyncio's own handling throws a second Ctrl-C into the event loop, which may lose a wake-up there and hang for ever.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import TracebackType
from typing import Any, Self

EXIT_INTERRUPTED = 130
PATIENCE = 1.0  # seconds after the first Ctrl-C in which another is taken for a double press


class Interrupt:
    """Takes Ctrl-C over: the first cancels the run, one more than ``PATIENCE`` later ends the process at once.

    Nothing is lost then either: all rows are with the operating system. Outside the main thread, and where Ctrl-C is
    ignored or handled by someone else, it changes nothing.
    """

    def __init__(self) -> None:
        self._first: float | None = None
        self._cancel: Callable[[], object] | None = None
        self._before: Any = None

    def __enter__(self) -> Self:
        if (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        ):
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    @contextmanager
    def cancels(self, task: asyncio.Task[Any]) -> Iterator[None]:
        """Cancel ``task`` of the running loop at Ctrl-C; at once, where that came before."""
        loop = asyncio.get_running_loop()
        self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        if self._first is not None:
            task.cancel()
        try:
            yield
        finally:
            self._cancel = None

    def _handle(self, number: int, frame: object) -> None:
        now = monotonic()
        if self._first is None:
            self._first = now
            if self._cancel is not None:
                self._cancel()
        elif now - self._first > PATIENCE:
            os._exit(EXIT_INTERRUPTED)
