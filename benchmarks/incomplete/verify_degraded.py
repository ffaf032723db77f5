"""Re-checks a question set over a graph made incomplete to a degree, from its files alone.

The set is made again from the complete graph, that is from what is left and what is removed, the questions and the
settings, and every line compared. So checked are: the hashes; that the complete graph is the one of the fingerprint,
and the other two files are its parts; the draw of what is removed, of random triples as of those on shortest paths;
which questions are disrupted and answerable; figures, data card and form. What a question asks and its answers have
no source in the folder but themselves: there the hashes are all the proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgqa_bench.errors import DataError, KgqaBenchError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.question_sets.built import read_own_questions
from kgqa_bench.question_sets.files import json_rows
from kgqa_bench.question_sets.model import Named, SetQuestion
from kgqa_bench.question_sets.subgraphs import read_subgraphs

from .degraded_set import write_each, write_shared
from .degrees import Degree, Removal
from .package import CARD, COMPLETE, INCOMPLETE, MANIFEST, REMOVED
from .reading import at, read_as, read_triples
from .set_files import render_card, render_manifest, split_file
from .verify_files import hash_problems, triple_problems

_MOST_OF_A_FILE = 5
_REMADE = "not what the other files and the settings give"


class DegradedManifest(BaseModel):
    """manifest.json."""

    model_config = ConfigDict(extra="forbid", strict=True)
    format: Literal[1]
    name: str
    kg: str
    source_fingerprint: str
    settings: Degree
    splits: list[str] = Field(min_length=1)
    figures: dict[str, Any]
    files: dict[str, str]

    @property
    def shared(self) -> bool:
        """Whether all questions are over one graph."""
        return COMPLETE in self.files

    def names(self, kind: str) -> list[str]:
        """The files of ``questions`` or ``removed``, split after split."""
        return [split_file(kind, split) for split in self.splits]

    def all_names(self) -> list[str]:
        """All files but the manifest."""
        rest = [COMPLETE, INCOMPLETE, REMOVED] if self.shared else self.names("removed")
        return [CARD, *self.names("questions"), *rest]


class _Lost(BaseModel):
    """One row of removed.SPLIT.jsonl."""

    model_config = ConfigDict(extra="forbid", strict=True)
    id: str
    answerable: bool
    removed: list[Named]


def is_degraded(folder: Path) -> bool:
    """Whether the manifest of a folder is that of a degraded question set."""
    try:
        return orjson.loads((folder / MANIFEST).read_bytes())["settings"]["removal"] in get_args(Removal)
    except (OSError, ValueError, LookupError, TypeError):
        return False


def verify_degraded(folder: Path) -> list[str]:
    """Everything that is wrong with a degraded question set, as ``FILE, line N: what``; empty where nothing is."""
    try:
        manifest = read_as(DegradedManifest, folder / MANIFEST)
    except KgqaBenchError as problem:
        return [str(problem)]
    names = manifest.all_names()
    if len(set(names)) < len(names):
        return [at(MANIFEST, None, "splits: two of them would have one file.")]
    problems = hash_problems(folder, names, manifest.files)
    files = _Remade(folder)
    try:
        if manifest.shared:
            parts = [read_triples(folder / name) for name in (COMPLETE, INCOMPLETE, REMOVED)]
            problems += triple_problems(*parts)
            columns = list(zip(*parts[0], strict=True)) or [()] * 4
            graph = build_graph(*columns, source=COMPLETE)
            write_shared(
                graph, lambda: _asked(folder, manifest), manifest.settings, files, name=manifest.name, kg=manifest.kg
            )
        else:
            write_each(lambda: _own(folder, manifest), manifest.settings, files, name=manifest.name, kg=manifest.kg)
    except KgqaBenchError as problem:
        return [*problems, str(problem)]
    finally:
        files.close()
    problems += [*files.problems, *_stated_problems(manifest, files.facts)]
    if not problems and render_manifest(files.facts, manifest.files) != (folder / MANIFEST).read_bytes():
        problems.append(at(MANIFEST, None, "not in the form that it is written in."))
    return problems


def _asked(folder: Path, manifest: DegradedManifest) -> Iterator[SetQuestion]:
    for split, name in zip(manifest.splits, manifest.names("questions"), strict=True):
        yield from read_own_questions(folder / name, split)


def _own(folder: Path, manifest: DegradedManifest) -> Iterator[SetQuestion]:
    """The questions with their graphs as they were: what is left and what is removed."""
    names = zip(manifest.splits, manifest.names("questions"), manifest.names("removed"), strict=True)
    for split, questions, removed in names:
        rows = zip_longest(read_subgraphs(folder / questions, split), _lost(folder / removed))
        for line, (question, lost) in enumerate(rows, 1):
            if question is None or lost is None or question.id != lost.id:
                what = f"the question of this line is not that of {questions}."
                raise DataError(what, file=folder / removed, line=line)
            yield replace(question, triples=(*(question.triples or ()), *lost.removed))


def _lost(path: Path) -> Iterator[_Lost]:
    for line, row in json_rows(path):
        try:
            yield _Lost.model_validate_json(orjson.dumps(row))
        except ValidationError as problem:
            first = problem.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise DataError(f"{where}: {first['msg']}.", file=path, line=line) from problem


class _Remade:
    """Takes the files of a set made again, and compares them with those that are there.

    Attributes:
        problems: Where they differ, a few of each file.
        facts: The manifest's, once all is made.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._streams: dict[str, BinaryIO | None] = {}
        self._lines: dict[str, int] = {}
        self._differing: dict[str, int] = {}
        self.problems: list[str] = []
        self.facts: Mapping[str, Any] = {}

    def write(self, name: str, data: bytes) -> None:
        """See ``set_files.Files``."""
        if name not in self._streams:
            path = self._folder / name
            self._streams[name] = path.open("rb") if path.is_file() else None  # missing ones are told of already
            self._lines[name] = self._differing[name] = 0
        stream = self._streams[name]
        if stream is None:
            return
        for line in BytesIO(data):
            self._lines[name] += 1
            there = stream.readline()
            if there != line:
                self._differs(name, _difference(there, line))

    def finish(self, facts: Mapping[str, Any]) -> None:
        """See ``set_files.Files``."""
        self.facts = facts
        self.write(CARD, render_card(facts, self._streams).encode())
        for name, stream in self._streams.items():
            if stream is not None and stream.readline():
                self._lines[name] += 1
                self._differs(name, "there are more lines than the other files and the settings give.")

    def close(self) -> None:
        """Close the files that were read."""
        for stream in self._streams.values():
            if stream is not None:
                stream.close()

    def _differs(self, name: str, what: str) -> None:
        self._differing[name] += 1
        if self._differing[name] <= _MOST_OF_A_FILE:
            self.problems.append(at(name, self._lines[name], what))
        elif self._differing[name] == _MOST_OF_A_FILE + 1:
            self.problems.append(at(name, None, "and further lines."))


