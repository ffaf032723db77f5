"""How a model acts: by native tool calls, or by one JSON object a reply."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, model_validator

from kgqa_bench.domain import ParseOutcome
from kgqa_bench.llm.parsing import parse_json
from kgqa_bench.llm.types import Llm, Message, Reply, Tool

from .actions import Requested
from .settings import GrAgentSettings

_ENTITY = {"type": "string", "description": "A topic entity or an entity reached, as it is shown."}


def _arguments(hops: int) -> dict[str, dict[str, Any]]:
    """The arguments of each tool as JSON schemas."""
    return {
        "explore": {
            "entity": _ENTITY,
            "hop_limit": {
                "type": "integer",
                "enum": list(range(1, hops + 1)),
                "description": "Most steps of a path.",
            },
        },
        "ground": {
            "entity": _ENTITY,
            "relation_paths": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Ids of relation paths, such as P1.",
            },
        },
        "synthesize": {
            "path_ids": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Ids of the reasoning paths that imply the answer, such as C1.",
            },
            "question": {"type": "string", "description": "The question to answer."},
        },
    }


_DESCRIPTIONS = {
    "explore": "List the relation paths from an entity.",
    "ground": "Follow relation paths from an entity and list the reasoning paths and entities reached.",
    "synthesize": "Choose the reasoning paths to answer the question from, and end.",
}


class ActionProtocol(Protocol):
    """One way of acting."""

    name: Literal["json", "tools"]

    async def ask(
        self, llm: Llm, messages: Sequence[Message], settings: GrAgentSettings, schema: Mapping[str, Any]
    ) -> Reply:
        """The model's next turn; ``schema`` is that of one action, for protocols that have replies with a form."""
        ...

    def read(self, reply: Reply) -> tuple[list[Requested], ParseOutcome]:
        """The actions of a reply in its order, unchecked; none and ``failed`` where it names none."""
        ...

    def exchange(self, reply: Reply, observations: Sequence[str]) -> list[Message]:
        """A reply and what its actions brought, as turns of the chat: one observation for each action read."""
        ...


class JsonProtocol:
    """One JSON object a reply, checked against a schema that is given to servers that can enforce one."""

    name: Literal["json", "tools"] = "json"

    async def ask(
        self, llm: Llm, messages: Sequence[Message], settings: GrAgentSettings, schema: Mapping[str, Any]
    ) -> Reply:
        """See ``ActionProtocol``."""
        return await llm.call(
            "act",
            messages,
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
            schema=schema,
        )

    def read(self, reply: Reply) -> tuple[list[Requested], ParseOutcome]:
        """See ``ActionProtocol``."""
        form, outcome, _ = parse_json(reply.text, _ActionReply)
        if form is None:
            return [], "failed"
        return [Requested(form.name, form.arguments)], outcome

    def exchange(self, reply: Reply, observations: Sequence[str]) -> list[Message]:
        """See ``ActionProtocol``."""
        return [reply.message, {"role": "user", "content": "\n\n".join(observations)}]


class ToolsProtocol:
    """Native tool calls. A reply without any is read as JSON: some models write their calls into the text."""

    name: Literal["json", "tools"] = "tools"

    async def ask(
        self, llm: Llm, messages: Sequence[Message], settings: GrAgentSettings, schema: Mapping[str, Any]
    ) -> Reply:
        """See ``ActionProtocol``."""
        return await llm.call(
            "act",
            messages,
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
            tools=tools(settings.hop_limit),
        )

    def read(self, reply: Reply) -> tuple[list[Requested], ParseOutcome]:
        """See ``ActionProtocol``."""
        if not reply.tool_calls:
            requested, outcome = JsonProtocol().read(reply)
            return requested, "repaired" if outcome == "ok" else outcome
        return [Requested(call.name, call.arguments) for call in reply.tool_calls], "ok"

    def exchange(self, reply: Reply, observations: Sequence[str]) -> list[Message]:
        """See ``ActionProtocol``."""
        if not reply.tool_calls:
            return JsonProtocol().exchange(reply, observations)
        results: list[Message] = [
            {"role": "tool", "content": said, "tool_call_id": call.id}
            for call, said in zip(reply.tool_calls, observations, strict=True)
        ]
        return [reply.message, *results]


def choose_protocol(llm: Llm, settings: GrAgentSettings) -> ActionProtocol:
    """The protocol that the settings name; ``auto`` takes tools where the model does and every action is offered."""
    auto = settings.protocol == "auto" and settings.offer == "all"
    if settings.protocol == "tools" or (auto and llm.takes_tools):
        return ToolsProtocol()
    return JsonProtocol()


def tools(hops: int) -> tuple[Tool, ...]:
    """The three tools, for a model that takes such."""
    return tuple(
        Tool(name, _DESCRIPTIONS[name], _object(properties)) for name, properties in _arguments(hops).items()
    )


def action_schema(hops: int) -> dict[str, Any]:
    """JSON schema of a reply that is one action."""
    return one_of(action(name, properties) for name, properties in _arguments(hops).items())


def action(name: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """JSON schema of one action with these arguments."""
    return _object({"name": {"type": "string", "enum": [name]}, **properties})


def one_of(actions: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """JSON schema of a reply that is one of some actions."""
    return _object({"action": {"anyOf": list(actions)}})


def answers_schema(names: Sequence[str]) -> dict[str, Any]:
    """JSON schema of a reply that answers with some of ``names``, one at least."""
    return _object({"answers": some_of(names, len(names))})


def some_of(values: Sequence[str], most: int) -> dict[str, Any]:
    """JSON schema of a list of 1 to ``most`` of ``values``."""
    items = {"type": "string", "enum": list(values)}
    return {"type": "array", "items": items, "minItems": 1, "maxItems": min(len(values), most)}


def read_answers(reply: Reply) -> tuple[tuple[str, ...], ParseOutcome]:
    """The answers of a reply under ``answers_schema``, without repeats."""
    form, outcome, _ = parse_json(reply.text, _AnswersReply)
    return (tuple(dict.fromkeys(form.answers)) if form else ()), outcome


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


class _AnswersReply(BaseModel):
    """Answers by name."""

    model_config = ConfigDict(extra="forbid")

    answers: list[str]


class _ActionReply(BaseModel):
    """An action in any of the forms that models give it: inside ``action``, beside it, or under ``arguments``."""

    model_config = ConfigDict(extra="forbid")

    name: str
    arguments: dict[str, Any] | str

    @model_validator(mode="before")
    @classmethod
    def _level(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        action = given.get("action")
        if isinstance(action, dict):
            given = action
        elif isinstance(action, str):
            given = {**{key: value for key, value in given.items() if key != "action"}, "name": action}
        name = given.get("name")
        if not isinstance(name, str) or not name.strip():
            raise ValueError("no action is named")
        arguments = given.get("arguments")
        if not isinstance(arguments, dict | str):
            arguments = {key: value for key, value in given.items() if key not in ("name", "arguments")}
        return {"name": name.strip(), "arguments": arguments}
