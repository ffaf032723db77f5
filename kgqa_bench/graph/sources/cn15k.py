"""CN15k, the uncertain part of ConceptNet that UKGE published (Chen et al. 2019)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.merging import MergeRule
from kgqa_bench.graph.sources.id_tables import read_label_table, read_name_table
from kgqa_bench.graph.table import Confidence, Id, read_table


def read_cn15k(folder: Path, *, mapping: Literal["ukge", "one"] = "ukge", merge: MergeRule = "max") -> MemoryGraph:
    """Read ``data.tsv`` (all parts) with ``entity_id.csv``, ``relation_id.csv`` and, for the relations in words,
    ``relation_text.csv``.

    The 241,158 rows hold 225,376 distinct triples. Of these 15,782 have two rows, 8,246 of them with two
    confidences; by the default rule the larger counts. 8,206 rows (6,605 triples) are self-loops and are kept. With
    the mapping ``one`` all confidences are 1, else they are as published: by UKGE's mapping of ConceptNet's weights.

    Raises:
        DataNotFoundError: A file is missing.
        DataError: A row is malformed; names file and line.
    """  # noqa: D205
    entities = read_name_table(folder / "entity_id.csv", delimiter=",", skip=1)
    relations = read_name_table(folder / "relation_id.csv", delimiter=",", skip=1)
    columns = {
        "head": Id(len(entities)),
        "relation": Id(len(relations)),
        "tail": Id(len(entities)),
        "confidence": Confidence(),
    }
    table = read_table(folder / "data.tsv", columns)
    return build_graph(
        table["head"],
        table["relation"],
        table["tail"],
        table["confidence"] if mapping == "ukge" else None,
        source="cn15k",
        merge=merge,
        entity_names=entities,
        relation_names=relations,
        relation_labels=read_label_table(folder / "relation_text.csv", delimiter=","),
        provenance={"confidences": "as published" if mapping == "ukge" else "all 1"},
    )
