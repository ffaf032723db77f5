"""What a model may do, and reading it: every name is checked against graph and state first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from kgqa_bench.graph.protocol import Path, RelationPath

Problem = Literal[
    "unknown tool", "wrong arguments", "unknown entity", "ambiguous entity", "entity not reached", "unknown relation",
    "unknown path",
]  # fmt: skip


class Explore(NamedTuple):
    """``explore(entity, hop_limit)``: the relation paths from an entity."""

    entity: int
    hop_limit: int


class Ground(NamedTuple):
    """``ground(entity, relation_paths)``: their groundings from an entity."""

    entity: int
    relation_paths: tuple[RelationPath, ...]


class Synthesize(NamedTuple):
    """``synthesize(path_ids, question)``: the reasoning paths C' to answer from; ends the episode."""

    reasoning_paths: tuple[Path, ...]
    question: str


Action = Explore | Ground | Synthesize


class Requested(NamedTuple):
    """An action as a model writes it, unchecked."""

    name: str
    arguments: Mapping[str, Any] | str


class Refusal(Exception):
    """An action that cannot be done, and why, in words for the model."""

    def __init__(self, problem: Problem, text: str) -> None:
        super().__init__(text)
        self.problem: Problem = problem


def argument(requested: Requested, name: str) -> Any:
    """An argument by name. Refusal where it is missing."""
    arguments = requested.arguments
    if isinstance(arguments, str):
        raise Refusal("wrong arguments", f"the arguments of {requested.name} are no JSON object.")
    if name not in arguments:
        raise Refusal("wrong arguments", f"{requested.name} needs the argument {name!r}.")
    return arguments[name]


def whole_number(requested: Requested, name: str, most: int) -> int:
    """A whole number from 1 to ``most``. Refusal where it is none; a text of digits will do."""
    value = argument(requested, name)
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 4:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise Refusal("wrong arguments", f"{name} must be a whole number from 1 to {most}.")
    return value


def text(requested: Requested, name: str) -> str:
    """A text; a number is taken for its digits. Refusal where it is neither."""
    value = argument(requested, name)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Refusal("wrong arguments", f"{name} must be a text.")
    return str(value).strip()


def items(requested: Requested, name: str) -> Sequence[Any]:
    """A list; one text is taken for a list of one. Refusal where it is neither."""
    value = argument(requested, name)
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list | tuple):
        raise Refusal("wrong arguments", f"{name} must be a list.")
    return value
