from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kgqa_bench.errors import UnknownNameError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.protocol import Edge, Quad, Step


@pytest.fixture
def graph() -> MemoryGraph:
    """rain -causes-> flood -causes-> damage; rain -causes (0.2), isa-> water; flood -isa-> water; 7 alone."""
    rows = [
        ("rain", "causes", "flood", 0.9),
        ("flood", "causes", "damage", 0.8),
        ("rain", "causes", "water", 0.2),
        ("rain", "isa", "water", 1.0),
        ("flood", "isa", "water", 0.5),
        ("7", "isa", "7", 0.4),
    ]
    return build_graph(*map(list, zip(*rows, strict=True)), source="test", entity_labels={"rain": "Rain"})


SEVEN, DAMAGE, FLOOD, RAIN, WATER = range(5)
CAUSES, ISA = range(2)


def test_ids_follow_the_sorted_names(graph: MemoryGraph) -> None:
    assert [graph.entity(name) for name in ("7", "damage", "flood", "rain", "water")] == [0, 1, 2, 3, 4]
    assert (graph.num_entities, graph.num_relations, graph.num_triples) == (5, 2, 6)


def test_a_number_as_text_is_a_name_and_no_id(graph: MemoryGraph) -> None:
    assert graph.entity("7") == SEVEN
    assert graph.find_entity("3") is None
    with pytest.raises(UnknownNameError):
        graph.entity("3")
    with pytest.raises(TypeError):
        graph.edges("3")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        graph.within_hops(["3"], 1)  # type: ignore[list-item]


def test_unknown_names_come_with_suggestions(graph: MemoryGraph) -> None:
    with pytest.raises(UnknownNameError, match="flood") as caught:
        graph.entity("floods")
    assert caught.value.suggestions[0] == "flood"
    with pytest.raises(UnknownNameError, match="causes"):
        graph.relation("cause")


@pytest.mark.parametrize("entity", [-1, 5])
def test_unknown_ids_are_index_errors(graph: MemoryGraph, entity: int) -> None:
    for call in (
        lambda: graph.neighbours(entity),
        lambda: graph.edges(entity),
        lambda: graph.edges(entity, "both"),
        lambda: graph.entity_name(entity),
        lambda: graph.entity_label(entity),
        lambda: graph.relation_name(entity),
        lambda: graph.relations_at(entity),
        lambda: graph.has_triple(RAIN, CAUSES, entity),
        lambda: graph.triples_among([RAIN, entity]),
        lambda: graph.follow([entity], ()),
        lambda: graph.follow([RAIN], (Step(entity),)),
        lambda: graph.groundings(RAIN, (Step(entity),)),
        lambda: graph.relation_paths(entity, 1),
        lambda: graph.shortest_paths(RAIN, entity, 3),
        lambda: graph.paths(entity, RAIN, 3),
        lambda: graph.within_hops([entity], 1),
        lambda: graph.subgraph([entity], 1),
        lambda: graph.hide([(RAIN, entity, RAIN)]),
        lambda: graph.neighbours(RAIN, "out", entity),
    ):
        with pytest.raises(IndexError):
            call()


def test_an_unknown_direction_is_an_error(graph: MemoryGraph) -> None:
    with pytest.raises(ValueError, match="forward"):
        graph.neighbours(RAIN, "forward")  # type: ignore[arg-type]


def test_outgoing_neighbours_are_read_only_views(graph: MemoryGraph) -> None:
    found = graph.neighbours(RAIN)
    assert found.entities.tolist() == [FLOOD, WATER, WATER]
    assert np.shares_memory(found.entities, graph.store.tails)
    for column in found:
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0


def test_inverse_edges_know_their_stored_direction(graph: MemoryGraph) -> None:
    edges = graph.edges(WATER, "in", ISA)
    assert edges == [Edge(WATER, ISA, FLOOD, 0.5, True), Edge(WATER, ISA, RAIN, 1.0, True)]
    assert (edges[0].head, edges[0].tail) == (FLOOD, WATER)
    assert graph.named(tuple(edges[1:])) == (("rain", "isa", "water", 1.0),)


def test_values_are_plain_python_numbers(graph: MemoryGraph) -> None:
    (edge, *_) = graph.edges(int(np.int32(RAIN)))
    (path,) = graph.shortest_paths(RAIN, DAMAGE, 3)
    (quad, *_) = graph.triples_among([RAIN, FLOOD])
    for value in (*edge, *path[0], *quad, *next(iter(graph.quads()))):
        assert type(value) in (int, float, bool)
    assert type(graph.edges(np.int32(RAIN))[0].source) is int  # type: ignore[arg-type]


