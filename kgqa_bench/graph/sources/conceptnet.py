"""ConceptNet's assertions dump (``conceptnet-assertions-5.*.csv``, perhaps gzipped; Speer, Chin and Havasi 2017).

Five columns separated by tabs, whatever the name says: URI of the edge, relation, start, end, and JSON with the
weight. The file is streamed; only English edges are kept in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from kgqa_bench.errors import ConfigError, DataError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.merging import MergeRule
from kgqa_bench.graph.sources.conceptnet_words import relation_words
from kgqa_bench.graph.sources.settings import WeightMapping
from kgqa_bench.graph.table import require_file

Weights = npt.NDArray[np.float64]

_COLUMNS = ("uri", "relation", "start", "end", "details")
_ENGLISH = "/c/en/"
_BLOCK = 1 << 21  # bytes a block; a line must fit, and some tens of blocks are read ahead


def _ukge(weights: Weights) -> Weights:
    clipped = np.clip(weights, 0.1, 3.0)
    scaled: Weights = 0.1 + 0.9 * (np.log(clipped) - np.log(0.1)) / (np.log(3.0) - np.log(0.1))
    return np.minimum(scaled, 1.0)


MAPPINGS: dict[WeightMapping, Callable[[Weights], Weights]] = {
    "ukge": _ukge,
    "clip": lambda weights: np.minimum(weights, 1.0),
    "saturating": lambda weights: weights / (1.0 + weights),
    "one": np.ones_like,
}


def confidence(weights: Weights, mapping: WeightMapping) -> Weights:
    """Confidences in (0, 1] from ConceptNet's weights (positive, typically 1).

    Args:
        weights: Any shape.
        mapping: ``ukge``: the weight clipped to [0.1, 3], then its logarithm scaled to [0.1, 1] (Chen et al. 2019);
            ``clip``: min(w, 1); ``saturating``: w / (1 + w); ``one``: 1 for every edge.

    Raises:
        ConfigError: An unknown mapping.
    """
    if mapping not in MAPPINGS:
        raise ConfigError(
            f"Unknown mapping {mapping!r} of weights to confidences.",
            hint=f"Choose one of {get_args(WeightMapping)}.",
        )
    return MAPPINGS[mapping](weights)


def read_conceptnet(path: Path, *, mapping: WeightMapping = "ukge", merge: MergeRule = "max") -> MemoryGraph:
    """Read the English edges: both ends ``/c/en/…``.

    An entity is called by its text as in the URI (``ice_cream`` for ``/c/en/ice_cream/n/wn/food``): part of speech
    and sense are dropped, and the triples that this makes equal are merged. Its label has spaces for underscores.
    A relation is called ``UsedFor`` for ``/r/UsedFor``; its label is it in words. Self-loops are kept.

    Args:
        path: The dump.
        mapping: How weights become confidences.
        merge: Confidence of a triple that stands in several rows.

    Raises:
        DataNotFoundError: There is no such file.
        DataError: A malformed line, named; a weight that is no positive number; no English edge.
        ConfigError: An unknown mapping or merging rule.
    """
    confidence(np.ones(1), mapping)  # refuses an unknown one before the file is read
    require_file(path)
    relations: list[pa.Array] = []
    starts: list[pa.Array] = []
    ends: list[pa.Array] = []
    weights: list[Weights] = []
    lines = 0
    for batch in _batches(path):
        english = pc.and_(
            pc.starts_with(batch["start"], pattern=_ENGLISH), pc.starts_with(batch["end"], pattern=_ENGLISH)
        )
        numbers = np.flatnonzero(english.to_numpy(zero_copy_only=False)) + lines + 1
        lines += batch.num_rows
        if len(numbers) == 0:
            continue
        kept = batch.filter(english)
        relations.append(_part(path, numbers, kept["relation"], "/r/", whole=True))
        starts.append(_part(path, numbers, kept["start"], _ENGLISH))
        ends.append(_part(path, numbers, kept["end"], _ENGLISH))
        weights.append(_weights(path, numbers, kept["details"]))
    if not weights:
        raise DataError(f"none of the {lines:,} lines is an edge between two English words ({_ENGLISH}…).", file=path)
    columns = [pa.chunked_array(parts) for parts in (starts, relations, ends)]
    names = pc.unique(pa.chunked_array(starts + ends)).to_pylist()
    return build_graph(
        columns[0],
        columns[1],
        columns[2],
        confidence(np.concatenate(weights), mapping),
        source=path.name,
        merge=merge,
        entity_labels={name: name.replace("_", " ") for name in names if "_" in name},
        relation_labels={name: relation_words(name) for name in pc.unique(columns[1]).to_pylist()},
        provenance={"lines": lines, "language": "en", "confidences": f"weights by {mapping}"},
    )


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The lines as bytes, without the URI of the edge."""
    bad: list[Any] = []

    def refuse(row: Any) -> str:
        bad.append(row)
        return "error"

    try:
        with arrow_csv.open_csv(
            str(path),
            read_options=arrow_csv.ReadOptions(use_threads=False, column_names=list(_COLUMNS), block_size=_BLOCK),
            parse_options=arrow_csv.ParseOptions(
                delimiter="\t", quote_char=False, ignore_empty_lines=False, invalid_row_handler=refuse
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(_COLUMNS, pa.binary()), include_columns=list(_COLUMNS[1:]), null_values=[]
            ),
        ) as stream:
            yield from stream
    except (pa.ArrowInvalid, OSError) as problem:
        if bad:
            raise DataError(
                f"{bad[0].actual_columns} columns instead of {len(_COLUMNS)} ({', '.join(_COLUMNS)}).",
                file=path,
                line=bad[0].number,
                hint="Download the dump again, or name a graph of another format otherwise.",
            ) from problem
        raise DataError(
            f"the file cannot be read: {problem}.", file=path, hint="Download the dump again: it may be cut off."
        ) from problem


