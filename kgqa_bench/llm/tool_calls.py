"""Tools and calls of them, as OpenAI-compatible servers write them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from kgqa_bench.domain import ToolCall
from kgqa_bench.errors import ModelError
from kgqa_bench.llm.types import Message, Request, Tool

NO_TOOLS = "Ask without native tool calls: --set protocol=json."

_OF_TOOLS = re.compile(r"\btools?\b|tool_|\bfunction", re.IGNORECASE)
_DENIED = re.compile(r"support|require|enable|permitted|allowed|unrecogni|unknown|schema", re.IGNORECASE)
_ROOM = 16  # levels that a recorded row puts around the arguments; what orjson cannot write must not get in


def wire_tools(tools: Iterable[Tool]) -> list[dict[str, Any]]:
    """The field ``tools`` of a request."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in tools
    ]


def wire_messages(messages: Sequence[Message]) -> Sequence[Mapping[str, Any]]:
    """The field ``messages`` of a request."""
    if not any("tool_calls" in message for message in messages):
        return messages
    return [_wire_message(message) if "tool_calls" in message else message for message in messages]


def _wire_message(message: Message) -> dict[str, Any]:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _wire_arguments(call)}}
        for call in message["tool_calls"]
    ]
    return {"role": message["role"], "content": message["content"] or None, "tool_calls": calls}


def _wire_arguments(call: ToolCall) -> str:
    # vLLM, llama.cpp and others refuse a whole chat for one call in it whose arguments are no JSON object
    arguments = {"malformed": call.arguments} if isinstance(call.arguments, str) else call.arguments
    return orjson.dumps(arguments).decode()


def read_tool_calls(calls: Any) -> tuple[ToolCall, ...]:
    """The tool calls of a reply's message; none where the field is missing or null.

    A call without an id gets one by its position.

    Raises:
        TypeError, KeyError, AttributeError: They have another form.
    """
    read = []
    for position, call in enumerate(calls or ()):
        function = call["function"]
        name, given = function["name"], call.get("id")
        if not (isinstance(name, str) and name):
            raise TypeError("a tool call without a name")
        call_id = given if isinstance(given, str) and given else f"call_{position}"
        read.append(ToolCall(call_id, name, _arguments(function.get("arguments"))))
    return tuple(read)


def _arguments(given: Any) -> Mapping[str, Any] | str:
    """Arguments as an object; as their text where they are none, or hold what cannot be recorded.

    None or blank text stands for no arguments.
    """
    if given is None or (isinstance(given, str) and not given.strip()):
        return {}
    text = given if isinstance(given, str) else json.dumps(given)
    try:
        value = orjson.loads(text)
        if not isinstance(value, dict):
            return text
        nested: Any = value
        for _ in range(_ROOM):
            nested = [nested]
        orjson.dumps(nested)
    except (ValueError, TypeError):
        return text
    return value


def tools_refused(said: str) -> ModelError:
    """The error of a model or server that takes no tools."""
    return ModelError(said, reason="refused", hint=NO_TOOLS)


def about_tools(problem: ModelError, request: Request) -> ModelError:
    """``problem``, as a refusal of the request's tools where its words are of them.

    Some servers say with status 500 that they were started without tools: no waiting mends that.
    """
    said = problem.message
    denied = problem.reason in ("refused", "server_error") and _OF_TOOLS.search(said) and _DENIED.search(said)
    return tools_refused(said) if request.tools and denied else problem
