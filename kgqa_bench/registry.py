"""The plugin kinds and the plugins installed, found by entry points and loaded when first used.

A distribution adds a plugin with an entry point in the group ``kgqa_bench.KIND``. Hyphen and underscore are
equal in names. A plugin that cannot be loaded is reported by name and stops nothing else.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal, TypeVar, get_args

from pydantic import ValidationError

from kgqa_bench.contracts import (
    Benchmark,
    Builder,
    GraphSource,
    Method,
    Metric,
    Miner,
    ModelSource,
    Plugin,
    PluginSettings,
    Protocol,
)
from kgqa_bench.errors import ConfigError, PluginError, StorageError, UnknownNameError, suggest

Kind = Literal["methods", "benchmarks", "graphs", "models", "metrics", "protocols", "miners", "builders"]
KINDS: tuple[Kind, ...] = get_args(Kind)

S = TypeVar("S", bound=PluginSettings)

_CONTRACTS: dict[Kind, type[Plugin]] = {
    "methods": Method,
    "benchmarks": Benchmark,
    "graphs": GraphSource,
    "models": ModelSource,
    "metrics": Metric,
    "protocols": Protocol,
    "miners": Miner,
    "builders": Builder,
}


def normalise(name: str) -> str:
    """Plugin names are compared in lower case with hyphens."""
    return name.lower().replace("_", "-")


@cache
def _entry_points(kind: Kind) -> dict[str, EntryPoint]:
    return {normalise(point.name): point for point in entry_points(group=f"kgqa_bench.{kind}")}


def names(kind: Kind) -> list[str]:
    """The names of all registered plugins of a kind, sorted; none is loaded."""
    return sorted(_entry_points(kind))


def load(kind: Kind, name: str) -> Any:
    """The plugin class called ``name``.

    Raises:
        UnknownNameError: No such plugin is registered.
        PluginError: It is registered but cannot be imported, or is not of its kind.
        StorageError: The cache folder, where its kernels are kept, cannot be written.
    """
    points = _entry_points(kind)
    point = points.get(normalise(name))
    if point is None:
        raise UnknownNameError(f"{kind[:-1]}", name, points, hint=f"`kgqa-bench list {kind}` shows all.")
    try:
        plugin = point.load()
    except StorageError:  # the cache cannot be written: no fault of the plugin
        raise
    except Exception as problem:  # a third party's import may fail in any way
        origin = f" of {point.dist.name}" if point.dist else ""
        raise PluginError(
            f"The {kind[:-1]} {point.name!r}{origin} ({point.value}) cannot be loaded: "
            f"{type(problem).__name__}: {problem}",
            hint="Repair or uninstall that package.",
        ) from problem
    contract = _CONTRACTS[kind]
    if not (isinstance(plugin, type) and issubclass(plugin, contract)):
        raise PluginError(f"The {kind[:-1]} {point.name!r} ({point.value}) is not a {contract.__name__}.")
    return plugin


def create(kind: Kind, name: str, settings: dict[str, Any] | None = None) -> Any:
    """An instance of the plugin ``name`` with ``settings`` checked against its settings class.

    Raises:
        ConfigError: A setting is unknown or has a wrong value.
    """
    return configure(load(kind, name), settings or {})


def summary(plugin: type[Plugin]) -> str:
    """The first line of a plugin's docstring."""
    return (plugin.__doc__ or "").strip().partition("\n")[0]


def configure(plugin: type[Plugin], settings: dict[str, Any]) -> Plugin:
    """An instance of ``plugin`` with checked settings. ConfigError names the setting at fault."""
    return plugin(checked_settings(plugin.__name__, plugin.Settings, settings))


def checked_settings(owner: str, model: type[S], settings: dict[str, Any]) -> S:
    """``settings`` as an instance of ``model``. ConfigError names the setting at fault and its ``owner``."""
    known = model.model_fields
    for key in settings:
        if key not in known:
            near = suggest(key, known)
            hint = f"Did you mean {', '.join(near)}?" if near else f"It has: {', '.join(sorted(known)) or 'none'}."
            raise ConfigError(f"There is no setting {key!r} of {owner}.", hint=hint)
    try:
        return model(**settings)
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        message = f"{owner}: setting {where!r}: {first['msg']} (got {first.get('input')!r})."
        raise ConfigError(message) from problem
