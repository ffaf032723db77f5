"""CSV exports of a Neo4j database: by ``neo4j-admin`` or by APOC, in one file or several.

What a file holds is read off its header. In the form of ``neo4j-admin`` (and of APOC's ``bulkImport``) nodes have a
column ``:ID`` and relationships ``:START_ID``, ``:END_ID`` and ``:TYPE``; properties are ``name`` or ``name:type``,
and an array's items are separated by ``;``. In APOC's own form one file holds nodes (``_id``) and then
relationships (``_start``, ``_end``, ``_type``), and arrays are JSON.
"""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import orjson

from kgqa_bench.errors import DataError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph
from kgqa_bench.graph.merging import MergeRule
from kgqa_bench.graph.sources.medkgent_words import relation_words
from kgqa_bench.graph.table import Confidence, is_utf8, open_text, rows
from kgqa_bench.graph.text_format import DELIMITERS
from kgqa_bench.storage import UNREADABLE

_ROLES = {"_id": ":ID", "_labels": ":LABEL", "_start": ":START_ID", "_end": ":END_ID", "_type": ":TYPE"}
_COLUMN = re.compile(r"(?P<name>[^:]*):(?P<role>ID|START_ID|END_ID|TYPE|LABEL)(?:\((?P<space>.*)\))?", re.IGNORECASE)
_SCORES = ("score", "confidence")
_LONGEST_FIELD = 1 << 26  # embeddings as text are longer than the csv module allows by itself
_CONFIDENCE = Confidence()


class Export(NamedTuple):
    """One file of an export.

    Attributes:
        path: The file.
        columns: Position of each role (``:ID`` …) and property.
        spaces: The id space of a role, where its column names one; ids are distinct within a space.
        width: Number of columns.
    """

    path: Path
    columns: dict[str, int]
    spaces: dict[str, str]
    width: int

    @property
    def has_nodes(self) -> bool:
        """Some rows are nodes."""
        return ":ID" in self.columns

    @property
    def has_relationships(self) -> bool:
        """Some rows are relationships."""
        return {":START_ID", ":END_ID", ":TYPE"} <= self.columns.keys()


def exports_at(path: Path) -> list[Export]:
    """The file, or the files in the folder, whose header is that of an export; [] without relationships."""
    paths = sorted(path.iterdir()) if path.is_dir() else [path]
    headers = [_header(each) for each in paths if each.is_file() and _delimiter(each) is not None]
    exports = [export for export in headers if export.has_nodes or export.has_relationships]
    return exports if any(export.has_relationships for export in exports) else []


def read_neo4j(
    exports: Sequence[Export],
    *,
    undirected: Sequence[str] = (),
    confidence: str | None = None,
    merge: MergeRule = "max",
    source: str,
) -> MemoryGraph:
    """Read nodes and relationships.

    An entity is called by the node's property ``identifier`` (``MESH:D000606``), or where nodes have none by the
    export's own id. Its label is the property ``name``.

    Args:
        exports: The files, from ``exports_at``.
        undirected: Relationship types without direction. Neo4j can only store them with one, and some builders
            store both: such a triple is kept once, with the head whose name comes first.
        confidence: The relationships' property with the confidence in (0, 1]. By default ``score`` or
            ``confidence``; where they have neither, all are 1.
        merge: Confidence of a triple that stands in several rows.
        source: Name for the provenance.

    Raises:
        DataError: A malformed row, a relationship to an unknown node, a bad confidence; names file and line.
    """
    nodes = _Nodes(exports)
    score = _score_column(exports, confidence)
    heads, relations, tails, scores = array("i"), array("i"), array("i"), array("d")
    codes: dict[str, int] = {}
    without_direction = set(undirected)
    turned = 0
    for export in exports:
        for line, fields in _relationships(export):
            relation = fields[export.columns[":TYPE"]]
            if not relation:
                raise DataError("the relationship has no type.", file=export.path, line=line)
            head, tail = (nodes.position(export, role, line, fields) for role in (":START_ID", ":END_ID"))
            if relation in without_direction and nodes.names[tail] < nodes.names[head]:
                head, tail = tail, head
                turned += 1
            heads.append(head)
            tails.append(tail)
            relations.append(codes.setdefault(relation, len(codes)))
            scores.append(1.0 if score is None else _score(export, line, fields[export.columns[score]]))
    if not heads:
        raise DataError("the export has no relationships.", file=exports[0].path.parent)
    return build_graph(
        np.frombuffer(heads, np.int32),
        np.frombuffer(relations, np.int32),
        np.frombuffer(tails, np.int32),
        np.frombuffer(scores, np.float64),
        source=source,
        merge=merge,
        entity_names=nodes.names,
        relation_names=list(codes),
        entity_labels=nodes.labels,
        relation_labels={name: relation_words(name) for name in codes},
        provenance={
            "files": [export.path.name for export in exports],
            "confidences": f"property {score}" if score is not None else "all 1",
            "undirected": sorted(without_direction & codes.keys()),
            "undirected_rule": "kept once, the head is the entity whose name comes first",
            "undirected_rows_turned": turned,
        },
    )


def read_aliases(exports: Sequence[Export], property_name: str) -> list[tuple[str, str]]:
    """(alias, entity name) for each item of an array property of the nodes, in the order of the files."""
    # read apart from the graph, and only when asked for: there are many times more aliases than nodes
    found = []
    for export in exports:
        at = export.columns.get(property_name)
        if export.has_nodes and at is not None:
            for line, fields in _nodes(export):
                name = _entity_name(export, line, fields)
                found += [(alias, name) for alias in _items(fields[at])]
    return found


