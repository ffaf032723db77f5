"""Stored calls: those of an interrupted run, and a whole run served again without a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from kgqa_bench.contracts import ModelOptions, ModelSource
from kgqa_bench.domain import Call, ToolCall
from kgqa_bench.errors import ModelError, RunDirectoryError
from kgqa_bench.llm.budget import Usage
from kgqa_bench.llm.keys import likelihood_key, request_key
from kgqa_bench.llm.types import Completion, Message, Request
from kgqa_bench.storage import user_path


class StoredReply(NamedTuple):
    """The outcome of one call, as it stands in a row of calls.jsonl."""

    reply: str | None
    thinking: str | None
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    seconds: float
    attempts: int
    error: str | None
    tool_calls: tuple[ToolCall, ...]

    def restore(self, call: Call) -> None:
        """Put the outcome into ``call``."""
        for name, value in zip(self._fields, self, strict=True):
            setattr(call, name, value)


def own_key(question_id: str, repeat: int, key: str) -> Hashable:
    """Key of a call that only its own question and repeat may be served with.

    Likelihoods are asked without a seed, so two repeats, or two questions of the same text, share the call's key.
    """
    return question_id, repeat, key


class ReplayStore:
    """Replies by key, so that no reply is asked and paid for twice.

    Calls with equal keys (one question asking exactly the same twice) are kept in their order. Failed calls are
    counted but not served: they are asked again.

    Attributes:
        usage: What all stored calls used.
    """

    def __init__(self) -> None:
        self.usage = Usage()
        self._replies: dict[Hashable, list[StoredReply]] = {}
        self._failures: dict[Hashable, StoredReply] = {}

    def __len__(self) -> int:
        return sum(map(len, self._replies.values()))

    def __bool__(self) -> bool:
        return bool(self._replies)

    def add(self, key: Hashable, row: Mapping[str, Any]) -> None:
        """Store one row of calls.jsonl (``dataclasses.asdict(Call)``, further fields are ignored).

        ``key`` is ``own_key`` of the row for a run's earlier part, the row's own key alone for a replay.
        """
        stored = StoredReply(
            row.get("reply"),
            row.get("thinking"),
            row.get("finish_reason"),
            row.get("prompt_tokens"),
            row.get("completion_tokens"),
            row.get("cost_usd"),
            row.get("seconds") or 0.0,
            row.get("attempts") or 1,
            row.get("error"),
            tuple(ToolCall(**call) for call in row.get("tool_calls") or ()),
        )
        self.usage.calls += 1
        if stored.error is None and stored.reply is not None:
            self.usage.add_reply(stored.prompt_tokens, stored.completion_tokens, stored.cost_usd)
            self._replies.setdefault(key, []).append(stored)
        else:
            self._failures[key] = stored

    def get(self, key: Hashable, occurrence: int = 0) -> StoredReply | None:
        """The reply to the ``occurrence``-th call with this key, or None."""
        replies = self._replies.get(key)
        return replies[occurrence] if replies is not None and occurrence < len(replies) else None

    def failure(self, key: Hashable) -> StoredReply | None:
        """The last failed call with this key, or None."""
        return self._failures.get(key)


class ReplayClient:
    """Serves the recorded calls of a run, so that it can be repeated without its model.

    Args:
        model: The recorded run's model, which is in the keys of its calls.
        store: The recorded calls.
        run: Where they were recorded, for messages.
        takes_tools: Some of the calls had tools.
    """

    def __init__(self, model: str, store: ReplayStore, run: Path, takes_tools: bool = False) -> None:
        self.model = model
        self.takes_tools = takes_tools
        self.price_known = store.usage.unpriced == 0
        self._store = store
        self._run = run
        self._served: Counter[str] = Counter()

    async def complete(self, request: Request) -> Completion:
        """The recorded reply, with the tokens, cost and seconds of then; or the recorded failure."""
        stored = self._take(request_key(replace(request, model=self.model)))
        return Completion(
            stored.reply or "",
            stored.finish_reason,
            stored.prompt_tokens,
            stored.completion_tokens,
            stored.cost_usd,
            stored.thinking,
            stored.seconds,
            stored.tool_calls,
        )

    async def log_likelihoods(self, messages: Sequence[Message], continuations: Sequence[str]) -> list[float]:
        """The recorded likelihoods."""
        scores: list[float] = orjson.loads(
            self._take(likelihood_key(self.model, messages, continuations)).reply or ""
        )
        return scores

    async def close(self) -> None:
        """Nothing is held open."""

    def _take(self, key: str) -> StoredReply:
        stored = self._store.get(key, self._served[key])
        if stored is not None:
            self._served[key] += 1
            return stored
        failure = self._store.failure(key)
        if failure is not None and failure.error is not None:
            reason, _, message = failure.error.partition(": ")
            raise ModelError(message, reason=reason)
        raise ModelError(
            f"{self._run} holds no recorded reply to this call.",
            reason="unavailable",
            hint="A replay needs the recorded run's method, benchmark, seed and settings.",
        )


class ReplaySource(ModelSource):
    """A recorded run: ``replay/RUN`` answers from RUN/calls.jsonl, without a model."""

    def open(self, name: str, options: ModelOptions) -> ReplayClient:
        """A client for the run directory ``name``.

        Raises:
            RunDirectoryError: It is none, is damaged, or was made by a method that asks no model.
        """
        from kgqa_bench.run.directory import read_calls, read_info

        run = user_path(name)
        model = read_info(run).model
        if model is None:
            raise RunDirectoryError(f"{run} has no model calls to replay: its method asks no model.")
        store = ReplayStore()
        takes_tools = False
        for row in read_calls(run):
            store.add(row["key"], row)
            takes_tools = takes_tools or "tools" in row.get("settings", ())
        return ReplayClient(model, store, run, takes_tools)
