"""A graph by name or file and the parts of it that are asked for, held in memory: what is mined and built from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from kgqa_bench import registry
from kgqa_bench.contracts import PluginSettings
from kgqa_bench.errors import ConfigError, UnknownNameError
from kgqa_bench.graph.open import open_graph
from kgqa_bench.storage import user_path

if TYPE_CHECKING:
    from kgqa_bench.graph.memory import MemoryGraph

ALL = "all"


def open_kg(kg: str, part: str | None, data: Path | None, settings: Mapping[str, Any] | None = None) -> MemoryGraph:
    """The graph called ``kg`` with the parts asked for.

    Args:
        kg: A registered graph, or a graph file or folder.
        part: Names of parts with commas between them; ``all`` for every part there is; None for the graph's own
            default (``facts`` of Family and UMLS, ``train`` of FB15k-237 and of folders in OpenKE's format).
        data: The user's data folder.
        settings: Further settings of the graph.

    Raises:
        UnknownNameError: There is no such graph, or no such part.
        ConfigError: A part is named of a graph that is not in parts, or the graph does not lie in memory.
        DataNotFoundError, DataError: The graph cannot be had, or is malformed.
    """
    chosen = dict(settings or {})
    if part is not None:
        parts = _parts(kg, part)
        if parts is not None:
            chosen["parts"] = parts
    graph = open_graph(kg, data, chosen)
    from kgqa_bench.graph.memory import MemoryGraph

    if not isinstance(graph, MemoryGraph):
        raise ConfigError(
            f"{kg} answers over the network; rules are mined from graphs in memory.",
            hint="Download the graph and give the file.",
        )
    return graph


def _parts(kg: str, part: str) -> list[str] | None:
    """The parts in their own order; None where the graph is not in parts, and all of it is asked for."""
    known = _known_parts(kg)
    if known is None:
        if part == ALL:
            return None
        raise ConfigError(f"{kg} is not in parts, so there is no part {part!r} of it.", hint="Leave --part out.")
    if part == ALL:
        return known
    asked = {name.strip() for name in part.split(",")} - {""}
    for name in sorted(asked):
        if name not in known:
            raise UnknownNameError(f"part of {kg}", name, known, hint=f"It has {', '.join(known)}; or {ALL}.")
    if not asked:
        raise ConfigError(f"--part names no part: {part!r}.", hint=f"{kg} has {', '.join(known)}; or {ALL}.")
    return [name for name in known if name in asked]


def _known_parts(kg: str) -> list[str] | None:
    if registry.normalise(kg) in registry.names("graphs"):
        return _named_by(registry.load("graphs", kg).Settings)
    path = user_path(kg)
    if not path.exists():
        return None
    from kgqa_bench.graph.sources.file import kind_of

    known = _named_by(kind_of(path).settings)
    if known is None:
        return None
    return [name for name in known if any((path / f"{name}{ending}.txt").is_file() for ending in ("", "2id"))]


def _named_by(settings: type[PluginSettings]) -> list[str] | None:
    """The names that the setting ``parts`` may hold: a tuple of literals."""
    field = settings.model_fields.get("parts")
    return None if field is None else list(get_args(get_args(field.annotation)[0]))
