"""Ctrl-C in a run: once, twice, before and after the loop."""

from __future__ import annotations

import asyncio
import os
import signal
import threading

import pytest

from kgqa_bench.run import interrupt as module
from kgqa_bench.run.interrupt import Interrupt


def ctrl_c() -> None:
    signal.raise_signal(signal.SIGINT)


async def work(interrupt: Interrupt, log: list[str], presses: int) -> None:
    task = asyncio.current_task()
    assert task is not None
    with interrupt.cancels(task):
        try:
            for _ in range(presses):
                ctrl_c()
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0)  # winding up goes on
            log.append("wound up")


@pytest.mark.parametrize("presses", [1, 2, 5])
def test_any_number_of_presses_at_once_cancels_the_work_in_order(presses: int) -> None:
    log: list[str] = []
    with Interrupt() as interrupt, pytest.raises(asyncio.CancelledError):
        asyncio.run(work(interrupt, log, presses))
    assert log == ["wound up"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_before_the_work_cancels_it_at_its_start() -> None:
    log: list[str] = []
    with Interrupt() as interrupt:
        ctrl_c()
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(work(interrupt, log, 0))
    assert log == ["wound up"]


def test_ctrl_c_after_the_work_lets_the_figures_be_written() -> None:
    async def nothing(interrupt: Interrupt) -> None:
        task = asyncio.current_task()
        assert task is not None
        with interrupt.cancels(task):
            pass

    with Interrupt() as interrupt:
        asyncio.run(nothing(interrupt))
        ctrl_c()


def test_one_more_press_later_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 10.9, 11.1])
    ended: list[int] = []
    monkeypatch.setattr(module, "monotonic", lambda: next(clock))
    monkeypatch.setattr(os, "_exit", ended.append)
    with Interrupt():
        ctrl_c()
        ctrl_c()
        assert ended == []
        ctrl_c()
    assert ended == [130]


@pytest.mark.parametrize("handler", [signal.SIG_IGN, lambda *_: None])
def test_a_signal_that_someone_else_handles_is_left_to_them(handler) -> None:
    before = signal.signal(signal.SIGINT, handler)
    try:
        with Interrupt():
            assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_a_thread_nothing_is_changed() -> None:
    seen: list[object] = []

    def run() -> None:
        with Interrupt():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
