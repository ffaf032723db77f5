"""Reliable subgraph extraction (section 4.1): best-first search from a topic entity.

The search gives exactly what the algorithm as written gives, and embeds far fewer path texts. Scores are needed only
where they change which paths the *visited* entities keep:

- An expansion decides at once only about the neighbours that it may bring nearer, within D_max. Whether it also adds
  a path to another neighbour is settled when that neighbour is visited, which for most never happens, and then only
  if the path could take a place among its K best.
- ``Expansion.decide`` scores no more candidate paths than such a decision takes.
- The searches of all topic entities and levels run side by side, share every score and equal expansions, and have
  their texts embedded together.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kgqa_bench.errors import ConfigError
from kgqa_bench.graph.protocol import Graph, Neighbours, Path, Quad
from kgqa_bench.text.types import Embedder

from .equations import entity_distance, path_relevance
from .expansion import Asking, Expansion, PathTexts, ScoredPath
from .settings import ExtractionSettings

_Key = tuple[int, tuple[Path, ...], bytes]  # entity, the paths kept for it, which of its edges are candidates

__all__ = ["Extraction", "ScoredPath", "Subgraph", "Visit", "extract", "extract_levels"]


@dataclass(frozen=True, slots=True)
class Visit:
    """A visited entity.

    Attributes:
        entity: Its id.
        distance: Its distance from the centre when it was visited (Eq. 6).
        hops: The hops of the path that set the distance; 0 at the centre.
        paths: The paths kept for it, best first; the centre has the empty path.
    """

    entity: int
    distance: float
    hops: int
    paths: tuple[ScoredPath, ...]


@dataclass(frozen=True, slots=True)
class ScoredTriple:
    """A triple of the subgraph with the best score of the kept paths that it lies on."""

    triple: Quad
    score: float


@dataclass(frozen=True, slots=True)
class Extraction:
    """The subgraph around one topic entity at one level K.

    Attributes:
        centre: The topic entity.
        level: K, the most paths kept for an entity.
        visits: The visited entities in order, the centre first.
        neighbours: Candidate neighbours over all expansions: what the algorithm as written scores.
        candidate_paths: Candidate paths over all expansions: the texts that the algorithm as written embeds.
    """

    centre: int
    level: int
    visits: tuple[Visit, ...]
    neighbours: int
    candidate_paths: int


@dataclass(frozen=True, slots=True)
class Subgraph:
    """The subgraphs of all topic entities of a question at one level K.

    Attributes:
        level: K.
        extractions: One for each topic entity.
        texts_compared: Different path texts compared with the question for all levels of the same call together.
    """

    level: int
    extractions: tuple[Extraction, ...]
    texts_compared: int

    @property
    def triples(self) -> tuple[ScoredTriple, ...]:
        """The triples on kept paths of visited entities, without repeats: best score first, then by ids."""
        best: dict[Quad, float] = {}
        for extraction in self.extractions:
            for visit in extraction.visits:
                for kept in visit.paths:
                    for edge in kept.path:
                        quad = Quad(edge.head, edge.relation, edge.tail, edge.confidence)
                        best[quad] = max(best.get(quad, kept.score), kept.score)
        return tuple(ScoredTriple(quad, score) for quad, score in sorted(best.items(), key=lambda i: (-i[1], i[0])))

    @property
    def hops(self) -> dict[int, int]:
        """How many entities were visited at each number of hops, the centres left out."""
        visits = (visit.hops for extraction in self.extractions for visit in extraction.visits[1:])
        return dict(sorted(Counter(visits).items()))


def extract(
    graph: Graph, embedder: Embedder, question_text: str, centre: int, k: int, settings: ExtractionSettings
) -> Extraction:
    """The subgraph around one topic entity at level ``k``. As ``extract_levels``."""
    return extract_levels(graph, embedder, question_text, [centre], [k], settings)[k].extractions[0]


def extract_levels(
    graph: Graph,
    embedder: Embedder,
    question_text: str,
    centres: Iterable[int],
    levels: Iterable[int],
    settings: ExtractionSettings,
) -> dict[int, Subgraph]:
    """The subgraphs of a question at several levels K, found together.

    Args:
        graph: The uncertain knowledge graph.
        embedder: Embeds path texts and the question.
        question_text: What paths are compared with.
        centres: The topic entities; each is searched from by itself. Without any the subgraphs are empty.
        levels: The values of K, such as Θ.
        settings: The settings of the extraction.

    Returns:
        A subgraph for each level.

    Raises:
        ConfigError: A level is below 1.
        IndexError: A centre is not in the graph.
    """
    centres, levels = list(dict.fromkeys(centres)), sorted(set(levels))
    if levels and levels[0] < 1:
        raise ConfigError(f"K, the paths kept for an entity, must be at least 1 (got {levels[0]}).")
    path_texts = PathTexts(graph)
    shared: dict[_Key, Expansion] = {}
    searches = [_Search(graph, path_texts, shared, centre, level, settings) for level in levels for centre in centres]
    _run_together([search.run() for search in searches], embedder, path_texts, question_text, settings)
    found = {(search.level, search.centre): search.extraction() for search in searches}
    compared = len(path_texts.relevance)
    return {level: Subgraph(level, tuple(found[level, centre] for centre in centres), compared) for level in levels}


def _run_together(
    searches: Sequence[Asking],
    embedder: Embedder,
    path_texts: PathTexts,
    question_text: str,
    settings: ExtractionSettings,
) -> None:
    """Run searches side by side; what they ask for at the same time is embedded in one call."""
    question_vector = None
    running = list(searches)
    while running:
        asked: dict[str, None] = {}
        waiting = []
        for search in running:
            texts = next(search, None)
            if texts is not None:
                asked.update((text, None) for text in texts if text not in path_texts.relevance)
                waiting.append(search)
        running = waiting
        if not asked:
            continue
        if question_vector is None:
            question_vector = embedder.encode([question_text])[0].astype(np.float64)
        texts = list(asked)
        relevance = path_relevance(embedder.encode(texts), question_vector, settings.negative_similarity)
        path_texts.relevance.update(zip(texts, relevance.tolist(), strict=True))


class _Search:
    """The search from one centre at one level.

    Levels mostly take the same course, so what they expand alike, paths and candidates the same, they share.
    """

    def __init__(
        self,
        graph: Graph,
        path_texts: PathTexts,
        shared: dict[_Key, Expansion],
        centre: int,
        level: int,
        settings: ExtractionSettings,
    ) -> None:
        self.centre, self.level, self._shared = centre, level, shared
        self._graph, self._path_texts, self._settings = graph, path_texts, settings
        self._visited = np.zeros(graph.num_entities, dtype=np.bool_)
        self._visits: list[Visit] = []
        self._kept: dict[int, list[ScoredPath]] = {}
        self._selections: Counter[int] = Counter()
        self._distance: dict[int, tuple[float, int]] = {}  # with the hops of the path that set it
        self._queue: list[tuple[float, int]] = []
        self._expansions: list[tuple[Expansion, frozenset[int]]] = []  # with the neighbours not decided about
        self._neighbours = self._candidate_paths = 0

    def extraction(self) -> Extraction:
        """The result of a search that has run."""
        return Extraction(self.centre, self.level, tuple(self._visits), self._neighbours, self._candidate_paths)

    def run(self) -> Asking:
        """Search, yielding the texts whose relevance is needed next."""
        self._keep(self.centre, [ScoredPath((), "", 1.0, 0.0, 0.0)])
        while self._queue:
            distance, entity = heapq.heappop(self._queue)
            if self._visited[entity] or distance > self._distance[entity][0]:
                continue  # its priority was lowered since
            yield from self._settle(entity)
            self._visited[entity] = True
            kept = self._kept[entity]
            self._visits.append(Visit(entity, *self._distance[entity], tuple(kept)))
            yield from self._expand(entity, kept)

    def _expand(self, entity: int, kept: list[ScoredPath]) -> Asking:
        edges = self._graph.neighbours(entity, self._settings.direction)
        new = ~self._visited[edges.entities]
        if not new.any():
            return
        key = entity, tuple(path.path for path in kept), new.tobytes()
        expansion = self._shared.get(key)
        if expansion is None:
            edges = Neighbours(*(column[new] for column in edges))  # type: ignore[arg-type]
            expansion = self._shared[key] = Expansion(entity, kept, edges, self._path_texts, self._settings)
        candidates = expansion.candidates
        self._neighbours += len(candidates)
        self._candidate_paths += len(kept) * int(np.count_nonzero(new))
        if expansion.least_distance() <= self._settings.max_distance:
            nearer = [
                neighbour for neighbour, distance in expansion.nearest() if distance < self._known_distance(neighbour)
            ]
            if nearer:
                candidates = candidates.difference(nearer)
                for neighbour, paths in (yield from expansion.decide(expansion.paths_to(nearer))).items():
                    self._keep(neighbour, paths)
        self._expansions.append((expansion, candidates))

    def _settle(self, entity: int) -> Asking:
        """Complete the kept paths of an entity about to be visited: what did earlier expansions add to them?"""
        floor = self._floor(entity)
        pending = []
        for expansion, undecided in self._expansions:
            if entity not in undecided:
                continue
            wanted = expansion.paths_to([entity])
            wanted &= expansion.factors >= floor
            if wanted.any():
                pending.append((expansion, wanted))
        unscored = [(expansion, np.flatnonzero(wanted & ~expansion.scored)) for expansion, wanted in pending]
        if pending:
            yield [text for expansion, positions in unscored for text in expansion.texts(positions)]
        for expansion, positions in unscored:
            yield from expansion.score(positions)
        for expansion, wanted in pending:
            wanted &= expansion.scores >= self._floor(entity)
            if wanted.any():
                for paths in (yield from expansion.decide(wanted)).values():
                    self._keep(entity, paths)

    def _floor(self, entity: int) -> float:
        """The score below which a further path to the entity changes nothing."""
        kept = self._kept[entity]
        limited = self._settings.limit_new or self._selections[entity] > 1
        return kept[-1].score if limited and len(kept) == self.level else -np.inf

    def _known_distance(self, entity: int) -> float:
        return self._distance.get(entity, (np.inf, 0))[0]

    def _keep(self, entity: int, paths: list[ScoredPath]) -> None:
        """Merge retained paths into those kept for an entity and lower its priority."""
        kept = sorted([*self._kept.get(entity, ()), *paths], key=lambda path: path.rank)
        self._selections[entity] += 1
        if self._settings.limit_new or self._selections[entity] > 1:
            del kept[self.level :]
        self._kept[entity] = kept
        distance = entity_distance(path.distance for path in paths)
        if distance <= self._settings.max_distance and distance < self._known_distance(entity):
            hops = min(path.hops for path in paths if path.distance == distance)
            self._distance[entity] = distance, hops
            heapq.heappush(self._queue, (distance, entity))
