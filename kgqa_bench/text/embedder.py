"""Sentences to vectors: looked up in the persistent cache, computed only where they are not there."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kgqa_bench.errors import DataError, MissingDependencyError
from kgqa_bench.storage import cache_folder
from kgqa_bench.text.model_folder import MINILM, ModelFolder, find_model
from kgqa_bench.text.types import Vectors
from kgqa_bench.text.vector_cache import VectorCache

if TYPE_CHECKING:
    from kgqa_bench.text.sentence_model import SentenceModel

_log = logging.getLogger(__name__)

_CHUNK = 512  # texts computed before they are put by
_MANY = 2_000  # so many take seconds, and a person is told


class SentenceEmbedder:
    """The project's embedder: a sentence model behind the vector cache. Thread-safe.

    torch is imported and the weights are loaded with the first text that is not cached; a run whose texts are all
    cached never loads them. What is returned is always what the cache holds, so a text has one vector whatever
    was embedded beside it.

    Attributes:
        name: The model's name.
        dimension: Length of a vector.
        weights_sha256: Hexadecimal SHA-256 of the weights.
        computed: How many texts this object has run through the model.
    """

    def __init__(self, folder: ModelFolder) -> None:
        self.name = folder.name
        self.dimension = folder.dimension
        self.weights_sha256 = folder.weights_sha256
        self.computed = 0
        self._folder = folder
        self._model: SentenceModel | None = None
        self._lock = threading.Lock()
        self._cache = VectorCache(
            cache_folder("vectors", f"{folder.name}-{folder.fingerprint.hex()[:16]}"),
            folder.dimension,
            folder.fingerprint,
        )

    def encode(self, texts: Sequence[str]) -> Vectors:
        """L2-normalised vectors, shape (len(texts), dimension), float32.

        Raises:
            MissingDependencyError: A text is not cached and the extra ``local`` is not installed.
            DataError: The weights are damaged.
            StorageError: The cache cannot be written.
        """
        vectors, missing = self._cache.get(texts)
        while missing:  # once, unless another process sets the cache aside just then
            with self._lock:
                self._compute(texts, missing)
            vectors, missing = self._cache.get(texts)
        return vectors

    def _compute(self, texts: Sequence[str], missing: list[int]) -> None:
        wanted = list(dict.fromkeys(texts[position] for position in missing))
        _, missing = self._cache.get(wanted)  # another thread may have been faster
        # of equal length together, as far as the number of characters tells
        new = sorted((wanted[position] for position in missing), key=lambda text: (len(text), text))
        if len(new) >= _MANY:
            print(f"Embedding {len(new):,} texts, once: their vectors are kept.", file=sys.stderr, flush=True)
        for start in range(0, len(new), _CHUNK):
            chunk = new[start : start + _CHUNK]
            # a lone surrogate cannot be tokenised
            vectors = self._loaded().encode([text.encode("utf-8", "replace").decode() for text in chunk])
            if not np.isfinite(vectors).all():
                raise DataError("The model gives vectors that are not finite.", file=self._folder.path)
            self._cache.put(chunk, vectors)
            self.computed += len(chunk)

    def _loaded(self) -> SentenceModel:
        if self._model is None:
            try:
                from kgqa_bench.text.sentence_model import SentenceModel
            except ImportError as problem:
                raise MissingDependencyError(
                    "The sentence embedder", "sentence-transformers", extra="local"
                ) from problem
            _log.info("Loading the sentence model %s from %s", self.name, self._folder.path)
            self._model = SentenceModel(self._folder.path, self._folder.max_tokens)
        return self._model


def load_embedder(name: str = MINILM, data: Path | None = None) -> SentenceEmbedder:
    """The sentence embedder ``name``: ``all-MiniLM-L6-v2`` or a folder. Errors as for ``find_model``."""
    return SentenceEmbedder(find_model(name, data))
