"""How many requests are in flight, how many a minute, and the pause that a server asks for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgqa_bench.errors import ConfigError

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

OnWait = Callable[[float, str], None]
"""Told the seconds (an estimate where the limit is per minute) and the reason of a wait that begins."""

_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Limits:
    """The run's request limits.

    Attributes:
        concurrency: Most requests in flight.
        requests_per_minute: Most requests in any minute, retries included; None for no limit.
        tokens_per_minute: Most tokens in any minute, estimated before each request; None for no limit.
        max_pause: Longest pause, in seconds, that one Retry-After can impose. A server that asks for hours is
            asked again after this time, and its calls fail once their retries are used up.
    """

    concurrency: int = 8
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    max_pause: float = 60.0

    def __post_init__(self) -> None:
        for name in ("concurrency", "requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            if value is not None and not value >= 1:
                raise ConfigError(f"{name} is {value}.", hint="It must be at least 1.")
        if not self.max_pause >= 0:
            raise ConfigError(f"max_pause is {self.max_pause}.", hint="It must be 0 or more.")


class Limiter:
    """Enforces ``Limits`` for all calls of a run."""

    def __init__(self, limits: Limits, on_wait: OnWait | None = None) -> None:
        self.limits = limits
        self.slots = asyncio.Semaphore(limits.concurrency)
        self._on_wait = on_wait
        self._paused_until = 0.0
        self._requests = _per_minute(limits.requests_per_minute)
        self._tokens = _per_minute(limits.tokens_per_minute)

    async def turn(self, tokens: Callable[[], int]) -> None:
        """Wait until a request may be sent: every request, retries too, passes here.

        Args:
            tokens: Estimates what the request will use; asked only where tokens are limited.
        """
        if self._requests is not None:
            await self._acquire(self._requests, 1, "limit of requests per minute")
        if self._tokens is not None:
            await self._acquire(self._tokens, tokens(), "limit of tokens per minute")
        while (left := self._paused_until - time.monotonic()) > 0:
            await asyncio.sleep(left)

    async def _acquire(self, limiter: AsyncLimiter, amount: float, reason: str) -> None:
        amount = min(amount, limiter.max_rate)  # more than a minute's worth could never be had
        if not limiter.has_capacity(amount):
            self.waiting(amount * _MINUTE / limiter.max_rate, reason)
        await limiter.acquire(amount)

    def pause(self, seconds: float) -> None:
        """The server asked for a pause: no request starts before it ends."""
        granted = min(max(seconds, 0.0), self.limits.max_pause)
        until = time.monotonic() + granted
        if until > self._paused_until:
            self._paused_until = until
            self.waiting(granted, "rate limit")

    def waiting(self, seconds: float, reason: str) -> None:
        """Tell whoever shows progress that a wait begins."""
        if self._on_wait is not None:
            self._on_wait(seconds, reason)


def _per_minute(rate: float | None) -> AsyncLimiter | None:
    if rate is None:
        return None
    from aiolimiter import AsyncLimiter

    return AsyncLimiter(rate, _MINUTE)