def _difference(there: bytes, remade: bytes) -> str:
    if not there:
        return "the file ends before this line."
    try:
        old, new = orjson.loads(there), orjson.loads(remade)
    except orjson.JSONDecodeError:
        return f"{_REMADE}: {_shown(there)} instead of {_shown(remade)}."
    if not isinstance(old, dict) or not isinstance(new, dict):
        return f"{_REMADE}."
    differing = [key for key in (*new, *(key for key in old if key not in new)) if old.get(key) != new.get(key)]
    stated = f"question {old.get('id')}: "
    return stated + (f"{', '.join(differing)}: {_REMADE}." if differing else f"{_REMADE}, or not in its form.")


def _shown(line: bytes) -> str:
    return repr(line.decode(errors="replace").rstrip("\n"))


def _stated_problems(manifest: DegradedManifest, facts: Mapping[str, Any]) -> Iterable[str]:
    if manifest.source_fingerprint != facts["source_fingerprint"]:
        source = COMPLETE if manifest.shared else "the graphs"
        yield at(MANIFEST, None, f"source_fingerprint is not that of {source}.")
    if manifest.splits != facts["splits"]:
        yield at(MANIFEST, None, f"splits: {manifest.splits!r} instead of {facts['splits']!r}.")
    stated, measured = manifest.figures, facts["figures"]
    for key in (*measured, *(key for key in stated if key not in measured)):
        if stated.get(key) != measured.get(key):
            what = f"figures: {key} is {stated.get(key)!r}, but the files give {measured.get(key)!r}."
            yield at(MANIFEST, None, what)
