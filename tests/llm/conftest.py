"""Fixtures for the gateway's tests: a client that runs a list of outcomes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence

import pytest

from kgqa_bench.errors import ModelError
from kgqa_bench.llm.retry import RetryPolicy
from kgqa_bench.llm.types import Completion, Message, Request


class FakeClient:
    """Serves ``outcomes`` in order (errors are raised), then a plain reply; keeps the requests."""

    model = "fake"

    def __init__(self) -> None:
        self.outcomes: Iterator[Completion | ModelError] = iter(())
        self.requests: list[Request] = []
        self.delay = 0.0
        self.running = self.most_running = 0
        self.closed = False

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await asyncio.sleep(self.delay)
        finally:
            self.running -= 1
        outcome = next(self.outcomes, Completion(f"reply {len(self.requests)}", "stop", 10, 5, 0.25))
        if isinstance(outcome, ModelError):
            raise outcome
        return outcome

    async def close(self) -> None:
        self.closed = True


class ScoringClient(FakeClient):
    """Scores a continuation by its length."""

    price_known = True

    async def log_likelihoods(self, messages: Sequence[Message], continuations: Sequence[str]) -> list[float]:
        self.running += 1
        return [-float(len(text)) for text in continuations]


@pytest.fixture
def client() -> FakeClient:
    return FakeClient()


@pytest.fixture
def scoring_client() -> ScoringClient:
    return ScoringClient()


@pytest.fixture
def prompt() -> Callable[..., list[Message]]:
    """A one-message chat."""
    return lambda text="What is hot?": [{"role": "user", "content": text}]


@pytest.fixture
def impatient() -> RetryPolicy:
    """Three attempts without waits."""
    return RetryPolicy(attempts=3, first_wait=0.0, max_wait=0.0, jitter=0.0)
