"""From what a user calls a graph, a plugin's name or a file, to the graph."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgqa_bench import registry
from kgqa_bench.errors import UnknownNameError

if TYPE_CHECKING:
    from kgqa_bench.contracts import GraphSource
    from kgqa_bench.graph.protocol import Graph


def open_graph(name: str, data: Path | None, settings: Mapping[str, Any]) -> Graph:
    """The graph called ``name``: a registered graph, or a graph file or folder.

    Args:
        name: A registered name wins over a file of the same name; ``./NAME`` is always a file.
        data: The user's data folder.
        settings: The graph source's own settings.

    Raises:
        UnknownNameError: It is neither.
        DataNotFoundError, DataError: The graph cannot be had, or is malformed.
    """
    if registry.normalise(name) in registry.names("graphs"):
        source: GraphSource = registry.create("graphs", name, dict(settings))
        return source.load(data)
    path = Path(name).expanduser()
    if path.exists():
        from kgqa_bench.graph.sources.file import open_file

        return open_file(path, settings)
    raise UnknownNameError("graph", name, registry.names("graphs"), hint="It is no file either.")
