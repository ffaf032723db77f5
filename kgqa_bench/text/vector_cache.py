"""One persistent cache of text vectors per model, shared by threads, processes and runs.

Two append-only files in one folder, each a 64-byte header and rows of one size, row n of one belonging to row n of
the other: ``vectors.bin`` (float32 vectors) and ``keys.bin`` (16-byte BLAKE2b hashes of the texts). The header
holds the format's version, the dimension, the model's fingerprint, and an id that both files share.

Everything but the lookup of known rows happens under the lock file: whoever holds it first cuts what a killed
process or a full disk left torn, then takes in the rows of others, then appends the vectors, syncs them, and
appends the keys. So a whole key row always has its vector and is never cut again, and mapped rows stay good. A
pair of files that cannot be of this cache (foreign header, other dimension, keys without vectors) is set aside
with a warning and a new one begun.
"""

from __future__ import annotations

import logging
import os
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kgqa_bench.errors import StorageError
from kgqa_bench.storage import CACHE_VARIABLE, locked
from kgqa_bench.text.types import Vectors

_log = logging.getLogger(__name__)

_MAGIC = b"KGQAVEC1"
_HEADER = struct.Struct("<8s16sI16s20x")  # magic, id of the pair, dimension, fingerprint of the model
_KEY_BYTES = 16
_MAX_RECENT = 1_000_000


class _Header(NamedTuple):
    pair: bytes
    dimension: int
    fingerprint: bytes


