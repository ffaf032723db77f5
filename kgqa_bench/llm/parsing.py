"""Reading replies: thinking blocks and tolerant JSON."""

from __future__ import annotations

import re
from typing import NamedTuple

_BLOCK = re.compile(r"<think>.*?</think>", re.DOTALL)
_OPEN, _CLOSE = "<think>", "</think>"


class Thinking(NamedTuple):
    """A reply taken apart: the text to read, the thinking (None where there is none), whether it was cut."""

    text: str
    thinking: str | None
    cut: bool


def split_thinking(reply: str) -> Thinking:
    """Take the thinking blocks out of a reply.

    A block without its end was cut at the token limit: the model never came to its answer, so the text is empty.
    An end without a start (chat templates that open the block in the prompt) closes a block that
    began with the reply.
    """
    if _CLOSE not in reply and _OPEN not in reply:
        return Thinking(reply, None, False)
    blocks: list[str] = []

    def take(match: re.Match[str]) -> str:
        blocks.append(match.group()[len(_OPEN) : -len(_CLOSE)].strip())
        return ""

    text = _BLOCK.sub(take, reply)
    head, close, tail = text.rpartition(_CLOSE)
    if close:
        blocks.insert(0, head.replace(_CLOSE, "").replace(_OPEN, "").strip())
        text = tail
    _, opened, rest = text.partition(_OPEN)
    if opened:
        blocks.append(rest.replace(_OPEN, "").strip())
        text = ""
    return Thinking(text.strip(), "\n\n".join(filter(None, blocks)), bool(opened))
