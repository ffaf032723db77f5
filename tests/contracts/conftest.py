"""The back ends that the graph contract is checked for: add a line to ``GRAPH_BACK_ENDS`` for another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.protocol import Graph

Row = tuple[str, str, str, float]
MakeGraph = Callable[[Sequence[Row]], Graph]


def in_memory(rows: Sequence[Row]) -> Graph:
    return build_graph(*map(list, zip(*rows, strict=True)), source="contract")


GRAPH_BACK_ENDS: dict[str, MakeGraph] = {
    "memory": in_memory,
}


@pytest.fixture(params=GRAPH_BACK_ENDS)
def make_graph(request: pytest.FixtureRequest) -> MakeGraph:
    """Makes a graph of the back end from distinct (head, relation, tail, confidence) rows by name."""
    return GRAPH_BACK_ENDS[request.param]
