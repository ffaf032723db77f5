"""Folders of named triples in parts, as Family and UMLS are published: head, relation and tail between tabs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.table import Column, Name, read_table

COLUMNS: dict[str, Column] = {"head": Name(), "relation": Name(), "tail": Name()}


def read_parts(
    folder: Path, parts: Sequence[str], *, source: str | None = None, relation_form: str = "{}"
) -> MemoryGraph:
    """Read ``PART.txt`` for each part into one graph; all confidences are 1.

    Labels are the names with spaces for underscores, those of relations in lower case.

    Args:
        folder: Holds the parts.
        parts: Names of the files without ``.txt``.
        source: Name for the provenance; the folder's by default.
        relation_form: The label of a relation, with ``{}`` for its name.

    Raises:
        DataNotFoundError: A part is missing.
        DataError: A row is malformed; names file and line.
    """
    table = pa.concat_tables([read_table(folder / f"{part}.txt", COLUMNS) for part in parts])
    entities = pc.unique(pa.chunked_array(table["head"].chunks + table["tail"].chunks)).to_pylist()
    relations = pc.unique(table["relation"]).to_pylist()
    return build_graph(
        table["head"],
        table["relation"],
        table["tail"],
        source=source or folder.name,
        entity_labels={name: name.replace("_", " ") for name in entities},
        relation_labels={name: relation_form.format(name.replace("_", " ").lower()) for name in relations},
        provenance={"parts": list(parts), "confidences": "all 1"},
    )
