"""A sentence-transformers folder in memory. Import this module only to embed: torch is heavy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from transformers.utils import logging as transformers_logging

from kgqa_bench.text.types import Vectors

_BATCH = 32  # 16 to 64 differ by less than a tenth on one thread


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

        Each batch holds texts of about equal length in tokens: sentence-transformers sorts by characters, which
        costs a quarter more on paths of a graph.
        """
        tokens = self._model.tokenizer(list(texts), truncation=True)["input_ids"] if texts else []
        order = sorted(range(len(texts)), key=lambda position: len(tokens[position]))
        vectors = np.empty((len(texts), self._model.get_embedding_dimension()), np.float32)
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            vectors[batch] = self._model.encode(
                [texts[position] for position in batch],
                batch_size=_BATCH,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        return vectors
