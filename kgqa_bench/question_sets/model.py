"""The form that all question sets are read into."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kgqa_bench.domain import QuestionKind

if TYPE_CHECKING:
    from kgqa_bench.graph.memory import MemoryGraph

Named = tuple[str, str, str]
"""Head, relation and tail, in stored direction."""

Asked = Literal["head", "tail"]
"""The end of a triple that is asked for; the topic is the other end."""


@dataclass(frozen=True, slots=True)
class SetQuestion:
    """One row of a question set. What a set does not say is None or empty.

    Attributes:
        id: As the file has it, else made of split and line.
        text: The question.
        split: Train, dev, test …: the file's own word for it; a part of the set may follow after a space.
        line: Where it stands in its file, counted from 1.
        kind: What is asked for.
        topics: Names of the topic entities.
        answers: The gold answers as they are scored, in file order, repetitions kept.
        answer_entities: The gold answers as the graph names them.
        triples: The question's own graph.
        relation: The relation it was made from.
        asked: The end of that relation which is asked for.
        removed: The triple it was made from, that methods do not see.
        hard_answers: Answers whose direct triple methods do not see.
        primary: The hard answer it was made for.
        twin: The twin stratum that the set states.
    """

    id: str
    text: str
    split: str
    line: int
    kind: QuestionKind = "entities"
    topics: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    answer_entities: tuple[str, ...] = ()
    triples: tuple[Named, ...] | None = None
    relation: str | None = None
    asked: Asked | None = None
    removed: Named | None = None
    hard_answers: tuple[str, ...] = ()
    primary: str | None = None
    twin: str | None = None


@dataclass(frozen=True)
class QuestionSet:
    """A question set that was found, nothing of it read yet.

    Attributes:
        form: What kind of set it is: ``built``, ``brink``, ``subgraphs``, ``metaqa`` or ``questions``.
        files: The files of questions, each with its split; a split may have several.
        rows: Reads all questions, split after split; may be called again.
        seen: Loads the graph that methods see; None where questions have their own, or none is known.
        complete: Loads the graph with the removed triples; None where there is none apart from ``seen``.
    """

    form: str
    files: tuple[tuple[str, Path], ...]
    rows: Callable[[], Iterator[SetQuestion]]
    seen: Callable[[], MemoryGraph] | None = None
    complete: Callable[[], MemoryGraph] | None = None
