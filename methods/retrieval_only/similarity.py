"""Cosines of facts and queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kgqa_bench.text.types import Embedder

Floats = npt.NDArray[np.float64]


def tfidf_similarity(facts: Sequence[str], queries: Sequence[str]) -> Floats:
    """Cosines of TF-IDF vectors, shape (facts, queries); English stop words apart, fitted on all the texts given."""
    if not facts:
        return np.zeros((0, len(queries)))
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        vectors = TfidfVectorizer(stop_words="english").fit_transform([*facts, *queries])
    except ValueError:  # not one word in all of them
        return np.zeros((len(facts), len(queries)))
    similarity: Floats = (vectors[: len(facts)] @ vectors[len(facts) :].T).toarray()
    return similarity


def embedding_similarity(facts: Sequence[str], queries: Sequence[str], embedder: Embedder) -> Floats:
    """Cosines of sentence embeddings, shape (facts, queries)."""
    if not facts:
        return np.zeros((0, len(queries)))
    return (embedder.encode(facts) @ embedder.encode(queries).T).astype(np.float64)
