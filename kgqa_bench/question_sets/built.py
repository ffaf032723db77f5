"""The questions of built benchmarks, of sets made incomplete to a degree, and of users' own files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from kgqa_bench.errors import DataError
from kgqa_bench.question_sets.files import Row, json_rows, text, text_list
from kgqa_bench.question_sets.model import Asked, Named, SetQuestion

SPLITS = ("train", "validation", "test")
MANIFEST = "manifest.json"
_REMEDY = "Build the benchmark again, or see what is wrong with kgqa-bench verify."


def built_files(folder: Path) -> dict[str, Path]:
    """The question files by split of a folder that this package made. Empty where the folder is none."""
    if not (folder / MANIFEST).is_file():
        return {}
    found = {split_of_built(path): path for path in sorted(folder.glob("questions.*.jsonl"))}
    return {split: found[split] for split in (*SPLITS, *sorted(found.keys() - set(SPLITS))) if split in found}


def split_of_built(path: Path) -> str:
    """SPLIT of questions.SPLIT.jsonl."""
    return path.name.removeprefix("questions.").removesuffix(".jsonl")


def is_built_row(row: Row) -> bool:
    """Whether a row is a built benchmark's."""
    return "removed" in row and "asked" in row


def read_built_questions(path: Path, split: str) -> Iterator[SetQuestion]:
    """The rows of questions.SPLIT.jsonl.

    Raises:
        DataNotFoundError: There is no such file.
        DataError: A row is malformed; names the line.
    """
    for line, row in json_rows(path):
        try:
            question = _built(row, split, line)
        except (ValueError, TypeError) as problem:
            row_id = str(row["id"]) if "id" in row else None
            raise DataError(str(problem), file=path, line=line, row=row_id, hint=_REMEDY) from problem
        yield question


def read_own_questions(path: Path, split: str = "questions") -> Iterator[SetQuestion]:
    """The rows of a user's own question file; of a choice question the text of the right option is the answer.

    Errors as for ``kgqa_bench.run.question_file.load_file``.
    """
    from kgqa_bench.run.question_file import load_file

    for line, (question, gold) in enumerate(load_file(path).items, 1):
        texts = {option.label: option.text for option in question.options}
        answers = tuple(texts.get(answer, answer) for answer in gold.answers)
        yield SetQuestion(
            id=question.id,
            text=question.text,
            split=split,
            line=line,
            kind=question.kind,
            topics=question.topic_entities,
            answers=answers,
            answer_entities=answers,
        )


def _built(row: Row, split: str, line: int) -> SetQuestion:
    asked = row.get("asked")
    if asked not in ("head", "tail"):
        raise ValueError(f"asked must be head or tail, not {asked!r}.")
    answers = text_list(row, "answer")
    return SetQuestion(
        id=text(row, "id"),
        text=text(row, "question"),
        split=split,
        line=line,
        topics=text_list(row, "topic_entities"),
        answers=answers,
        answer_entities=answers,
        relation=text(row, "relation"),
        asked=cast(Asked, asked),
        removed=_triple(row.get("removed")),
        hard_answers=text_list(row, "hard_answers"),
        primary=text(row, "primary"),
        twin=text(row, "twin") if row.get("twin") else None,
    )


def _triple(value: Any) -> Named:
    if not (isinstance(value, list) and len(value) == 3 and all(isinstance(name, str) for name in value)):
        raise ValueError("removed must be three texts.")
    return value[0], value[1], value[2]
