"""The folder of a built benchmark: written whole or not at all, and equal for equal content.

====================================  ================================================================================
``triples.complete.tsv``              Head, relation, tail; no header; sorted. All files of triples have a fourth
                                      column with the confidence where the graph has one that is not 1.
``triples.incomplete.tsv``            What methods get to see.
``triples.removed.tsv``               The rest.
``relations.tsv``                     Relations and their labels, with a header.
``labels.tsv``                        The map from the files' labels to the graph's names and labels, with a header.
``questions.SPLIT.jsonl``             The questions of train, validation and test, see ``content.QuestionRow``.
``rules.tsv``                         The rules drawn, with their counts on the complete graph and a header.
``certificate.jsonl``                 One row for each removed triple, see ``content.Certificate``.
``README.md``                         The data card.
``manifest.json``                     Settings, figures, and the SHA-256 of all other files.
====================================  ================================================================================

In the tables, tabs and line ends within a field are escaped as in JSON, with a backslash, and so is a backslash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel

from kgqa_bench.domain import Triple
from kgqa_bench.errors import DataError
from kgqa_bench.horn.rule_files import rule_table
from kgqa_bench.whole_folder import require_free, whole_folder

from .card import render_card
from .content import Content
from .figures import measured_figures
from .model import SPLITS, Split

FORMAT = 1
COMPLETE, INCOMPLETE, REMOVED = "triples.complete.tsv", "triples.incomplete.tsv", "triples.removed.tsv"
RELATIONS, LABELS, RULES, CERTIFICATE = "relations.tsv", "labels.tsv", "rules.tsv", "certificate.jsonl"
MANIFEST, CARD = "manifest.json", "README.md"

RELATION_COLUMNS = ("relation", "label")
LABEL_COLUMNS = ("label", "id", "text")


def questions_file(split: Split) -> str:
    """Name of the file with the questions of a split."""
    return f"questions.{split}.jsonl"


FILES = (
    COMPLETE, INCOMPLETE, REMOVED, RELATIONS, LABELS, *map(questions_file, SPLITS), RULES, CERTIFICATE, CARD,
)  # fmt: skip
"""All files but the manifest."""


def write_package(content: Content, out: Path) -> dict[str, Any]:
    """Write the folder ``out`` and return the figures of its manifest.

    Raises:
        ConfigError: ``out`` is in use.
        DataError: A label cannot be written (empty, or with a tab or a line end).
        StorageError: The disk is full, or the folder cannot be written; nothing is left behind.
    """
    require_free(out)
    check_labels(content)
    figures = {**measured_figures(content), "build": dict(content.figures)}
    files = render_files(content, figures)
    with whole_folder(out) as folder:
        for name, data in files.items():
            (folder / name).write_bytes(data)
    return figures


def render_files(content: Content, figures: Mapping[str, Any]) -> dict[str, bytes]:
    """All files by name, the manifest last. DataError where a relation's name cannot stand in a rule."""
    weighted = any(triple.confidence != 1.0 for triple in content.complete)
    complete = sorted(content.complete)
    files = {
        COMPLETE: _triples(complete, weighted),
        INCOMPLETE: _triples((triple for triple in complete if triple[:3] not in content.removed), weighted),
        REMOVED: _triples((triple for triple in complete if triple[:3] in content.removed), weighted),
        RELATIONS: _table(RELATION_COLUMNS, sorted(content.relations.items())),
        LABELS: _table(LABEL_COLUMNS, sorted(content.entities)),
    }
    for split in SPLITS:
        rows = sorted(content.questions.get(split, ()), key=lambda row: row.id)
        files[questions_file(split)] = _json_lines(rows)
    files[RULES] = rule_table(content.rules, range(1, len(content.rules) + 1)).encode()
    certificates = sorted(content.certificates, key=lambda row: row.removed)
    files[CERTIFICATE] = _json_lines(certificates)
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "name": content.name,
        "kg": content.kg,
        "source_fingerprint": content.source_fingerprint,
        "settings": dict(content.settings),
        "figures": dict(figures),
    }
    files[CARD] = render_card(manifest).encode()
    manifest["files"] = {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)}
    files[MANIFEST] = orjson.dumps(manifest, option=orjson.OPT_INDENT_2) + b"\n"
    return files


def check_labels(content: Content) -> None:
    """DataError where a label cannot stand in the files, or two entities share one."""
    seen: dict[str, str] = {}
    for label, name, _text in content.entities:
        _check_label(label, f"the label of entity {name!r}")
        if seen.setdefault(label, name) != name:
            raise DataError(
                f"The entities {seen[label]!r} and {name!r} have the same label {label!r}.",
                hint="Choose --labels private or id.",
            )
    for relation in content.relations:
        _check_label(relation, "the name of a relation")


def _check_label(label: str, what: str) -> None:
    problem = None
    if not label:
        problem = "is empty"
    elif any(letter in label for letter in "\t\n\r"):
        problem = f"{label!r} has a tab or a line end"
    elif label.startswith("\ufeff"):
        problem = f"{label!r} begins with a byte order mark"
    elif not label.isascii() and any("\ud800" <= letter <= "\udfff" for letter in label):
        problem = f"{label!r} is not UTF-8"
    if problem:
        raise DataError(f"{what[0].upper()}{what[1:]} {problem}.", hint="Choose --labels private, or rename it.")


def _triples(triples: Iterable[Triple], weighted: bool) -> bytes:
    if weighted:
        return "".join(f"{h}\t{r}\t{t}\t{confidence!r}\n" for h, r, t, confidence in triples).encode()
    return "".join(f"{h}\t{r}\t{t}\n" for h, r, t, _confidence in triples).encode()


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> bytes:
    lines = ["\t".join(columns), *("\t".join(map(escape_field, row)) for row in rows)]
    return "".join(f"{line}\n" for line in lines).encode()


def _json_lines(rows: Iterable[BaseModel]) -> bytes:
    return b"".join(orjson.dumps(row.model_dump(), option=orjson.OPT_APPEND_NEWLINE) for row in rows)


_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_ESCAPED = str.maketrans(_ESCAPES)


def escape_field(text: str) -> str:
    """A field of a table of labels, with tabs and line ends escaped."""
    return text.translate(_ESCAPED)
