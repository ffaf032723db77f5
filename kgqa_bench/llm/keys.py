"""The key under which a call is stored and found again, and the seed of each request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, cast

import orjson

from kgqa_bench.domain import ToolCall
from kgqa_bench.llm.types import Message, Request, Tool

_DIGEST_BYTES = 16


def derive_seed(run_seed: int, question_id: str, repeat: int, sample: int) -> int:
    """A request's own seed, in [0, 2**31): the same in every run of the same configuration.

    31 bits are what every server takes.
    """
    text = f"{run_seed}\x1f{question_id}\x1f{repeat}\x1f{sample}"
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1


def request_key(request: Request) -> str:
    """Hash of everything that may change the reply: every field of the request.

    Run seed, question and repeat are in it through ``request.seed`` (see ``derive_seed``). Tools are in it where
    there are any: a request without has the key that it had before there were tools.

    Raises:
        TypeError: A message holds a lone surrogate (see ``printable``) or a value that JSON cannot hold.
    """
    return _hash(
        (
            request.model,
            request.messages,
            request.temperature,
            request.max_tokens,
            request.top_p,
            request.stop,
            request.schema,
            request.seed,
            request.sample,
            request.extra,
            request.role,
            *([request.tools] if request.tools else ()),
        )
    )


def likelihood_key(model: str, messages: Sequence[Message], continuations: Sequence[str]) -> str:
    """Hash of everything that may change the likelihoods: nothing is drawn, so no seed."""
    return _hash((model, tuple(messages), tuple(continuations), "log_likelihoods"))


def printable(request: Request) -> Request:
    """The request with lone surrogates in messages and tools replaced by U+FFFD, so that UTF-8 can carry them."""
    tools = (Tool(*map(_printable, (tool.name, tool.description, tool.parameters))) for tool in request.tools)
    return replace(request, messages=tuple(printable_messages(request.messages)), tools=tuple(tools))


def printable_messages(messages: Sequence[Message]) -> list[Message]:
    """The messages with lone surrogates replaced by U+FFFD."""
    return [cast("Message", _printable(message)) for message in messages]


def printable_text(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return printable_text(value)
    if isinstance(value, Mapping):
        return {_printable(name): _printable(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_printable(entry) for entry in value]
    if isinstance(value, ToolCall):
        return ToolCall(_printable(value.id), _printable(value.name), _printable(value.arguments))
    return value


def _hash(value: object) -> str:
    return blake2b(orjson.dumps(value, option=orjson.OPT_SORT_KEYS), digest_size=_DIGEST_BYTES).hexdigest()
