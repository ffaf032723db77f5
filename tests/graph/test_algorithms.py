"""The compiled searches, the generic ones and networkx agree on random multigraphs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kgqa_bench.graph.algorithms import GraphAlgorithms
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.protocol import Direction, Edge, Neighbours, Path, Step

SIZE, RELATIONS = 7, 3
DIRECTIONS: tuple[Direction, ...] = ("out", "in", "both")


class Generic(GraphAlgorithms):
    """The generic algorithms over the neighbours of an in-memory graph."""

    def __init__(self, graph: MemoryGraph) -> None:
        self.graph = graph

    @property
    def num_entities(self) -> int:
        return self.graph.num_entities

    @property
    def num_relations(self) -> int:
        return self.graph.num_relations

    def neighbours(self, entity: int, direction: Direction = "out", relation: int | None = None) -> Neighbours:
        return self.graph.neighbours(entity, direction, relation)

    def entity_name(self, entity: int) -> str:
        return self.graph.entity_name(entity)

    def relation_name(self, relation: int) -> str:
        return self.graph.relation_name(relation)

    def find_entity(self, name: str) -> int | None:
        return self.graph.find_entity(name)

    def find_relation(self, name: str) -> int | None:
        return self.graph.find_relation(name)

    def entity_labels(self) -> Sequence[str]:
        return self.graph.entity_labels()


@st.composite
def graphs(draw: st.DrawFn) -> MemoryGraph:
    """Few entities and many edges: parallel edges, self-loops, entities without edges, some triples hidden."""
    entity, relation = st.integers(0, SIZE - 1), st.integers(0, RELATIONS - 1)
    triples = draw(st.lists(st.tuples(entity, relation, entity), min_size=1, max_size=24, unique=True))
    heads, relations, tails = zip(*triples, strict=True)
    graph = build_graph(
        list(heads),
        list(relations),
        list(tails),
        [(number + 1) / len(triples) for number in range(len(triples))],
        source="random",
        entity_names=[f"e{number}" for number in range(SIZE)],
        relation_names=[f"r{number}" for number in range(RELATIONS)],
    )
    hidden = draw(st.lists(st.sampled_from(triples), max_size=6))
    return graph.hide(hidden) if hidden else graph


def steps(graph: MemoryGraph, direction: Direction) -> list[Edge]:
    """All traversals in order of (from, direction, relation, to), made from nothing but the quadruples."""
    quads = list(graph.quads())
    there = [Edge(head, relation, tail, confidence) for head, relation, tail, confidence in quads]
    back = [Edge(tail, relation, head, confidence, True) for head, relation, tail, confidence in quads]
    chosen = {"out": there, "in": back, "both": there + back}[direction]
    return sorted(chosen, key=lambda edge: (edge.source, edge.inverse, edge.relation, edge.target))


def as_networkx(graph: MemoryGraph, direction: Direction) -> Any:
    result = nx.MultiDiGraph()
    result.add_nodes_from(range(SIZE))
    for edge in steps(graph, direction):
        result.add_edge(edge.source, edge.target, key=(edge.inverse, edge.relation), edge=edge)
    return result


def order(path: Path) -> Any:
    return len(path), [(edge.inverse, edge.relation, edge.target) for edge in path]


def walks(graph: MemoryGraph, entity: int, hops: int, direction: Direction) -> list[Path]:
    every = steps(graph, direction)
    found: list[Path] = [()]
    for _ in range(hops):
        found = [
            (*path, edge) for path in found for edge in every if edge.source == (path[-1].target if path else entity)
        ]
    return found


ENTITY = st.integers(0, SIZE - 1)
DIRECTION = st.sampled_from(DIRECTIONS)


@given(graphs(), DIRECTION, st.none() | st.integers(0, RELATIONS - 1))
def test_edges_and_neighbours(graph: MemoryGraph, direction: Direction, relation: int | None) -> None:
    every = steps(graph, direction)
    for entity in range(SIZE):
        expected = [e for e in every if e.source == entity and relation in (None, e.relation)]
        assert graph.edges(entity, direction, relation) == expected
        found = graph.neighbours(entity, direction, relation)
        assert found.relations.dtype == found.entities.dtype == np.int32
        assert found.inverse.dtype == np.bool_
        assert list(zip(*(column.tolist() for column in found), strict=True)) == [
            (e.relation, e.target, e.confidence, e.inverse) for e in expected
        ]
        for each in (graph, Generic(graph)):
            at = sorted({(e.inverse, e.relation) for e in every if e.source == entity})
            assert each.relations_at(entity, direction) == [Step(relation, inverse) for inverse, relation in at]


@given(graphs(), ENTITY, ENTITY, st.integers(0, 5), DIRECTION)
@settings(max_examples=300)
def test_shortest_paths(graph: MemoryGraph, source: int, target: int, max_hops: int, direction: Direction) -> None:
    reference = as_networkx(graph, direction)
    expected: list[Path] = []
    if source == target:
        expected = [()]
    elif nx.has_path(reference, source, target):
        for nodes in nx.all_shortest_paths(nx.DiGraph(reference), source, target):
            parallel = [[data["edge"] for data in reference[u][v].values()] for u, v in pairwise(nodes)]
            expected += product(*parallel)
    expected = sorted((path for path in expected if len(path) <= max_hops), key=order)
    assert graph.shortest_paths(source, target, max_hops, direction) == expected
    assert Generic(graph).shortest_paths(source, target, max_hops, direction) == expected


@given(graphs(), ENTITY, ENTITY, st.integers(0, 4), DIRECTION)
@settings(max_examples=200)
def test_paths(graph: MemoryGraph, source: int, target: int, max_hops: int, direction: Direction) -> None:
    reference = as_networkx(graph, direction)
    expected = []
    if source != target:
        for path in nx.all_simple_edge_paths(reference, source, target, cutoff=max_hops):
            expected.append(tuple(reference.edges[u, v, key]["edge"] for u, v, key in path))
    expected.sort(key=order)
    assert graph.paths(source, target, max_hops, direction) == expected
    assert Generic(graph).paths(source, target, max_hops, direction) == expected


@given(graphs(), st.sets(ENTITY), st.integers(0, 4), DIRECTION)
def test_within_hops(graph: MemoryGraph, entities: set[int], hops: int, direction: Direction) -> None:
    reference = as_networkx(graph, direction)
    expected: set[int] = set()
    for entity in entities:
        expected |= nx.single_source_shortest_path_length(reference, entity, cutoff=hops).keys()
    for each in (graph, Generic(graph)):
        found = each.within_hops(entities, hops, direction)
        assert found.dtype == np.int32
        assert found.tolist() == sorted(expected)


@given(graphs(), ENTITY, st.integers(0, 3), DIRECTION)
def test_relation_paths_groundings_and_follow(
    graph: MemoryGraph, entity: int, max_hops: int, direction: Direction
) -> None:
    expected: dict[tuple[Step, ...], list[Path]] = {}
    for hops in range(1, max_hops + 1):
        for walk in walks(graph, entity, hops, direction):
            expected.setdefault(tuple(Step(edge.relation, edge.inverse) for edge in walk), []).append(walk)
    ordered = sorted(expected, key=lambda path: (len(path), [(step.inverse, step.relation) for step in path]))
    for each in (graph, Generic(graph)):
        assert each.relation_paths(entity, max_hops, direction) == ordered
        for path in ordered[:40]:
            groundings = sorted(expected[path], key=order)
            assert each.groundings(entity, path) == groundings
            assert each.groundings(entity, path, limit=2) == groundings[:2]
            assert each.follow([entity], path).tolist() == sorted({walk[-1].target for walk in groundings})


@given(graphs(), st.sets(ENTITY), st.lists(st.builds(Step, st.integers(0, RELATIONS - 1), st.booleans()), max_size=3))
def test_follow_from_a_set(graph: MemoryGraph, entities: set[int], path: list[Step]) -> None:
    union = {int(end) for entity in entities for end in Generic(graph).follow([entity], tuple(path))}
    assert graph.follow(entities, tuple(path)).tolist() == sorted(union)


@given(graphs(), st.lists(ENTITY))
def test_triples_among(graph: MemoryGraph, entities: list[int]) -> None:
    expected = [quad for quad in graph.quads() if quad.head in entities and quad.tail in entities]
    assert graph.triples_among(entities) == expected
    assert Generic(graph).triples_among(entities) == expected


@given(graphs())
def test_quads_and_has_triple(graph: MemoryGraph) -> None:
    quads = list(graph.quads())
    assert quads == sorted(quads) == list(Generic(graph).quads())
    assert graph.num_triples == len(quads)
    present = {quad[:3] for quad in quads}
    for triple in product(range(SIZE), range(RELATIONS), range(SIZE)):
        assert graph.has_triple(*triple) == Generic(graph).has_triple(*triple) == (triple in present)


@given(graphs(), ENTITY, ENTITY, st.integers(0, 4), DIRECTION)
def test_limits_cut_the_same_order(
    graph: MemoryGraph, source: int, target: int, limit: int, direction: Direction
) -> None:
    assume(source != target)
    for each in (graph, Generic(graph)):
        for search in (each.shortest_paths, each.paths):
            assert search(source, target, 4, direction, limit) == search(source, target, 4, direction)[:limit]
        assert each.relation_paths(source, 2, direction, limit) == each.relation_paths(source, 2, direction)[:limit]
        path = (Step(0), Step(1, True))
        assert each.groundings(source, path, limit) == each.groundings(source, path)[:limit]


@pytest.mark.parametrize("length", [3, 300])
def test_long_chains(length: int) -> None:
    numbers = list(range(length))
    graph = build_graph(
        numbers[:-1], [0] * (length - 1), numbers[1:], source="chain",
        entity_names=[f"{number:04}" for number in numbers], relation_names=["r"],
    )  # fmt: skip
    (path,) = graph.shortest_paths(0, length - 1, length)
    assert [edge.target for edge in path] == numbers[1:]
    assert graph.shortest_paths(0, length - 1, length - 2) == []
    assert graph.shortest_paths(length - 1, 0, 10**9, "in") == graph.paths(length - 1, 0, 10**9, "in")
    assert graph.within_hops([0], 10**6).tolist() == numbers


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_neighbourhoods_few_and_many_in_a_larger_graph(direction: Direction) -> None:
    """The compiled search goes about small, middling and large neighbourhoods in different ways."""
    rng = np.random.default_rng(11)
    size = 2_000
    graph = build_graph(
        (rng.random(5_000) ** 2 * size).astype(int), rng.integers(0, 3, 5_000), rng.integers(0, size, 5_000),
        source="random", entity_names=[f"{number:05}" for number in range(size)], relation_names=["a", "b", "c"],
    )  # fmt: skip
    overlay = graph.hide(quad[:3] for quad in list(graph.quads())[::3])
    lengths = set()
    for view, entity, hops in product((graph, overlay), (0, 1, 40, 700, 1_999), (1, 2, 3, 6)):
        expected = Generic(view).within_hops([entity, 5], hops, direction).tolist()
        for _ in range(2):  # marks are left as they were found
            assert view.within_hops([entity, 5, 5], hops, direction).tolist() == expected
        lengths.add(min(len(expected) * 16 // size, 2))
    assert {0, 1} < lengths
