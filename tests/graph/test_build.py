from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa_bench.errors import ConfigError, DataError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["b", "a", "10", "9", "é", "aa"]),
        st.sampled_from(["s", "r"]),
        st.sampled_from(["b", "a", "10", "9", "é", "aa"]),
        st.sampled_from([0.1, 0.25, 0.5, 1.0]),
    ),
    min_size=1,
    max_size=15,
)


def build(rows: list[tuple[str, str, str, float]], **options: Any) -> MemoryGraph:
    return build_graph(*map(list, zip(*rows, strict=True)), source="test", **options)


def named(graph: MemoryGraph) -> dict[tuple[str, str, str], float]:
    name, relation = graph.entity_name, graph.relation_name
    return {(name(quad.head), relation(quad.relation), name(quad.tail)): quad.confidence for quad in graph.quads()}


DUPLICATES = [("a", "r", "b", 0.5), ("a", "r", "c", 0.9), ("a", "r", "b", 0.4), ("a", "r", "b", 0.2)]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("max", 0.5), ("mean", 1.1 / 3), ("noisy_or", 1 - 0.5 * 0.6 * 0.8), ("first", 0.5), ("last", 0.2)],
)
def test_merging_rules(rule: Any, expected: float) -> None:
    graph = build(DUPLICATES, merge=rule)
    assert named(graph) == {("a", "r", "b"): pytest.approx(expected), ("a", "r", "c"): 0.9}
    assert graph.provenance["merge"] == rule


def test_merging_takes_the_larger_confidence_by_default() -> None:
    assert named(build(DUPLICATES))["a", "r", "b"] == 0.5


@pytest.mark.parametrize("rule", ["mean", "noisy_or"])
@pytest.mark.parametrize("confidence", [1e-300, 0.1, 1.0])
def test_merged_confidences_stay_in_range(rule: Any, confidence: float) -> None:
    (merged,) = named(build([("a", "r", "b", confidence)] * 3, merge=rule)).values()
    assert confidence <= merged <= 1.0
    if rule == "mean":
        assert merged == confidence


def test_counts_in_the_provenance() -> None:
    rows = [*DUPLICATES, ("a", "r", "c", 0.9), ("b", "r", "b", 0.3), ("b", "r", "b", 0.3), ("c", "s", "c", 1.0)]
    facts = build(rows, provenance={"confidences": "made up"}).provenance
    assert facts == {
        "source": "test",
        "confidences": "made up",
        "merge": "max",
        "rows": 8,
        "triples": 4,
        "duplicate_rows": 4,
        "triples_with_duplicates": 3,
        "triples_with_conflicting_confidences": 1,
        "self_loop_rows": 3,
        "self_loops": 2,
    }


@given(ROWS, st.randoms())
def test_neither_ids_nor_fingerprint_depend_on_the_order_of_rows(rows: list[Any], random: Any) -> None:
    shuffled = random.sample(rows, len(rows))
    graph, other = build(rows), build(shuffled)
    assert list(graph.entity_labels()) == list(other.entity_labels()) == sorted(graph.entity_labels(), key=str.encode)
    assert list(graph.quads()) == list(other.quads()) == sorted(graph.quads())
    assert graph.fingerprint == other.fingerprint


@given(ROWS)
def test_what_is_built_is_what_was_given(rows: list[Any]) -> None:
    expected: dict[Any, float] = {}
    for *triple, confidence in rows:
        expected[tuple(triple)] = max(confidence, expected.get(tuple(triple), 0.0))
    graph = build(rows)
    assert named(graph) == expected
    backward = [
        (edge.head, edge.relation, edge.tail)
        for entity in range(graph.num_entities)
        for edge in graph.edges(entity, "in")
    ]
    assert sorted(backward) == [quad[:3] for quad in graph.quads()]


@given(ROWS)
@settings(max_examples=25)
def test_ids_with_tables_of_names_give_the_same_graph(rows: list[Any]) -> None:
    entities = ["é", "9", "b", "aa", "10", "a"]
    heads, relations, tails, confidences = zip(*rows, strict=True)
    graph = build_graph(
        np.array([entities.index(head) for head in heads]),
        pa.array([["r", "s"].index(relation) for relation in relations], pa.int32()),
        [entities.index(tail) for tail in tails],
        pa.array(confidences),
        source="test",
        entity_names=entities,
        relation_names=pa.array(["r", "s"]),
    )
    assert named(graph) == named(build(rows))
    assert graph.num_entities == 6  # those in no row too


def test_fingerprint_tells_graphs_apart() -> None:
    rows = [("a", "r", "b", 0.5), ("b", "r", "c", 0.5)]
    prints = {
        build(rows).fingerprint,
        build([("a", "r", "b", 0.5), ("b", "r", "c", 0.25)]).fingerprint,
        build([("a", "r", "b", 0.5), ("b", "q", "c", 0.5)]).fingerprint,
        build([("a", "r", "b", 0.5), ("c", "r", "b", 0.5)]).fingerprint,
        build([("a", "r", "bb", 0.5), ("bb", "r", "c", 0.5)]).fingerprint,
    }
    assert len(prints) == 5


@pytest.mark.parametrize("confidence", [0.0, -0.1, 1.0000001, float("nan"), float("inf")])
def test_a_confidence_out_of_range_is_an_error(confidence: float) -> None:
    with pytest.raises(DataError, match=r"row 2.*not in \(0, 1\]"):
        build([("a", "r", "b", 1.0), ("a", "r", "c", confidence)])


def test_an_empty_graph_is_an_error() -> None:
    with pytest.raises(DataError, match="empty"):
        build_graph([], [], [], source="test")


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ((["a"], ["r"], ["b", "c"]), {}, "differ in length"),
        ((["a", ""], ["r", "r"], ["b", "c"]), {}, "no entity name"),
        ((["a", None], ["r", "r"], ["b", "c"]), {}, "no entity name"),
        ((["a"], [""], ["b"]), {}, "no relation name"),
        (([1], ["r"], [2]), {}, "must be strings"),
        (([0], ["r"], [2]), {"entity_names": ["x", "y"]}, "row 1: the entity id 2 has no name"),
        (([0, -1], ["r", "r"], [1, 1]), {"entity_names": ["x", "y"]}, "row 2: the entity id -1"),
        (([0], ["r"], [1]), {"entity_names": ["x", "x"]}, "'x' is twice"),
    ],
)
def test_bad_columns(columns: Any, options: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        build_graph(*columns, source="test", **options)


def test_an_unknown_merging_rule_names_the_known() -> None:
    with pytest.raises(ConfigError, match="noisy_or"):
        build(DUPLICATES, merge="median")


def test_labels_stand_where_they_differ() -> None:
    rows = [("a", "r", "b", 1.0)]
    graph = build(rows, entity_labels={"b": "Bee", "z": "Zed"}, relation_labels={"r": "rests on"})
    assert list(graph.entity_labels()) == ["a", "Bee"]
    assert graph.relation_label(0) == "rests on"
    plain = build(rows, entity_labels={"b": "b"})
    assert plain.store.entity_label_table is None
    assert plain.entity_label(1) == "b"


def test_chunked_and_dictionary_columns() -> None:
    heads = pa.chunked_array([["b"], ["a", "b"]])
    relations = pa.chunked_array([pa.array(["r", "s"]).dictionary_encode(), pa.array(["t"]).dictionary_encode()])
    graph = build_graph(heads, relations, pa.array(["c", "c", "a"], pa.large_string()).cast("string"), source="test")
    assert named(graph) == {("b", "r", "c"): 1.0, ("a", "s", "c"): 1.0, ("b", "t", "a"): 1.0}
