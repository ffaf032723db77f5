"""BRINK's published files (Zhou et al., arXiv 2508.08344): questions over a graph without their direct triples.

Questions are a TSV with the columns id, rule_index, question, q_entity, answer, a_entity, rule, grounding (lists as
Python prints them), or JSON with the same keys; either perhaps with ``hard_answer``. A grounding ends in ``=> head
relation tail``, the removed triple.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgqa_bench.errors import DataError, DataNotFoundError
from kgqa_bench.question_sets.files import REMEDY, Row, json_rows, text, text_lines
from kgqa_bench.question_sets.literal import read_list
from kgqa_bench.question_sets.model import Asked, Named, SetQuestion
from kgqa_bench.question_sets.subgraphs import split_of

SUFFIXES = (".tsv", ".json", ".jsonl")
GRAPH_FILES = (
    ("knowledge_graph_complete.tsv", "knowledge_graph_incomplete.tsv"),
    ("kg/facts.tsv", "kg/incomplete_facts.tsv"),
    ("facts.tsv", "incomplete_facts.tsv"),
)
"""What the complete and the incomplete graph are called: in Family and FB15k-237, and in Wikidata5m."""

SPLITS = {"train": ("train",), "validation": ("validation", "valid", "val", "dev"), "test": ("test",)}
"""Splits by what files call them."""

_KEYS = frozenset({"rule_index", "grounding", "hard_answer", "hard_answers"})


def read_brink(path: Path, split: str | None = None) -> Iterator[SetQuestion]:
    """The questions of a file in its order.

    Args:
        path: A TSV, a JSON list or JSON lines.
        split: Its split; by default taken from its name.

    Raises:
        DataNotFoundError: There is no such file.
        DataError: A row is malformed; names it.
    """
    split = split if split is not None else split_of(path)
    for line, row in _tsv_rows(path) if path.suffix == ".tsv" else json_rows(path):
        yield checked_question(row, split, line, path)


def checked_question(row: Row, split: str, line: int, place: str | Path) -> SetQuestion:
    """A row as a question. DataError, naming ``place`` and line, where it is malformed."""
    try:
        return _question(row, split, line)
    except (ValueError, TypeError) as problem:
        row_id = str(row["id"]) if "id" in row else None
        raise DataError(str(problem), file=place, line=line, row=row_id, hint=REMEDY) from problem


def is_brink_row(row: Row) -> bool:
    """Whether a JSON row looks like one of BRINK's."""
    return not _KEYS.isdisjoint(row)


def brink_files(folder: Path) -> dict[str, Path]:
    """The question files of a folder by split. Empty where there is none.

    Raises:
        DataError: Several files may be meant.
    """
    graphs = {name for pair in GRAPH_FILES for name in pair}
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        split = next((name for name, words in SPLITS.items() if split_of(path) in words), None)
        if split is None or path.suffix not in SUFFIXES or path.name in graphs or not path.is_file():
            continue
        if split in found:
            raise DataError(f"Both {found[split].name} and {path.name} may be the split {split}.", file=folder)
        found[split] = path
    return {split: found[split] for split in SPLITS if split in found}


def brink_graph_files(folder: Path) -> tuple[Path, Path] | None:
    """The files of the complete and the incomplete graph in a folder, or None."""
    for complete, incomplete in GRAPH_FILES:
        if (folder / complete).is_file() and (folder / incomplete).is_file():
            return folder / complete, folder / incomplete
    return None


def _question(row: Row, split: str, line: int) -> SetQuestion:
    topics = _texts(row, "q_entity", "topic_entities")
    answers = _texts(row, "answer", "answers", "a_entity")
    hard = _texts(row, "hard_answers", "hard_answer")
    topic = topics[0] if topics else None
    primary = hard[0] if hard else None
    removed = _head_triple(_texts(row, "grounding"), topic, primary)
    asked: Asked | None = None
    if removed is not None and removed[0] != removed[2] and topic in (removed[0], removed[2]):
        asked = "tail" if topic == removed[0] else "head"
        primary = primary or (removed[2] if asked == "tail" else removed[0])
    return SetQuestion(
        id=text(row, "id"),
        text=text(row, "question"),
        split=split,
        line=line,
        topics=topics,
        answers=answers,
        answer_entities=answers,
        relation=removed[1] if removed is not None else None,
        asked=asked,
        removed=removed,
        hard_answers=hard or ((primary,) if primary is not None else ()),
        primary=primary,
    )


def _texts(row: Row, *keys: str) -> tuple[str, ...]:
    """The texts under the first of the keys that is there: a list, a list as Python prints it, or one text."""
    value: Any = next((row[key] for key in keys if row.get(key) is not None), None)
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return read_list(value) if value.lstrip().startswith("[") else (value,)
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(each, str | int) and not isinstance(each, bool) for each in values):
        raise ValueError(f"{keys[0]} must be a list of texts.")
    return tuple(map(str, values))


def _head_triple(grounding: tuple[str, ...], topic: str | None, other: str | None) -> Named | None:
    """The triple after ``=>``; names with spaces need both ends known to be told apart. None where it is not said."""
    _body, arrow, head = (grounding[0] if grounding else "").rpartition("=>")
    if not arrow:
        return None
    head = head.strip()
    parts = head.split()
    if len(parts) == 3:
        return parts[0], parts[1], parts[2]
    if topic and other:
        for start, end in ((topic, other), (other, topic)):
            relation = head.removeprefix(f"{start} ").removesuffix(f" {end}")
            if head == f"{start} {relation} {end}" and " " not in relation:
                return start, relation, end
    return None


def _tsv_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Line and fields by column of each row of a TSV whose fields may be in double quotes."""
    if not path.is_file():
        raise DataNotFoundError(f"There is no question file {path}.", hint="Check the path.")
    numbers: list[int] = []

    def lines() -> Iterator[str]:
        for number, line in text_lines(path):
            numbers.append(number)
            yield line + "\n"

    reader = csv.DictReader(lines(), delimiter="\t", strict=True)
    try:
        missing = {"id", "question", "answer"} - set(reader.fieldnames or ())
        if missing:
            raise DataError(f"There is no column {', '.join(sorted(missing))}.", file=path, line=1, hint=REMEDY)
        for row in reader:
            if None in row or None in row.values():
                message = f"A row must have {len(reader.fieldnames or ())} fields."
                raise DataError(message, file=path, line=numbers[-1], hint=REMEDY)
            yield numbers[-1], row
    except csv.Error as problem:
        line = numbers[-1] if numbers else 1
        raise DataError(f"Malformed: {problem}.", file=path, line=line, hint=REMEDY) from problem
