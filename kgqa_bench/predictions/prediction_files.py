"""Predictions in other people's files.

JSON lines, or one JSON list, of rows with a question and a prediction, under the names of ``names``. A prediction is
a list of answers or lines (best first), or one text, of which each line is one. Of the JSON object that PoG has in
its ``results`` the ``Answer`` is read.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, cast

import orjson

from kgqa_bench.errors import DataError, DataNotFoundError
from kgqa_bench.predictions.gold import all_texts, gold_of_row, wording
from kgqa_bench.predictions.model import GoldRow, Reply
from kgqa_bench.predictions.names import IDS, PREDICTIONS
from kgqa_bench.storage import UNREADABLE

UNREADABLE_LINE = "unreadable line"
NO_OBJECT = "row is no object"
NO_PREDICTION = "no prediction in the row"
WRONG_TYPE = "wrong type of prediction"
WRONG_GOLD = "wrong type of gold answer"
NO_ID = "no id"
WRONG_ID = "wrong type of id"
NULL = "null prediction"

_ID = re.compile(r"\d+|/?[mg][./]\w+|[QP]\d+")
"""Private numbers, Freebase's and Wikidata's ids."""


def read_replies(path: Path, *, with_gold: bool) -> tuple[list[Reply], str | None, Literal["ids", "text"]]:
    """All rows of a file, what is wrong with any said in it.

    Args:
        path: JSON lines or a JSON list, perhaps gzipped.
        with_gold: Read the gold answers in the rows too. Of a row without id the question's words are the id then.

    Returns:
        The replies in file order; the key that has the predictions (None where no row has one); and what they look
        like: text where any is one text, or where answers under ``ground_truth`` are no ids (RoG's are names).

    Raises:
        DataNotFoundError: There is no such file.
        DataError: It cannot be read, or is half a JSON list.
    """
    replies: list[Reply] = []
    form: str | None = None
    unit: Literal["ids", "text"] = "ids"
    problem: str | None
    word, rows = _rows(path)
    for number, row in enumerate(rows, 1):
        if type(row) is not dict:
            if row is not _BLANK:
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
        if type(value) is str or (unit == "ids" and "ground_truth" in row and not _are_ids(row["ground_truth"])):
            unit = "text"
        question_id, words, problem = _question(row)
        if problem is not None:
            replies.append(Reply(None, f"{word} {number}", problem=problem))
            continue
        predictions, raw, problem = _prediction(key, value)
        gold: GoldRow | None = None
        if with_gold:
            question_id = question_id or words
            try:
                gold = gold_of_row(row)
            except ValueError:
                problem = WRONG_GOLD
        where = question_id or f"{word} {number}"
        replies.append(Reply(question_id, where, predictions, raw, problem, gold, 0, words))
    return replies, form, unit


def _question(row: dict[str, Any]) -> tuple[str | None, str | None, str | None]:
    """Id, words where there is no id, and problem where there are none either."""
    for name in IDS:
        found = row.get(name)
        if type(found) is str and found:
            return found, None, None
        if type(found) is int:
            return str(found), None, None
        if found is not None and found != "":
            return None, None, WRONG_ID
    words = wording(row)
    return None, words, None if words else NO_ID


def _prediction(key: str | None, value: Any) -> tuple[tuple[str, ...], str | None, str | None]:
    """Predictions, raw text and problem, see ``Reply``."""
    if type(value) is list:
        if all_texts(value):
            return tuple(value), None, None
        if set(map(type, value)) <= _TEXTS:
            found = tuple([str(each) for each in value if each is not None])
            return found, None, None if found else NULL
    elif type(value) is str:
        answer = _answer(value) if key == "results" else value
        if type(answer) is list and all_texts(answer):
            return tuple(answer), str(answer), None  # PoG scores such a list as Python writes it
        if type(answer) is str:
            return tuple(answer.split("\n")), answer, None
        value = answer
    elif type(value) is int:
        return (str(value),), None, None
    return (), None, NO_PREDICTION if key is None else NULL if value is None else WRONG_TYPE


def _answer(text: str) -> Any:
    """The ``Answer`` of a text that has ``{"A": {"Sufficient": …, "Answer": …}, "R": …}``, as PoG asks; or all."""
    try:
        found = orjson.loads(text[text.index("{") : text.rindex("}") + 1])
    except ValueError:
        return text
    found = found.get("A", found)
    return found["Answer"] if type(found) is dict and "Answer" in found else text


def _are_ids(answers: Any) -> bool:
    values = answers if type(answers) is list else [] if answers is None else [answers]
    return all(_ID.fullmatch(str(each)) for each in values)


_BROKEN, _BLANK = object(), object()
_TEXTS = {str, int, type(None)}
_GZIP = b"\x1f\x8b"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def _rows(path: Path) -> tuple[str, Iterable[Any]]:
    """What a row is called, and the rows; ``_BROKEN`` for a line that is no JSON, ``_BLANK`` for an empty one."""
    content = _content(path)
    if content.lstrip().startswith(b"["):
        try:
            return "row", cast(list[Any], orjson.loads(content))
        except orjson.JSONDecodeError as problem:
            if _parsed(content.split(b"\n", 1)[0]) is _BROKEN:  # else it is lines, of which the first is a list
                hint = "Get it again, or write one JSON object a line."
                message = f"Not a whole JSON list: {problem.msg}."
                raise DataError(message, file=path, line=problem.lineno, hint=hint) from problem
    return "line", map(_parsed, content.split(b"\n"))


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
        content = gzip.decompress(content) if content.startswith(_GZIP) else content
    except UNREADABLE as problem:
        raise DataError(f"Cannot be read: {problem}.", file=path, hint="Get it again.") from problem
    if content.startswith(_UTF_16):
        raise DataError("UTF-16.", file=path, line=1, hint="Convert the file to UTF-8.")
    return content.removeprefix(b"\xef\xbb\xbf")
