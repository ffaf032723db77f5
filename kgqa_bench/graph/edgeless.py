"""The graph without anything in it."""

from __future__ import annotations

import numpy as np

from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.names import NameTable
from kgqa_bench.graph.store import Store


def edgeless_graph(source: str) -> MemoryGraph:
    """A graph without entity, relation or triple: what a question has whose own graph is empty."""
    none, start = np.zeros(0, np.int32), np.zeros(1, np.int32)
    return MemoryGraph(
        Store(
            out_start=start,
            relations=none,
            tails=none,
            confidences=np.zeros(0),
            in_start=start,
            heads=none,
            in_edge=none,
            entity_names=NameTable.of([]),
            relation_names=NameTable.of([]),
            provenance={"source": source, "triples": 0},
        )
    )
