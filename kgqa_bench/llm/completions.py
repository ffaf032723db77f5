"""Reading the answers of OpenAI-compatible chat-completions servers: replies and failures."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import orjson

from kgqa_bench.errors import ModelError
from kgqa_bench.llm.tool_calls import read_tool_calls, wire_messages, wire_tools
from kgqa_bench.llm.types import Completion, Request

_EXCERPT = 300
_MOST_TOKENS = 1_000_000_000  # of one call; more is no count
_RETRYABLE = frozenset({408, 409, 425, 429})
_HINTS = {
    401: "Set OPENAI_API_KEY to a valid key.",
    403: "The key may not use this model.",
    404: "Check the model's name and --base-url.",
}


def request_body(request: Request, model: str) -> bytes:
    """The JSON body that asks for ``request``; its ``extra`` fields come last and win."""
    body: dict[str, Any] = {
        "model": model,
        "messages": wire_messages(request.messages),
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
    }
    if request.top_p is not None:
        body["top_p"] = request.top_p
    if request.stop:
        body["stop"] = request.stop
    if request.seed is not None:
        body["seed"] = request.seed
    if request.schema is not None:
        strict = request.schema.get("additionalProperties") is False  # OpenAI refuses other schemas as strict
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": request.schema, "strict": strict},
        }
    if request.tools:
        body["tools"] = wire_tools(request.tools)
    if request.extra:
        body.update(request.extra)
    return orjson.dumps(body)


def read_completion(payload: bytes) -> Completion:
    """The completion in the body of a response with status 200.

    An empty reply (``content`` null) is a reply: the model said nothing.

    Raises:
        ModelError: The body is no chat completion (cut JSON, HTML, no choices), or reports an error.
    """
    try:
        body = _json(payload)
    except (ValueError, RecursionError):
        raise _bad("no JSON", payload) from None
    if not isinstance(body, dict):
        raise _bad("no JSON object", payload)
    choices = body.get("choices")
    if not choices and isinstance(body.get("error"), dict):  # some gateways report failures with status 200
        code = body["error"].get("code")
        raise status_error(code if isinstance(code, int) and code >= 400 else 500, payload, None)
    try:
        choice = choices[0]  # type: ignore[index]  # a wrong type is one of the errors caught
        message = choice["message"]
        text = _content(message.get("content"))
        reasoning = message.get("reasoning_content") or message.get("reasoning")
        tool_calls = read_tool_calls(message.get("tool_calls"))
        finish_reason = choice.get("finish_reason")
    except (TypeError, KeyError, IndexError, AttributeError):
        raise _bad("no choices[0].message", payload) from None
    usage = body.get("usage")
    if not isinstance(usage, dict):
        usage = {}
    return Completion(
        text,
        finish_reason if isinstance(finish_reason, str) else None,
        _count(usage.get("prompt_tokens")),
        _count(usage.get("completion_tokens")),
        reasoning=reasoning if isinstance(reasoning, str) else None,
        tool_calls=tool_calls,
    )


def status_error(status: int, payload: bytes, retry_after: str | None) -> ModelError:
    """The error that an HTTP status other than 200 stands for."""
    message, code = _error_message(payload)
    text = f"The model server answered {status}: {message}"
    if code == "insufficient_quota":  # a 429 that no waiting mends
        return ModelError(text, reason="refused", hint="The account behind the key has no credit left.")
    retryable = status in _RETRYABLE or status >= 500
    if status == 429:
        reason = "rate_limit"
    elif status == 408:
        reason = "timeout"
    else:
        reason = "server_error" if retryable else "refused"
    wait = parse_retry_after(retry_after) if retryable else None
    return ModelError(text, reason=reason, retryable=retryable, retry_after=wait, hint=_HINTS.get(status))


def parse_retry_after(value: str | None) -> float | None:
    """Seconds to wait by a Retry-After header: a number of seconds or an HTTP date; None where unreadable."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            then = parsedate_to_datetime(value)
        except ValueError:
            return None
        if then.tzinfo is None:
            then = then.replace(tzinfo=UTC)
        seconds = (then - datetime.now(UTC)).total_seconds()
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _json(payload: bytes) -> Any:
    """The JSON of a reply that may hold lone surrogates or bytes that are not UTF-8: a received answer is kept."""
    try:
        return orjson.loads(payload)
    except orjson.JSONDecodeError:
        return json.loads(payload.decode("utf-8", "replace"))


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    return "".join(part["text"] for part in content if part.get("type") == "text")


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None


def _error_message(payload: bytes) -> tuple[str, Any]:
    """The message and code in an error body, or an excerpt of whatever came instead."""
    try:
        error: Any = orjson.loads(payload)
    except orjson.JSONDecodeError:
        return _excerpt(payload), None
    if isinstance(error, Mapping):
        error = error.get("error", error)
    if isinstance(error, Mapping) and isinstance(error.get("message"), str):
        return error["message"][:_EXCERPT], error.get("code")
    return (error[:_EXCERPT] if isinstance(error, str) else _excerpt(payload)), None


def _bad(what: str, payload: bytes) -> ModelError:
    return ModelError(
        f"The model server's reply is no chat completion ({what}): {_excerpt(payload)}",
        reason="bad_response",
        retryable=True,
        hint="Check that --base-url is the address of an OpenAI-compatible server.",
    )


def _excerpt(payload: bytes) -> str:
    text = " ".join(payload[: 4 * _EXCERPT].decode("utf-8", "replace").split())
    return (text[:_EXCERPT] + "…" if len(text) > _EXCERPT else text) or "(empty)"
