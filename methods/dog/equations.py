"""Equations 3 to 9 of the paper, one function each, and the settings that fill the gaps around them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from kgqa_bench.contracts import PluginSettings
from kgqa_bench.graph.protocol import Direction, Path
from kgqa_bench.text.types import Vectors

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
NegativeSimilarity = Literal["zero", "shift", "keep"]


class ExtractionSettings(PluginSettings):
    """Settings of the subgraph extraction: alpha, width and max_distance are the paper's, the others fill its gaps.

    Fixed, because every other reading contradicts the text or makes results depend on chance: parallel edges are
    paths of their own; a visited entity is neither a candidate again nor re-opened; the centre starts with the empty
    path; an entity's priority only ever falls, to the least Hop / Conf among the paths that passed Eq. 9 (kept or
    not); equal distances are visited in the order of entity ids; equal scores are ordered by the path's steps,
    each by (inverse, relation, entity), and neighbours of equal score by their best path.
    """

    alpha: float = Field(
        default=1.0, ge=0, allow_inf_nan=False, description="Weight of the path confidence in Eq. 5 (section 5.1.3)."
    )
    width: int = Field(
        default=3, ge=1, description="W, neighbours selected at each expansion (Eq. 8; section 5.1.3)."
    )
    max_distance: float = Field(
        default=3.0,
        gt=0,
        allow_inf_nan=False,
        description="D_max (section 5.1.3). An entity at exactly this distance is still expanded, since the search "
        'stops when the distance "exceeds" it; a slightly smaller value gives the other reading. Together with the '
        "graph's confidences it sets the radius: at 3, one hop needs a confidence of 1/3, two 2/3, three 1.",
    )

    direction: Direction = Field(
        default="out",
        description="The edges that a path may follow: `out`, from head to tail as in Definition 4, `in` or `both`.",
    )
    confidence: Literal["stored", "one"] = Field(
        default="stored", description="`stored`, or `one` for the variant DoG-E, which takes every confidence as 1."
    )
    negative_similarity: NegativeSimilarity = Field(
        default="zero",
        description="With a negative cosine Eq. 5 prefers the path of lower confidence, against the sentence that "
        "follows it. `zero` takes a negative cosine as 0, `shift` maps every cosine to (1 + cosine) / 2, `keep` "
        "leaves it.",
    )
    limit_new: bool = Field(
        default=True,
        description="Whether an entity keeps at most K paths from the start. The text names K only where paths are "
        "merged, yet defines it as the most paths kept for an entity.",
    )
    keep_distant_paths: bool = Field(
        default=True,
        description="Whether a path with Hop / Conf above D_max may be kept at an entity that is near by another "
        "path, as the text has no such filter. If not, such a path takes no place among the K; it still counts in "
        "Eq. 8 and 9.",
    )


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
