"""Graphs as delimited text: head, relation, tail and, in a fourth column, the confidence.

``.tsv`` and ``.txt`` are separated by tabs and know no quotes; ``.csv`` is separated by commas, and fields may be
in double quotes. Either may be gzipped (``.gz``). A first line that reads ``head``, ``relation``, ``tail`` and
perhaps ``confidence`` is a header.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa

from kgqa_bench.errors import ConfigError, DataError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.merging import MergeRule
from kgqa_bench.graph.table import Column, Confidence, Name, read_table, require_file, rows
from kgqa_bench.storage import UNREADABLE

DELIMITERS = {".tsv": "\t", ".txt": "\t", ".csv": ","}
COLUMNS: dict[str, Column] = {"head": Name(), "relation": Name(), "tail": Name(), "confidence": Confidence()}


def read_text(path: Path, *, merge: MergeRule = "max") -> MemoryGraph:
    """Read a graph from delimited text. Without a fourth column all confidences are 1.

    Raises:
        DataNotFoundError: There is no such file.
        DataError: The file is empty, or a row is malformed or has a confidence outside (0, 1]; names the line.
        ConfigError: The file's name tells no format.
    """
    suffix = Path(path.name.removesuffix(".gz")).suffix
    if suffix not in DELIMITERS:
        raise ConfigError(f"{path}: unknown kind of graph file.", hint=f"Name it {', '.join(DELIMITERS)} (or …gz).")
    delimiter, quoted = DELIMITERS[suffix], suffix == ".csv"
    header, width = _first_row(path, delimiter, quoted)
    table = read_table(
        path, dict(list(COLUMNS.items())[:width]), delimiter=delimiter, quoted=quoted, skip=header or 0
    )
    graph = build_graph(
        table["head"],
        table["relation"],
        table["tail"],
        table["confidence"] if width == len(COLUMNS) else None,
        source=path.name,
        merge=merge,
        provenance={"confidences": "fourth column" if width == len(COLUMNS) else "all 1"},
    )
    del table
    pa.default_memory_pool().release_unused()  # it keeps as much as the table needed
    return graph


def _first_row(path: Path, delimiter: str, quoted: bool) -> tuple[int | None, int]:
    """The line number of the header, if there is one, and the number of columns."""
    require_file(path)
    try:
        number, fields = next(rows(path, delimiter, quoted), (0, []))
    except (*UNREADABLE, csv.Error) as problem:
        raise DataError(f"the first row cannot be read: {problem}.", file=path, line=1) from problem
    if number == 0:
        raise DataError("the file is empty.", file=path, hint="Give at least one quadruple.")
    names = tuple(COLUMNS)
    if len(fields) not in (len(names) - 1, len(names)):
        raise DataError(
            f"{len(fields)} column{'s' * (len(fields) != 1)} instead of 3 or 4 ({', '.join(names)}).",
            file=path,
            line=number,
            hint=f"Separate the fields by {'a tab' if delimiter == chr(9) else 'a comma'}.",
        )
    return (number if tuple(fields) == names[: len(fields)] else None), len(fields)
