"""The graphs of questions that have one each, on disk: read once from their publisher's files, then one at a time.

The rows of a split are copied into the cache, their graphs as one Arrow file with a block a question and the
questions beside it, so that a question's graph can be had without reading those before it. The two are apart on
purpose: what methods get at leads to the file of graphs alone.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import orjson

from kgqa_bench.errors import DataError
from kgqa_bench.question_sets.model import SetQuestion
from kgqa_bench.storage import atomic_write, cache_folder, locked

if TYPE_CHECKING:
    import pyarrow as pa

    from kgqa_bench.graph.memory import MemoryGraph
    from kgqa_bench.question_sets.subgraph_columns import SubgraphRow

_log = logging.getLogger(__name__)

_VERSION = 1  # of the files' layout and of what is read from the same source
_REMEDY = "Delete it; it will be made again."


class QuestionsWithGraphs(NamedTuple):
    """The questions of a split in their file's order, without ``triples``, and their graphs."""

    questions: tuple[SetQuestion, ...]
    graphs: StoredGraphs


class StoredGraphs:
    """Graphs by question, each read and built when it is asked for (see ``kgqa_bench.contracts.OwnGraphs``).

    Args:
        path: The Arrow file.
        places: The block of each question that has a graph with a triple in it.
        fingerprint: Hash over all graphs with their questions.
        facts: What is recorded about them.
    """

    def __init__(self, path: Path, places: Mapping[str, int], fingerprint: str, facts: Mapping[str, Any]) -> None:
        self._path = path
        self._places = places
        self._lock = Lock()
        self.fingerprint = fingerprint
        self.facts = facts

    def load(self, question_id: str) -> MemoryGraph:
        """The graph of a question; without an entity where it has none.

        Raises:
            DataError: The file in the cache is damaged.
        """
        from kgqa_bench.graph.build import build_graph
        from kgqa_bench.graph.edgeless import edgeless_graph

        source = f"the graph of {question_id}"
        if question_id not in self._places:
            return edgeless_graph(source)
        heads, relations, tails = self._block(self._places[question_id]).columns
        names = relations.unique().to_pylist()
        words = {name: " ".join(name.replace(".", " ").replace("_", " ").split()) for name in names}
        return build_graph(heads, relations, tails, source=source, relation_labels=words)

    def _block(self, place: int) -> pa.RecordBatch:
        import pyarrow as pa

        try:
            with self._lock:
                return self._reader.get_batch(place)
        except (pa.ArrowException, OSError) as problem:
            raise DataError(f"Cannot be read: {problem}.", file=self._path, hint=_REMEDY) from problem

    @cached_property
    def _reader(self) -> pa.RecordBatchFileReader:
        import pyarrow as pa

        return pa.ipc.open_file(pa.memory_map(str(self._path)))


def stored(key: Mapping[str, Any], rows: Callable[[], Iterable[SubgraphRow]]) -> QuestionsWithGraphs:
    """The questions that ``rows`` gives and their graphs, from the cache if they were read before.

    Args:
        key: JSON-able; all that the rows depend on: hashes of files, or set and commit on the hub.
        rows: Reads them, one after the other.

    Raises:
        DataError: A row is malformed, or two have the same id.
        StorageError: The cache cannot be written.
    """
    identity = json.dumps({"version": _VERSION, **key}, sort_keys=True)
    name = hashlib.sha256(identity.encode()).hexdigest()[:32]
    graphs, questions = (cache_folder("question-graphs") / f"{name}.{suffix}" for suffix in ("arrow", "json"))
    with locked(questions):
        found = _read(graphs, questions)
        if found is None:
            _write(graphs, questions, rows())
            found = _read(graphs, questions)
        assert found is not None
        return found


def _read(graphs: Path, questions: Path) -> QuestionsWithGraphs | None:
    if not (graphs.is_file() and questions.is_file()):
        return None
    try:
        content = orjson.loads(questions.read_bytes())
    except orjson.JSONDecodeError as problem:
        _log.warning("%s is damaged and made again: %s", questions, problem)
        return None
    rows = tuple(SetQuestion(**{key: _value(value) for key, value in row.items()}) for row in content["questions"])
    return QuestionsWithGraphs(
        rows, StoredGraphs(graphs, content["places"], content["fingerprint"], content["facts"])
    )


def _value(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _write(graphs: Path, questions: Path, rows: Iterable[SubgraphRow]) -> None:
    import pyarrow as pa

    from kgqa_bench.question_sets.subgraph_columns import SCHEMA

    places: dict[str, int] = {}
    kept: dict[str, dict[str, Any]] = {}
    digest = hashlib.sha256()
    triples = without = dropped = 0
    with (
        atomic_write(graphs) as stream,
        pa.ipc.new_file(stream, SCHEMA, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer,
    ):
        for question, columns, empty in rows:
            fields = {key: value for key, value in asdict(question).items() if value is not None and value != ()}
            if kept.setdefault(question.id, fields) is not fields:
                first = kept[question.id]["line"]
                raise DataError(f"Row {first} has the same id.", line=question.line, row=question.id)
            without += columns is None
            dropped += empty
            digest.update(orjson.dumps(question.id))
            if columns is not None and len(columns):
                places[question.id] = len(places)
                writer.write_batch(columns)
                triples += len(columns)
                for column in columns.columns:
                    _update(digest, column)
    facts = {
        "questions": len(kept),
        "triples": triples,
        "questions without graph": without,
        "questions with an empty graph": len(kept) - len(places) - without,
        "triples with an empty name, left out": dropped,
    }
    with atomic_write(questions) as stream:
        stream.write(
            orjson.dumps(
                {
                    "questions": list(kept.values()),
                    "places": places,
                    "fingerprint": digest.hexdigest(),
                    "facts": facts,
                }
            )
        )


def _update(digest: Any, column: pa.StringArray) -> None:
    """Add the texts of a column, each with its length, wherever in memory it begins."""
    _validity, offset_buffer, data = column.buffers()
    offsets = np.frombuffer(offset_buffer, np.int32)[column.offset : column.offset + len(column) + 1]
    digest.update(np.diff(offsets).astype("<i4").data)
    digest.update(memoryview(data)[offsets[0] : offsets[-1]])