def test_self_loops_show_on_both_sides(graph: MemoryGraph) -> None:
    assert graph.edges(SEVEN, "both") == [Edge(SEVEN, ISA, SEVEN, 0.4), Edge(SEVEN, ISA, SEVEN, 0.4, True)]


def test_hiding_leaves_the_store_alone(graph: MemoryGraph) -> None:
    overlay = graph.hide([(RAIN, CAUSES, FLOOD), (RAIN, ISA, DAMAGE)])
    assert overlay.store is graph.store
    assert not overlay.has_triple(RAIN, CAUSES, FLOOD)
    assert graph.has_triple(RAIN, CAUSES, FLOOD)
    assert (overlay.num_triples, graph.num_triples) == (5, 6)
    assert overlay.provenance["hidden_triples"] == 1
    assert overlay.fingerprint != graph.fingerprint
    again = overlay.hide([(FLOOD, ISA, WATER), (RAIN, CAUSES, FLOOD)])
    assert again.provenance["hidden_triples"] == 2
    assert [quad[:3] for quad in again.triples_among([RAIN, FLOOD, WATER])] == [(RAIN, 0, WATER), (RAIN, 1, WATER)]


def test_fingerprint_is_that_of_what_is_visible(graph: MemoryGraph) -> None:
    assert graph.hide([]).fingerprint == graph.fingerprint
    hidden = [(RAIN, CAUSES, FLOOD), (FLOOD, ISA, WATER)]
    assert graph.hide(hidden).fingerprint == graph.hide(hidden[:1]).hide(hidden[1:]).fingerprint
    kept = [quad for quad in graph.quads() if quad[:3] not in hidden]
    columns = zip(*kept, strict=True)
    names = [graph.entity_name(entity) for entity in range(5)]
    rebuilt = build_graph(*map(list, columns), source="x", entity_names=names, relation_names=["causes", "isa"])
    assert rebuilt.fingerprint == graph.hide(hidden).fingerprint


def test_subgraph_keeps_ids_and_only_triples_inside(graph: MemoryGraph) -> None:
    view = graph.subgraph([FLOOD], 1, "out")
    assert list(view.quads()) == [Quad(FLOOD, CAUSES, DAMAGE, 0.8), Quad(FLOOD, ISA, WATER, 0.5)]
    assert view.num_entities == 5
    assert view.provenance["subgraph_entities"] == 3
    hidden_before = graph.hide([(FLOOD, ISA, WATER)]).subgraph([FLOOD], 1, "out")
    assert list(hidden_before.quads()) == [Quad(FLOOD, CAUSES, DAMAGE, 0.8)]
    assert graph.subgraph([], 3).num_triples == 0


def test_hidden_triples_break_paths(graph: MemoryGraph) -> None:
    assert len(graph.shortest_paths(RAIN, WATER, 3)) == 2
    overlay = graph.hide([(RAIN, CAUSES, WATER), (RAIN, ISA, WATER)])
    (path,) = overlay.shortest_paths(RAIN, WATER, 3)
    assert path == (Edge(RAIN, CAUSES, FLOOD, 0.9), Edge(FLOOD, ISA, WATER, 0.5))
    assert overlay.shortest_paths(RAIN, WATER, 1) == []


def test_labels(graph: MemoryGraph) -> None:
    assert graph.entity_label(RAIN) == "Rain"
    assert graph.entity_label(FLOOD) == "flood"
    assert graph.search_labels("RAIN") == [RAIN]
    assert graph.search_labels("fl") == [FLOOD]


def test_threads_do_not_disturb_one_another() -> None:
    rng = np.random.default_rng(3)
    size = 3_000
    graph = build_graph(
        rng.integers(0, size, 12_000), rng.integers(0, 4, 12_000), rng.integers(0, size, 12_000), source="random",
        entity_names=[str(number) for number in range(size)], relation_names=["a", "b", "c", "d"],
    )  # fmt: skip
    pairs = rng.integers(0, size, (200, 2)).tolist()
    expected = [graph.shortest_paths(a, b, 6) for a, b in pairs]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            assert list(pool.map(lambda pair: graph.shortest_paths(*pair, 6), pairs)) == expected
