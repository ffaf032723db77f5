"""Built graphs on disk: one file of plain arrays a graph, checked when it is read."""

from __future__ import annotations

import hashlib
import json
import logging
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kgqa_bench.errors import DataError, StorageError
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.names import NameTable, StringTable
from kgqa_bench.graph.store import ADJACENCY, Store
from kgqa_bench.storage import atomic_write, cache_folder, locked

_log = logging.getLogger(__name__)

_MAGIC = b"kgqa-bench graph\n"
_VERSION = 1  # of the file's layout and of what building makes of the same source
_ALIGNMENT = 64
_TABLES = ("entity_names", "relation_names", "entity_label_table", "relation_label_table")


def load_cached(key: Mapping[str, Any], build: Callable[[], MemoryGraph]) -> MemoryGraph:
    """The graph that ``build`` makes, from the cache if it was built before.

    Args:
        key: JSON-able; all that the graph depends on: source, settings, ``file_hashes`` of the files read.
        build: Makes the graph (no overlay).

    A damaged file is reported in the log and built anew. Where the cache cannot be written that is reported too,
    and the graph is returned all the same.
    """
    identity = json.dumps({"version": _VERSION, **key}, sort_keys=True)
    name = hashlib.sha256(identity.encode()).hexdigest()[:32]
    try:
        path = cache_folder("graphs") / f"{name}.graph"
        graph = _read_if_sound(path, identity)
        if graph is not None:
            return graph
        with locked(path):
            graph = _read_if_sound(path, identity, quiet=True)  # another process may have been first
            if graph is None:
                graph = build()
                write_graph(path, graph, identity)
            return graph
    except StorageError as problem:
        _log.warning("The graph is not cached: %s", problem)
        return build()


def file_hashes(paths: Iterable[Path]) -> dict[str, str]:
    """The SHA-256 of each file that is there, by file name."""
    result = {}
    for path in paths:
        if path.is_file():
            with path.open("rb") as stream:
                result[path.name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return result


def write_graph(path: Path, graph: MemoryGraph, identity: str) -> None:
    """Write the arrays behind ``graph``, with a checksum. StorageError where the file cannot be written."""
    store = graph.store
    arrays = {name: getattr(store, name) for name in ADJACENCY}
    for name in _TABLES:
        table = getattr(store, name)
        if table is not None:
            arrays |= {f"{name}.blob": table.blob, f"{name}.offsets": table.offsets}
    checksum = 0
    for array in arrays.values():
        checksum = _checksum(array, checksum)
    header = json.dumps(
        {
            "identity": identity,
            "arrays": [[name, array.dtype.str, len(array)] for name, array in arrays.items()],
            "checksum": checksum,
            "provenance": dict(store.provenance),
        }
    ).encode()
    with atomic_write(path) as stream:
        stream.write(_MAGIC + len(header).to_bytes(8, "little") + zlib.crc32(header).to_bytes(4, "little") + header)
        for array in arrays.values():
            stream.write(bytes(-stream.tell() % _ALIGNMENT))
            stream.write(array.data)


def read_graph(path: Path, identity: str) -> MemoryGraph:
    """Read a file of ``write_graph``. DataError where it is damaged, foreign, or of another ``identity``."""
    block = np.fromfile(path, np.uint8)
    start = len(_MAGIC) + 12
    if block[: len(_MAGIC)].tobytes() != _MAGIC or len(block) < start:
        raise DataError("this is not a graph of this program.", file=path)
    size = int.from_bytes(block[len(_MAGIC) : start - 4].tobytes(), "little")
    text = block[start : start + size].tobytes()
    if len(text) != size or zlib.crc32(text) != int.from_bytes(block[start - 4 : start].tobytes(), "little"):
        raise DataError("the file is damaged.", file=path)
    header = json.loads(text)
    if header["identity"] != identity:
        raise DataError("the file holds another graph.", file=path)
    arrays: dict[str, npt.NDArray[Any]] = {}
    position, checksum = start + size, 0
    for name, dtype, length in header["arrays"]:
        position += -position % _ALIGNMENT
        nbytes = np.dtype(dtype).itemsize * length
        if position + nbytes > len(block):
            raise DataError("the file is cut off.", file=path)
        arrays[name] = block[position : position + nbytes].view(dtype)
        checksum = _checksum(arrays[name], checksum)
        position += nbytes
    if checksum != header["checksum"] or position != len(block):
        raise DataError("the file is damaged.", file=path)
    return MemoryGraph(
        Store(
            **{name: arrays[name] for name in ADJACENCY},
            entity_names=NameTable(arrays["entity_names.blob"], arrays["entity_names.offsets"]),
            relation_names=NameTable(arrays["relation_names.blob"], arrays["relation_names.offsets"]),
            entity_label_table=_labels(arrays, "entity_label_table"),
            relation_label_table=_labels(arrays, "relation_label_table"),
            provenance=header["provenance"],
        )
    )


def _labels(arrays: Mapping[str, npt.NDArray[Any]], name: str) -> StringTable | None:
    if f"{name}.blob" not in arrays:
        return None
    return StringTable(arrays[f"{name}.blob"], arrays[f"{name}.offsets"])


def _checksum(array: npt.NDArray[Any], start: int) -> int:
    return zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data, start)


def _read_if_sound(path: Path, identity: str, *, quiet: bool = False) -> MemoryGraph | None:
    if not path.is_file():
        return None
    try:
        return read_graph(path, identity)
    except (DataError, OSError) as problem:
        if not quiet:
            _log.warning("The cached graph is built anew: %s", problem)
        return None
