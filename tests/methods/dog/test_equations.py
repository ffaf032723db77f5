"""Equations 3 to 9 against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from kgqa_bench.graph.protocol import Edge
from kgqa_bench.methods.dog.equations import (
    confidence_factors,
    entity_distance,
    extend_confidences,
    path_confidence,
    path_distances,
    path_relevance,
    path_scores,
    score_threshold,
    top_neighbours,
)
from kgqa_bench.methods.dog.settings import ExtractionSettings


def edge(confidence: float) -> Edge:
    return Edge(0, 0, 1, confidence)


def test_eq3_path_confidence_is_the_product():
    assert path_confidence((edge(0.5), edge(0.8), edge(0.25))) == pytest.approx(0.1)
    assert path_confidence((edge(0.7),)) == 0.7
    assert path_confidence(()) == 1.0


def test_eq4_relevance_is_the_cosine_of_unit_vectors():
    paths = np.array([[1, 0], [0.6, 0.8], [-1, 0]], np.float32)
    question = np.array([1.0, 0.0])
    assert path_relevance(paths, question, "keep") == pytest.approx([1, 0.6, -1])
    assert path_relevance(paths, question, "zero") == pytest.approx([1, 0.6, 0])
    assert path_relevance(paths, question, "shift") == pytest.approx([1, 0.8, 0])


def test_eq4_relevance_never_exceeds_one():
    paths = np.array([[1.0000001, 0]], np.float32)
    assert path_relevance(paths, np.array([1.0000001, 0.0]), "keep").tolist() == [1.0]


def test_eq4_relevance_does_not_depend_on_what_is_computed_with_it():
    random = np.random.default_rng(0)
    paths = random.standard_normal((57, 384)).astype(np.float32)
    paths /= np.linalg.norm(paths, axis=1, keepdims=True)
    question = paths[3].astype(np.float64)
    together = path_relevance(paths, question, "keep").tolist()
    assert [path_relevance(paths[i : i + 1], question, "keep")[0] for i in range(57)] == together
    assert path_relevance(paths[10:31], question, "keep").tolist() == together[10:31]


@pytest.mark.parametrize(("alpha", "expected"), [(0, 0.8), (0.5, 0.4), (1, 0.2), (2, 0.05)])
def test_eq5_score_weighs_relevance_by_confidence_to_the_alpha(alpha, expected):
    confidences = np.array([0.25])
    assert path_scores(np.array([0.8]), confidence_factors(confidences, alpha)) == pytest.approx([expected])


def test_eq6_distance_is_the_least_hops_over_confidence():
    assert path_distances(2, 0.5) == 4.0
    assert path_distances(np.array([1.0, 2.0]), np.array([0.4, 0.8])).tolist() == [2.5, 2.5]
    assert entity_distance([4.0, 2.5, 3.0]) == 2.5
    assert entity_distance([]) == float("inf")


def test_eq6_gives_the_radii_of_the_default_distance():
    furthest = ExtractionSettings().max_distance
    assert path_distances(1, 1 / 3) <= furthest < path_distances(1, 0.333)
    assert path_distances(2, 2 / 3) <= furthest < path_distances(2, 0.709 * 0.709)
    assert path_distances(3, 1.0) <= furthest < path_distances(3, 0.999)
    assert path_distances(4, 1.0) > furthest


def test_eq7_every_path_is_continued_by_every_edge():
    assert extend_confidences(np.array([1.0, 0.5]), np.array([0.8, 0.6, 0.2])) == pytest.approx(
        [0.8, 0.6, 0.2, 0.4, 0.3, 0.1]
    )


def test_eq8_takes_the_highest_scores_and_settles_ties_by_the_best_path():
    scores, first = np.array([0.3, 0.9, 0.5, 0.5]), np.array([0, 1, 7, 2])
    assert top_neighbours(scores, first, 2).tolist() == [1, 3]
    assert top_neighbours(scores, first, 3).tolist() == [1, 3, 2]
    assert top_neighbours(scores, first, 9).tolist() == [1, 3, 2, 0]


def test_eq9_threshold_is_the_least_score_selected():
    scores = np.array([0.3, 0.9, 0.5, 0.4])
    assert score_threshold(scores, 1) == 0.9
    assert score_threshold(scores, 3) == 0.4
    assert score_threshold(scores, 9) == 0.3
