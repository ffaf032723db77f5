"""Questions with their own graphs in columns: of Parquet the triples never become Python values.

RoG-cwq holds about 35,000 graphs, 11 GB decoded. A file is read a few rows at a time, whatever its row groups are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from kgqa_bench.errors import DataError, DataNotFoundError
from kgqa_bench.question_sets.files import REMEDY
from kgqa_bench.question_sets.model import SetQuestion
from kgqa_bench.question_sets.subgraphs import checked_question, read_subgraphs

SCHEMA = pa.schema([(name, pa.string()) for name in ("head", "relation", "tail")])
_ROWS = 16  # decoded at once
_BUFFER = 1 << 20  # bytes read at once, instead of a whole column of a row group
_PARTS = ("graph", "choices")
_SHAPE = "The graph must be a list of triples of three texts."


class SubgraphRow(NamedTuple):
    """A question, its ``triples`` left out, and these as columns of ``SCHEMA``.

    Attributes:
        question: The question.
        triples: None where the row has no graph.
        dropped: Triples left out because a name in them is empty.
    """

    question: SetQuestion
    triples: pa.RecordBatch | None
    dropped: int


def subgraph_rows(path: Path, split: str, *, graphs: bool = True) -> Iterator[SubgraphRow]:
    """The rows of a file in its order.

    Args:
        path: A file as ``read_subgraphs`` reads it.
        split: Its split.
        graphs: Read the graphs; else every row is without, and of Parquet they are not decoded at all.

    Raises:
        DataNotFoundError: There is no such file.
        DataError: A row is malformed; names it.
    """
    if path.suffix == ".parquet":
        yield from _parquet_rows(path, split, graphs)
        return
    for question in read_subgraphs(path, split):
        columns = zip(*question.triples, strict=True) if question.triples else ((), (), ())
        batch = None
        if graphs and question.triples is not None:
            batch = pa.record_batch([pa.array(column, pa.string()) for column in columns], schema=SCHEMA)
        yield _row(question, batch)


def _parquet_rows(path: Path, split: str, graphs: bool) -> Iterator[SubgraphRow]:
    if not path.is_file():
        raise DataNotFoundError(f"There is no question file {path}.", hint="Check the path.")
    line = 0
    try:
        with parquet.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False) as table:
            names = table.schema_arrow.names
            plain = [name for name in names if name not in _PARTS]
            wanted = [*plain, "graph"] if graphs and "graph" in names else plain
            for batch in table.iter_batches(_ROWS, columns=wanted, use_threads=False):
                column = batch.column("graph") if "graph" in wanted else None
                for place, row in enumerate(batch.select(plain).to_pylist()):
                    line += 1
                    yield _checked(row, None if column is None else column[place], path, split, line)
    except (pa.ArrowException, OSError) as problem:
        raise DataError(f"Cannot be read: {problem}.", file=path, hint=REMEDY) from problem


def _checked(row: dict[str, Any], graph: Any, path: Path, split: str, line: int) -> SubgraphRow:
    try:
        question = checked_question(row, split, line)
        return _row(question, None if graph is None or not graph.is_valid else _columns(graph.values))
    except (ValueError, TypeError, KeyError, AttributeError) as problem:
        reason = f"There is no {problem}." if isinstance(problem, KeyError) else str(problem)
        row_id = str(row["id"]) if "id" in row else None
        raise DataError(reason, file=path, line=line, row=row_id, hint=REMEDY) from problem


def _columns(triples: Any) -> pa.RecordBatch:
    """A list of lists of three texts as three columns. ValueError where it is none."""
    if not hasattr(triples, "flatten") or triples.null_count:
        raise ValueError(_SHAPE)
    if len(triples) and not pc.all(pc.equal(pc.list_value_length(triples), 3)).as_py():
        raise ValueError(_SHAPE)
    flat = triples.flatten()
    if flat.null_count or not (pa.types.is_string(flat.type) or pa.types.is_large_string(flat.type)):
        raise ValueError(_SHAPE)
    places = np.arange(0, len(flat), 3)
    return pa.record_batch([flat.take(places + part).cast(pa.string()) for part in range(3)], schema=SCHEMA)


def _row(question: SetQuestion, triples: pa.RecordBatch | None) -> SubgraphRow:
    question = replace(question, triples=None)
    if triples is None:
        return SubgraphRow(question, None, 0)
    shortest = [pc.min(pc.binary_length(column)).as_py() for column in triples.columns]
    if 0 not in shortest:
        return SubgraphRow(question, triples, 0)
    full = [pc.greater(pc.binary_length(column), 0) for column in triples.columns]
    kept = triples.filter(pc.and_(pc.and_(full[0], full[1]), full[2]))
    return SubgraphRow(question, kept, len(triples) - len(kept))
