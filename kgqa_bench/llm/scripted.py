"""``scripted/FILE``: replies written down in a file, for tests and demonstrations.

One rule a line; the first that fits a call answers it::

    {"role": "judge", "reply": "ANSWER: B"}
    {"role": "proponent", "contains": ["copper", "conduct"], "reply": "Copper conducts electricity."}
    {"contains": "copper", "reply": ["ANSWER: B", "ANSWER: C"]}
    {"reply": "ANSWER: A"}

A rule with tool calls answers the calls that offer tools::

    {"contains": "copper", "tool_calls": [{"name": "explore", "arguments": {"entity": "copper"}}]}
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgqa_bench.contracts import ModelOptions, ModelSource, PluginSettings
from kgqa_bench.domain import ToolCall
from kgqa_bench.errors import DataError, DataNotFoundError, ModelError
from kgqa_bench.llm.types import Completion, Request
from kgqa_bench.storage import user_path

_EXCERPT = 80


class ScriptedToolCall(BaseModel):
    """A tool call of a rule; ``arguments`` as text stands for what is no JSON object."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    arguments: dict[str, Any] | str = {}


class Rule(BaseModel):
    """One line of a script. The first rule that fits a call answers it.

    Attributes:
        role: The call's role (``proponent``, …); None fits every role.
        contains: Texts that must all occur in the call's messages.
        reply: The reply; of a list, sample number n gets the n-th (beyond the end it starts again).
        tool_calls: The tools called; a rule with any fits no call that offers no tools, and needs no reply.
        finish_reason: ``stop``, or ``length`` for a reply cut at the token limit.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: str | None = None
    contains: str | tuple[str, ...] = ()
    reply: str | tuple[str, ...] = ""
    tool_calls: tuple[ScriptedToolCall, ...] = ()
    finish_reason: str = "stop"

    def fits(self, request: Request, text: str) -> bool:
        """Whether the rule answers a request of this text."""
        wanted = (self.contains,) if isinstance(self.contains, str) else self.contains
        can = not self.tool_calls or bool(request.tools)
        return can and self.role in (None, request.role) and all(part in text for part in wanted)

    def choose(self, sample: int) -> str:
        """The reply for a sample number."""
        return self.reply if isinstance(self.reply, str) else self.reply[sample % len(self.reply)]


class ScriptedClient:
    """Answers by rules. Tokens are counted as words, those of tool calls as their JSON; a call costs nothing."""

    price_known = True

    def __init__(self, model: str, rules: list[Rule], takes_tools: bool = False) -> None:
        self.model = model
        self.rules = rules
        self.takes_tools = takes_tools

    async def complete(self, request: Request) -> Completion:
        """The reply of the first rule that fits. ModelError where none does."""
        text = "\n".join(message["content"] for message in request.messages)
        for rule in self.rules:
            if rule.fits(request, text):
                reply = rule.choose(request.sample)
                written = " ".join([reply, *(call.model_dump_json() for call in rule.tool_calls)])
                calls = tuple(
                    ToolCall(f"call_{len(request.messages)}_{number}", call.name, call.arguments)
                    for number, call in enumerate(rule.tool_calls)
                )
                counts = len(text.split()), len(written.split())
                return Completion(reply, rule.finish_reason, *counts, 0.0, tool_calls=calls)
        last = request.messages[-1]["content"] if request.messages else ""
        raise ModelError(
            f"{self.model} has no rule for a call of role {request.role!r} that ends in {last[-_EXCERPT:]!r}.",
            reason="unavailable",
            hint="Add a rule; one with a reply only, at the end, fits every call.",
        )

    async def close(self) -> None:
        """Nothing is held open."""


class ScriptedSettings(PluginSettings):
    """What the model is said to do."""

    tools: bool | None = Field(
        default=None, description="The model takes native tool calls; by default where a rule calls a tool."
    )


class ScriptedSource(ModelSource):
    """Replies from a file of rules (JSON lines or YAML), for tests and demonstrations."""

    Settings = ScriptedSettings

    def open(self, name: str, options: ModelOptions) -> ScriptedClient:
        """A client for the script file ``name``. DataError names file and line of a malformed rule."""
        rules = read_script(user_path(name))
        tools = self.settings.tools
        takes_tools = any(rule.tool_calls for rule in rules) if tools is None else tools
        return ScriptedClient(f"scripted/{name}", rules, takes_tools)


def read_script(path: Path) -> list[Rule]:
    """The rules of a script: one JSON object a line, or with the ending .yaml / .yml a list of mappings.

    Raises:
        DataNotFoundError: There is no such file.
        DataError: A rule is malformed, or there is none.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, IsADirectoryError) as problem:
        raise DataNotFoundError(
            f"There is no script {path}.", hint="Give scripted/FILE with a file of rules."
        ) from problem
    except (OSError, UnicodeDecodeError) as problem:
        raise DataError(f"cannot be read: {problem}.", file=path) from problem
    rows = _yaml_rows(path, text) if path.suffix in (".yaml", ".yml") else _json_rows(path, text)
    rules = []
    for line, row in rows:
        try:
            rule = Rule.model_validate(row)
        except ValidationError as problem:
            first = problem.errors()[0]
            where = ".".join(str(part) for part in first["loc"][:1])
            raise DataError(f"{where or 'rule'}: {first['msg']}.", file=path, line=line) from problem
        if not rule.reply and not isinstance(rule.reply, str):
            raise DataError("reply: the list is empty.", file=path, line=line)
        if not rule.tool_calls and "reply" not in rule.model_fields_set:
            raise DataError("reply or tool_calls: one of them is needed.", file=path, line=line)
        rules.append(rule)
    if not rules:
        raise DataError("holds no rule.", file=path)
    return rules


def _json_rows(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    for line, row in enumerate(text.split("\n"), 1):
        if row.strip():
            try:
                yield line, orjson.loads(row)
            except orjson.JSONDecodeError as problem:
                raise DataError(f"not valid JSON: {problem}.", file=path, line=line) from problem


def _yaml_rows(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    import yaml

    from kgqa_bench.yaml_text import YamlLoader, read_yaml

    try:
        node = yaml.compose(text, Loader=YamlLoader)
        rows = read_yaml(text)
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        line = mark.line + 1 if mark is not None else None
        raise DataError(f"not valid YAML: {getattr(problem, 'problem', problem)}.", file=path, line=line) from problem
    if not isinstance(rows, list) or not isinstance(node, yaml.SequenceNode):
        raise DataError("a list of rules is expected.", file=path)
    for item, row in zip(node.value, rows, strict=True):
        yield item.start_mark.line + 1, row
