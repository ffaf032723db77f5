"""From columns of names, or of ids with tables of names, to a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kgqa_bench.errors import ConfigError, DataError
from kgqa_bench.graph import build_kernels as kernels
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.merging import MergeRule
from kgqa_bench.graph.names import NameTable, Offsets, StringTable
from kgqa_bench.graph.store import Store

Column = Any  # a pyarrow array, a NumPy array, or a sequence of names or ids
IntColumn = npt.NDArray[np.int32]


def build_graph(
    heads: Column,
    relations: Column,
    tails: Column,
    confidences: Column | None = None,
    *,
    source: str,
    merge: MergeRule = "max",
    entity_names: Column | None = None,
    relation_names: Column | None = None,
    entity_labels: Mapping[str, str] | None = None,
    relation_labels: Mapping[str, str] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> MemoryGraph:
    """Build a graph from columns of equal length, one row a quadruple.

    Rows with the same head, relation and tail are merged. Ids follow the sorted names, so neither ids nor any
    order nor the fingerprint depends on the order of the rows (``first`` and ``last`` take it for confidences).

    Args:
        heads: Names, or where ``entity_names`` is given integer positions in it.
        relations: Names, or where ``relation_names`` is given integer positions in it.
        tails: As ``heads``.
        confidences: Numbers in (0, 1]; None sets all to 1.
        source: Where the rows came from, for the provenance.
        merge: Confidence of a triple with several rows; ``first`` and ``last`` in row order.
        entity_names: Names of all entities by position, also of such as are in no row.
        relation_names: Names of all relations by position.
        entity_labels: Labels by name where they differ from the name; other names in it are ignored.
        relation_labels: Likewise for relations.
        provenance: More facts to record, JSON-able (confidence mapping, parts read, …).

    Raises:
        DataError: No rows; a confidence outside (0, 1] or NaN; a missing or empty name; an id without name; a
            name that is twice in a table; columns of unequal length. Rows are counted from 1.
        ConfigError: An unknown merging rule.
    """
    if merge not in get_args(MergeRule):
        raise ConfigError(
            f"Unknown rule {merge!r} to merge duplicate triples.", hint=f"Choose one of {get_args(MergeRule)}."
        )
    size = len(heads)
    values = np.ones(size) if confidences is None else _floats(confidences)
    if not size == len(relations) == len(tails) == len(values):
        raise DataError(f"{source}: heads, relations, tails and confidences differ in length.")
    if size == 0:
        raise DataError(f"{source}: the graph is empty.", hint="Give at least one quadruple.")
    if size > np.iinfo(np.int32).max:
        raise DataError(f"{source}: {size:,} rows; the in-memory graph holds at most 2,147,483,647.")
    bad = kernels.first_bad_confidence(values)
    if bad >= 0:
        raise DataError(
            f"{source}, row {bad + 1}: the confidence {values[bad]} is not in (0, 1].",
            hint="Rescale the confidences, and leave out triples that do not hold at all.",
        )
    (head_ids, tail_ids), entities = _ids([heads, tails], entity_names, "entity", source)
    (relation_ids,), relation_table = _ids([relations], relation_names, "relation", source)

    order = np.arange(size, dtype=np.int32)
    for keys, table in ((tail_ids, entities), (relation_ids, relation_table), (head_ids, entities)):
        order = kernels.counting_order(keys, len(table), order)
    merged = kernels.merge_sorted(order, head_ids, relation_ids, tail_ids, values, kernels.MERGE_CODES[merge])
    del order, head_ids, tail_ids, relation_ids, values
    (
        forward_heads,
        forward_relations,
        forward_tails,
        forward_confidences,
        duplicated,
        conflicting,
        loops,
        loop_rows,
    ) = merged
    # forward edges are in (head, relation, tail) order: two stable passes give (tail, relation, head)
    in_edge = np.arange(len(forward_heads), dtype=np.int32)
    in_edge = kernels.counting_order(forward_relations, len(relation_table), in_edge)
    in_edge = kernels.counting_order(forward_tails, len(entities), in_edge)
    facts: dict[str, Any] = {
        "source": source,
        **(provenance or {}),
        "merge": merge,
        "rows": size,
        "triples": len(forward_heads),
        "duplicate_rows": size - len(forward_heads),
        "triples_with_duplicates": int(duplicated),
        "triples_with_conflicting_confidences": int(conflicting),
        "self_loop_rows": int(loop_rows),
        "self_loops": int(loops),
    }
    return MemoryGraph(
        Store(
            out_start=kernels.row_starts(forward_heads, len(entities)),
            relations=forward_relations,
            tails=forward_tails,
            confidences=forward_confidences,
            in_start=kernels.row_starts(forward_tails, len(entities)),
            heads=forward_heads[in_edge],
            in_edge=in_edge,
            entity_names=entities,
            relation_names=relation_table,
            entity_label_table=_labels(entities, entity_labels),
            relation_label_table=_labels(relation_table, relation_labels),
            provenance=facts,
        )
    )


def _floats(column: Column) -> npt.NDArray[np.float64]:
    if isinstance(column, pa.Array | pa.ChunkedArray):
        column = column.to_numpy()
    return np.ascontiguousarray(column, np.float64)


def _ids(columns: list[Column], names: Column | None, what: str, source: str) -> tuple[list[IntColumn], NameTable]:
    """Columns of ids in the order of the sorted names, and the table of these."""
    if names is None:
        texts = [_strings(column) for column in columns]
        encoded = pa.chunked_array([chunk for text in texts for chunk in text.chunks]).dictionary_encode()
        _check_names(encoded, what, source)
        table, rank = _sorted_names(encoded.chunk(0).dictionary)
        codes = np.concatenate([chunk.indices.to_numpy(zero_copy_only=False) for chunk in encoded.chunks])
        del encoded, texts
    else:
        strings = pa.concat_arrays(_strings(names).chunks)
        if len(strings) == 0:
            raise DataError(f"{source}: the table of {what} names is empty.")
        encoded = pa.chunked_array([strings]).dictionary_encode()
        _check_names(encoded, what, source)
        if len(encoded.chunk(0).dictionary) < len(strings):
            counts = pc.value_counts(strings)
            twice = counts.field("values").filter(pc.greater(counts.field("counts"), 1))[0].as_py()
            raise DataError(f"{source}: the {what} name {twice!r} is twice in the table of names.")
        table, rank = _sorted_names(strings)
        codes = np.concatenate([np.asarray(column) for column in columns])
        bad = kernels.first_outside(codes, len(table))
        if bad >= 0:
            raise DataError(
                f"{source}, row {bad % len(columns[0]) + 1}: the {what} id {codes[bad]} has no name.",
                hint=f"The table of names has ids 0 to {len(table) - 1}.",
            )
    ids = rank[codes]
    return np.split(ids, len(columns)), table


def _strings(column: Column) -> pa.ChunkedArray:
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([_array(column)])
    if chunked.type not in (pa.string(), pa.large_string()):
        if not pa.types.is_dictionary(chunked.type):
            raise DataError(f"Names must be strings, not {chunked.type}.", hint="Give ids with a table of names.")
        chunked = chunked.cast(pa.string())
    return chunked


def _array(column: Column) -> pa.Array:
    if isinstance(column, pa.Array):
        return column
    try:
        return pa.array(column, pa.string())
    except (pa.ArrowInvalid, pa.ArrowTypeError) as problem:
        raise DataError(f"Names must be strings: {problem}.", hint="Give ids with a table of names.") from problem


def _check_names(encoded: pa.ChunkedArray, what: str, source: str) -> None:
    if encoded.null_count or pc.any(pc.equal(pc.binary_length(encoded.chunk(0).dictionary), 0)).as_py():
        raise DataError(f"{source}: a row has no {what} name.")


def _sorted_names(strings: pa.Array) -> tuple[NameTable, IntColumn]:
    """The table of sorted names, and the new position of each string."""
    order = pc.sort_indices(strings)  # by bytes
    positions = order.to_numpy()
    rank = np.empty(len(positions), np.int32)
    rank[positions] = np.arange(len(positions), dtype=np.int32)
    blob, offsets = _buffers(strings.take(order))
    return NameTable(blob, offsets), rank


def _buffers(strings: pa.Array) -> tuple[npt.NDArray[np.uint8], Offsets]:
    """Copies of the bytes and offsets of a string array without offset of its own."""
    wide = strings.type == pa.large_string()
    _validity, offset_buffer, data = strings.buffers()
    size = len(strings) + 1
    offsets: Offsets = (
        np.frombuffer(offset_buffer, np.int64, size) if wide else np.frombuffer(offset_buffer, np.int32, size)
    )
    blob = np.frombuffer(data, np.uint8, count=int(offsets[-1]))
    return blob.copy(), offsets.copy()


def _labels(names: NameTable, labels: Mapping[str, str] | None) -> StringTable | None:
    if not labels:
        return None
    wanted = [labels.get(name, name) for name in names]
    return None if all(map(str.__eq__, wanted, names)) else StringTable.of(wanted)