def _part(path: Path, numbers: npt.NDArray[np.int64], uris: pa.Array, prefix: str, whole: bool = False) -> pa.Array:
    """What follows ``prefix`` in each URI, up to the next slash unless ``whole``."""
    try:
        texts = uris.cast(pa.string())
    except pa.ArrowInvalid as problem:
        _first_bad(path, numbers, uris, lambda uri: uri.decode(), "not UTF-8", problem)
        raise
    rest = pc.utf8_slice_codeunits(texts, len(prefix))
    if not whole:
        rest = pc.list_element(pc.split_pattern(rest, "/", max_splits=1), 0)
    wrong = pc.or_(pc.invert(pc.starts_with(texts, prefix)), pc.equal(pc.binary_length(rest), 0))
    if pc.any(wrong).as_py():
        at = wrong.index(True).as_py()
        raise DataError(f"{texts[at].as_py()!r} is not a URI like {prefix}NAME.", file=path, line=int(numbers[at]))
    return rest


def _weights(path: Path, numbers: npt.NDArray[np.int64], details: pa.Array) -> Weights:
    try:
        found = [orjson.loads(text)["weight"] for text in details.to_pylist()]
        weights = np.array(found, np.float64)
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as problem:
        _first_bad(path, numbers, details, _weight, 'no JSON with a number "weight"', problem)
        raise
    bad = np.flatnonzero(~((weights > 0) & np.isfinite(weights)))
    if len(bad):
        raise DataError(f"the weight {weights[bad[0]]} is no positive number.", file=path, line=int(numbers[bad[0]]))
    return weights


def _weight(text: bytes) -> float:
    return float(orjson.loads(text)["weight"])


def _first_bad(
    path: Path,
    numbers: npt.NDArray[np.int64],
    column: pa.Array,
    read: Callable[[bytes], Any],
    what: str,
    problem: Exception,
) -> None:
    """Raise the DataError for the first value that cannot be read."""
    for number, value in zip(numbers.tolist(), column.to_pylist(), strict=True):
        try:
            read(value)
        except (ValueError, KeyError, TypeError):
            raise DataError(f"{what}.", file=path, line=number, hint="Download the dump again.") from problem
