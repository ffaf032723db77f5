"""Question sets in which every question has a graph of its own.

RoG's rows (RoG-webqsp, RoG-cwq): ``id``, ``question``, ``answer``, ``q_entity``, ``a_entity``, ``graph`` (triples),
as JSON lines, a JSON list or Parquet. EPR-KGQA's rows: ``entities``, ``answers`` (``kb_id``, ``text``), ``subgraph``.
The graph of a row may be null or missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgqa_bench.errors import DataError
from kgqa_bench.question_sets.files import REMEDY, Row, json_rows, text, text_list
from kgqa_bench.question_sets.model import Named, SetQuestion

SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".json.gz", ".parquet")
_SPLIT = re.compile(r"(?<![a-z])(train|dev|validation|valid|val|test)(?![a-z])")


def read_subgraphs(path: Path, split: str | None = None) -> Iterator[SetQuestion]:
    """The questions of a file in its order, each with its own triples.

    Args:
        path: The file.
        split: Its split; by default taken from its name.

    Raises:
        DataNotFoundError: There is no such file.
        DataError: A row is malformed; names it.
    """
    split = split if split is not None else split_of(path)
    for line, row in json_rows(path):
        try:
            yield checked_question(row, split, line)
        except (ValueError, TypeError, KeyError, AttributeError) as problem:
            reason = f"There is no {problem}." if isinstance(problem, KeyError) else str(problem)
            row_id = str(row["id"]) if "id" in row else None
            raise DataError(reason, file=path, line=line, row=row_id, hint=REMEDY) from problem


def checked_question(row: Row, split: str, line: int) -> SetQuestion:
    """A row as a question; ``ValueError`` and its like where it is malformed."""
    epr = "subgraph" in row or ("graph" not in row and "entities" in row)
    return _epr(row, split, line) if epr else _rog(row, split, line)


def has_subgraph(row: Row) -> bool:
    """Whether a row brings its own graph."""
    return "graph" in row or "subgraph" in row


def split_of(path: Path) -> str:
    """Train, dev, test … as the file's name has it, else the name."""
    found = _SPLIT.search(path.name.lower())
    return found[1] if found else path.name.partition(".")[0]


def _rog(row: Row, split: str, line: int) -> SetQuestion:
    answers = text_list(row, "answer")
    return SetQuestion(
        id=text(row, "id"),
        text=text(row, "question"),
        split=split,
        line=line,
        topics=text_list(row, "q_entity"),
        answers=answers,
        answer_entities=text_list(row, "a_entity") or answers,
        triples=_triples(row.get("graph")),
    )


def _epr(row: Row, split: str, line: int) -> SetQuestion:
    names = tuple(_answer_name(answer) for answer in row.get("answers") or ())
    return SetQuestion(
        id=text(row, "id"),
        text=text(row, "question"),
        split=split,
        line=line,
        topics=text_list(row, "entities"),
        answers=names,
        answer_entities=names,
        triples=_triples((row.get("subgraph") or {}).get("tuples")),
    )


def _answer_name(answer: Any) -> str:
    name = answer if isinstance(answer, str) else answer["kb_id"]
    if not isinstance(name, str) or not name:
        raise ValueError("An answer has no kb_id.")
    return name


def _triples(rows: Any) -> tuple[Named, ...] | None:
    if rows is None:
        return None
    if not isinstance(rows, list):
        raise ValueError("The graph must be a list of triples.")
    triples = []
    for row in rows:
        if type(row) is not list or len(row) != 3:
            raise ValueError("A triple of the graph must be three texts.")
        head, relation, tail = row
        if not (type(head) is str and type(relation) is str and type(tail) is str):
            raise ValueError("A triple of the graph must be three texts.")
        triples.append((head, relation, tail))
    return tuple(triples)
