"""The back ends that the graph contract is checked for: add a line to ``GRAPH_BACK_ENDS`` for another."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.graph.sparql import sparql_graph
from kgqa_bench.graph.sparql_client import StoreClient
from kgqa_bench.graph.turtle import write_turtle

Row = tuple[str, str, str, float]
MakeGraph = Callable[[Sequence[Row]], Graph]


def in_memory(rows: Sequence[Row]) -> Graph:
    return build_graph(*map(list, zip(*rows, strict=True)), source="contract")


def in_a_triple_store(rows: Sequence[Row]) -> Graph:
    import pyoxigraph

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.ttl"
        write_turtle(in_memory(rows), path)
        store = pyoxigraph.Store()
        store.load(path=str(path))
    return sparql_graph(StoreClient(store), confidence="star")


GRAPH_BACK_ENDS: dict[str, MakeGraph] = {
    "memory": in_memory,
    "sparql": in_a_triple_store,
}


@pytest.fixture(params=GRAPH_BACK_ENDS)
def make_graph(request: pytest.FixtureRequest) -> MakeGraph:
    """Makes a graph of the back end from distinct (head, relation, tail, confidence) rows by name."""
    return GRAPH_BACK_ENDS[request.param]
