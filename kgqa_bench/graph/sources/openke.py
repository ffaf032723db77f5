"""Folders in OpenKE's format: entity2id, relation2id, train2id and, if there, valid2id and test2id."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from kgqa_bench.errors import DataError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.merging import MergeRule
from kgqa_bench.graph.sources.id_tables import read_label_table, read_name_table
from kgqa_bench.graph.table import Column, Id, read_table, rows


def read_openke(
    folder: Path, *, parts: Sequence[str] = ("train",), merge: MergeRule = "max", source: str | None = None
) -> MemoryGraph:
    """Read a folder of id files, each with its number of rows in the first line; all confidences are 1.

    The columns of a part are head, tail, relation. Entities that are in none of the parts read are in the graph
    too. Labels come from ``entity2text.txt`` and ``relation2text.txt`` where these are there.

    Args:
        folder: Holds ``entity2id.txt``, ``relation2id.txt`` and ``PART2id.txt`` for each part.
        parts: Of ``train``, ``valid`` and ``test``.
        merge: As in ``build_graph``.
        source: Name for the provenance; the folder's by default.

    Raises:
        DataNotFoundError: A file is missing.
        DataError: A row is malformed, or a count is wrong; names file and line.
    """
    entities = _named(folder / "entity2id.txt")
    relations = _named(folder / "relation2id.txt")
    columns: dict[str, Column] = {
        "head": Id(len(entities)),
        "tail": Id(len(entities)),
        "relation": Id(len(relations)),
    }
    tables = []
    for part in parts:
        path = folder / f"{part}2id.txt"
        table = read_table(path, columns, delimiter=_delimiter(path), skip=1)
        _check_count(path, table.num_rows)
        tables.append(table)
    table = pa.concat_tables(tables)
    return build_graph(
        table["head"],
        table["relation"],
        table["tail"],
        source=source or folder.name,
        merge=merge,
        entity_names=entities,
        relation_names=relations,
        entity_labels=read_label_table(folder / "entity2text.txt", delimiter="\t"),
        relation_labels=read_label_table(folder / "relation2text.txt", delimiter="\t"),
        provenance={"parts": list(parts), "confidences": "all 1"},
    )


def _named(path: Path) -> Any:
    names = read_name_table(path, delimiter="\t", skip=1)
    _check_count(path, len(names))
    return names


def _delimiter(path: Path) -> str:
    """Parts are separated by tabs or by spaces."""
    _number, fields = next(rows(path, "\t", quoted=False, skip=1), (0, []))
    return "\t" if len(fields) > 1 else " "


def _check_count(path: Path, found: int) -> None:
    _number, fields = next(rows(path, "\t", quoted=False))
    if fields != [str(found)]:
        raise DataError(
            f"the first line says {fields[0]!r}, but {found} rows follow.",
            file=path,
            line=1,
            hint="Download the file again: it may be cut off.",
        )
