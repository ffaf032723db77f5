"""Asking SPARQL queries: of an endpoint over HTTP, or of a store in this process."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any, Protocol, cast
from urllib.parse import urlencode, urlsplit

from kgqa_bench.errors import ConfigError, DataError

Row = tuple[Any, ...]  # pyoxigraph terms; None where a variable is unbound


class SparqlClient(Protocol):
    """Answers queries.

    Attributes:
        source: Where the graph is, for provenance and errors.
    """

    source: str

    def select(self, query: str) -> Iterator[Row]:
        """The solutions of a SELECT query."""
        ...

    def ask(self, query: str) -> bool:
        """The answer to an ASK query."""
        ...


class StoreClient:
    """A ``pyoxigraph.Store``, in memory or on disk; named graphs count as one with the default graph.

    Args:
        store: The store.
        source: What to call it.
    """

    def __init__(self, store: Any, source: str = "pyoxigraph store") -> None:
        self.source = source
        self._store = store

    def select(self, query: str) -> Iterator[Row]:
        """The solutions of a SELECT query."""
        found = self._store.query(query, use_default_graph_as_union=True)
        size = len(found.variables)
        return (tuple(solution[at] for at in range(size)) for solution in found)

    def ask(self, query: str) -> bool:
        """The answer to an ASK query."""
        return bool(self._store.query(query, use_default_graph_as_union=True))


class HttpClient:
    """A SPARQL 1.1 endpoint: queries by POST, results as JSON.

    Args:
        endpoint: Its ``http`` or ``https`` address.
        graph: IRI of the graph to ask, or None for the endpoint's default graph.
        timeout: Seconds before a query is given up.

    Raises:
        ConfigError: It is no such address.
    """

    def __init__(self, endpoint: str, *, graph: str | None = None, timeout: float = 60.0) -> None:
        address = urlsplit(endpoint)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ConfigError(f"{endpoint!r} is no SPARQL endpoint.", hint="Give sparql:https://HOST/PATH.")
        self.source = endpoint
        self._timeout = timeout
        self._parameters = {"default-graph-uri": graph} if graph is not None else {}

    def select(self, query: str) -> Iterator[Row]:
        """The solutions of a SELECT query."""
        import pyoxigraph as ox

        body = self._reply(query)
        try:
            found: Any = ox.parse_query_results(body, format=ox.QueryResultsFormat.JSON)
            size = len(found.variables)
            return iter([tuple(solution[at] for at in range(size)) for solution in found])
        except (SyntaxError, ValueError, AttributeError) as problem:
            raise self._not_json(problem) from problem

    def ask(self, query: str) -> bool:
        """The answer to an ASK query."""
        import pyoxigraph as ox

        body = self._reply(query)
        try:
            return bool(ox.parse_query_results(body, format=ox.QueryResultsFormat.JSON))
        except (SyntaxError, ValueError) as problem:
            raise self._not_json(problem) from problem

    def _reply(self, query: str) -> bytes:
        request = urllib.request.Request(  # noqa: S310 - the scheme is checked
            self.source,
            data=urlencode({"query": query, **self._parameters}).encode(),
            headers={"Accept": "application/sparql-results+json", "User-Agent": "kgqa-bench"},
        )
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as response:  # noqa: S310
                return cast(bytes, response.read())
        except urllib.error.HTTPError as problem:
            text = problem.read(500).decode(errors="replace").strip()
            raise DataError(
                f"the SPARQL endpoint {self.source} answers {problem.code} {problem.reason}: {text}",
                hint="Where it does not know RDF-star, set graph.confidence to another form."
                if problem.code == 400
                else None,
            ) from problem
        except OSError as problem:
            raise DataError(
                f"the SPARQL endpoint {self.source} cannot be asked: {getattr(problem, 'reason', problem)}.",
                hint="Check the address, or set graph.timeout.",
            ) from problem

    def _not_json(self, problem: Exception) -> DataError:
        return DataError(f"the SPARQL endpoint {self.source} answers no JSON results: {problem}.")


class RdflibClient:
    """An ``rdflib.Graph`` or ``Dataset`` with any of rdflib's stores. It does not know RDF-star.

    Args:
        graph: The graph.
        source: What to call it.
    """

    def __init__(self, graph: Any, source: str = "rdflib graph") -> None:
        self.source = source
        self._graph = graph

    def select(self, query: str) -> Iterator[Row]:
        """The solutions of a SELECT query."""
        return (tuple(map(_term, solution)) for solution in self._graph.query(query))

    def ask(self, query: str) -> bool:
        """The answer to an ASK query."""
        return bool(self._graph.query(query).askAnswer)


def _term(term: Any) -> Any:
    """One of rdflib's terms as pyoxigraph's."""
    import pyoxigraph as ox
    import rdflib

    if term is None:
        return None
    if isinstance(term, rdflib.Literal):
        return ox.Literal(str(term), language=term.language)
    return ox.NamedNode(str(term))
