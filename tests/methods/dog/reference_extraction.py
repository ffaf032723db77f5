"""Subgraph extraction as the paper writes it (section 4.1), without any saving, and cases to compare it on."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from kgqa_bench.graph.build import build_graph
from kgqa_bench.methods.dog.extraction import extract_levels
from kgqa_bench.methods.dog.settings import ExtractionSettings
from kgqa_bench.text.verbalise import path_text

LEVELS = (1, 3, 5)
MAPPINGS = ("stored", "one", "capped", "random", "ratio")
DIMENSION = 64


@dataclass
class Reference:
    """What the algorithm finds: visited entities with distance and kept (score, path) pairs, and its counts."""

    visits: list = field(default_factory=list)  # (entity, distance, [(score, path), ...])
    neighbours: int = 0
    texts: list = field(default_factory=list)


def confidence_of(path):
    product = 1.0
    for edge in path:
        product *= edge.confidence
    return product


def distance_of(path):
    return len(path) / confidence_of(path)


def steps_of(path):
    return [(edge.inverse, edge.relation, edge.target) for edge in path]


def extract(graph, embedder, question_text, centre, k, settings):
    question = embedder.encode([question_text])[0].astype(np.float64)
    found = Reference()

    def score_of(path):
        text = path_text(graph, path)
        found.texts.append(text)
        vector = embedder.encode([text])[0].astype(np.float64)
        cosine = min(1.0, max(-1.0, float((vector * question).sum())))
        if settings.negative_similarity == "zero":
            cosine = max(cosine, 0.0)
        elif settings.negative_similarity == "shift":
            cosine = (1.0 + cosine) / 2.0
        return cosine * confidence_of(path) ** settings.alpha

    def best_first(scored):
        return sorted(scored, key=lambda pair: (-pair[0], steps_of(pair[1])))

    kept = {centre: [(0.0, ())]}
    distance = {centre: 0.0}
    visited = set()
    while True:
        queue = [entity for entity in distance if entity not in visited]
        if not queue:
            return found
        entity = min(queue, key=lambda e: (distance[e], e))
        if distance[entity] > settings.max_distance:
            return found
        visited.add(entity)
        found.visits.append((entity, distance[entity], kept[entity]))

        # Eq. 7
        candidates = {}
        for edge in graph.edges(entity, settings.direction):
            if edge.target not in visited:
                if settings.confidence == "one":
                    edge = edge._replace(confidence=1.0)
                for _, path in kept[entity]:
                    candidates.setdefault(edge.target, []).append((*path, edge))
        if not candidates:
            continue
        found.neighbours += len(candidates)
        scored = {neighbour: best_first((score_of(p), p) for p in paths) for neighbour, paths in candidates.items()}
        # Eq. 8
        order = sorted(scored, key=lambda n: (-scored[n][0][0], steps_of(scored[n][0][1])))
        selected = order[: settings.width]
        # Eq. 9
        threshold = min(scored[neighbour][0][0] for neighbour in selected)
        for neighbour in selected:
            paths = [(score, path) for score, path in scored[neighbour] if score >= threshold]
            if not settings.keep_distant_paths:
                paths = [(score, path) for score, path in paths if distance_of(path) <= settings.max_distance]
            if not paths:
                continue
            nearest = min(distance_of(path) for _, path in paths)
            if neighbour not in kept:
                kept[neighbour] = paths[:k] if settings.limit_new else paths
                distance[neighbour] = nearest
            else:
                kept[neighbour] = best_first(kept[neighbour] + paths)[:k]
                distance[neighbour] = min(distance[neighbour], nearest)


class HashedEmbedder:
    """Sums of random vectors of the words, later words weighing less: cheap, and each text by itself."""

    name = "hashed"
    dimension = DIMENSION

    def __init__(self):
        self.requests = []
        self._vectors = {}

    def encode(self, texts):
        self.requests.append(list(texts))
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text):
        if text not in self._vectors:
            words = enumerate(text.replace(";", "").split(), start=1)
            total = sum((_word(word) / place**0.5 for place, word in words), np.zeros(DIMENSION))
            self._vectors[text] = (total / max(np.linalg.norm(total), 1e-12)).astype(np.float32)
        return self._vectors[text]


@lru_cache(maxsize=100_000)
def _word(word):
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])
    return np.random.default_rng(seed).standard_normal(DIMENSION)


def confidences(mapping, stored, rng):
    """Other confidences for a graph whose own are ``stored``: all one, ConceptNet-like mappings with ties, random."""
    weights = np.select([stored < 0.3, stored < 0.7, stored < 0.72, stored < 0.9], [0.1, 0.5, 1.0, 2.0], 4.0)
    return {
        "stored": stored,
        "one": np.ones_like(stored),
        "capped": np.minimum(weights, 1.0),
        "ratio": weights / (1.0 + weights),
        "random": 1.0 - np.array([rng.random() for _ in stored]),
    }[mapping]


def random_settings(rng):
    return ExtractionSettings(
        alpha=rng.choice([0, 0.5, 1, 1, 1.5, 2]),
        width=rng.randint(1, 7),
        max_distance=rng.choice([1.0, 2.0, 3.0, 3.0, 3.0, 4.0, 6.0]),
        direction=rng.choice(["out", "in", "both"]),
        confidence=rng.choice(["stored", "stored", "one"]),
        negative_similarity=rng.choice(["zero", "shift", "keep"]),
        limit_new=rng.random() < 0.7,
        keep_distant_paths=rng.random() < 0.7,
    )


def random_case(seed):
    """A small graph with many ties, a question and topic entities."""
    rng = random.Random(seed)
    entities, relations = rng.choice([4, 8, 15, 30, 60]), rng.choice([1, 3, 6])
    edges = entities * rng.choice([1, 2, 4, 8])
    words = [f"w{number}" for number in range(rng.choice([3, 10, 200]))]
    heads = [f"e{int(entities * rng.random() ** 2)}" for _ in range(edges)]
    stored = np.array([rng.choice([0.1, 0.3, 0.51, 0.709, 0.709, 0.709, 0.85, 0.9, 0.96, 1.0]) for _ in heads])
    graph = build_graph(
        heads,
        [f"r{rng.randrange(relations)}" for _ in heads],
        [f"e{rng.randrange(entities)}" for _ in heads],
        confidences(rng.choice(MAPPINGS), stored, rng),
        source="random",
        entity_labels={f"e{number}": " ".join(rng.choices(words, k=2)) for number in range(entities)},
    )
    centres = [graph.entity(head) for head in dict.fromkeys(rng.choices(heads, k=2))]
    return graph, " ".join(rng.choices(words, k=4)), centres, random_settings(rng)


def compare(graph, embedder, question_text, centres, settings):
    """Assert that the real extraction equals this one.

    Returns the number of extractions compared, the texts this one embeds and those the real one does.
    """
    before = len(embedder.requests)
    subgraphs = extract_levels(graph, embedder, question_text, centres, LEVELS, settings)
    embedded = sum(len(texts) for texts in embedder.requests[before:])
    compared = texts = 0
    for level, subgraph in subgraphs.items():
        for extraction in subgraph.extractions:
            expected = extract(graph, embedder, question_text, extraction.centre, level, settings)
            found = [
                (visit.entity, visit.distance, [(kept.score, kept.path) for kept in visit.paths])
                for visit in extraction.visits
            ]
            assert found == expected.visits, (question_text, extraction.centre, level, settings)
            assert extraction.neighbours == expected.neighbours
            assert extraction.candidate_paths == len(expected.texts)
            compared += 1
            texts += len(expected.texts)
    return compared, texts, embedded
