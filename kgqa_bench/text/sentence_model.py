"""A sentence-transformers folder (BERT encoder, mean pooling) on torch. Import it only to embed: torch is heavy.

The forward pass is that of sentence-transformers; loading it through transformers and tokenizers alone takes a
third of the time. Texts of about equal length are batched together: a padding token costs as much as any other, a
forward pass by itself about as much as 25 tokens. A vector depends on the texts beside it only in its last bits
(through the order of sums).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import AutoModel
from transformers.utils import logging as transformers_logging

from kgqa_bench.text.types import Vectors

_BATCH_TOKENS = 1024  # most tokens of one forward pass, padding included
_PASS_TOKENS = 25  # what a forward pass costs by itself, in tokens (measured on one thread)


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
        start = 0
        for size in batch_sizes(Counter(map(len, tokens))):
            batch = order[start : start + size]
            vectors[batch] = self._forward([tokens[position] for position in batch])
            start += size
        return vectors

    def _forward(self, tokens: list[list[int]]) -> Vectors:
        longest = len(tokens[-1])
        ids = torch.tensor([row + [0] * (longest - len(row)) for row in tokens], device=self._device)
        lengths = torch.tensor([[len(row)] for row in tokens], device=self._device)
        mask = torch.arange(longest, device=self._device) < lengths
        with torch.inference_mode():
            hidden = self._model(input_ids=ids, attention_mask=mask.long()).last_hidden_state
            sums = (hidden * mask.unsqueeze(2)).sum(dim=1)
            vectors: Vectors = torch.nn.functional.normalize(sums / lengths, dim=1).cpu().numpy()
        return vectors


def batch_sizes(counts: Mapping[int, int]) -> Iterator[int]:
    """Cut texts sorted by length into batches so that forward passes and padding cost least.

    Args:
        counts: Number of texts by their number of tokens.

    Yields:
        The number of texts in each batch, the shortest texts first.
    """
    lengths = sorted(counts)
    before = [0]  # texts of the first n lengths
    for length in lengths:
        before.append(before[-1] + counts[length])
    # best[n]: least cost of the texts of the first n lengths, and where its last run of lengths begins
    best = [(0, 0)]
    for end in range(1, len(lengths) + 1):
        padded = lengths[end - 1]
        best.append(
            min(
                (best[start][0] + _PASS_TOKENS + padded * (before[end] - before[start]), start)
                for start in range(end)
            )
        )
    runs = []
    end = len(lengths)
    while end:
        start = best[end][1]
        runs.append((before[end] - before[start], max(1, _BATCH_TOKENS // lengths[end - 1])))
        end = start
    for count, most in reversed(runs):
        for begin in range(0, count, most):
            yield min(most, count - begin)
