"""A sentence-transformers folder in memory. Import this module only to embed: torch is heavy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from transformers.utils import logging as transformers_logging

from kgqa_bench.text.types import Vectors

_MOST_TEXTS = 64  # in a batch
_MOST_PADDING = 3  # tokens by which the texts of a batch differ in length


class SentenceModel:
    """A sentence model on the GPU where there is one, else on the CPU. Not thread-safe.

    Args:
        folder: As sentence-transformers saves it. Nothing is fetched and none of its code is run.
        max_tokens: Where a text is cut.
    """

    def __init__(self, folder: Path, max_tokens: int) -> None:
        bars = transformers_logging.is_progress_bar_enabled()
        transformers_logging.disable_progress_bar()
        try:
            self._model = SentenceTransformer(
                str(folder),
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"dtype": torch.float32, "use_safetensors": True},
            )
        finally:
            if bars:
                transformers_logging.enable_progress_bar()
        self._model.max_seq_length = max_tokens

    def encode(self, texts: Sequence[str]) -> Vectors:
        """L2-normalised vectors, shape (len(texts), dimension), float32.

        Each batch holds texts of about equal length in tokens, because a padding token costs as much as any other:
        sentence-transformers' batches, of fixed size and sorted by characters, take a quarter longer on paths of a
        graph.
        """
        tokens = self._model.tokenizer(list(texts), truncation=True)["input_ids"] if texts else []
        vectors = np.empty((len(texts), self._model.get_embedding_dimension()), np.float32)
        for batch in batches([len(row) for row in tokens]):
            vectors[batch] = self._model.encode(
                [texts[position] for position in batch],
                batch_size=len(batch),
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        return vectors


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The positions of ``lengths`` in batches of about equal length, the shortest first."""
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) == _MOST_TEXTS or lengths[position] > lengths[batch[0]] + _MOST_PADDING):
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch
