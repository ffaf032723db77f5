"""The arrays of an in-memory graph, shared by all views of it."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kgqa_bench.graph.names import NameTable, StringTable, frozen
from kgqa_bench.graph.protocol import Confidences, Flags, Ids


class Scratch(threading.local):
    """Work space of the kernels, one for each thread; the marks are zero between calls."""

    def __init__(self, num_entities: int) -> None:
        self.seen = np.zeros(num_entities, np.int16)
        self.seen_back = np.zeros(num_entities, np.int16)
        self.queue = np.empty(num_entities + 1, np.int32)
        self.queue_back = np.empty(num_entities + 1, np.int32)


@dataclass(frozen=True, eq=False)
class Store:
    """Both directions of the adjacency as compressed rows, and the names.

    E quadruples over N entities, forward edges ordered by (head, relation, tail), reverse edges by
    (tail, relation, head). No array can be written to.

    Attributes:
        out_start: int32 (N + 1), where the forward row of each entity begins.
        relations: int32 (E), ascending within a row.
        tails: int32 (E).
        confidences: float64 (E), in (0, 1].
        in_start: int32 (N + 1), where the reverse row of each entity begins.
        heads: int32 (E).
        in_edge: int32 (E), the forward position of each reverse edge.
        entity_names: Sorted; the position is the id.
        relation_names: Likewise.
        entity_label_table: None where every label is the name.
        relation_label_table: Likewise.
        provenance: JSON-able facts about source and merging.
    """

    out_start: Ids
    relations: Ids
    tails: Ids
    confidences: Confidences
    in_start: Ids
    heads: Ids
    in_edge: Ids
    entity_names: NameTable
    relation_names: NameTable
    entity_label_table: StringTable | None = None
    relation_label_table: StringTable | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ADJACENCY:
            object.__setattr__(self, name, frozen(getattr(self, name)))

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, names and labels."""
        return sum(
            value.nbytes
            for value in (getattr(self, part.name) for part in fields(self))
            if isinstance(value, np.ndarray | StringTable)
        )

    @cached_property
    def scratch(self) -> Scratch:
        """Work space for the kernels."""
        return Scratch(len(self.entity_names))

    @cached_property
    def forward(self) -> Flags:
        """As many False as the longest forward row, to slice for the ``inverse`` of outgoing edges."""
        return frozen(np.zeros(int(np.diff(self.out_start).max(initial=0)), np.bool_))

    @cached_property
    def backward(self) -> Flags:
        """As many True as the longest reverse row."""
        return frozen(np.ones(int(np.diff(self.in_start).max(initial=0)), np.bool_))


ADJACENCY = ("out_start", "relations", "tails", "confidences", "in_start", "heads", "in_edge")


def fingerprint(
    entity_names: NameTable,
    relation_names: NameTable,
    heads: npt.NDArray[np.integer[Any]],
    relations: npt.NDArray[np.integer[Any]],
    tails: npt.NDArray[np.integer[Any]],
    confidences: npt.NDArray[np.float64],
) -> str:
    """Hash of names and quadruples, the latter as positions in the name tables and in ascending order."""
    digest = hashlib.sha256()
    for names in (entity_names, relation_names):
        digest.update(len(names).to_bytes(8, "little"))
        digest.update(names.offsets.astype("<i8", copy=False).data)
        digest.update(names.blob.data)
    for column in (heads, relations, tails):
        digest.update(np.ascontiguousarray(column, "<i4").data)
    digest.update(np.ascontiguousarray(confidences, "<f8").data)
    return digest.hexdigest()
