"""Delimited text into columns, fast; a bad row is named by file and line.

The fast reader only notices that something is wrong. Only then are the lines read again one by one to say where.
"""

from __future__ import annotations

import csv
import gzip
import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NoReturn, TextIO

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from kgqa_bench.errors import DataError, DataNotFoundError
from kgqa_bench.graph.build_kernels import first_bad_confidence
from kgqa_bench.storage import UNREADABLE

_BLOCK = 1 << 20
"""Bytes that the fast reader takes at a time: a longer line may lie over three blocks, which it refuses."""


class Column:
    """What a column may hold."""

    type: pa.DataType

    @abstractmethod
    def holds(self, values: pa.ChunkedArray) -> bool:
        """Whether all values are allowed; they have the right type already."""

    @abstractmethod
    def problem(self, text: str) -> str | None:
        """What is wrong with one field, or None."""


@dataclass(frozen=True)
class Name(Column):
    """A name: any text but the empty one and one with a line break, the mark of a stray quote."""

    type = pa.string()

    def holds(self, values: pa.ChunkedArray) -> bool:
        """Whether no name is empty."""
        return bool(pc.min(pc.binary_length(values)).as_py() > 0)

    def broken(self, values: pa.ChunkedArray) -> bool:
        """Whether a name has a line break."""
        return bool(pc.any(pc.match_substring_regex(values, "[\r\n]")).as_py())

    def problem(self, text: str) -> str | None:
        """An empty or broken name."""
        if "\n" in text or "\r" in text:
            return "holds a line break: a quote is not closed on its line"
        return None if text else "is empty"


@dataclass(frozen=True)
class Id(Column):
    """An integer from 0 to ``size`` - 1."""

    size: int
    type = pa.int32()

    def holds(self, values: pa.ChunkedArray) -> bool:
        """Whether all ids are in range."""
        bounds = pc.min_max(values)
        return bool(bounds["min"].as_py() >= 0 and bounds["max"].as_py() < self.size)

    def problem(self, text: str) -> str | None:
        """Not an integer, or one out of range."""
        try:
            return None if 0 <= int(text) < self.size else f"{text} is not an id from 0 to {self.size - 1}"
        except ValueError:
            return f"{text!r} is not an integer id"


@dataclass(frozen=True)
class Confidence(Column):
    """A number in (0, 1]."""

    type = pa.float64()

    def holds(self, values: pa.ChunkedArray) -> bool:
        """Whether all confidences are in (0, 1]."""
        return bool(first_bad_confidence(values.to_numpy()) < 0)

    def problem(self, text: str) -> str | None:
        """Not a number, or one out of range."""
        try:
            value = float(text)
        except ValueError:
            return f"{text!r} is not a number"
        if math.isnan(value) or not 0.0 < value <= 1.0:
            return f"{text} is not in (0, 1]"
        return None


def read_table(
    path: Path, columns: Mapping[str, Column], *, delimiter: str = "\t", quoted: bool = False, skip: int = 0
) -> pa.Table:
    """Read a delimited text file, gzipped where its name ends in ``.gz``; empty lines are passed over.

    Args:
        path: The file, UTF-8, with any line ends.
        columns: Name and content of each column, in order.
        delimiter: Between two fields.
        quoted: Fields may be in double quotes; otherwise quotes are letters like any other.
        skip: Lines to pass over at the start.

    Raises:
        DataNotFoundError: There is no such file.
        DataError: A malformed row, named by line; no row at all.
    """
    require_file(path)
    try:
        table = arrow_csv.read_csv(
            str(path),
            read_options=arrow_csv.ReadOptions(
                use_threads=False, block_size=_BLOCK, column_names=list(columns), skip_rows=skip
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter, quote_char='"' if quoted else False, newlines_in_values=quoted
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types={name: column.type for name, column in columns.items()}, null_values=[]
            ),
        )
    except (pa.ArrowInvalid, OSError) as problem:
        _locate(path, columns, delimiter, quoted, skip, str(problem))
    if table.num_rows == 0:
        raise DataError("the file has no rows.", file=path)
    if not all(column.holds(table[name]) for name, column in columns.items()) or (
        quoted and any(isinstance(column, Name) and column.broken(table[name]) for name, column in columns.items())
    ):
        _locate(path, columns, delimiter, quoted, skip, "a value is out of range")
    return table


def require_file(path: Path) -> None:
    """DataNotFoundError where ``path`` is no file."""
    if not path.is_file():
        raise DataNotFoundError(f"There is no file {path}.", hint="Check the path, or the folder given by --data.")


def open_text(path: Path) -> TextIO:
    """A text file, gzipped or not, with bytes that are not UTF-8 kept as surrogates."""
    require_file(path)
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline=None)
    return path.open(encoding="utf-8-sig", errors="surrogateescape", newline=None)


def is_utf8(text: str) -> bool:
    """Whether a text of ``open_text`` was UTF-8 in its file."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def rows(path: Path, delimiter: str, quoted: bool, skip: int = 0) -> Iterator[tuple[int, list[str]]]:
    """Line number (from 1) and fields of each line that is not empty. For heads of files and for bad files."""
    with open_text(path) as stream:
        lines = islice(stream, skip, None)
        if quoted:
            reader = csv.reader(lines, delimiter=delimiter, strict=True)
            start = 1
            for fields in reader:
                if fields:
                    yield skip + start, fields
                start = reader.line_num + 1
        else:
            for number, line in enumerate(lines, skip + 1):
                text = line.rstrip("\n")
                if text:
                    yield number, text.split(delimiter)


def _locate(
    path: Path, columns: Mapping[str, Column], delimiter: str, quoted: bool, skip: int, otherwise: str
) -> NoReturn:
    """Raise the DataError for the first bad row."""
    number = skip
    try:
        for number, fields in rows(path, delimiter, quoted, skip):
            if len(fields) != len(columns):
                raise DataError(
                    f"{len(fields)} columns instead of {len(columns)} ({', '.join(columns)}).",
                    file=path,
                    line=number,
                    hint=f"Separate the fields by {'a tab' if delimiter == chr(9) else repr(delimiter)}.",
                )
            for (name, column), text in zip(columns.items(), fields, strict=True):
                if not is_utf8(text):
                    raise DataError(f"{name}: not UTF-8.", file=path, line=number, hint="Convert the file to UTF-8.")
                problem = column.problem(text)
                if problem:
                    raise DataError(f"{name}: {problem}.", file=path, line=number, hint=_REMEDIES.get(type(column)))
            if sum(len(text.encode()) + 1 for text in fields) > _BLOCK:
                raise DataError(
                    "The line is longer than 1 MiB.",
                    file=path,
                    line=number,
                    hint="Shorten its names, or leave it out.",
                )
    except csv.Error as problem:
        raise DataError(
            f"malformed quotes or too long a field ({problem}).",
            file=path,
            line=number + 1,
            hint="Close every quote on its line, and write a quote inside quotes twice.",
        ) from problem
    except UNREADABLE as problem:
        raise DataError(f"the file cannot be read: {problem}.", file=path) from problem
    if number == skip:
        raise DataError("the file has no rows.", file=path, hint="Give at least one row.")
    raise DataError(f"the file cannot be read: {otherwise}.", file=path)


_REMEDIES: dict[type[Column], str] = {
    Name: "Fill it in or leave the row out.",
    Id: "The ids are those of the tables of names beside this file.",
    Confidence: "Rescale the confidences to (0, 1], and leave out triples that do not hold at all.",
}
