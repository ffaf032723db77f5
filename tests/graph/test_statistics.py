from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import pytest

from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.open import open_graph
from kgqa_bench.graph.whole import pagerank, statistics, to_igraph


def test_statistics_by_hand() -> None:
    rows = [
        ("1", "r", "2", 0.25),
        ("2", "r", "1", 0.5),
        ("2", "s", "1", 0.75),
        ("2", "r", "3", 1.0),
        ("3", "r", "1", 1.0),
        ("3", "r", "4", 1.0),
        ("5", "s", "5", 0.5),
    ]
    heads, relations, tails, confidences = map(list, zip(*rows, strict=True))
    graph = build_graph(
        heads, relations, tails, confidences, source="t", entity_names=None, relation_labels={"r": "is r of"}
    )
    facts = statistics(graph)
    assert json.loads(json.dumps(facts)) == facts
    expected = {
        "entities": 5,
        "relations": 2,
        "triples": 7,
        "relations in use": 2,
        "entities without triple": 0,
        "components": 2,
        "entities in the largest component": 4,
        "mean degree": 2.8,
        "median degree": 3.0,
        "greatest degree": 4,
        "entity of the greatest degree": "1",  # of two with four triples the first
        "self-loops": 1,
        "reciprocity": 0.4,  # of the pairs 12 21 23 31 34
        "clustering": 0.6,  # one triangle, five connected threes
        "mean confidence": 0.7143,
        "confidence, 0 % quantile": 0.25,
        "confidence, 25 % quantile": 0.5,
        "confidence, 50 % quantile": 0.75,
        "confidence, 75 % quantile": 1.0,
        "confidence, 100 % quantile": 1.0,
    }
    assert facts == expected


def test_entities_without_triple_and_views() -> None:
    graph = build_graph([0], [0], [1], source="t", entity_names=["a", "b", "c"], relation_names=["r", "s"])
    facts = statistics(graph)
    assert (facts["entities without triple"], facts["relations in use"], facts["components"]) == (1, 1, 2)
    empty = statistics(graph.hide([(0, 0, 1)]))
    assert (empty["triples"], empty["components"], empty["greatest degree"]) == (0, 3, 0)
    assert "mean confidence" not in empty
    assert "reciprocity" not in empty


def test_integer_looking_names_are_not_taken_for_ids() -> None:
    # igraph takes integers for vertex ids: names that look like other vertices' ids must stay names
    graph = build_graph(["10", "2"], ["0", "0"], ["2", "1"], [0.5, 0.25], source="t")
    whole = to_igraph(graph)
    assert whole.vs["name"] == ["1", "10", "2"]
    assert {(whole.vs[e.source]["name"], e["relation"], whole.vs[e.target]["name"]) for e in whole.es} == {
        ("10", "0", "2"),
        ("2", "0", "1"),
    }
    assert whole.es["confidence"] == [0.5, 0.25]
    assert whole.vs.find("2").index == 2
    assert pagerank(graph).argmax() == graph.entity("1")


@pytest.mark.data
def test_statistics_as_by_networkx(real_data: Path) -> None:
    graph = open_graph("umls", real_data, {})
    other = nx.MultiDiGraph([(quad.head, quad.tail) for quad in graph.quads()])
    facts = statistics(graph)
    assert facts["greatest degree"] == max(dict(other.degree()).values())
    assert facts["components"] == nx.number_weakly_connected_components(other)
    assert facts["reciprocity"] == pytest.approx(nx.overall_reciprocity(nx.DiGraph(other)), abs=5e-5)
    assert facts["clustering"] == pytest.approx(nx.transitivity(nx.Graph(other)), abs=5e-5)
