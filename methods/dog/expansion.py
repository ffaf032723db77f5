"""The expansion of one entity, which scores no more of its candidate paths than a decision takes."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from kgqa_bench.graph.protocol import Edge, Flags, Graph, Neighbours, Path
from kgqa_bench.text.verbalise import Verbaliser

from .equations import (
    Floats,
    Ints,
    confidence_factors,
    extend_confidences,
    path_distances,
    path_scores,
    score_threshold,
    top_neighbours,
)
from .settings import ExtractionSettings

# Texts asked for at a time. More at once is cheaper a text, fewer at once leaves more unscored in the end.
BATCH = 24

Asking = Generator[list[str], None, None]


@dataclass(frozen=True, slots=True)
class ScoredPath:
    """A path from the centre with Conf (Eq. 3), Score (Eq. 5) and Hop / Conf (Eq. 6)."""

    path: Path
    text: str
    confidence: float
    score: float
    distance: float

    @property
    def hops(self) -> int:
        """Number of triples."""
        return len(self.path)

    @property
    def steps(self) -> tuple[tuple[bool, int, int], ...]:
        """The path as (inverse, relation, entity) a step: settles equal scores."""
        return tuple((edge.inverse, edge.relation, edge.target) for edge in self.path)

    @property
    def rank(self) -> tuple[float, tuple[tuple[bool, int, int], ...]]:
        """Sorts paths best first."""
        return -self.score, self.steps


class PathTexts(Verbaliser):
    """What all searches for one question share: texts, and the relevance found so far (Eq. 4) by path text."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.relevance: dict[str, float] = {}


