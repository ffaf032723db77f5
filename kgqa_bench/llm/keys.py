"""The key under which a call is stored and found again, and the seed of each request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b

import orjson

from kgqa_bench.llm.types import Message, Request

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

    Run seed, question and repeat are in it through ``request.seed`` (see ``derive_seed``).

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
        )
    )


def likelihood_key(model: str, messages: Sequence[Message], continuations: Sequence[str]) -> str:
    """Hash of everything that may change the likelihoods: nothing is drawn, so no seed."""
    return _hash((model, tuple(messages), tuple(continuations), "log_likelihoods"))


def printable(request: Request) -> Request:
    """The request with lone surrogates in its messages replaced by U+FFFD, so that UTF-8 can carry them."""
    return replace(request, messages=tuple(printable_messages(request.messages)))


def printable_messages(messages: Sequence[Message]) -> list[Message]:
    """The messages with lone surrogates replaced by U+FFFD."""
    return [{"role": message["role"], "content": printable_text(message["content"])} for message in messages]


def printable_text(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _hash(value: object) -> str:
    return blake2b(orjson.dumps(value, option=orjson.OPT_SORT_KEYS), digest_size=_DIGEST_BYTES).hexdigest()
