"""The model itself: equal to sentence-transformers' own batching, and quiet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kgqa_bench.text.model_folder import MINILM, find_model

pytestmark = pytest.mark.local

TEXTS = [f"{'cactus ' * (number * 7 % 23)}stores water {number}" for number in range(75)]


@pytest.fixture(scope="module")
def folder() -> Path:
    return find_model(MINILM, None).path


def test_batches_by_tokens_give_what_the_library_gives(folder: Path) -> None:
    from sentence_transformers import SentenceTransformer

    from kgqa_bench.text.sentence_model import SentenceModel

    vectors = SentenceModel(folder, 256).encode(TEXTS)
    assert vectors.dtype == np.float32
    expected = SentenceTransformer(str(folder), local_files_only=True).encode(TEXTS, normalize_embeddings=True)
    np.testing.assert_allclose(vectors, expected, atol=2e-6)


def test_batches_are_of_about_equal_length_and_bounded() -> None:
    from kgqa_bench.text.sentence_model import batches

    assert list(batches([9, 4, 5, 8, 7, 12])) == [[1, 2, 4], [3, 0], [5]]
    assert [len(batch) for batch in batches([6] * 130 + [7])] == [64, 64, 3]
    assert list(batches([])) == []


def test_texts_are_cut_at_the_folder_s_length(folder: Path) -> None:
    from kgqa_bench.text.sentence_model import SentenceModel

    cut = SentenceModel(folder, 8).encode(["one two three four five six", "one two three four five six seven eight"])
    np.testing.assert_allclose(cut[0], cut[1], atol=1e-6)


def test_nothing_is_printed(folder: Path) -> None:
    program = f"""
from pathlib import Path
from kgqa_bench.text.sentence_model import SentenceModel
SentenceModel(Path({str(folder)!r}), 256).encode(["a text", "another"])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
