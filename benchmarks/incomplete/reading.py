"""Reads the folder of a built benchmark; all of its content is untrusted."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from kgqa_bench.domain import Triple
from kgqa_bench.errors import DataError, DataNotFoundError
from kgqa_bench.horn.rule import MinedRule
from kgqa_bench.horn.rule_files import read_rules

from .content import Certificate, Content, EntityLabel, Named, QuestionRow
from .model import SPLITS
from .package import (
    CERTIFICATE,
    COMPLETE,
    INCOMPLETE,
    LABEL_COLUMNS,
    LABELS,
    MANIFEST,
    RELATION_COLUMNS,
    RELATIONS,
    REMOVED,
    RULES,
    questions_file,
)

R = TypeVar("R", bound=BaseModel)
HEADER_LINES = 1
"""Lines before the first row of relations.tsv, labels.tsv and rules.tsv."""


class Manifest(BaseModel):
    """manifest.json."""

    model_config = ConfigDict(extra="forbid", strict=True)
    format: Literal[1]
    name: str
    kg: str
    source_fingerprint: str
    settings: dict[str, Any]
    figures: dict[str, Any]
    files: dict[str, str]


@dataclass(frozen=True)
class PackageFiles:
    """What the files hold, rows in file order, so that row n of a file without header is its line n + 1.

    Attributes:
        manifest: manifest.json.
        complete: triples.complete.tsv.
        incomplete: triples.incomplete.tsv.
        removed: triples.removed.tsv.
        content: All of it as one content.
    """

    manifest: Manifest
    complete: list[Triple]
    incomplete: list[Triple]
    removed: list[Triple]
    content: Content


def read_package(folder: Path) -> Content:
    """The content of a built benchmark. Whether it is right is another question: see ``verify``.

    Raises:
        DataNotFoundError: There is no such folder, or a file is missing.
        DataError: A row is malformed; names file and line.
    """
    return read_files(folder).content


def read_files(folder: Path) -> PackageFiles:
    """All files of a built benchmark. Errors as for ``read_package``."""
    manifest = read_manifest(folder)
    complete, incomplete, removed = (read_triples(folder / name) for name in (COMPLETE, INCOMPLETE, REMOVED))
    relations: dict[str, str] = {}
    for line, (name, label) in read_rows(folder / RELATIONS, RELATION_COLUMNS):
        if name in relations:
            raise DataError(f"The relation {name!r} is there twice.", file=folder / RELATIONS, line=line)
        relations[name] = label
    entities = [EntityLabel(*fields) for _line, fields in read_rows(folder / LABELS, LABEL_COLUMNS)]
    rules = _read_rules(folder / RULES)
    questions = {split: read_json_lines(folder / questions_file(split), QuestionRow) for split in SPLITS}
    certificates = read_json_lines(folder / CERTIFICATE, Certificate)
    counted = manifest.figures.get("build", {})
    content = Content(
        name=manifest.name,
        kg=manifest.kg,
        source_fingerprint=manifest.source_fingerprint,
        complete=complete,
        removed=frozenset(triple[:3] for triple in removed),
        rules=rules,
        questions=questions,
        certificates=certificates,
        entities=entities,
        relations=relations,
        settings=manifest.settings,
        figures=counted if isinstance(counted, dict) else {},
    )
    return PackageFiles(manifest, complete, incomplete, removed, content)


def read_manifest(folder: Path) -> Manifest:
    """manifest.json of a folder. Errors as for ``read_package``."""
    path = folder / MANIFEST
    if not path.is_file():
        raise DataNotFoundError(
            f"{folder} is no built benchmark: it has no {MANIFEST}.",
            hint="Build one with kgqa-bench build-incomplete.",
        )
    return read_as(Manifest, path)


def read_as(model: type[R], path: Path) -> R:
    """A manifest of some form. Errors as for ``read_package``."""
    manifest = _validated(model, _bytes(path), path, None)
    try:
        orjson.dumps(manifest.model_dump())
    except TypeError as problem:  # a number of more than 64 bits, or values nested too deep
        raise DataError(f"A value cannot be: {problem}.", file=path) from problem
    return manifest


def read_triples(path: Path) -> list[Triple]:
    """A file of triples. Errors as for ``read_package``."""
    triples: list[Triple] = []
    width = 0
    for line, text in _lines(path):
        fields = text.split("\t")
        width = width or len(fields)
        if len(fields) != width or width not in (3, 4):
            what = "3 or 4" if width not in (3, 4) else f"{width}, as in the first line"
            raise DataError(f"{len(fields)} columns instead of {what}.", file=path, line=line)
        if not all(fields):
            raise DataError("A field is empty.", file=path, line=line)
        confidence = 1.0 if width == 3 else _confidence(fields[3], path, line)
        triples.append(Triple(fields[0], fields[1], fields[2], confidence))
    return triples


def read_rows(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """Line number and unescaped fields of each row of a table with a header. Errors as for ``read_package``."""
    lines = _lines(path)
    _line, header = next(lines, (1, ""))
    if header != "\t".join(columns):
        raise DataError(f"The header must be {', '.join(columns)}.", file=path, line=1)
    for line, text in lines:
        fields = text.split("\t")
        if len(fields) != len(columns):
            raise DataError(f"{len(fields)} columns instead of {len(columns)}.", file=path, line=line)
        yield line, [_unescaped(field, path, line) for field in fields]


def read_json_lines(path: Path, model: type[R]) -> list[R]:
    """A file of JSON lines. Errors as for ``read_package``."""
    return [_validated(model, text.encode(), path, line) for line, text in _lines(path)]


def at(name: str, line: int | None, what: str) -> str:
    """Something about a line of a file, in words."""
    return f"{name}{'' if line is None else f', line {line}'}: {what}"


def shown(triple: Triple | Named) -> str:
    """A triple in words."""
    return f"({triple[0]}, {triple[1]}, {triple[2]})"


def _read_rules(path: Path) -> list[MinedRule]:
    rules: list[MinedRule] = []
    for row in read_rules(path).rows:
        if row.measures is None or row.number != len(rules) + 1:
            raise DataError(
                f"A rule with number {len(rules) + 1} and its counts is expected.", file=path, line=row.line
            )
        rules.append(row.measures)
    return rules


def _confidence(text: str, path: Path, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= 1:
        raise DataError(f"The confidence {text!r} is not in (0, 1].", file=path, line=line)
    return value


def _validated(model: type[R], data: bytes, path: Path, line: int | None) -> R:
    try:
        return model.model_validate_json(data)
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        message = f"{where}: {first['msg']}." if where else f"{first['msg']}."
        raise DataError(message, file=path, line=line) from problem


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Line number and text of each line; none may be empty, and the last must have its end."""
    parts = _bytes(path).split(b"\n")
    if parts.pop():
        raise DataError("The last line has no end: the file is cut off.", file=path, line=len(parts) + 1)
    for number, part in enumerate(parts, 1):
        try:
            text = part.decode()
        except UnicodeDecodeError as problem:
            raise DataError("Not UTF-8.", file=path, line=number) from problem
        if not text:
            raise DataError("The line is empty.", file=path, line=number)
        yield number, text


def _bytes(path: Path) -> bytes:
    if path.exists() and not path.is_file():  # a pipe would be waited for, a device read without end
        raise DataError("Is no file.", file=path)
    try:
        return path.read_bytes()
    except FileNotFoundError as problem:
        raise DataNotFoundError(f"There is no file {path}.", hint="Build the benchmark again.") from problem
    except OSError as problem:
        raise DataError(f"Cannot be read: {problem.strerror or problem}.", file=path) from problem


_UNESCAPE = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r"}
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)


def _unescaped(field: str, path: Path, line: int) -> str:
    if "\\" not in field:
        return field

    def letter(match: re.Match[str]) -> str:
        if match.group() not in _UNESCAPE:
            raise DataError(f"{match.group()!r} is no escape sequence.", file=path, line=line)
        return _UNESCAPE[match.group()]

    return _ESCAPE.sub(letter, field)
