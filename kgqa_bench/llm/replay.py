"""Stored calls: those of an interrupted run, and a whole run served again without a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kgqa_bench.domain import Call
from kgqa_bench.llm.budget import Usage


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

    def restore(self, call: Call) -> None:
        """Put the outcome into ``call``."""
        for name, value in zip(self._fields, self, strict=True):
            setattr(call, name, value)


class ReplayStore:
    """Replies by key, so that no reply is asked and paid for twice.

    Calls with equal keys (one question asking exactly the same twice) are kept in their order. Failed calls are
    counted but not served: they are asked again.

    Attributes:
        usage: What all stored calls used.
    """

    def __init__(self) -> None:
        self.usage = Usage()
        self._replies: dict[str, list[StoredReply]] = {}
        self._failures: dict[str, StoredReply] = {}

    def __len__(self) -> int:
        return sum(map(len, self._replies.values()))

    def __bool__(self) -> bool:
        return bool(self._replies)

    def add(self, key: str, row: Mapping[str, Any]) -> None:
        """Store one row of calls.jsonl (``dataclasses.asdict(Call)``, further fields are ignored)."""
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
        )
        self.usage.calls += 1
        if stored.error is None and stored.reply is not None:
            self.usage.add_reply(stored.prompt_tokens, stored.completion_tokens, stored.cost_usd)
            self._replies.setdefault(key, []).append(stored)
        else:
            self._failures[key] = stored

    def get(self, key: str, occurrence: int = 0) -> StoredReply | None:
        """The reply to the ``occurrence``-th call with this key, or None."""
        replies = self._replies.get(key)
        return replies[occurrence] if replies is not None and occurrence < len(replies) else None

    def failure(self, key: str) -> StoredReply | None:
        """The last failed call with this key, or None."""
        return self._failures.get(key)