class Expansion:
    """The candidate paths of one expansion: every kept path to an entity times every edge to a neighbour.

    Positions of candidate paths follow the order that settles ties. ``decide`` is a generator that yields the texts
    whose relevance it needs next; they stand in ``path_texts.relevance`` when it is resumed.

    Args:
        entity: The entity expanded.
        prefixes: The paths kept for it.
        edges: Its edges to the candidate neighbours.
        path_texts: What the searches for the question share.
        settings: The settings of the extraction.
    """

    def __init__(
        self,
        entity: int,
        prefixes: list[ScoredPath],
        edges: Neighbours,
        path_texts: PathTexts,
        settings: ExtractionSettings,
    ) -> None:
        confidences = np.asarray(edges.confidences, dtype=np.float64)
        if settings.confidence == "one":
            confidences = np.ones_like(confidences)
        self.candidates = frozenset(edges.entities.tolist())
        self._entity = entity
        self._prefixes = sorted(prefixes, key=lambda path: path.steps)
        self._edges = edges._replace(confidences=confidences)
        self._path_texts = path_texts
        self._settings = settings
        self._ready = False
        self._texts: dict[int, str] = {}
        self._decided: dict[bytes, dict[int, list[ScoredPath]]] = {}
        self._nearest: list[tuple[int, float]] | None = None

    def least_distance(self) -> float:
        """The least Hop / Conf of any candidate path."""
        highest = float(self._edges.confidences.max())
        return min(float(path_distances(p.hops + 1, p.confidence * highest)) for p in self._prefixes)

    def _prepare(self) -> None:
        if self._ready:
            return
        self._ready = True
        prefixes, edges, count = self._prefixes, self._edges, len(self._edges.entities)
        hops = np.repeat([float(prefix.hops + 1) for prefix in prefixes], count)
        known = np.array([prefix.confidence for prefix in prefixes])
        self.confidences = extend_confidences(known, edges.confidences)
        self.distances: Floats = path_distances(hops, self.confidences)
        self.factors = confidence_factors(self.confidences, self._settings.alpha)
        self.neighbours, owner = np.unique(edges.entities, return_inverse=True)
        self.owner: Ints = np.concatenate([owner] * len(prefixes))  # position in self.neighbours
        self.scores: Floats = np.full(len(self.owner), -np.inf)
        self.scored: Flags = np.zeros(len(self.owner), dtype=np.bool_)
        self._width = min(self._settings.width, len(self.neighbours))
        columns = (edges.relations, edges.entities, edges.confidences, edges.inverse)
        self._steps = list(zip(*(column.tolist() for column in columns), strict=True))

    def nearest(self) -> list[tuple[int, float]]:
        """The candidate neighbours with the least Hop / Conf of their candidate paths, where within D_max."""
        self._prepare()
        if self._nearest is None:
            nearest = np.full(len(self.neighbours), np.inf)
            np.minimum.at(nearest, self.owner, self.distances)
            near = nearest <= self._settings.max_distance
            self._nearest = list(zip(self.neighbours[near].tolist(), nearest[near].tolist(), strict=True))
        return self._nearest

    def paths_to(self, entities: list[int]) -> Flags:
        """Which candidate paths lead to one of the neighbours ``entities`` and may be kept there."""
        self._prepare()
        asked = np.zeros(len(self.neighbours), dtype=np.bool_)
        asked[np.searchsorted(self.neighbours, entities)] = True
        paths: Flags = asked[self.owner]
        if not self._settings.keep_distant_paths:
            paths &= self.distances <= self._settings.max_distance
        return paths

    def texts(self, positions: Ints) -> list[str]:
        """The texts of candidate paths."""
        built, asked = self._texts, positions.tolist()
        for position in asked:
            if position not in built:
                built[position] = self._text(position)
        return [built[position] for position in asked]

    def _text(self, position: int) -> str:
        prefix, edge = divmod(position, len(self._steps))
        relation, other, _, inverse = self._steps[edge]
        head, tail = (other, self._entity) if inverse else (self._entity, other)
        return self._path_texts.extend(self._prefixes[prefix].text, self._path_texts.triple(head, relation, tail))

    def score(self, positions: Ints) -> Asking:
        """Score candidate paths (Eq. 5)."""
        texts, relevance = self.texts(positions), self._path_texts.relevance
        missing = [text for text in texts if text not in relevance]
        if missing:
            yield missing
            if self.scored[positions].all():  # by a search that shares this expansion
                return
        found = np.array([relevance[text] for text in texts], dtype=np.float64)
        self.scores[positions] = path_scores(found, self.factors[positions])
        self.scored[positions] = True

    def decide(self, wanted: Flags) -> Generator[list[str], None, dict[int, list[ScoredPath]]]:
        """Which of the ``wanted`` candidate paths are retained (Eq. 8 and 9), by neighbour.

        A path can score no more than Conf^α, because its relevance is at most 1. So paths are scored in falling
        order of this bound, the wanted ones first, until no other path can change which of the wanted are retained.
        """
        key = wanted.tobytes()
        while key not in self._decided:  # by a search that shares this expansion
            best = np.full(len(self.neighbours), -np.inf)
            np.maximum.at(best, self.owner, self.scores)
            threshold = score_threshold(best, self._width)  # of those scored: the final one is no lower
            scored = self.scored
            unscored = wanted & ~scored & (self.factors >= threshold)
            if not unscored.any():
                retained = wanted & scored & (self.scores >= threshold)
                unscored = self._rivals(retained, best)
                if not unscored.any():
                    self._decided[key] = self._retained(retained, best)
                    break
            positions = np.flatnonzero(unscored)
            order = np.argsort(-self.factors[positions], kind="stable")
            yield from self.score(positions[order[:BATCH]])
        return self._decided[key]

    def _rivals(self, retained: Flags, best: Floats) -> Flags:
        """The unscored paths that may still displace one that would be retained."""
        if not retained.any():
            return retained
        least = self.scores[retained].min()
        rivals: Flags = ~self.scored & (self.factors >= least)
        able = np.zeros(len(best), dtype=np.bool_)  # neighbours with a rival
        able[self.owner[rivals]] = True
        lowest = self.owner[retained & (self.scores == least)]
        settled = bool(np.all((best[lowest] == least) & ~able[lowest]))
        able |= best >= least
        # fewer neighbours than W can score more than the lowest path, or W where that path is a neighbour's best:
        # then all are retained whatever the rivals score
        if able.sum() < self._width + settled:
            rivals[:] = False
        return rivals

    def _retained(self, retained: Flags, best: Floats) -> dict[int, list[ScoredPath]]:
        first = np.full(len(best), len(self.owner))
        leading = np.flatnonzero(self.scored & (self.scores == best[self.owner]))
        np.minimum.at(first, self.owner[leading], leading)
        selected = np.zeros(len(best), dtype=np.bool_)
        selected[top_neighbours(best, first, self._width)] = True
        positions = np.flatnonzero(retained & selected[self.owner])
        paths: dict[int, list[ScoredPath]] = {}
        for position, text in zip(positions.tolist(), self.texts(positions), strict=True):
            path = self._path(position, text)
            paths.setdefault(path.path[-1].target, []).append(path)
        return paths

    def _path(self, position: int, text: str) -> ScoredPath:
        prefix, edge = divmod(position, len(self._steps))
        last = Edge(self._entity, *self._steps[edge])
        return ScoredPath(
            (*self._prefixes[prefix].path, last),
            text,
            float(self.confidences[position]),
            float(self.scores[position]),
            float(self.distances[position]),
        )
