"""A toolbox around a scripted model, for tests of methods."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kgqa_bench.domain import Call, Item
from kgqa_bench.errors import ModelError
from kgqa_bench.llm.types import Message, Reply
from kgqa_bench.toolbox import Toolbox


class ScriptedLlm:
    """Gives ``replies[sample]`` to each call (the last for later samples); an exception among them is raised.

    Attributes:
        calls: The calls in order of asking.
        in_flight: Most calls open at one moment.
        scores: Log-likelihood by continuation.
    """

    takes_tools = False

    def __init__(self, replies: Sequence[str | Exception], scores: dict[str, float] | None = None) -> None:
        self.replies = list(replies)
        self.scores = scores
        self.calls: list[Call] = []
        self.in_flight = self._open = 0

    async def call(self, role: str, messages: Sequence[Message], *, sample: int = 0, **settings: Any) -> Reply:
        call = Call(role, [dict(message) for message in messages], settings, sample)
        self.calls.append(call)
        self._open += 1
        self.in_flight = max(self.in_flight, self._open)
        await asyncio.sleep(0)
        self._open -= 1
        reply = self.replies[min(sample, len(self.replies) - 1)]
        if isinstance(reply, Exception):
            raise reply
        call.reply = reply
        return Reply(reply, False, call)

    async def log_likelihoods(
        self, role: str, messages: Sequence[Message], continuations: Sequence[str]
    ) -> list[float]:
        if self.scores is None:
            raise ModelError("This model cannot score.", reason="refused")
        self.calls.append(Call(role, [dict(message) for message in messages], {}))
        return [self.scores[text] for text in continuations]


@pytest.fixture
def scripted_tools() -> Callable[..., Toolbox]:
    """A toolbox whose model gives the replies; ``exemplars`` are its solved questions."""

    def make(
        *replies: str | Exception, scores: dict[str, float] | None = None, exemplars: Sequence[Item] | None = None
    ) -> Toolbox:
        load = None if exemplars is None else lambda: exemplars
        return Toolbox(llm=ScriptedLlm(replies, scores), seed="0", load_exemplars=load)

    return make
