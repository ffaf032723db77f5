"""Gold answers of other people's predictions, from the questions they answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgqa_bench.errors import DataError
from kgqa_bench.predictions.model import GoldRow
from kgqa_bench.predictions.names import ANSWERS, HARD, IDS, QUESTIONS
from kgqa_bench.question_sets.files import Row, json_rows, text
from kgqa_bench.question_sets.model import SetQuestion

SPLIT = "test"
"""The split of a folder that is scored; for another give its file."""

_TEXTS = {str, int}
_FACTS = ("rule_type", "rule_subtype", "hops", "twin")
_FURTHER = frozenset({*HARD, *QUESTIONS, "primary", "topic_entities", "q_entity", *_FACTS})


def read_gold(path: Path) -> dict[str, GoldRow]:
    """The gold answers by question id.

    Args:
        path: A built benchmark's folder, or any question set that ``kgqa_bench.question_sets`` knows (of several
            splits ``test``); or JSON rows with an id and right answers (``names``), as BRINK's gold file, which may
            have hard answers, ``primary`` and the facts of built questions.

    Raises:
        DataNotFoundError: There is nothing there.
        ConfigError: It is no question set.
        DataError: A row is malformed, or two have the same id: gold answers must be whole.
    """
    gold: dict[str, GoldRow] = {}
    for where, line, question_id, row in _rows(path):
        if question_id in gold:
            raise DataError("An earlier row has the same id.", file=where, line=line, row=question_id)
        gold[question_id] = row
    if not gold:
        raise DataError("There is no question.", file=path)
    return gold


def gold_of_row(row: Row) -> GoldRow | None:
    """The gold answers in a JSON row; None where it has none. ValueError where they are of a wrong type."""
    for key in ANSWERS:
        answers = row.get(key)
        if answers is not None:
            break
    else:
        return None
    answers = tuple(answers) if type(answers) is list and all_texts(answers) else texts(row, key)
    if _FURTHER.isdisjoint(row):  # most files: a tenth of their reading
        return GoldRow(answers)
    hard = next(filter(None, (texts(row, name) for name in HARD)), ())
    primary = texts(row, "primary") or texts(row, "hard_answer")
    facts = {fact: str(row[fact]) for fact in _FACTS if row.get(fact)}
    topics = row.get("topic_entities") or row.get("q_entity")
    if isinstance(topics, list) and len(topics) == 1 and type(topics[0]) in _TEXTS:
        facts["topic"] = str(topics[0])
    return GoldRow(answers, hard, primary[0] if primary else None, wording(row) or "", facts)


def wording(row: Row) -> str | None:
    """The question in words; None where the row does not have it."""
    return next((row[name] for name in QUESTIONS if row.get(name) and isinstance(row[name], str)), None)


def all_texts(values: list[Any]) -> bool:
    """Whether a list of JSON values holds texts alone; joining them finds out faster than looking at each."""
    try:
        "".join(values)
    except TypeError:
        return False
    return True


def texts(row: Row, key: str) -> tuple[str, ...]:
    """A text, a number or a list of such under ``key`` as texts. ValueError where it is something else."""
    value = row.get(key)
    values = value if isinstance(value, list) else [] if value is None else [value]
    if all_texts(values):
        return tuple(values)
    if not set(map(type, values)) <= _TEXTS:
        raise ValueError(f"{key} must be a text or a list of texts.")
    return tuple(map(str, values))


def _rows(path: Path) -> Iterator[tuple[Path, int, str, GoldRow]]:
    from kgqa_bench.question_sets.built import built_files
    from kgqa_bench.question_sets.find import find_set

    if path.is_dir():
        built = built_files(path)
        if not built:
            yield from _of_set(path, find_set(path).rows())
            return
        path = built.get(SPLIT) or next(iter(built.values()))
    plain = path.name.removesuffix(".gz").endswith((".json", ".jsonl"))
    first = next((row for _line, row in json_rows(path)), {}) if plain or not path.exists() else {}
    if first.get("kind") == "choice" or "subgraph" in first or not plain:
        yield from _of_set(path, _own(path) if "kind" in first else find_set(path).rows())
        return
    for line, row in json_rows(path):
        try:
            gold = gold_of_row(row)
            if gold is None:
                raise ValueError(f"There is none of {', '.join(ANSWERS)}.")
            yield path, line, text(row, *IDS), gold
        except ValueError as problem:
            raise DataError(str(problem), file=path, line=line, hint="Gold answers must be whole.") from problem


def _own(path: Path) -> Iterator[SetQuestion]:
    from kgqa_bench.run.question_file import load_file

    for line, (question, gold) in enumerate(load_file(path).items, 1):
        yield SetQuestion(
            question.id, question.text, SPLIT, line, topics=question.topic_entities, answers=gold.answers
        )


def _of_set(path: Path, questions: Iterator[SetQuestion]) -> Iterator[tuple[Path, int, str, GoldRow]]:
    rows = list(questions)
    if any(row.split == SPLIT for row in rows):
        rows = [row for row in rows if row.split == SPLIT]
    for row in rows:
        facts = {"topic": row.topics[0]} if len(row.topics) == 1 else {}
        yield path, row.line, row.id, GoldRow(row.answers, row.hard_answers, row.primary, row.text, facts)
