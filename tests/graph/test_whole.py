"""igraph views and PageRank, against networkx."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.whole import pagerank, to_igraph

TRIPLES = st.lists(
    st.tuples(
        st.sampled_from("abcdef"), st.sampled_from("rs"), st.sampled_from("abcdef"), st.sampled_from([0.5, 1.0])
    ),
    min_size=1,
    max_size=25,
    unique_by=lambda row: row[:3],
)


class OnlyQuads:
    """A back end that is not the in-memory one."""

    def __init__(self, graph: object) -> None:
        self._graph = graph

    def __getattr__(self, name: str) -> object:
        if name == "columns":
            raise AttributeError(name)
        return getattr(self._graph, name)


@given(TRIPLES)
@settings(max_examples=50, deadline=None)
def test_pagerank_is_that_of_networkx(rows: list[tuple[str, str, str, float]]) -> None:
    graph = build_graph(*zip(*rows, strict=True), source="test")
    other = networkx.MultiDiGraph()
    other.add_nodes_from(range(graph.num_entities))
    other.add_edges_from((quad.head, quad.tail) for quad in graph.quads())
    expected = networkx.pagerank(other, alpha=0.85, tol=1e-12, max_iter=1000)
    ranks = pagerank(graph)
    np.testing.assert_allclose(ranks, [expected[entity] for entity in range(graph.num_entities)], atol=1e-8)
    np.testing.assert_allclose(pagerank(OnlyQuads(graph)), ranks, atol=1e-12)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrap", [lambda graph: graph, OnlyQuads], ids=["memory", "other"])
def test_igraph_keeps_parallel_triples_and_names(wrap) -> None:
    graph = build_graph(
        ["a", "a", "b", "b"],
        ["r", "s", "r", "r"],
        ["b", "b", "b", "a"],
        [0.5, 1.0, 0.25, 0.75],
        source="test",
        entity_labels={"a": "A label"},
    )
    whole = to_igraph(wrap(graph))
    assert whole.is_directed()
    assert whole.vs["name"] == ["a", "b"]
    assert whole.vs["label"] == ["A label", "b"]
    edges = zip(whole.get_edgelist(), whole.es["relation"], whole.es["confidence"], strict=True)
    assert list(edges) == [((0, 1), "r", 0.5), ((0, 1), "s", 1.0), ((1, 0), "r", 0.75), ((1, 1), "r", 0.25)]
    assert to_igraph(wrap(graph), attributes=False).vs.attributes() == []


def test_hidden_triples_are_not_in_it() -> None:
    graph = build_graph(["a", "b"], ["r", "r"], ["b", "c"], source="test")
    hidden = graph.hide([(0, 0, 1)])
    assert to_igraph(hidden, attributes=False).get_edgelist() == [(1, 2)]
    whole_without = pagerank(hidden)
    assert whole_without[0] == pytest.approx(whole_without[1])
