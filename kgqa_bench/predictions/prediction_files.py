"""Predictions in other people's files.

JSON lines, or one JSON list, of rows with an id and one of ``PREDICTIONS``: a list of answers or lines (best first),
or one text. Of RoG and GNN-RAG (``prediction``, ``ground_truth``), of BRINK (``raw_output``), or plain.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import orjson

from kgqa_bench.errors import DataError, DataNotFoundError
from kgqa_bench.predictions.gold import IDS, all_texts, gold_of_row
from kgqa_bench.predictions.model import GoldRow, Reply
from kgqa_bench.storage import UNREADABLE

PREDICTIONS = ("prediction", "predictions", "raw_output")

UNREADABLE_LINE = "unreadable line"
NO_OBJECT = "row is no object"
NO_PREDICTION = "no prediction in the row"
WRONG_TYPE = "wrong type of prediction"
WRONG_GOLD = "wrong type of gold answer"
WRONG_ID = "no id"
NULL = "null prediction"


def read_replies(path: Path, *, with_gold: bool) -> tuple[list[Reply], str | None, Literal["ids", "text"]]:
    """All rows of a file, what is wrong with any said in it.

    Args:
        path: JSON lines or a JSON list, perhaps ``.gz``.
        with_gold: Read the gold answers in the rows too.

    Returns:
        The replies in file order; the key that has the predictions (None where no row has one); and what they look
        like: ids where all are lists beside gold answers that are not RoG's, else text.

    Raises:
        DataNotFoundError: There is no such file.
        DataError: It cannot be read, or is one JSON value but no list.
    """
    replies: list[Reply] = []
    form: str | None = None
    unit: Literal["ids", "text"] = "ids"
    word, rows = _rows(path)
    for number, row in enumerate(rows, 1):
        if type(row) is not dict:
            if row is _BLANK:
                continue
            problem = UNREADABLE_LINE if row is _BROKEN else NO_OBJECT
            replies.append(Reply(None, f"{word} {number}", problem=problem))
            continue
        key = value = None
        for key in PREDICTIONS:
            if key in row:
                value = row[key]
                break
        else:
            key = None
        form = form or key
        if type(value) is str or "ground_truth" in row:
            unit = "text"
        replies.append(_reply(row, key, value, f"{word} {number}", with_gold))
    return replies, form, unit


def _reply(row: dict[str, Any], key: str | None, value: Any, where: str, with_gold: bool) -> Reply:
    question_id = row.get("id")
    if question_id is None:
        question_id = next((row[name] for name in IDS if name in row), None)
    if type(question_id) is int:
        question_id = str(question_id)
    if type(question_id) is not str or not question_id:
        return Reply(None, where, problem=WRONG_ID)
    gold: GoldRow | None = None
    problem: str | None = None
    if with_gold:
        try:
            gold = gold_of_row(row)
        except ValueError:
            problem = WRONG_GOLD
    predictions: tuple[str, ...] = ()
    raw: str | None = None
    if type(value) is list:
        if all_texts(value):
            predictions = tuple(value)
        elif set(map(type, value)) <= _TEXTS:
            predictions = tuple([str(each) for each in value if each is not None])
            problem = problem or (NULL if value and not predictions else None)
        else:
            problem = problem or WRONG_TYPE
    elif type(value) is str:
        predictions, raw = tuple(value.split("\n")), value
    elif type(value) is int:
        predictions = (str(value),)
    else:
        problem = problem or (NO_PREDICTION if key is None else NULL if value is None else WRONG_TYPE)
    return Reply(question_id, question_id, predictions, raw, problem, gold)


_BROKEN, _BLANK = object(), object()
_TEXTS = {str, int, type(None)}


def _rows(path: Path) -> tuple[str, Iterable[Any]]:
    """What a row is called, and the rows; ``_BROKEN`` for a line that is no JSON, ``_BLANK`` for an empty one."""
    content = _content(path).removeprefix(b"\xef\xbb\xbf")
    if not content[:64].lstrip().startswith(b"["):
        return "line", map(_parsed, content.split(b"\n"))
    try:
        rows: list[Any] = orjson.loads(content)
    except orjson.JSONDecodeError as problem:
        message = f"Not a whole JSON list: {problem.msg} at character {problem.pos}."
        raise DataError(message, file=path, hint="Get it again, or write one JSON object a line.") from problem
    return "row", rows


def _parsed(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return _BROKEN if line.strip() else _BLANK


def _content(path: Path) -> bytes:
    if not path.is_file():
        what = "The folder is no run directory" if path.is_dir() else "There is no file of predictions"
        raise DataNotFoundError(f"{what}: {path}.", hint="Give a run directory or a file of predictions.")
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if path.suffix == ".gz" else content
    except UNREADABLE as problem:
        raise DataError(f"Cannot be read: {problem}.", file=path) from problem
