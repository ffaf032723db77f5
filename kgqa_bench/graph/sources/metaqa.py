"""MetaQA's graph of films: ``head|relation|tail``, one triple a line."""

from __future__ import annotations

from pathlib import Path

from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.table import Column, Name, read_table

COLUMNS: dict[str, Column] = {"head": Name(), "relation": Name(), "tail": Name()}


def read_metaqa_graph(path: Path, *, delimiter: str = "|", source: str = "metaqa") -> MemoryGraph:
    """Read kb.txt, or a file like it with another delimiter.

    Names are their own labels, relations have spaces for underscores, confidences are 1.

    Raises:
        DataNotFoundError: There is no such file.
        DataError: A row is malformed; names the line.
    """
    table = read_table(path, COLUMNS, delimiter=delimiter)
    relations = set(table["relation"].to_pylist())
    return build_graph(
        table["head"],
        table["relation"],
        table["tail"],
        source=source,
        relation_labels={name: name.replace("_", " ") for name in relations},
        provenance={"confidences": "all 1"},
    )
