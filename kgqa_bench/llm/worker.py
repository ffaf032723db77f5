"""A thread of its own for a model that runs inside this process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from kgqa_bench.errors import ModelError

M = TypeVar("M")
T = TypeVar("T")


class Worker(Generic[M]):
    """Loads a model at its first use and lets one request at a time into it.

    A request that runs out of time or is cancelled is told so by its event; the next one waits until the model has
    left it. Neither loading nor waiting for one's turn counts as time of the request.

    Args:
        load: Makes the model; called in the thread.
        timeout: Seconds that one request may take.
    """

    def __init__(self, load: Callable[[], M], timeout: float) -> None:
        self._load = load
        self._timeout = timeout
        self._model: M | None = None
        self._turn = asyncio.Lock()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")

    async def run(self, work: Callable[[M, threading.Event], T]) -> T:
        """The value of ``work(model, stop)``, which must return soon after ``stop`` is set.

        Raises:
            ModelError: The request took too long; and whatever ``load`` or ``work`` raises.
        """
        loop = asyncio.get_running_loop()
        async with self._turn:
            # also waits for an abandoned request to leave the thread
            model = await loop.run_in_executor(self._thread, self._loaded)
            stop = threading.Event()
            try:
                async with asyncio.timeout(self._timeout):
                    return await loop.run_in_executor(self._thread, work, model, stop)
            except TimeoutError:
                raise ModelError(
                    f"The model needed more than {self._timeout:g} s for one request.",
                    reason="timeout",
                    hint="Allow more time, fewer tokens of the reply, or use a smaller model.",
                ) from None
            finally:
                stop.set()

    async def close(self) -> None:
        """Release the model."""
        loop = asyncio.get_running_loop()
        async with self._turn:
            await loop.run_in_executor(self._thread, self._release)

    def _loaded(self) -> M:
        if self._model is None:
            self._model = self._load()
        return self._model

    def _release(self) -> None:
        self._model = None
