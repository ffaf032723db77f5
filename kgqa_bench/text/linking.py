"""Which entities of the graph a question is about.

The papers leave linking open (DoG: "NER and entity linking"), so every choice here is a setting or stated here:

1. Topic entities given by the benchmark are taken by name, else by label, else by the labels found in them, else as
   in 4. If that gives any entity, the question's text is not looked at.
2. Else the labels of the graph are looked for in the question's text: exact words before lemmas, longest match
   first, no overlaps, no stop words. Of several entities with the same label the one with the highest PageRank is
   meant.
3. Over-general entities, those of the highest PageRank, are set aside where anything else was found.
4. Where no label was found, each content word is taken for the label nearest to it by embedding, if it is near
   enough.

Nothing is ever read as an entity's id.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import Field

from kgqa_bench.contracts import PluginSettings
from kgqa_bench.domain import Question
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.text.label_index import LabelIndex
from kgqa_bench.text.types import Embedder, Vectors
from kgqa_bench.text.verbalise import plain_label
from kgqa_bench.text.words import is_content, tokens


class LinkerSettings(PluginSettings):
    """Settings of entity linking (``--set linker.NAME=VALUE``)."""

    options: bool = Field(
        default=False, description="Look for entities in the answer options too, after the question's text."
    )
    max_entities: int = Field(
        default=3, ge=1, description="Most entities linked from a text; the most specific stay (lowest PageRank)."
    )
    hub_share: float = Field(
        default=0.002,
        ge=0,
        lt=1,
        description="Share of the entities, by highest PageRank, that count as over-general.",
    )
    fallback: bool = Field(default=True, description="Where no label is found, take the labels nearest by embedding.")
    fallback_similarity: float = Field(
        default=0.6, ge=-1, le=1, description="Least cosine similarity of a word and the label taken for it."
    )
    fallback_labels: int = Field(
        default=50_000,
        ge=1,
        description="Most labels compared by embedding: those of the entities of highest PageRank.",
    )


class _Index(NamedTuple):
    """What is computed once a graph: the labels by words, and the entities' places by PageRank (0 the highest)."""

    labels: LabelIndex
    order: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64]


class GraphLinker:
    """Links questions to one graph. Thread-safe; builds its index with the first question.

    Args:
        graph: The graph.
        load_embedder: Gives the embedder; called only where no label is found.
        settings: Named choices.
    """

    def __init__(
        self, graph: Graph, load_embedder: Callable[[], Embedder], settings: LinkerSettings | None = None
    ) -> None:
        self.settings = settings or LinkerSettings()
        self._graph = graph
        self._load_embedder = load_embedder
        self._built: _Index | None = None
        self._vectors: Vectors | None = None
        self._lock = threading.Lock()

    def link(self, question: Question) -> tuple[int, ...]:
        """Topic entities in order of mention; empty where nothing is found.

        Raises:
            MissingDependencyError: No label was found, and the embedder's packages are not installed.
            DataNotFoundError: No label was found, and the embedder's weights are not to be had.
        """
        given = dict.fromkeys(entity for topic in question.topic_entities for entity in self._given(topic))
        if given:
            return tuple(given)
        texts = [question.text]
        if self.settings.options:
            texts += [option.text for option in question.options]
        return tuple(self._specific(self._found(texts)))

    def _given(self, topic: str) -> Sequence[int]:
        entity = self._graph.find_entity(topic)
        if entity is None:
            entity = self._index().labels.find(topic)
        return [entity] if entity is not None else self._found([topic])

    def _found(self, texts: Sequence[str]) -> list[int]:
        labels = self._index().labels
        found = list(dict.fromkeys(entity for text in texts for entity in labels.mentions(text)))
        return found or (self._nearest(texts) if self.settings.fallback else [])

    def _specific(self, found: list[int]) -> list[int]:
        """Set over-general entities aside and keep the most specific, in order of mention."""
        places = self._index().places
        hubs = int(self.settings.hub_share * len(places))
        kept = [entity for entity in found if places[entity] >= hubs] or found
        if len(kept) > self.settings.max_entities:
            specific = set(sorted(kept, key=lambda entity: -places[entity])[: self.settings.max_entities])
            kept = [entity for entity in kept if entity in specific]
        return kept

    def _nearest(self, texts: Sequence[str]) -> list[int]:
        words = list(dict.fromkeys(word for text in texts for word in tokens(text) if is_content(word)))
        candidates = self._index().order[: self.settings.fallback_labels]
        if not words or not len(candidates):
            return []
        embedder = self._load_embedder()
        with self._lock:
            if self._vectors is None:
                self._vectors = embedder.encode([plain_label(self._graph.entity_label(int(e))) for e in candidates])
        similarities = embedder.encode(words) @ self._vectors.T
        best = similarities.argmax(axis=1)
        near = similarities[np.arange(len(words)), best] >= self.settings.fallback_similarity
        return list(dict.fromkeys(candidates[best[near]].tolist()))

    def _index(self) -> _Index:
        with self._lock:
            if self._built is None:
                from kgqa_bench.graph.whole import pagerank

                # rounded, so that equal ranks stay equal whatever the order of sums, and ids decide
                order = np.argsort(-np.round(pagerank(self._graph), 12), kind="stable")
                places = np.empty(len(order), np.int64)
                places[order] = np.arange(len(order))
                labels = LabelIndex(
                    self._graph.entity_labels(), order.tolist(), getattr(self._graph, "entity_aliases", ())
                )
                self._built = _Index(labels, order, places)
            return self._built
