"""A sentence-transformers folder (BERT encoder, mean pooling) on torch. Import it only to embed: torch is heavy.

The forward pass is that of sentence-transformers; loading it through transformers and tokenizers alone takes a
third of the time. Texts are batched by their exact number of tokens, so that nothing is padded: a vector then
depends on the texts beside it only in its last bits (through the order of sums in the matrix products).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import AutoModel
from transformers.utils import logging as transformers_logging

from kgqa_bench.text.types import Vectors

_BATCH_TOKENS = 1024


class SentenceModel:
    """An encoder in memory. Not thread-safe.

    Args:
        folder: Holds config.json, tokenizer.json and model.safetensors.
        max_tokens: Where a text is cut.
    """

    def __init__(self, folder: Path, max_tokens: int) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens)
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        bars = transformers_logging.is_progress_bar_enabled()
        transformers_logging.disable_progress_bar()
        try:
            model = AutoModel.from_pretrained(
                folder, use_safetensors=True, local_files_only=True, trust_remote_code=False, dtype=torch.float32
            )
        finally:
            if bars:
                transformers_logging.enable_progress_bar()
        self._model = model.to(self._device).eval()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """L2-normalised mean of the last hidden states, shape (len(texts), dimension), float32."""
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(tokens)), key=lambda position: len(tokens[position]))
        vectors = np.empty((len(tokens), int(self._model.config.hidden_size)), np.float32)
        for length, group in groupby(order, key=lambda position: len(tokens[position])):
            equally_long = list(group)
            size = max(1, _BATCH_TOKENS // length)
            for start in range(0, len(equally_long), size):
                batch = equally_long[start : start + size]
                vectors[batch] = self._forward([tokens[position] for position in batch])
        return vectors

    def _forward(self, tokens: list[list[int]]) -> Vectors:
        with torch.inference_mode():
            hidden = self._model(input_ids=torch.tensor(tokens, device=self._device)).last_hidden_state
            vectors: Vectors = torch.nn.functional.normalize(hidden.mean(dim=1), dim=1).cpu().numpy()
        return vectors
