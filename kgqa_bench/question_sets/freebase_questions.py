"""The authors' files of WebQSP and ComplexWebQuestions: questions and answers over Freebase, without any graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from kgqa_bench.errors import DataError, DataNotFoundError
from kgqa_bench.question_sets.files import REMEDY, Row, text
from kgqa_bench.question_sets.model import SetQuestion
from kgqa_bench.storage import UNREADABLE

_Reader = Callable[[Row, str, int], SetQuestion]


def read_webqsp_parses(path: Path, split: str) -> Iterator[SetQuestion]:
    """The questions of a file of WebQSP (Yih et al., ACL 2016): ``QuestionId``, ``RawQuestion``, ``Parses``.

    Gold answers are those of all parses that the annotators call good and complete, of all parses where there is none
    such: names where Freebase has one, else the value or machine id. The authors' own score is that of the parse that
    suits an answer best; here the parses are one gold answer.

    Raises:
        DataNotFoundError: There is no such file.
        DataError: It is malformed; names the row.
    """
    return _rows(path, split, _webqsp)


def read_cwq(path: Path, split: str) -> Iterator[SetQuestion]:
    """The questions of a file of ComplexWebQuestions (Talmor and Berant, NAACL 2018): ``ID``, ``question``, answers.

    Gold answers are names where the file has them, else machine ids. Errors as for ``read_webqsp_parses``.
    """
    return _rows(path, split, _cwq)


def reader_of(path: Path) -> Callable[[Path, str], Iterator[SetQuestion]] | None:
    """What reads a file, by its first row; None where it is neither set's."""
    first = next(iter(_content(path)), None)
    if isinstance(first, Mapping) and "Parses" in first:
        return read_webqsp_parses
    return read_cwq if isinstance(first, Mapping) and "ID" in first and "question" in first else None


def _rows(path: Path, split: str, reader: _Reader) -> Iterator[SetQuestion]:
    for number, row in enumerate(_content(path), 1):
        try:
            yield reader(row, split, number)
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            reason = f"There is no {problem}." if isinstance(problem, KeyError) else str(problem)
            raise DataError(reason, file=path, line=number, hint=REMEDY) from problem


def _content(path: Path) -> list[Any]:
    if not path.is_file():
        raise DataNotFoundError(f"There is no question file {path}.", hint="Check the path.")
    try:
        content = orjson.loads(path.read_bytes())
    except UNREADABLE as problem:
        raise DataError(f"Cannot be read: {problem}.", file=path, hint=REMEDY) from problem
    except orjson.JSONDecodeError as problem:
        raise DataError(f"Not JSON: {problem.msg}.", file=path, line=problem.lineno, hint=REMEDY) from problem
    if isinstance(content, dict):
        content = content.get("Questions")
    if not isinstance(content, list):
        raise DataError("Not a list of questions.", file=path, hint=REMEDY)
    return content


def _webqsp(row: Row, split: str, line: int) -> SetQuestion:
    parses = row["Parses"]
    good = [parse for parse in parses if _is_good(parse)] or parses
    answers = [_webqsp_answer(answer) for parse in good for answer in parse["Answers"]]
    topics = [parse.get("TopicEntityName") or parse.get("TopicEntityMid") for parse in good]
    return SetQuestion(
        id=text(row, "QuestionId"),
        text=text(row, "RawQuestion", "ProcessedQuestion"),
        split=split,
        line=line,
        topics=_distinct(topics),
        answers=_distinct(answers),
        answer_entities=_distinct(answers),
    )


def _is_good(parse: Row) -> bool:
    comment = parse.get("AnnotatorComment") or {}
    return comment.get("QuestionQuality") == "Good" and comment.get("ParseQuality") == "Complete"


def _webqsp_answer(answer: Row) -> Any:
    return answer.get("EntityName") or answer["AnswerArgument"]


def _cwq(row: Row, split: str, line: int) -> SetQuestion:
    given = row["answers"] if "answers" in row else row.get("answer")
    listed = given if isinstance(given, list) else [given]
    answers = _distinct(
        answer.get("answer") or answer.get("answer_id") if isinstance(answer, Mapping) else answer
        for answer in listed
    )
    return SetQuestion(
        id=text(row, "ID"),
        text=text(row, "question"),
        split=split,
        line=line,
        answers=answers,
        answer_entities=answers,
    )


def _distinct(names: Any) -> tuple[str, ...]:
    kept = dict.fromkeys(name for name in names if name is not None and name != "")
    if not all(isinstance(name, str) for name in kept):
        raise ValueError("A name must be a text.")
    return tuple(kept)
