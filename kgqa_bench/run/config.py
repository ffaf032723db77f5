"""What a run is asked to do: one schema for the command line, YAML files and Python."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from kgqa_bench.errors import ConfigError, suggest

DEFAULT_MODEL = "local/smollm2"
MODEL_VARIABLE = "KGQA_BENCH_MODEL"

# --set PREFIX.KEY=VALUE reaches the settings of …; without a prefix, the method's
SCOPES = ("benchmark", "graph", "model", "linker")

_FREE = frozenset({"out", "data", "concurrency", "budget_usd", "budget_tokens", "budget_calls"})


class RunConfig(BaseModel):
    """The settings of one run. Field names are the long flags of ``kgqa-bench run``.

    Attributes:
        method: Name of the method plugin.
        benchmark: Name of the benchmark plugin, or a question file (.jsonl).
        graph: Name of a graph plugin or a graph file; None takes the one the benchmark implies.
        model: Model name, with the source before the slash; None takes ``KGQA_BENCH_MODEL``, then local/smollm2.
        base_url: Address of an OpenAI-compatible server.
        data: Folder of data sets, tried before the hub.
        out: Run directory; None makes one under runs/.
        seed: Seeds sampling of questions, exemplars and model draws.
        repeats: Independent draws of every question.
        limit: Only the first so many questions.
        questions: Only the questions with these ids.
        concurrency: Questions worked on at once; None takes what suits the model.
        budget_usd: Stop before more money is spent.
        budget_tokens: Stop when so many tokens are used.
        budget_calls: Most model calls.
        set: Settings by name: ``alpha`` is the method's, ``graph.merge`` the graph's, and so on.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    method: str
    benchmark: str
    graph: str | None = None
    model: str | None = None
    base_url: str | None = None
    data: Path | None = None
    out: Path | None = None
    seed: int = 0
    repeats: int = Field(default=1, ge=1)
    limit: int | None = Field(default=None, ge=1)
    questions: tuple[str, ...] | None = None
    concurrency: int | None = Field(default=None, ge=1)
    budget_usd: float | None = Field(default=None, gt=0)
    budget_tokens: int | None = Field(default=None, gt=0)
    budget_calls: int | None = Field(default=None, gt=0)
    set: dict[str, Any] = Field(default_factory=dict)

    @field_validator("set")
    @classmethod
    def _scoped(cls, settings: dict[str, Any]) -> dict[str, Any]:
        for key in settings:
            scope, _, name = key.partition(".")
            if scope in SCOPES and not name:
                raise ValueError(f"{key!r} names no setting: write {scope}.NAME=VALUE")
        return settings

    def scoped(self, scope: str | None) -> dict[str, Any]:
        """The settings of one scope, without its prefix; None for the method's own."""
        if scope is None:
            return {key: value for key, value in self.set.items() if key.partition(".")[0] not in SCOPES}
        return {key[len(scope) + 1 :]: value for key, value in self.set.items() if key.startswith(f"{scope}.")}


