"""The files of a degraded question set, written row by row into a folder that is there whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import orjson

from kgqa_bench.errors import DataError
from kgqa_bench.whole_folder import whole_folder

from .package import CARD, FORMAT, MANIFEST


class Files(Protocol):
    """Where the files of a set go, row by row."""

    def write(self, name: str, data: bytes) -> None:
        """Append whole lines to a file."""
        ...

    def finish(self, facts: Mapping[str, Any]) -> None:
        """Last of all the card and the manifest, which is ``facts`` and the hashes of all other files."""
        ...


class SetFiles:
    """Files in a folder, opened when first written to and hashed as they grow."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open = contextlib.ExitStack()
        self._streams: dict[str, BinaryIO] = {}
        self._hashes: dict[str, Any] = {}

    def write(self, name: str, data: bytes) -> None:
        """See ``Files.write``."""
        if name not in self._streams:
            self._streams[name] = self._open.enter_context((self._folder / name).open("wb"))
            self._hashes[name] = hashlib.sha256()
        self._streams[name].write(data)
        self._hashes[name].update(data)

    def finish(self, facts: Mapping[str, Any]) -> None:
        """See ``Files.finish``."""
        self.write(CARD, render_card(facts, self._streams).encode())
        self.write(MANIFEST, render_manifest(facts, {name: sha.hexdigest() for name, sha in self._hashes.items()}))

    def close(self) -> None:
        """Close all files."""
        self._open.close()


@contextlib.contextmanager
def set_folder(out: Path) -> Iterator[SetFiles]:
    """The files of a new folder ``out``. Errors as for ``whole_folder``."""
    with whole_folder(out) as folder, contextlib.closing(SetFiles(folder)) as files:
        yield files


def split_file(kind: str, split: str) -> str:
    """``questions.dev-1hop.jsonl`` for the questions of the split ``dev 1hop``."""
    return f"{kind}.{re.sub(r'[^A-Za-z0-9_-]+', '-', split).strip('-') or 'all'}.jsonl"


def check_field(text: str) -> str:
    """``text``, which may stand between tabs on a line. DataError where it may not."""
    if not text or any(letter in text for letter in "\t\n\r"):
        raise DataError(f"The name {text!r} is empty or has a tab or a line end.", hint="Rename it in the graph.")
    return text


def render_manifest(facts: Mapping[str, Any], hashes: Mapping[str, str]) -> bytes:
    """manifest.json."""
    manifest = {"format": FORMAT, **facts, "files": dict(sorted(hashes.items()))}
    return orjson.dumps(manifest, option=orjson.OPT_INDENT_2) + b"\n"


def render_card(facts: Mapping[str, Any], files: Iterable[str]) -> str:
    """README.md, for a manifest's ``facts`` and the names of the set's files."""
    settings, figures = facts["settings"], facts["figures"]
    share = f"{100 * settings['rate']:g} %"
    what = {
        "random": f"{share} of its triples, drawn at random",
        "shortest-path": f"one triple of a shortest path from topic to answer of {share} of the questions",
    }[settings["removal"]]
    lines = ["---", "configs:", "- config_name: default", "  data_files:"]
    for name in sorted(name for name in files if name.startswith("questions.")):
        split = name.removeprefix("questions.").removesuffix(".jsonl").replace("-", "_")
        lines += [f"  - split: {split}", f"    path: {name}"]
    lines += ["---", "", f"# {facts['name']}", ""]
    lines += [f"Questions over {facts['kg']} without {what} (seed {settings['seed']}).", "", "| | |", "|---|---|"]
    lines += [f"| {key} | {value:,} |" for key, value in figures.items()]
    return "\n".join(lines) + "\n"
