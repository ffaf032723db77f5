"""The graph of a built benchmark: a folder with the triples of the complete and of the incomplete graph.

Question sets over a graph made incomplete to a degree are such folders too, without a file of relations.
Entities have no labels but their names there: what these stand for lies in labels.tsv, which is not read.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from kgqa_bench.errors import DataError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.table import Column, Name, read_table, rows
from kgqa_bench.graph.text_format import COLUMNS

View = Literal["incomplete", "complete"]
COMPLETE, RELATIONS = "triples.complete.tsv", "relations.tsv"
_RELATION_COLUMNS: dict[str, Column] = {"relation": Name(), "label": Name()}
_ESCAPE = re.compile(r"\\(.)")
_LETTERS = {"t": "\t", "n": "\n", "r": "\r"}


def read_built(folder: Path, view: View) -> MemoryGraph:
    """Read one of the two graphs of a built benchmark. Both have the same entities and relations.

    Args:
        folder: Holds triples.complete.tsv, triples.incomplete.tsv and perhaps relations.tsv.
        view: Which graph.

    Raises:
        DataNotFoundError: A file is missing.
        DataError: A row is malformed, or the incomplete graph has a name that the complete one has not; names file
            and line.
    """
    complete = _triples(folder / COMPLETE)
    relations, labels = _relations(folder / RELATIONS, complete)
    entities = pc.unique(pa.chunked_array(complete["head"].chunks + complete["tail"].chunks))
    path = folder / f"triples.{view}.tsv"
    table = complete if view == "complete" else _triples(path)
    return build_graph(
        _positions(table["head"], entities, path),
        _positions(table["relation"], relations, path),
        _positions(table["tail"], entities, path),
        table["confidence"] if "confidence" in table.column_names else None,
        source=folder.resolve().name,
        entity_names=entities,
        relation_names=relations,
        relation_labels=labels,
        provenance={"view": view},
    )


def _relations(path: Path, complete: pa.Table) -> tuple[pa.Array, dict[str, str]]:
    """The relations and their labels; without a file of them, those of the complete graph."""
    if not path.is_file():
        return pc.unique(complete["relation"]), {}
    table = read_table(path, _RELATION_COLUMNS, skip=1)
    texts = (_ESCAPE.sub(lambda match: _LETTERS.get(match[1], match[1]), text) for text in table["label"].to_pylist())
    names = table["relation"].combine_chunks()
    return names, dict(zip(names.to_pylist(), texts, strict=True))


def _triples(path: Path) -> pa.Table:
    _line, fields = next(rows(path, "\t", False), (1, []))
    return read_table(path, dict(list(COLUMNS.items())[: 4 if len(fields) == 4 else 3]))


def _positions(names: pa.ChunkedArray, table: pa.Array, path: Path) -> pa.Array:
    positions = pc.index_in(names, table)
    if positions.null_count:
        row = pc.index(pc.is_null(positions), True).as_py()
        raise DataError(
            f"{names[row].as_py()!r} is not in the complete graph, or not in {RELATIONS}.", file=path, line=row + 1
        )
    return positions.combine_chunks()