def identity(config: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a dumped ``RunConfig`` that may not change when a run is continued.

    Left out are where it is written, where its data lies (the hashes speak for that) and how far it may go.
    """
    return {key: value for key, value in config.items() if key not in _FREE}


def make_config(values: Mapping[str, Any], *, where: str = "the command line") -> RunConfig:
    """A checked configuration. ConfigError names the flag at fault."""
    _check_flags(values, where)
    try:
        config = RunConfig(**values)
    except ValidationError as problem:
        first = problem.errors()[0]
        flag = ".".join(str(part) for part in first["loc"]).replace("_", "-")
        if first["type"] == "missing":
            raise ConfigError(f"{where}: --{flag} is missing.") from problem
        message = f"{where}: --{flag}: {first['msg']} (got {first['input']!r})."
        raise ConfigError(message) from problem
    values = {f"--{name.replace('_', '-')}": value for name, value in config.model_dump(exclude={"set"}).items()}
    for flag, value in (values | {f"--set {key}": value for key, value in config.set.items()}).items():
        if not _recordable(value):
            raise ConfigError(f"{where}: {flag}: {value!r} cannot be written down as JSON.")
    return config


def _recordable(value: Any) -> bool:
    """Whether run.json and a request can hold ``value``: finite numbers of 64 bits, text in UTF-8, and so on."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _recordable(part) for key, part in value.items())
    if isinstance(value, list | tuple):
        return all(map(_recordable, value))
    if isinstance(value, float):
        return math.isfinite(value)
    try:
        orjson.dumps(str(value) if isinstance(value, Path) else value)
    except TypeError:
        return False
    return True


def read_config_file(path: Path) -> dict[str, dict[str, Any]]:
    """The runs a YAML file describes, by variant name ("" for a file without variants), as raw flag values.

    Keys are the long flags of ``kgqa-bench run``; ``variants`` maps a name to overrides of the same keys, where
    ``set`` is merged key by key; ``paper`` is free text about the source.

    Raises:
        ConfigError: Naming the file, and the line where YAML itself is wrong.
    """
    content = read_yaml_mapping(path)
    content.pop("paper", None)
    variants = content.pop("variants", None)
    common = _flags(content, str(path))
    if variants is None:
        return {"": common}
    if not isinstance(variants, dict) or not all(isinstance(value, dict) for value in variants.values()):
        raise ConfigError(f"{path}: `variants` must map names to overrides.")
    if not variants:
        raise ConfigError(f"{path}: `variants` is empty.", hint="Leave it out, or name at least one.")
    for name in variants:
        if str(name) in ("", "..") or Path(str(name)).name != str(name):  # it becomes a folder under --out
            raise ConfigError(f"{path}: the variant name {name!r} is no name for a folder.")
    return {
        str(name): override(common, _flags(changes, f"{path}, variant {name}")) for name, changes in variants.items()
    }


def read_yaml_mapping(path: Path) -> dict[Any, Any]:
    """The mapping in a YAML file. ConfigError names the file, and the line where YAML itself is wrong."""
    import yaml

    from kgqa_bench.yaml_text import read_yaml

    try:
        content = read_yaml(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise ConfigError(f"Cannot read {path}: {problem.strerror or problem}.") from problem
    except (yaml.YAMLError, UnicodeDecodeError) as problem:
        mark = getattr(problem, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise ConfigError(f"{path}{line}: not valid YAML: {getattr(problem, 'problem', problem)}.") from problem
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: a mapping of flags to values is expected.")
    return content


def override(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """``base`` with the values of ``changes`` that are given; ``set`` is merged key by key."""
    merged = dict(base) | {key: value for key, value in changes.items() if value is not None and key != "set"}
    settings = dict(base.get("set") or {}) | dict(changes.get("set") or {})
    return merged | ({"set": settings} if settings else {})


def parse_settings(pairs: Iterable[str]) -> dict[str, Any]:
    """``KEY=VALUE`` words as a mapping; values are read as YAML (numbers, lists, true / false)."""
    import yaml

    from kgqa_bench.yaml_text import read_yaml

    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise ConfigError(f"--set {pair!r}: KEY=VALUE is expected.")
        try:
            settings[key.strip()] = read_yaml(value)
        except yaml.YAMLError as problem:
            raise ConfigError(
                f"--set {pair!r}: the value is not valid YAML: {getattr(problem, 'problem', problem)}."
            ) from problem
    return settings


def _flags(content: Mapping[Any, Any], where: str) -> dict[str, Any]:
    flags = {str(key).replace("-", "_"): value for key, value in content.items()}
    _check_flags(flags, where)
    if not isinstance(flags.get("set") or {}, dict):
        raise ConfigError(f"{where}: `set` must map settings to values.")
    return flags


def _check_flags(flags: Iterable[str], where: str) -> None:
    for flag in flags:
        if flag not in RunConfig.model_fields:
            near = suggest(flag, RunConfig.model_fields)
            hint = f"Did you mean {', '.join(near)}?" if near else None
            raise ConfigError(f"{where}: there is no flag {flag!r}.", hint=hint)
