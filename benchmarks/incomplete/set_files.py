"""The files of a degraded question set, written row by row into a folder that is there whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from kgqa_bench.errors import DataError, StorageError

from .package import require_free

FORMAT = 1
COMPLETE, INCOMPLETE, REMOVED = "triples.complete.tsv", "triples.incomplete.tsv", "triples.removed.tsv"
MANIFEST, CARD = "manifest.json", "README.md"


class SetFiles:
    """Files in a folder, opened when first written to and hashed as they grow."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._streams: dict[str, BinaryIO] = {}
        self._hashes: dict[str, Any] = {}

    def write(self, name: str, data: bytes) -> None:
        """Append to a file."""
        if name not in self._streams:
            self._streams[name] = (self._folder / name).open("wb")
            self._hashes[name] = hashlib.sha256()
        self._streams[name].write(data)
        self._hashes[name].update(data)

    def finish(self, facts: Mapping[str, Any]) -> None:
        """Write the card and, with the hashes of all other files, the manifest."""
        self.write(
            CARD, _card(facts, sorted(name for name in self._streams if name.startswith("questions."))).encode()
        )
        files = {name: digest.hexdigest() for name, digest in sorted(self._hashes.items())}
        manifest = {"format": FORMAT, **facts, "files": files}
        self.write(MANIFEST, orjson.dumps(manifest, option=orjson.OPT_INDENT_2) + b"\n")

    def close(self) -> None:
        """Close all files, their content on the disk."""
        for stream in self._streams.values():
            if not stream.closed:
                with stream:
                    stream.flush()
                    os.fsync(stream.fileno())


@contextlib.contextmanager
def set_folder(out: Path) -> Iterator[SetFiles]:
    """The files of a new folder ``out``: filled in a hidden folder beside it, renamed when the block ends well.

    Raises:
        ConfigError: ``out`` is in use.
        StorageError: The disk is full, or the folder cannot be written; nothing is left behind.
    """
    require_free(out)
    temporary: Path | None = None
    files: SetFiles | None = None
    try:
        temporary = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}."))
        files = SetFiles(temporary)
        yield files
        files.close()
        temporary.chmod(0o755)
        if out.is_dir():
            out.rmdir()  # it was empty; a folder that has been filled since is refused here
        temporary.rename(out)
        temporary = None
    except OSError as problem:
        raise StorageError(
            f"Cannot write {out}: {problem.strerror or problem}.", hint="Free some space or choose another --out."
        ) from problem
    finally:
        if temporary is not None:
            if files is not None:
                with contextlib.suppress(OSError):  # what a full disk could not take is thrown away with the rest
                    files.close()
            shutil.rmtree(temporary, ignore_errors=True)


def split_file(kind: str, split: str) -> str:
    """``questions.dev-1hop.jsonl`` for the questions of the split ``dev 1hop``."""
    return f"{kind}.{re.sub(r'[^A-Za-z0-9_-]+', '-', split).strip('-') or 'all'}.jsonl"


def check_field(text: str) -> str:
    """``text``, which may stand between tabs on a line. DataError where it may not."""
    if not text or any(letter in text for letter in "\t\n\r"):
        raise DataError(f"The name {text!r} is empty or has a tab or a line end.", hint="Rename it in the graph.")
    return text


def _card(facts: Mapping[str, Any], questions: list[str]) -> str:
    settings, figures = facts["settings"], facts["figures"]
    share = f"{100 * settings['rate']:g} %"
    what = {
        "random": f"{share} of its triples, drawn at random",
        "shortest-path": f"one triple of a shortest path from topic to answer of {share} of the questions",
    }[settings["removal"]]
    lines = ["---", "configs:", "- config_name: default", "  data_files:"]
    for name in questions:
        split = name.removeprefix("questions.").removesuffix(".jsonl").replace("-", "_")
        lines += [f"  - split: {split}", f"    path: {name}"]
    lines += ["---", "", f"# {facts['name']}", ""]
    lines += [f"Questions over {facts['kg']} without {what} (seed {settings['seed']}).", "", "| | |", "|---|---|"]
    lines += [f"| {key} | {value:,} |" for key, value in figures.items()]
    return "\n".join(lines) + "\n"
