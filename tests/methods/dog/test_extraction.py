from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path

import numpy as np
import pytest

from kgqa_bench.errors import ConfigError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.methods.dog.extraction import extract, extract_levels
from kgqa_bench.methods.dog.settings import ExtractionSettings


def _load(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = _load("reference_extraction")


class Vectors:
    """Cosines with the question "?" given by the last word of a text."""

    name = "given"
    dimension = 2

    def __init__(self, **cosines):
        self.cosines = {"?": 1.0, **cosines}
        self.texts = []

    def encode(self, texts):
        self.texts.extend(texts)
        cosines = np.array([self.cosines[text.split()[-1]] for text in texts])
        return np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1).astype(np.float32)


def graph_of(*rows):
    heads, relations, tails, confidences = zip(*rows, strict=True)
    return build_graph(heads, relations, tails, confidences, source="test")


def kept(graph, extraction):
    """Kept paths by entity name: [(names along the path, score rounded), …]."""
    return {
        graph.entity_name(visit.entity): [
            (" ".join(graph.entity_name(edge.target) for edge in path.path), round(path.score, 3))
            for path in visit.paths
        ]
        for visit in extraction.visits[1:]
    }


def test_worked_example():
    # a -> b (0.9), a -> c (0.5), a -> d (0.4), a -> f (0.3): distances 1.11, 2, 2.5, 3.33
    # b -> d (0.9): a b d has confidence 0.81, distance 2.47; c -> e: confidence 0.5, distance 4
    graph = graph_of(
        ("a", "r", "b", 0.9),
        ("a", "r", "c", 0.5),
        ("a", "r", "d", 0.4),
        ("a", "r", "f", 0.3),
        ("b", "r", "d", 0.9),
        ("c", "r", "e", 1.0),
    )
    embedder = Vectors(b=0.5, c=0.8, d=0.6, e=0.9, f=0.1)
    settings = ExtractionSettings(width=3)
    one = extract(graph, embedder, "?", graph.entity("a"), 1, settings)
    assert kept(graph, one) == {"b": [("b", 0.45)], "c": [("c", 0.4)], "d": [("b d", 0.486)]}
    assert [round(visit.distance, 2) for visit in one.visits] == [0, 1.11, 2, 2.47]
    assert [visit.hops for visit in one.visits] == [0, 1, 1, 2]
    three = extract(graph, embedder, "?", graph.entity("a"), 3, settings)
    assert kept(graph, three)["d"] == [("b d", 0.486), ("d", 0.24)]
    assert (one.neighbours, one.candidate_paths) == (6, 6)
    # c's only neighbour cannot come within reach, so its path is not looked at
    assert not any(text.endswith(" e") for text in embedder.texts)


def test_width_keeps_the_best_neighbours_and_the_threshold_the_best_paths():
    graph = graph_of(
        ("a", "r", "b", 1.0), ("a", "s", "b", 0.4), ("a", "r", "c", 0.9), ("a", "r", "d", 0.8), ("a", "r", "e", 0.7)
    )
    found = extract(graph, Vectors(b=0.5, c=0.5, d=0.5, e=0.5), "?", 0, 5, ExtractionSettings(width=2))
    assert kept(graph, found) == {"b": [("b", 0.5)], "c": [("c", 0.45)]}  # a s b scores 0.2, below 0.45
    wide = extract(graph, Vectors(b=0.5, c=0.5, d=0.5, e=0.5), "?", 0, 5, ExtractionSettings(width=4))
    assert list(kept(graph, wide)) == ["b", "c", "d", "e"]


def test_an_entity_at_exactly_the_greatest_distance_is_visited():
    graph = graph_of(("a", "r", "b", 0.5), ("b", "r", "c", 0.5))
    found = extract(graph, Vectors(b=0.5, c=0.5), "?", 0, 1, ExtractionSettings(max_distance=2.0))
    assert [visit.entity for visit in found.visits] == [0, 1]


def test_directions():
    graph = graph_of(("b", "r", "a", 1.0), ("a", "r", "c", 1.0))
    embedder = Vectors(a=0.5, b=0.5, c=0.5)
    near = {
        direction: list(kept(graph, extract(graph, embedder, "?", 0, 1, ExtractionSettings(direction=direction))))
        for direction in ("out", "in", "both")
    }
    assert near == {"out": ["c"], "in": ["b"], "both": ["b", "c"]}
    assert "b r a" in embedder.texts  # an inverse edge is worded as stored


def test_confidence_one_ignores_the_stored_confidences():
    graph = graph_of(("a", "r", "b", 0.1), ("b", "r", "c", 0.1))
    embedder = Vectors(b=0.5, c=0.5)
    assert len(extract(graph, embedder, "?", 0, 1, ExtractionSettings()).visits) == 1
    one = extract_levels(graph, embedder, "?", [0], [1], ExtractionSettings(confidence="one"))[1]
    assert one.hops == {1: 1, 2: 1}
    assert [triple.triple.confidence for triple in one.triples] == [1.0, 1.0]


