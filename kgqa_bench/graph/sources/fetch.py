"""Graphs that are fetched from their publishers: pinned files with their checksums, kept in the cache."""

from __future__ import annotations

import hashlib
import logging
import urllib.error
import urllib.request
from pathlib import Path
from typing import NamedTuple

from kgqa_bench.errors import DataNotFoundError
from kgqa_bench.storage import atomic_write, cache_folder, locked

_log = logging.getLogger(__name__)

TIMEOUT = 20.0
_MOST_BYTES = 50_000_000
_GITHUB = "https://raw.githubusercontent.com"


class PinnedFile(NamedTuple):
    """A file at one commit of a public repository."""

    repository: str
    commit: str
    path: str
    sha256: str

    @property
    def url(self) -> str:
        """Where it lies."""
        return f"{_GITHUB}/{self.repository}/{self.commit}/{self.path}"


def _drum(folder: str, **checksums: str) -> dict[str, PinnedFile]:
    commit = "cccfbed96a64bc2ac12deab364e154034d0bd8f8"
    return {
        f"{part}.txt": PinnedFile("alisadeghian/DRUM", commit, f"datasets/{folder}/{part}.txt", sha256)
        for part, sha256 in checksums.items()
    }


def _openke(name: str, commit: str, sha256: str) -> PinnedFile:
    return PinnedFile("thunlp/OpenKE", commit, f"benchmarks/FB15K237/{name}", sha256)


def _kg_bert(name: str, sha256: str) -> PinnedFile:
    commit = "62b76ed5652bf3da5a355cbe9c1109f58290756f"
    return PinnedFile("yao8839836/kg-bert", commit, f"data/FB15k-237/{name}", sha256)


PINNED: dict[str, dict[str, PinnedFile]] = {
    "family": _drum(
        "family",
        facts="137b7c79a58d49d4b0bf81321e3b25c9f570e88ab3ce437969cc8012c64b2f8e",
        train="86b9f5e563a79723713018b735373694e96807d2df113e89092c50ba593a2385",
        valid="b27c96db987d829aeb7ab8025d8b26cb469d9a8b9881fe84beeab96f9c9c7d30",
        test="42cc9b400a3bfbd8908c81a14a073fe3e0c73e51b8ed05d2587255c11d257eb8",
    ),
    "umls": _drum(
        "umls",
        facts="76cdafb4d2c0f373a6376c71febcc2c7cd51ce8df020276e3a2eed2cac73c48c",
        train="9c8f18fdcb5a0cc5dbbf5ec8150e1f00e446383520f9303ca47ea77dbef0dd17",
        valid="ba822243da69339090b440d2324a83b33729d3d449132f757355a9f2bc3afca2",
        test="d72207ba52da6f9ca1a958a29e326c2b5cfa3b7a2b8d156d704644c325be3971",
    ),
    "fb15k237": {
        "entity2id.txt": _openke(
            "entity2id.txt",
            "3b7f0b19441f11d6bc9331e8d1001a056f759f00",
            "e4546cfdcd0b9bd0151cc0f6ef2edee29eb2bb55a3d47e668194999c036fba0d",
        ),
        "relation2id.txt": _openke(
            "relation2id.txt",
            "43fdf853d7d3f2953833d32c6d69219c47c9ec42",
            "fefd26d6cd5ff9d360efe5360c11bf112d019f42b3acf165a5c04aa2b66a42d9",
        ),
        "train2id.txt": _openke(
            "train2id.txt",
            "6eb892fb7289d98117baf93e9921dc533f40822d",
            "5f44223a02b39b8e398e77a787feb4f06e9ffccf1ae87047bbf38fcc8cc08bd2",
        ),
        "valid2id.txt": _openke(
            "valid2id.txt",
            "923d6b326f5f184a5279917536f2c0c6bdce61aa",
            "7d21e778de4369d5348f5cff23a08dc847ab5fce4b5f07c80113297d2dc60a86",
        ),
        "test2id.txt": _openke(
            "test2id.txt",
            "3e3c7a3b71ba11ba8e1094dd3b1255040ab0efc0",
            "6027e649c1716ac9c1ef2f24672a416aa277aff3e14850ef915ac5a21df70417",
        ),
        "entity2text.txt": _kg_bert(
            "entity2text.txt", "16beedcfad3d32696e8b0b98cfa0f5eeb144f5142225f227a64fd9ce37447da5"
        ),
        "relation2text.txt": _kg_bert(
            "relation2text.txt", "4bf7cb6ea0ac09b17ad210889f723be5e079669f6ae5d507787e1320bbaa0f72"
        ),
    },
}


def fetched_folder(name: str, hint: str) -> Path:
    """The folder of a graph in ``PINNED``, from the cache, else from its publisher.

    Args:
        name: The graph's name.
        hint: How to have the graph without the network, for the error.

    Raises:
        DataNotFoundError: A file cannot be fetched, or is not the one that is pinned.
        StorageError: The cache cannot be written.
    """
    folder = cache_folder("data", name)
    with locked(folder / "fetch"):
        for file, pinned in PINNED[name].items():
            path = folder / file
            if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == pinned.sha256:
                continue
            _log.info("Fetching %s.", pinned.url)
            content = _download(pinned, name, hint)
            with atomic_write(path) as stream:
                stream.write(content)
    return folder


def _download(pinned: PinnedFile, name: str, hint: str) -> bytes:
    try:
        with urllib.request.urlopen(pinned.url, timeout=TIMEOUT) as response:  # noqa: S310 - the scheme is ours
            content: bytes = response.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as problem:  # ValueError: a broken answer
        reason = getattr(problem, "reason", None) or problem
        raise DataNotFoundError(
            f"The graph {name} is not at hand, and {pinned.url} cannot be fetched: {reason}.", hint=hint
        ) from problem
    found = hashlib.sha256(content).hexdigest()
    if found != pinned.sha256:
        raise DataNotFoundError(
            f"{pinned.url} is not the file that is pinned: its SHA-256 is {found}, not {pinned.sha256}.", hint=hint
        )
    return content