class _Nodes:
    """Names and labels of all nodes, and their positions by the export's ids."""

    def __init__(self, exports: Sequence[Export]) -> None:
        self.names: list[str] = []
        self.labels: dict[str, str] = {}
        self._positions: dict[tuple[str, str], int] = {}
        known = set()
        for export in exports:
            if not export.has_nodes:
                continue
            space, id_at, label_at = export.spaces.get(":ID", ""), export.columns[":ID"], export.columns.get("name")
            for line, fields in _nodes(export):
                name = _entity_name(export, line, fields)
                if name in known:
                    raise DataError(f"a second node is called {name!r}.", file=export.path, line=line)
                known.add(name)
                self._positions[space, fields[id_at]] = len(self.names)
                self.names.append(name)
                if label_at is not None and fields[label_at]:
                    self.labels[name] = _utf8(export, line, fields[label_at])

    def position(self, export: Export, role: str, line: int, fields: Sequence[str]) -> int:
        found = self._positions.get((export.spaces.get(role, ""), fields[export.columns[role]]))
        if found is None:
            raise DataError(
                f"{role} {fields[export.columns[role]]!r} is the :ID of no node.",
                file=export.path,
                line=line,
                hint="Export all nodes too.",
            )
        return found


def _delimiter(path: Path) -> str | None:
    return DELIMITERS.get(Path(path.name.removesuffix(".gz")).suffix)


def _header(path: Path) -> Export:
    try:
        with open_text(path) as stream:
            first = stream.readline(1 << 16)
        likely = any(mark in first for mark in (":ID", ":START_ID", "_start"))
    except UNREADABLE as problem:
        raise DataError(f"the file cannot be read: {problem}.", file=path) from problem
    _line, fields = next(_rows(path), (0, [])) if likely else (0, [])
    columns: dict[str, int] = {}
    spaces: dict[str, str] = {}
    for position, text in enumerate(fields):
        role = _ROLES.get(text)
        typed = _COLUMN.fullmatch(text)
        if typed is not None:
            role = f":{typed['role'].upper()}"
            spaces[role] = typed["space"] or ""
            columns.setdefault(typed["name"], position)
        if role is not None:
            columns[role] = position
        elif typed is None:
            columns.setdefault(text.partition(":")[0], position)
    return Export(path, columns, spaces, len(fields))


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    before = csv.field_size_limit(_LONGEST_FIELD)
    line = 0
    try:
        for line, fields in rows(path, _delimiter(path) or ",", quoted=True):
            yield line, fields
    except csv.Error as problem:
        raise DataError(f"malformed quotes ({problem}).", file=path, line=line + 1) from problem
    except UNREADABLE as problem:
        raise DataError(f"the file cannot be read: {problem}.", file=path) from problem
    finally:
        csv.field_size_limit(before)


def _content(export: Export) -> Iterator[tuple[int, list[str]]]:
    content = _rows(export.path)
    next(content)
    for line, fields in content:
        if len(fields) != export.width:
            raise DataError(
                f"{len(fields)} columns instead of the header's {export.width}.", file=export.path, line=line
            )
        yield line, fields


def _nodes(export: Export) -> Iterator[tuple[int, list[str]]]:
    start = export.columns.get(":START_ID")
    return (row for row in _content(export) if start is None or not row[1][start])


def _relationships(export: Export) -> Iterator[tuple[int, list[str]]]:
    if not export.has_relationships:
        return iter(())
    node = export.columns.get(":ID")
    return (row for row in _content(export) if node is None or not row[1][node])


def _entity_name(export: Export, line: int, fields: Sequence[str]) -> str:
    at = export.columns.get("identifier", export.columns[":ID"])
    if not fields[at]:
        raise DataError("the node has no identifier.", file=export.path, line=line)
    return _utf8(export, line, fields[at])


def _utf8(export: Export, line: int, text: str) -> str:
    if not is_utf8(text):
        raise DataError("not UTF-8.", file=export.path, line=line, hint="Convert the file to UTF-8.")
    return text


def _score_column(exports: Sequence[Export], wanted: str | None) -> str | None:
    """The property with the confidence. DataError where a file lacks the one asked for, or some files have none."""
    with_edges = [export for export in exports if export.has_relationships]
    for name in (wanted,) if wanted is not None else _SCORES:
        lacking = [export for export in with_edges if name not in export.columns]
        if not lacking:
            return name
        if wanted is not None or len(lacking) < len(with_edges):
            raise DataError(f"the relationships have no column {name!r}.", file=lacking[0].path, line=1)
    return None


def _score(export: Export, line: int, text: str) -> float:
    problem = _CONFIDENCE.problem(text)
    if problem:
        raise DataError(
            f"the confidence {problem}.",
            file=export.path,
            line=line,
            hint="Rescale the confidences to (0, 1], and leave out triples that do not hold at all.",
        )
    return float(text)


def _items(text: str) -> list[str]:
    if text.startswith("["):
        try:
            return [item for item in orjson.loads(text) if isinstance(item, str) and item]
        except orjson.JSONDecodeError:
            pass  # a single item that begins with a bracket, as chemical names do
    return [item for item in text.split(";") if item]
