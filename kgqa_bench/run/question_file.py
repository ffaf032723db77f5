"""A user's own questions: JSON lines, one question a line (``--benchmark FILE.jsonl``, also ``.jsonl.gz``).

=================  =================================================================================================
``id``             Text, unique in the file.
``question``       Text, without the options.
``kind``           ``choice``, ``boolean`` or ``entities``.
``options``        Of a choice question: a list of texts (lettered A, B, C, …), or of ``{"label": …, "text": …}``.
``answer``         ``choice``: the option's label or its exact text; ``boolean``: true or false;
                   ``entities``: a name or a list of names.
``topic_entities`` Optional: a list of entity names (or labels) in the graph.
``exemplar``       Optional: true for a solved example (few-shot prompts, majority), which is not asked.
``meta``           Optional: an object for notes; it is not read.
=================  =================================================================================================

Example::

    {"id": "1", "kind": "choice", "question": "What melts ice?", "options": ["heat", "a shadow"], "answer": "A"}
    {"id": "2", "kind": "boolean", "question": "Ice floats on water.", "answer": true}
    {"id": "3", "kind": "entities", "question": "Who wrote it?", "answer": ["Ann"], "topic_entities": ["it"]}
"""

from __future__ import annotations

import gzip
import hashlib
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from kgqa_bench.contracts import Benchmark, BenchmarkData
from kgqa_bench.domain import BOOLEAN_VALUES, Gold, Item, Option, Question, QuestionKind
from kgqa_bench.errors import DataError, DataNotFoundError, suggest
from kgqa_bench.run.split import split_hash
from kgqa_bench.storage import UNREADABLE

