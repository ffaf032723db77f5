"""Reading replies: thinking blocks and tolerant JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from kgqa_bench.domain import ParseOutcome

Form = TypeVar("Form", bound=BaseModel)

_FENCE = re.compile(r"```(?:json)?\s*\n?(.*?)```", re.DOTALL | re.IGNORECASE)
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
    texts: list[str] = []
    rest = 0
    # each text is looked at once, also where a model repeats <think> without end
    while (start := reply.find(_OPEN, rest)) >= 0 and (end := reply.find(_CLOSE, start + len(_OPEN))) >= 0:
        texts.append(reply[rest:start])
        blocks.append(reply[start + len(_OPEN) : end].strip())
        rest = end + len(_CLOSE)
    text = "".join(texts) + reply[rest:]
    head, close, tail = text.rpartition(_CLOSE)
    if close:
        blocks.insert(0, head.replace(_CLOSE, "").replace(_OPEN, "").strip())
        text = tail
    _, opened, unfinished = text.partition(_OPEN)
    if opened:
        blocks.append(unfinished.replace(_OPEN, "").strip())
        text = ""
    return Thinking(text.strip(), "\n\n".join(filter(None, blocks)), bool(opened))


class Parsed(NamedTuple, Generic[Form]):
    """A reply read against a form.

    Attributes:
        value: What was read; None where the outcome is ``failed``.
        outcome: ``ok`` where the reply is exactly the form's JSON, ``repaired`` where prose stood around it or its
            JSON was broken, ``failed`` where nothing in it has the form.
        problem: Why it failed.
    """

    value: Form | None
    outcome: ParseOutcome
    problem: str | None = None


def parse_json(text: str, form: type[Form]) -> Parsed[Form]:
    """Read a reply's text (without its thinking block, see ``Reply.text``) as ``form``.

    Of several JSON objects that have the form the last one counts: models put their drafts first.
    """
    try:
        return Parsed(form.model_validate_json(text), "ok")
    except ValidationError as error:
        problem = _describe(error)
    for candidate in _candidates(text):
        try:
            return Parsed(form.model_validate(candidate), "repaired")
        except ValidationError as error:
            problem = _describe(error)
    return Parsed(None, "failed", problem)


def _candidates(text: str) -> Iterator[Any]:
    """JSON values found in the text, the most likely answer first."""
    import json_repair

    for part in [*reversed(_FENCE.findall(text)), text]:
        if "{" not in part and "[" not in part:  # prose: a repair would only make something up
            continue
        try:
            value = json_repair.loads(part)
        except (RecursionError, ValueError):
            continue
        yield value
        if isinstance(value, list):  # several values in one text come as a list
            yield from reversed(value)


def _describe(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else first["msg"]
