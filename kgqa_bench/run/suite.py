"""A suite: methods × benchmarks × models × settings from one YAML file, each combination a run.

::

    methods: [zero-shot, {method: dog, name: DoG-E, set: {confidence: one}}]
    benchmarks: [obqa, {benchmark: family-incomplete, settings: [incomplete, complete]}]
    models: [local/smollm2]
    limit: 50          # and any other flag of `run`, for all rows
    paper: free text about the source

An entry is a plugin's name, or a mapping of flags with a ``name`` of its own for the table. Methods without a model
have one row whatever the models; those without a graph one whatever the settings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgqa_bench import registry
from kgqa_bench.errors import ConfigError, KgqaBenchError, PluginError, UnknownNameError
from kgqa_bench.run.config import RunConfig, make_config, override, read_yaml_mapping

AXES = ("methods", "benchmarks", "models")
VIEWS = ("incomplete", "complete")


@dataclass(frozen=True)
class SuiteRow:
    """One run of a suite.

    Attributes:
        name: Its name in tables, and of its folder; unique.
        comparison: What must be the same for two rows to be compared: benchmark, model and setting.
        config: The run; None where it cannot be had.
        problem: Why not: a plugin that is not installed or cannot be loaded.
    """

    name: str
    comparison: str
    config: RunConfig | None
    problem: KgqaBenchError | None = None


def read_suite(path: Path, flags: Mapping[str, Any]) -> list[SuiteRow]:
    """The rows of a suite, methods varying fastest.

    Args:
        path: The YAML file.
        flags: Flags of the command line, which win over the file's.

    Raises:
        ConfigError: The file is no suite; names it and what is wrong. A missing plugin is no such thing: its rows
            say so.
    """
    content = read_yaml_mapping(path)
    content.pop("paper", None)
    methods, benchmarks, models = (_entries(content, axis, path) for axis in AXES)
    if not methods or not benchmarks:
        raise ConfigError(f"{path}: a suite names `methods` and `benchmarks`.")
    rows: dict[str, SuiteRow] = {}
    for benchmark in benchmarks:
        settings = _settings(benchmark, path)
        for model in models or [{}]:
            for setting in settings:
                for method in methods:
                    row = _row(path, content, benchmark, model, setting, method, flags)
                    rows.setdefault(row.name, row)
    return list(rows.values())


def _entries(content: dict[str, Any], axis: str, path: Path) -> list[dict[str, Any]]:
    """The entries of one axis as mappings of flags."""
    given = content.pop(axis, None)
    flag = axis[:-1]
    if given is None:
        return []
    if not isinstance(given, list) or not given:
        raise ConfigError(f"{path}: `{axis}` must be a list of names or mappings.")
    entries = []
    for entry in given:
        if isinstance(entry, str):
            entries.append({flag: entry})
        elif isinstance(entry, Mapping) and isinstance(entry.get(flag), str):
            entries.append({str(key).replace("-", "_"): value for key, value in entry.items()})
        else:
            raise ConfigError(f"{path}: an entry of `{axis}` is a name or a mapping with `{flag}`, not {entry!r}.")
    return entries


def _settings(benchmark: dict[str, Any], path: Path) -> list[str | None]:
    given = benchmark.pop("settings", None)
    if given is None:
        return [None]
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not names or any(name not in VIEWS for name in names):
        raise ConfigError(f"{path}: `settings` of a benchmark is a list of {' and '.join(VIEWS)}, not {given!r}.")
    return list(dict.fromkeys(names))


def _row(
    path: Path,
    common: Mapping[str, Any],
    benchmark: Mapping[str, Any],
    model: Mapping[str, Any],
    setting: str | None,
    method: Mapping[str, Any],
    flags: Mapping[str, Any],
) -> SuiteRow:
    names = {"method": _name(method, "method"), "benchmark": _name(benchmark, "benchmark")}
    problem: KgqaBenchError | None = None
    try:
        plugin = registry.load("methods", method["method"])
        uses_model, uses_graph = plugin.uses_model, plugin.uses_graph
    except (UnknownNameError, PluginError) as missing:
        problem, uses_model, uses_graph = missing, True, True
    values: dict[str, Any] = dict(common)
    for part in (benchmark, model if uses_model else {}, method, flags):
        values = override(values, {key: value for key, value in part.items() if key != "name"})
    if uses_model and model:
        names["model"] = _name(model, "model")
    if setting is not None and uses_graph:
        names["setting"] = setting
        values = override(values, {"set": {"graph.view": setting}})
    comparison = " ".join(_name(part, key) for part, key in ((benchmark, "benchmark"), (model, "model")) if part)
    name = "-".join(_folder(text) for text in names.values())
    if problem is not None:
        return SuiteRow(name, comparison, None, problem)
    if values.get("out") is not None:
        values["out"] = Path(values["out"]) / name
    return SuiteRow(name, f"{comparison} {setting or ''}".strip(), make_config(values, where=f"{path}, row {name}"))


def _name(entry: Mapping[str, Any], flag: str) -> str:
    return str(entry.get("name") or entry[flag])


def _folder(text: str) -> str:
    """A name as part of a folder's name."""
    return re.sub(r"[^\w.+]+", "-", Path(text).name if text.count("/") > 1 else text).strip("-.") or "row"
