"""What every graph back end must answer, on one graph by hand and, if the data are there, on Family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kgqa_bench.errors import UnknownNameError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.protocol import Edge, Graph, Quad, Step

MakeGraph = Callable[[Sequence[tuple[str, str, str, float]]], Graph]

ROWS = [
    ("rain", "causes", "flood", 0.75),
    ("flood", "causes", "damage", 0.5),
    ("rain", "causes", "water", 0.25),
    ("rain", "isa", "water", 1.0),
    ("flood", "isa", "water", 0.5),
    ("water", "part of", "sea", 0.125),
    ("42", "isa", "42", 0.5),
    ("été", "isa", "rain", 1.0),
]
# ids: positions in the names sorted by UTF-8 bytes
FORTY_TWO, DAMAGE, FLOOD, RAIN, SEA, WATER, SUMMER = range(7)
CAUSES, ISA, PART_OF = range(3)


@pytest.fixture
def graph(make_graph: MakeGraph) -> Graph:
    return make_graph(ROWS)


def test_sizes_and_names(graph: Graph) -> None:
    assert (graph.num_entities, graph.num_relations, graph.num_triples) == (7, 3, 8)
    names = ["42", "damage", "flood", "rain", "sea", "water", "été"]
    assert [graph.entity_name(entity) for entity in range(7)] == names
    assert [graph.entity(name) for name in names] == list(range(7))
    assert [graph.relation_name(relation) for relation in range(3)] == ["causes", "isa", "part of"]
    assert [graph.relation(name) for name in ("causes", "isa", "part of")] == [0, 1, 2]
    assert graph.find_entity("nothing") is None
    assert list(graph.entity_labels()) == [graph.entity_label(entity) for entity in range(7)]
    assert len(graph.entity_labels()) == 7
    assert isinstance(graph.relation_label(CAUSES), str)


def test_unknown_names(graph: Graph) -> None:
    with pytest.raises(UnknownNameError, match="flood"):
        graph.entity("floods")
    with pytest.raises(UnknownNameError, match="causes"):
        graph.relation("cause")
    with pytest.raises(UnknownNameError):
        graph.entity("3")  # a number as text is a name, and there is none of it


@pytest.mark.parametrize("entity", [-1, 7])
def test_unknown_ids(graph: Graph, entity: int) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: graph.entity_name(entity),
        lambda: graph.entity_label(entity),
        lambda: graph.neighbours(entity),
        lambda: graph.edges(entity),
        lambda: graph.relations_at(entity),
        lambda: graph.triples_among([RAIN, entity]),
        lambda: graph.follow([entity], (Step(ISA),)),
        lambda: graph.relation_paths(entity, 1),
        lambda: graph.groundings(entity, (Step(ISA),)),
        lambda: graph.shortest_paths(entity, RAIN, 2),
        lambda: graph.paths(RAIN, entity, 2),
        lambda: graph.within_hops([entity], 1),
        lambda: graph.relation_name(entity),
    ]
    for call in calls:
        with pytest.raises(IndexError):
            call()


def test_edges_in_stable_order(graph: Graph) -> None:
    assert graph.edges(RAIN) == [
        Edge(RAIN, CAUSES, FLOOD, 0.75),
        Edge(RAIN, CAUSES, WATER, 0.25),
        Edge(RAIN, ISA, WATER, 1.0),
    ]
    assert graph.edges(RAIN, "in") == [Edge(RAIN, ISA, SUMMER, 1.0, True)]
    assert graph.edges(RAIN, "both") == graph.edges(RAIN) + graph.edges(RAIN, "in")
    assert graph.edges(WATER, "in") == [
        Edge(WATER, CAUSES, RAIN, 0.25, True),
        Edge(WATER, ISA, FLOOD, 0.5, True),
        Edge(WATER, ISA, RAIN, 1.0, True),
    ]
    assert graph.edges(RAIN, "out", ISA) == [Edge(RAIN, ISA, WATER, 1.0)]
    assert graph.edges(SEA) == []
    assert len(graph.edges(FORTY_TWO, "both")) == 2


def test_neighbours_are_the_edges_as_arrays(graph: Graph) -> None:
    for entity in range(7):
        for direction in ("out", "in", "both"):
            for relation in (None, CAUSES, ISA):
                found = graph.neighbours(entity, direction, relation)
                assert (found.relations.dtype, found.entities.dtype) == (np.int32, np.int32)
                assert (found.confidences.dtype, found.inverse.dtype) == (np.float64, np.bool_)
                rows = zip(*(column.tolist() for column in found), strict=True)
                assert [Edge(entity, *row) for row in rows] == graph.edges(entity, direction, relation)


def test_steps_at_an_entity(graph: Graph) -> None:
    assert graph.relations_at(FLOOD, "both") == [Step(CAUSES), Step(ISA), Step(CAUSES, True)]
    assert graph.relations_at(FLOOD) == [Step(CAUSES), Step(ISA)]
    assert graph.steps_from([FLOOD, FLOOD]) == graph.relations_at(FLOOD)
    assert graph.steps_from([RAIN, FLOOD], "both") == sorted(
        {*graph.relations_at(RAIN, "both"), *graph.relations_at(FLOOD, "both")}, key=lambda step: step[::-1]
    )
    assert graph.steps_from([], "both") == []
    assert graph.relations_at(FLOOD, "in") == [Step(CAUSES, True)]


def test_triples(graph: Graph) -> None:
    quads = list(graph.quads())
    assert quads == sorted(quads)
    assert len(quads) == 8
    assert Quad(WATER, PART_OF, SEA, 0.125) in quads
    assert graph.has_triple(RAIN, ISA, WATER)
    assert not graph.has_triple(WATER, ISA, RAIN)
    assert graph.triples_among({WATER, RAIN, SEA}) == [
        Quad(RAIN, CAUSES, WATER, 0.25),
        Quad(RAIN, ISA, WATER, 1.0),
        Quad(WATER, PART_OF, SEA, 0.125),
    ]
    assert graph.triples_among([]) == []
    assert graph.triples_among([FORTY_TWO]) == [Quad(FORTY_TWO, ISA, FORTY_TWO, 0.5)]


def test_follow(graph: Graph) -> None:
    assert graph.follow([SUMMER], (Step(ISA), Step(CAUSES))).tolist() == [FLOOD, WATER]
    assert graph.follow([WATER, DAMAGE], (Step(CAUSES, True),)).tolist() == [FLOOD, RAIN]
    assert graph.follow([WATER, RAIN], ()).tolist() == [RAIN, WATER]
    assert graph.follow([], (Step(ISA),)).tolist() == graph.follow([SEA], (Step(ISA),)).tolist() == []
    assert graph.follow([RAIN], (Step(ISA),)).dtype == np.int32


def test_relation_paths_and_groundings(graph: Graph) -> None:
    assert graph.relation_paths(SUMMER, 3, "out") == [
        (Step(ISA),),
        (Step(ISA), Step(CAUSES)),
        (Step(ISA), Step(ISA)),
        (Step(ISA), Step(CAUSES), Step(CAUSES)),
        (Step(ISA), Step(CAUSES), Step(ISA)),
        (Step(ISA), Step(CAUSES), Step(PART_OF)),
        (Step(ISA), Step(ISA), Step(PART_OF)),
    ]
    assert graph.relation_paths(SUMMER, 3, "out", limit=2) == [(Step(ISA),), (Step(ISA), Step(CAUSES))]
    assert (Step(ISA), Step(ISA, True)) in graph.relation_paths(FLOOD, 2)
    assert graph.groundings(FLOOD, (Step(ISA), Step(ISA, True))) == [
        (Edge(FLOOD, ISA, WATER, 0.5), Edge(WATER, ISA, FLOOD, 0.5, True)),
        (Edge(FLOOD, ISA, WATER, 0.5), Edge(WATER, ISA, RAIN, 1.0, True)),
    ]
    assert len(graph.groundings(FLOOD, (Step(ISA), Step(ISA, True)), limit=1)) == 1
    assert graph.groundings(SEA, (Step(ISA),)) == []
    assert graph.groundings(SEA, ()) == [()]


def test_shortest_paths(graph: Graph) -> None:
    causes, isa = Edge(RAIN, CAUSES, WATER, 0.25), Edge(RAIN, ISA, WATER, 1.0)
    assert graph.shortest_paths(RAIN, WATER, 3) == [(causes,), (isa,)]
    part = Edge(WATER, PART_OF, SEA, 0.125)
    assert graph.shortest_paths(RAIN, SEA, 2) == [(causes, part), (isa, part)]
    assert graph.shortest_paths(RAIN, SEA, 2, limit=1) == [(causes, part)]
    assert graph.shortest_paths(RAIN, SEA, 1) == graph.shortest_paths(SEA, RAIN, 5) == []
    assert graph.shortest_paths(SEA, RAIN, 2, "in") == [
        (
            part._replace(source=SEA, target=WATER, inverse=True),
            edge._replace(source=WATER, target=RAIN, inverse=True),
        )
        for edge in (causes, isa)
    ]
    assert graph.shortest_paths(DAMAGE, WATER, 3, "both") == [
        (Edge(DAMAGE, CAUSES, FLOOD, 0.5, True), Edge(FLOOD, ISA, WATER, 0.5))
    ]
    assert graph.shortest_paths(RAIN, RAIN, 3) == [()]
    assert graph.shortest_paths(RAIN, FORTY_TWO, 9, "both") == []


def test_bounded_paths(graph: Graph) -> None:
    flood, water = Edge(RAIN, CAUSES, FLOOD, 0.75), Edge(FLOOD, ISA, WATER, 0.5)
    direct = [(Edge(RAIN, CAUSES, WATER, 0.25),), (Edge(RAIN, ISA, WATER, 1.0),)]
    assert graph.paths(RAIN, WATER, 1) == direct
    assert graph.paths(RAIN, WATER, 3) == [*direct, (flood, water)]
    assert graph.paths(RAIN, WATER, 3, limit=2) == direct
    assert graph.paths(RAIN, RAIN, 3, "both") == []
    assert len(graph.paths(SEA, DAMAGE, 4, "both")) == 3


def test_neighbourhoods(graph: Graph) -> None:
    assert graph.within_hops([SUMMER], 0).tolist() == [SUMMER]
    assert graph.within_hops([SUMMER], 2, "out").tolist() == [FLOOD, RAIN, WATER, SUMMER]
    assert graph.within_hops([SEA], 2, "in").tolist() == [FLOOD, RAIN, SEA, WATER]
    assert graph.within_hops([SEA, FORTY_TWO], 1).tolist() == [FORTY_TWO, SEA, WATER]
    assert graph.within_hops([], 2).tolist() == []


def test_hidden_triples_are_gone_from_every_answer(graph: Graph) -> None:
    overlay = graph.hide([(RAIN, ISA, WATER), (RAIN, CAUSES, WATER)])
    assert overlay.num_triples == 6
    assert not overlay.has_triple(RAIN, ISA, WATER)
    assert overlay.edges(RAIN) == [Edge(RAIN, CAUSES, FLOOD, 0.75)]
    assert overlay.edges(WATER, "in") == [Edge(WATER, ISA, FLOOD, 0.5, True)]
    assert overlay.relations_at(RAIN) == [Step(CAUSES)]
    assert overlay.triples_among([RAIN, WATER]) == []
    assert [len(path) for path in overlay.shortest_paths(RAIN, WATER, 3)] == [2]
    assert [len(path) for path in overlay.paths(RAIN, WATER, 3)] == [2]
    assert overlay.within_hops([WATER], 1, "in").tolist() == [FLOOD, WATER]
    assert overlay.follow([RAIN], (Step(ISA),)).tolist() == []
    assert overlay.relation_paths(RAIN, 1, "out") == [(Step(CAUSES),)]
    assert overlay.groundings(RAIN, (Step(ISA),)) == []
    assert len(list(overlay.quads())) == 6
    assert overlay.num_entities == 7
    assert graph.num_triples == 8
    assert graph.has_triple(RAIN, ISA, WATER)


def test_subgraphs_keep_ids(graph: Graph) -> None:
    view = graph.subgraph([RAIN], 1, "out")
    assert view.entity("rain") == RAIN
    assert view.triples_among(range(7)) == graph.triples_among([RAIN, FLOOD, WATER]) == list(view.quads())
    assert view.num_triples == 4
    assert view.edges(WATER) == []
    assert view.hide([(RAIN, ISA, WATER)]).num_triples == 3


def test_fingerprint(make_graph: MakeGraph, graph: Graph) -> None:
    assert make_graph(ROWS[::-1]).fingerprint == graph.fingerprint
    assert make_graph(ROWS[:-1]).fingerprint != graph.fingerprint
    assert graph.hide([(RAIN, ISA, WATER)]).fingerprint != graph.fingerprint
    in_memory = build_graph(*map(list, zip(*ROWS, strict=True)), source="other")
    assert graph.fingerprint == in_memory.fingerprint


def test_label_search(graph: Graph) -> None:
    assert graph.search_labels("Rain", 1) == [RAIN]
    assert graph.search_labels("wat", 1) == [WATER]
    assert FLOOD in graph.search_labels("floood")


def test_paths_by_name(graph: Graph) -> None:
    (path,) = graph.shortest_paths(DAMAGE, WATER, 3, "both")
    assert graph.named(path) == (("flood", "causes", "damage", 0.5), ("flood", "isa", "water", 0.5))


def test_provenance_is_json(graph: Graph) -> None:
    import json

    assert json.loads(json.dumps(dict(graph.provenance)))["source"]


@pytest.mark.data
def test_family(make_graph: MakeGraph, real_data: Path) -> None:
    lines = (real_data / "family" / "facts.txt").read_text().splitlines()
    rows = sorted({(*line.split("\t"), 1.0) for line in lines})
    graph, memory = make_graph(rows), build_graph(*map(list, zip(*rows, strict=True)), source="family")
    assert graph.num_triples == len(rows)
    assert graph.fingerprint == memory.fingerprint
    rng = np.random.default_rng(5)
    for source, target in rng.integers(0, graph.num_entities, (20, 2)).tolist():
        assert graph.edges(source, "both") == memory.edges(source, "both")
        assert graph.relation_paths(source, 2) == memory.relation_paths(source, 2)
        assert graph.within_hops([source], 2).tolist() == memory.within_hops([source], 2).tolist()
        assert graph.shortest_paths(source, target, 4, "both") == memory.shortest_paths(source, target, 4, "both")
        assert graph.paths(source, target, 3, "both") == memory.paths(source, target, 3, "both")