class VectorCache:
    """Vectors by text. Thread-safe; several processes may use one folder at once.

    Args:
        folder: Where the two files lie; made by the caller.
        dimension: Length of a vector.
        fingerprint: What the vectors depend on besides the text; 16 bytes.

    Raises:
        StorageError: When the files cannot be read or written.
    """

    def __init__(self, folder: Path, dimension: int, fingerprint: bytes) -> None:
        self._keys_file = folder / "keys.bin"
        self._vectors_file = folder / "vectors.bin"
        self._dimension = dimension
        self._fingerprint = fingerprint
        self._vector_bytes = 4 * dimension
        self._lock = threading.RLock()
        self._pair = b""
        self._count = 0
        self._rows: dict[bytes, int] = {}  # by key, every row known
        self._recent: dict[str, int] = {}  # by text, those asked for in this process: spares hashing them again
        self._vectors: Vectors = np.empty((0, dimension), np.float32)
        with self._files():
            pass

    def __len__(self) -> int:
        """Number of vectors known to this process."""
        return len(self._rows)

    def get(self, texts: Sequence[str]) -> tuple[Vectors, list[int]]:
        """The vectors of ``texts``, shape (len(texts), dimension), and the positions that are not cached.

        Rows at those positions are undefined. About 0.3 µs a text asked for before, 2 µs else.
        """
        with self._lock:
            rows = self._find(texts)
            if None in rows:
                with self._files():  # another process may have added them, or begun a new pair
                    pass
                rows = self._find(texts)
            missing = [position for position, row in enumerate(rows) if row is None]
            if len(missing) == len(rows):
                return np.empty((len(rows), self._dimension), np.float32), missing
            return np.take(self._vectors, [row or 0 for row in rows], axis=0), missing

    def put(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Append the vectors of texts not cached yet; where another process was faster, its vector stays.

        Raises:
            StorageError: When they cannot be written; what was cached before stays good.
            ValueError: When the shape is not (len(texts), dimension).
        """
        if vectors.shape != (len(texts), self._dimension):
            raise ValueError(f"Got {vectors.shape} vectors for {len(texts)} texts of dimension {self._dimension}.")
        with self._lock, self._files():
            new: dict[bytes, int] = {}
            for position, text in enumerate(texts):
                key = _key(text)
                if key not in self._rows:
                    new.setdefault(key, position)
            if new:
                block = np.ascontiguousarray(vectors[list(new.values())], dtype="<f4")
                _append(self._vectors_file, block.tobytes(), sync=True)
                _append(self._keys_file, b"".join(new))
                self._read_new_rows()

    def _find(self, texts: Sequence[str]) -> list[int | None]:
        rows = list(map(self._recent.get, texts))
        if None in rows:
            if len(self._recent) > _MAX_RECENT:
                self._recent.clear()
            for position, text in enumerate(texts):
                if rows[position] is None and (row := self._rows.get(_key(text))) is not None:
                    rows[position] = self._recent[text] = row
        return rows

    # -- files -----------------------------------------------------------------------------------------

    @contextmanager
    def _files(self) -> Iterator[None]:
        """Hold the lock, with both files sound and ended at a whole row, and all their rows known."""
        with _explained(self._keys_file), locked(self._keys_file):
            header = self._sound_header()
            if header is None:
                self._set_aside()
                header = self._begin()
            if header.pair != self._pair:
                self._pair, self._count = header.pair, 0
                self._rows, self._recent = {}, {}
            rows = _whole_rows(self._keys_file, _KEY_BYTES)
            _cut(self._keys_file, _HEADER.size + rows * _KEY_BYTES)
            _cut(self._vectors_file, _HEADER.size + rows * self._vector_bytes)
            self._read_new_rows()
            yield

    def _read_new_rows(self) -> None:
        """Take in the rows that this or another process appended since the last look."""
        with self._keys_file.open("rb") as stream:
            stream.seek(_HEADER.size + self._count * _KEY_BYTES)
            block = stream.read()
        if not block:
            return
        for start in range(0, len(block), _KEY_BYTES):
            self._rows.setdefault(block[start : start + _KEY_BYTES], self._count + start // _KEY_BYTES)
        self._count += len(block) // _KEY_BYTES
        self._vectors = np.memmap(
            self._vectors_file, dtype="<f4", mode="r", offset=_HEADER.size, shape=(self._count, self._dimension)
        )

    def _sound_header(self) -> _Header | None:
        """The header both files share; None where they are missing or cannot be of this cache."""
        keys, vectors = _read_header(self._keys_file), _read_header(self._vectors_file)
        if keys is None or keys != vectors:
            return None
        if (keys.dimension, keys.fingerprint) != (self._dimension, self._fingerprint):
            return None
        if _whole_rows(self._keys_file, _KEY_BYTES) > _whole_rows(self._vectors_file, self._vector_bytes):
            return None
        return keys

    def _set_aside(self) -> None:
        files = [file for file in (self._keys_file, self._vectors_file) if file.exists()]
        # a writer killed while it began the pair leaves no more than headers
        if any(file.stat().st_size > _HEADER.size for file in files):
            mark = os.urandom(4).hex()
            for file in files:
                file.rename(file.with_name(f"{file.name}.damaged-{mark}"))
            _log.warning(
                "The vector cache in %s is damaged or of another model: its files are set aside as *.damaged-%s and "
                "a new cache is begun. They may be deleted.",
                self._keys_file.parent,
                mark,
            )

    def _begin(self) -> _Header:
        header = _Header(os.urandom(16), self._dimension, self._fingerprint)
        for file in (self._vectors_file, self._keys_file):
            file.write_bytes(_HEADER.pack(_MAGIC, *header))
        return header


def _key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()


def _read_header(file: Path) -> _Header | None:
    """The file's header; None where there is no such file or it is not of this format."""
    try:
        with file.open("rb") as stream:
            block = stream.read(_HEADER.size)
    except FileNotFoundError:
        return None
    if len(block) < _HEADER.size or not block.startswith(_MAGIC):
        return None
    _, pair, dimension, fingerprint = _HEADER.unpack(block)
    return _Header(pair, dimension, fingerprint)


def _whole_rows(file: Path, row_bytes: int) -> int:
    return (file.stat().st_size - _HEADER.size) // row_bytes


def _cut(file: Path, size: int) -> None:
    if file.stat().st_size != size:
        os.truncate(file, size)


def _append(file: Path, block: bytes, *, sync: bool = False) -> None:
    rest = memoryview(block)
    with file.open("ab", buffering=0) as stream:
        while rest:
            rest = rest[stream.write(rest) :]
        if sync:
            os.fsync(stream.fileno())


@contextmanager
def _explained(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise StorageError(
            f"Cannot use the vector cache in {file.parent}: {problem.strerror or problem}.",
            hint=f"Free some space there, or set {CACHE_VARIABLE} to a folder that can be written.",
        ) from problem
