"""Rows of JSON, JSON-lines and Parquet files, one after the other."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

from kgqa_bench.errors import DataError, DataNotFoundError
from kgqa_bench.storage import UNREADABLE

Row = Mapping[str, Any]

REMEDY = "The file is damaged or of another version: get it again from its publisher."
PARQUET_BATCH = 64
"""Rows decoded at once: some hold a graph of tens of thousands of triples."""


def json_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Number, counted from 1, and content of each row.

    JSON lines (``.jsonl``, perhaps ``.gz``; by line) and Parquet are streamed; a JSON list is read whole.

    Raises:
        DataNotFoundError: There is no such file.
        DataError: It is malformed; names line or row.
    """
    if path.suffix == ".parquet":
        numbered: Iterator[tuple[int, Any]] = _parquet(path)
    elif path.name.removesuffix(".gz").endswith(".jsonl") or not _is_list(path):
        numbered = _lines(path)
    else:
        numbered = _list(path)
    for number, row in numbered:
        if not isinstance(row, dict):
            raise DataError("A row must be a JSON object.", file=path, line=number, hint=REMEDY)
        yield number, row


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Number, counted from 1, and text of each line that is not empty. Errors as for ``json_rows``."""
    for number, line in _raw_lines(path):
        try:
            yield number, line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as problem:
            raise DataError("Not UTF-8.", file=path, line=number, hint="Convert the file to UTF-8.") from problem


def text_list(row: Row, key: str) -> tuple[str, ...]:
    """A text or a list of texts under ``key``; a missing or null one is an empty list. ValueError otherwise."""
    value = row.get(key)
    if value is None or value == "":
        return ()
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(each, str) for each in values):
        raise ValueError(f"{key} must be a text or a list of texts.")
    return tuple(values)


def text(row: Row, *keys: str) -> str:
    """The first of the keys that the row has, as text; numbers are written out. ValueError where there is none."""
    for key in keys:
        value = row.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    raise ValueError(f"There is no {' nor '.join(keys)}.")


def _open(path: Path) -> BinaryIO:
    if not path.is_file():
        raise DataNotFoundError(f"There is no question file {path}.", hint="Check the path.")
    return cast(BinaryIO, gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def _raw_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with _open(path) as stream:
            for number, line in enumerate(stream, 1):
                content = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                if content.strip():
                    yield number, content
    except UNREADABLE as problem:
        raise DataError(f"Cannot be read: {problem}.", file=path, hint=REMEDY) from problem


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    for number, line in _raw_lines(path):
        try:
            yield number, orjson.loads(line)
        except orjson.JSONDecodeError as problem:
            raise DataError(f"Not JSON: {problem.msg}.", file=path, line=number, hint=REMEDY) from problem


def _is_list(path: Path) -> bool:
    _number, first = next(_raw_lines(path), (0, b""))
    return first.lstrip().startswith(b"[")


def _list(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        with _open(path) as stream:
            rows = orjson.loads(stream.read())
    except UNREADABLE as problem:
        raise DataError(f"Cannot be read: {problem}.", file=path, hint=REMEDY) from problem
    except orjson.JSONDecodeError as problem:
        raise DataError(f"Not JSON: {problem.msg}.", file=path, line=problem.lineno, hint=REMEDY) from problem
    yield from enumerate(rows, 1)


def _parquet(path: Path) -> Iterator[tuple[int, Any]]:
    import pyarrow as pa
    from pyarrow import parquet

    if not path.is_file():
        raise DataNotFoundError(f"There is no question file {path}.", hint="Check the path.")
    number = 0
    try:
        with parquet.ParquetFile(path) as table:
            for batch in table.iter_batches(batch_size=PARQUET_BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except (pa.ArrowException, OSError) as problem:
        raise DataError(f"Cannot be read: {problem}.", file=path, hint=REMEDY) from problem
