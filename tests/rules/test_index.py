from __future__ import annotations

import random

import numpy as np
import pytest

from kgqa_bench.errors import ConfigError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.rules import index as module
from kgqa_bench.rules.index import SignedIndex, index_bytes


def _graph(seed: int = 1) -> MemoryGraph:
    draw = random.Random(seed)
    rows = {(draw.randrange(30), draw.randrange(4), draw.randrange(30)) for _ in range(300)} | {(3, 1, 3)}
    heads, relations, tails = zip(*[(f"e{h:02}", f"r{r}", f"e{t:02}") for h, r, t in rows], strict=True)
    return build_graph(heads, relations, tails, source="test")


def _signed(graph: MemoryGraph) -> set[tuple[int, int, int]]:
    """(source, signed relation, target) of all edges."""
    forward = {(q.head, q.relation, q.tail) for q in graph.quads()}
    return forward | {(t, r + graph.num_relations, h) for h, r, t in forward}


def test_all_views_hold_the_same_sorted_edges() -> None:
    graph = _graph()
    index = SignedIndex.of(graph)
    arrays = index.arrays
    edges = _signed(graph)

    by_relation = []
    for signed in range(index.num_signed):
        for block in range(arrays.relation_start[signed], arrays.relation_start[signed + 1]):
            targets = arrays.target[arrays.block_start[block] : arrays.block_start[block + 1]]
            by_relation += [(signed, int(arrays.block_source[block]), int(target)) for target in targets]
    assert by_relation == sorted((signed, source, target) for source, signed, target in edges)

    for entity in range(index.num_entities):
        here = {(target, signed) for source, signed, target in edges if source == entity}
        near = slice(arrays.near_start[entity], arrays.near_start[entity + 1])
        assert list(zip(arrays.near_entity[near], arrays.near_relation[near], strict=True)) == sorted(here)
        own = slice(arrays.entity_start[entity], arrays.entity_start[entity + 1])
        assert arrays.entity_relation[own].tolist() == sorted({signed for _, signed in here})
        for signed, block in zip(arrays.entity_relation[own], arrays.entity_block[own], strict=True):
            assert arrays.relation_start[signed] <= block < arrays.relation_start[signed + 1]
            assert arrays.block_source[block] == entity


def test_sizes_and_functional_side() -> None:
    rows = [("a", "r", "c"), ("b", "r", "c"), ("a", "s", "b"), ("a", "s", "c"), ("d", "t", "d")]
    heads, relations, tails = zip(*rows, strict=True)
    index = SignedIndex.of(build_graph(heads, relations, tails, source="test"))
    assert index.relation_names == ("r", "s", "t")
    assert index.facts.tolist() == [2, 2, 1, 2, 2, 1]
    assert index.domain_sizes.tolist() == [2, 1, 1, 1, 2, 1]
    assert index.functional_subject.tolist() == [True, False, True]
    assert [index.inverse(signed) for signed in range(6)] == [3, 4, 5, 0, 1, 2]


def test_hidden_triples_are_not_there() -> None:
    graph = _graph()
    first = next(iter(graph.quads()))
    index = SignedIndex.of(graph.hide([first[:3]]))
    whole = SignedIndex.of(graph)
    assert len(index.arrays.target) == len(whole.arrays.target) - 2
    assert index.facts[first.relation] == whole.facts[first.relation] - 1


def test_any_back_end_gives_the_same_arrays() -> None:
    class Plain:
        """A graph that is none in memory."""

        def __init__(self, graph: MemoryGraph) -> None:
            self._graph = graph

        def __getattr__(self, name: str) -> object:
            return getattr(self._graph, name)

    plain = SignedIndex.of(Plain(_graph()))  # type: ignore[arg-type]
    for ours, theirs in zip(plain.arrays, SignedIndex.of(_graph()).arrays, strict=True):
        assert np.array_equal(ours, theirs)


def test_memory_is_known_before() -> None:
    graph = _graph()
    index = SignedIndex.of(graph)
    assert index.nbytes <= index_bytes(graph.num_entities, graph.num_relations, graph.num_triples)
    assert all(array.dtype == np.int32 for array in index.arrays)


def test_too_many_triples_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_TRIPLES", 10)
    with pytest.raises(ConfigError, match="at most 10 triples"):
        SignedIndex.of(_graph())
