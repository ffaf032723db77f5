"""Equations 3 to 9 of the paper, one function each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from kgqa_bench.graph.protocol import Path
from kgqa_bench.text.types import Vectors

from .settings import NegativeSimilarity

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def path_confidence(path: Path) -> float:
    """Eq. 3: the product of the triples' confidences, multiplied in walking order; 1 for the empty path."""
    confidence = 1.0
    for edge in path:
        confidence *= edge.confidence
    return confidence


def path_relevance(paths: Vectors, question: Floats, negative_similarity: NegativeSimilarity = "zero") -> Floats:
    """Eq. 4: the similarity of path texts and the question, for which the paper names a model but no measure: cosine.

    Args:
        paths: Unit vectors, shape (paths, dimension).
        question: Unit vector, shape (dimension,), float64.
        negative_similarity: See ``ExtractionSettings``.

    Returns:
        Shape (paths,), within [-1, 1] whatever the rounding. Each row is summed by itself in double precision, so a
        path's value does not depend on which others are computed with it.
    """
    cosines: Floats = np.clip((paths.astype(np.float64) * question).sum(axis=1), -1.0, 1.0)
    if negative_similarity == "zero":
        cosines = np.maximum(cosines, 0.0)
    elif negative_similarity == "shift":
        cosines = (1.0 + cosines) / 2.0
    return cosines


def confidence_factors(confidences: Floats, alpha: float) -> Floats:
    """Conf^α of Eq. 5. As the relevance is at most 1, also the upper bound of the score."""
    if alpha == 1.0:
        return confidences
    # not numpy's power: its vector code may differ from its scalar code in the last bit
    return np.array([confidence**alpha for confidence in confidences.tolist()], dtype=np.float64)


def path_scores(relevance: Floats, factors: Floats) -> Floats:
    """Eq. 5: Score(p, Q) = SR(p, Q) · Conf(p)^α, the factors being ``confidence_factors``."""
    return relevance * factors


def path_distances(hops: Any, confidences: Any) -> Any:
    """The ratio in Eq. 6, Hop(p) / Conf(p), of one path or of arrays of paths."""
    return hops / confidences


def entity_distance(distances: Iterable[float]) -> float:
    """Eq. 6: the least Hop / Conf over the paths to an entity; infinite where there is none."""
    return min(distances, default=float("inf"))


def extend_confidences(confidences: Floats, edge_confidences: Floats) -> Floats:
    """Eq. 7: the confidences of every path to an entity, continued by every edge that leaves it.

    Args:
        confidences: Of the n paths kept at the entity.
        edge_confidences: Of the m edges to its candidate neighbours.

    Returns:
        Shape (n * m,): position i * m + j is path i continued by edge j.
    """
    return np.multiply.outer(confidences, edge_confidences).ravel()


def top_neighbours(scores: Floats, first: Ints, width: int) -> Ints:
    """Eq. 8: the ``width`` neighbours of the highest score, best first.

    Args:
        scores: Each neighbour's score, the maximum over its candidate paths; shape (neighbours,).
        first: Position of each neighbour's best path in the order of paths, which settles ties.
        width: W.

    Returns:
        Positions in ``scores``.
    """
    return np.lexsort((first, -scores))[:width]


def score_threshold(scores: Floats, width: int) -> float:
    """Eq. 9: the least score among the selected neighbours, given the scores of all neighbours."""
    width = min(width, len(scores))
    return float(np.partition(scores, -width)[-width])