def test_equal_scores_are_ordered_by_relation_and_entity():
    graph = graph_of(("a", "s", "b", 1.0), ("a", "r", "d", 1.0), ("a", "r", "c", 1.0))
    found = extract(graph, Vectors(b=0.5, c=0.5, d=0.5), "?", 0, 1, ExtractionSettings(width=2, max_distance=1))
    assert list(kept(graph, found)) == ["c", "d"]


def test_a_distant_path_is_kept_unless_asked_otherwise():
    # b is near by 1.0; the path over c has confidence 0.36, distance 5.6, and the higher score
    graph = graph_of(("a", "r", "b", 0.5), ("a", "r", "c", 0.6), ("c", "r", "b", 0.6), ("b", "r", "d", 1.0))
    embedder = Vectors(b=0.5, c=0.5)
    embedder.encode = lambda texts: np.array(
        [[x, (1 - x * x) ** 0.5] for x in ({"?": 1.0, "a r c; c r b": 0.9}.get(t, 0.5) for t in texts)], np.float32
    )
    texts = {
        keep: [
            path.text
            for path in extract(graph, embedder, "?", 0, 1, ExtractionSettings(keep_distant_paths=keep))
            .visits[2]
            .paths
        ]
        for keep in (True, False)
    }
    assert texts == {True: ["a r c; c r b"], False: ["a r b"]}


def test_new_entities_may_keep_more_than_k_paths_until_merged():
    graph = graph_of(("a", "r", "b", 1.0), ("a", "s", "b", 1.0), ("a", "t", "b", 1.0))
    counts = {
        limit: len(extract(graph, Vectors(b=0.5), "?", 0, 2, ExtractionSettings(limit_new=limit)).visits[1].paths)
        for limit in (True, False)
    }
    assert counts == {True: 2, False: 3}


def test_several_topic_entities_share_the_subgraph():
    graph = graph_of(("a", "r", "c", 0.8), ("b", "r", "c", 0.9), ("c", "r", "d", 1.0))
    found = extract_levels(graph, Vectors(c=0.5, d=0.6), "?", [0, 1, 0], [1, 3], ExtractionSettings())
    assert [extraction.centre for extraction in found[1].extractions] == [0, 1]
    triples = [(graph.entity_name(t.triple.head), round(t.score, 3)) for t in found[1].triples]
    assert triples == [("b", 0.54), ("c", 0.54), ("a", 0.48)]  # the last edge has the better of its two paths' scores


def test_nothing_to_find():
    graph = graph_of(("a", "r", "b", 0.2), ("c", "r", "c", 1.0))
    embedder = Vectors(b=0.5)
    assert extract_levels(graph, embedder, "?", [], [1, 3], ExtractionSettings())[3].triples == ()
    alone = extract_levels(graph, embedder, "?", [graph.entity("c")], [1], ExtractionSettings())[
        1
    ]  # a self-loop only
    assert (alone.triples, alone.hops, len(alone.extractions[0].visits)) == ((), {}, 1)
    assert extract_levels(graph, embedder, "?", [0], [1], ExtractionSettings())[1].triples == ()
    assert embedder.texts == []
    with pytest.raises(ConfigError, match="at least 1"):
        extract_levels(graph, embedder, "?", [0], [0, 1], ExtractionSettings())
    with pytest.raises(IndexError):
        extract_levels(graph, embedder, "?", [99], [1], ExtractionSettings())


def test_a_text_is_embedded_once_for_all_levels_and_topic_entities():
    graph, question, centres, settings = reference.random_case(7)
    embedder = reference.HashedEmbedder()
    found = extract_levels(graph, embedder, question, centres, [1, 3, 5], settings)
    texts = [text for request in embedder.requests for text in request]
    assert len(texts) == len(set(texts)) == found[1].texts_compared + 1  # and the question


def test_levels_together_equal_levels_alone():
    for seed in range(10):
        graph, question, centres, settings = reference.random_case(1000 + seed)
        embedder = reference.HashedEmbedder()
        together = extract_levels(graph, embedder, question, centres, [1, 3, 5], settings)
        for level, subgraph in together.items():
            alone = extract_levels(graph, embedder, question, centres, [level], settings)[level]
            assert subgraph.extractions == alone.extractions


def test_equals_the_reference_on_random_graphs():
    compared = texts = embedded = 0
    for seed in range(90):
        counts = reference.compare(*_with_embedder(reference.random_case(seed)))
        compared, texts, embedded = compared + counts[0], texts + counts[1], embedded + counts[2]
    assert compared > 400
    assert embedded < 0.5 * texts


def _with_embedder(case):
    graph, question, centres, settings = case
    return graph, reference.HashedEmbedder(), question, centres, settings


@pytest.mark.data
def test_equals_the_reference_on_cn15k(real_data):
    from kgqa_bench.graph.sources.cn15k import read_cn15k

    graph = read_cn15k(real_data / "cn15k")
    rng = random.Random(0)
    for confidence in ("stored", "one"):
        for direction in ("out", "in"):
            settings = ExtractionSettings(direction=direction, confidence=confidence)
            for _ in range(3):
                question = " ".join(graph.entity_label(rng.randrange(graph.num_entities)) for _ in range(4))
                centre = rng.randrange(graph.num_entities)
                reference.compare(graph, reference.HashedEmbedder(), question, [centre], settings)
