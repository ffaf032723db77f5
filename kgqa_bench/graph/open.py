"""From what a user calls a graph, a plugin's name, a file or a SPARQL endpoint, to the graph."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgqa_bench import registry
from kgqa_bench.errors import UnknownNameError
from kgqa_bench.storage import user_path

if TYPE_CHECKING:
    from kgqa_bench.contracts import GraphSource
    from kgqa_bench.graph.protocol import Graph

_SPARQL = "sparql:"


def open_graph(name: str, data: Path | None, settings: Mapping[str, Any]) -> Graph:
    """The graph called ``name``: a registered graph, ``sparql:https://HOST/PATH``, or a graph file or folder.

    Args:
        name: A registered name wins over a file of the same name; ``./NAME`` is always a file.
        data: The user's data folder.
        settings: The graph source's own settings.

    Raises:
        UnknownNameError: It is none of these.
        DataNotFoundError, DataError: The graph cannot be had, or is malformed.
    """
    if registry.normalise(name) in registry.names("graphs"):
        source: GraphSource = registry.create("graphs", name, dict(settings))
        return source.load(data)
    if name.startswith(_SPARQL):
        return _open_endpoint(name.removeprefix(_SPARQL), settings)
    path = user_path(name)
    if path.exists():
        from kgqa_bench.graph.sources.file import open_file

        return open_file(path, settings)
    raise UnknownNameError("graph", name, registry.names("graphs"), hint="It is no file either.")


def _open_endpoint(address: str, settings: Mapping[str, Any]) -> Graph:
    from kgqa_bench.graph.sources.settings import SparqlSettings
    from kgqa_bench.graph.sparql import sparql_graph
    from kgqa_bench.graph.sparql_client import HttpClient

    chosen = registry.checked_settings(f"a SPARQL endpoint ({address})", SparqlSettings, dict(settings))
    return sparql_graph(
        HttpClient(address, graph=chosen.graph, timeout=chosen.timeout),
        confidence=chosen.confidence,
        confidence_predicate=chosen.confidence_predicate,
        page=chosen.page,
    )