KEYS = ("id", "question", "kind", "options", "answer", "topic_entities", "exemplar", "meta")
_KEY_SET = frozenset(KEYS)
KINDS: tuple[QuestionKind, ...] = ("choice", "boolean", "entities")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class QuestionFile(Benchmark):
    """Questions from a JSON-lines file."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def load(self, data: Path | None, seed: int) -> BenchmarkData:
        """Read the file; ``data`` is not used. Errors as for ``load_file``."""
        return load_file(self.path, seed)


def load_file(path: Path, seed: int = 0) -> BenchmarkData:
    """The questions of a file in file order; its solved examples in an order drawn by ``seed``.

    Raises:
        DataNotFoundError: There is no such file.
        DataError: The first malformed row, with file, line, row id and remedy; or a file without a question.
    """
    items: list[Item] = []
    exemplars: list[Item] = []
    content = _read(path)
    for row in _rows(path, content):
        if row.problems:
            raise row.problems[0]
        if row.item is not None:
            (exemplars if row.exemplar else items).append(row.item)
    if not items:
        raise _no_question(path)
    exemplars.sort(key=lambda item: item.question.id)
    random.Random(seed).shuffle(exemplars)
    provenance = {
        "source": "file",
        "file": path.name,
        "sha256": hashlib.sha256(content).hexdigest(),
        "split_hash": split_hash(items),
        "exemplars": len(exemplars),
    }
    return BenchmarkData(tuple(items), (lambda: exemplars) if exemplars else None, provenance)


def validate_file(path: Path) -> list[DataError]:
    """Every problem of a question file in line order; empty where ``load_file`` would read it.

    Raises:
        DataNotFoundError: There is no such file.
    """
    rows = list(_rows(path, _read(path)))
    problems = [problem for row in rows for problem in row.problems]
    if not problems and all(row.exemplar for row in rows):
        return [_no_question(path)]
    return problems


class _Row(NamedTuple):
    item: Item | None
    exemplar: bool
    problems: Sequence[DataError]


def _no_question(path: Path) -> DataError:
    return DataError("There is no question to ask.", file=path, hint="Write one JSON object a line.")


def _read(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except (FileNotFoundError, IsADirectoryError) as problem:
        raise DataNotFoundError(f"There is no question file {path}.", hint="Check the path.") from problem
    except OSError as problem:
        raise DataError(f"Cannot be read: {problem.strerror}.", file=path, hint="Check its permissions.") from problem
    if path.suffix != ".gz":
        return content
    try:
        return gzip.decompress(content)
    except UNREADABLE as problem:
        raise DataError(f"Not a whole gzip file: {problem}.", file=path, hint="Copy it again.") from problem


def _rows(path: Path, content: bytes) -> Iterator[_Row]:
    lines: dict[str, int] = {}
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as problem:
            message = f"Not JSON: {problem.msg}."
            yield _Row(
                None, False, [DataError(message, file=path, line=number, hint="Write one JSON object a line.")]
            )
            continue
        found: list[tuple[str, str]] = []
        item = _item(row, found)
        row_id = str(row["id"]) if isinstance(row, dict) and "id" in row else None
        if row_id is not None:
            first = lines.setdefault(row_id, number)
            if first != number:
                found.append((f"Line {first} has the same id.", "Give every question its own id."))
        problems = [DataError(text, file=path, line=number, row=row_id, hint=hint) for text, hint in found]
        yield _Row(item, row_id is not None and row.get("exemplar") is True, problems)


def _item(row: Any, problems: list[tuple[str, str]]) -> Item | None:
    """The question and its gold answer; what is wrong goes to ``problems`` as (message, remedy)."""
    if not isinstance(row, dict):
        problems.append(("Not a JSON object.", 'Write {"id": …, "question": …, "kind": …, "answer": …}.'))
        return None
    for key in row.keys() - _KEY_SET:
        near = suggest(key, KEYS)
        hint = f"Did you mean {near[0]!r}?" if near else 'Put notes under "meta".'
        problems.append((f"Unknown key {key!r}.", hint))
    question_id, text, kind = row.get("id"), row.get("question"), row.get("kind")
    if not _is_text(question_id):
        problems.append(("No id.", '"id" must be a text that is not empty.'))
    if not _is_text(text):
        problems.append(("No question.", '"question" must be a text that is not empty.'))
    if kind not in KINDS:
        problems.append((f"Unknown kind {kind!r}.", f'"kind" must be one of {", ".join(KINDS)}.'))
        return None
    topics = row.get("topic_entities", [])
    if topics != [] and not (isinstance(topics, list) and all(map(_is_text, topics))):
        problems.append(("Wrong topic_entities.", "It must be a list of entity names, texts that are not empty."))
        topics = []
    if not isinstance(row.get("exemplar", False), bool):
        problems.append(("Wrong exemplar.", "It must be true or false."))
    options = _options(row, problems) if kind == "choice" else ()
    if kind != "choice" and row.get("options"):
        problems.append((f"A question of kind {kind} has no options.", 'Leave "options" out, or say kind choice.'))
    answers = _answers(kind, row.get("answer"), options, problems)
    if problems:
        return None
    return Item(Question(str(question_id), str(text), kind, options, tuple(topics)), Gold(answers))


def _is_text(value: Any) -> bool:
    return type(value) is str and value != "" and not value.isspace()


def _options(row: dict[str, Any], problems: list[tuple[str, str]]) -> tuple[Option, ...]:
    given = row.get("options")
    if not isinstance(given, list) or not 2 <= len(given) <= len(LETTERS):
        problems.append((f"A choice question needs 2 to {len(LETTERS)} options.", 'Give "options" as a list.'))
        return ()
    if all(map(_is_text, given)):
        return tuple(map(Option, LETTERS, given))
    options = []
    for place, option in enumerate(given, start=1):
        if not (isinstance(option, dict) and _is_text(option.get("label")) and _is_text(option.get("text"))):
            problems.append(
                (f"Option {place} is malformed.", 'All must be texts, or all {"label": "A", "text": "…"}.')
            )
            return ()
        options.append(Option(option["label"], option["text"]))
    if len({option.label.casefold() for option in options}) < len(options):
        problems.append(("Two options have the same label.", "Give every option its own label."))
    return tuple(options)


def _answers(
    kind: QuestionKind, answer: Any, options: tuple[Option, ...], problems: list[tuple[str, str]]
) -> tuple[str, ...]:
    if answer is None or answer == "" or answer == []:
        problems.append(("No gold answer.", 'Give "answer".'))
    elif kind == "entities":
        names = answer if isinstance(answer, list) else [answer]
        if all(_is_text(name) for name in names):
            return tuple(names)
        problems.append(("Wrong answer.", "It must be an entity name or a list of entity names."))
    elif kind == "boolean":
        value = str(answer).lower()
        if value in BOOLEAN_VALUES:
            return (value,)
        problems.append((f"The answer {answer!r} is no truth value.", "It must be true or false."))
    elif options:
        named = {option.label for option in options if option.label == answer or option.text == answer}
        if len(named) == 1:
            return tuple(named)
        labels = ", ".join(option.label for option in options)
        several = "stands for several options" if named else "is not among the options"
        problems.append((f"The answer {answer!r} {several}.", f"Give one of the labels {labels}."))
    return ()
