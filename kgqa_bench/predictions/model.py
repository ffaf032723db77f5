"""What is read from predictions before they are scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple

from kgqa_bench.contracts import ScoreRow

Unit = Literal["ids", "text"]

EXAMPLES = 3
"""Ids or lines that the ledger gives for a finding."""

EXAMPLE_LENGTH = 80
"""Characters of each."""

NOT_ANSWERED = frozenset({"parse_failed", "error"})
"""Statuses of a run's record that are no answer."""


class GoldRow(NamedTuple):
    """The right answers of a question and what is known about it, see ``ScoreRow``."""

    answers: tuple[str, ...]
    hard: tuple[str, ...] = ()
    primary: str | None = None
    question: str = ""
    groups: Mapping[str, str] = MappingProxyType({})


class Reply(NamedTuple):
    """One row of predictions as it was found.

    Attributes:
        id: The question; None where the row does not say.
        where: The row for people: ``line 7``, or the question.
        predictions: See ``ScoreRow``.
        raw: See ``ScoreRow``.
        problem: Why this is no answer, in the ledger's words; None where it is one.
        gold: The gold answers that the row brings.
        repeat: Which of several answers to the question.
        wording: The question in words, where the row has no id.
    """

    id: str | None
    where: str
    predictions: tuple[str, ...] = ()
    raw: str | None = None
    problem: str | None = None
    gold: GoldRow | None = None
    repeat: int = 0
    wording: str | None = None


@dataclass
class Ledger:
    """asked = answered + unanswered by reason, all of which are scored. Nothing is dropped in silence.

    Attributes:
        asked: Questions (times repeats) in the denominator.
        answered: Those with an answer, right or wrong, possibly empty.
        unanswered: The others by reason; they score 0.
        ignored: Rows that count for nothing, by reason.
        noted: What else is odd about rows that count.
        examples: Some rows of each finding.
    """

    asked: int = 0
    answered: int = 0
    unanswered: Counter[str] = field(default_factory=Counter)
    ignored: Counter[str] = field(default_factory=Counter)
    noted: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def ignore(self, reason: str, where: str) -> None:
        """Count a row that counts for nothing."""
        self._count(self.ignored, reason, where)

    def miss(self, reason: str, where: str) -> None:
        """Count a question that was not answered."""
        self.asked += 1
        self._count(self.unanswered, reason, where)

    def note(self, what: str, where: str) -> None:
        """Count something odd about a row that counts."""
        self._count(self.noted, what, where)

    def _count(self, counts: Counter[str], reason: str, where: str) -> None:
        counts[reason] += 1
        if counts[reason] <= EXAMPLES:
            short = where if len(where) <= EXAMPLE_LENGTH else f"{where[: EXAMPLE_LENGTH - 1]}…"
            self.examples.setdefault(reason, []).append(short)


@dataclass(frozen=True)
class Predictions:
    """Predictions with their gold answers, ready to be scored.

    Attributes:
        form: ``run``, or of a file which key it has the predictions under.
        unit: What the predictions are as they came; ``labels`` are letters of options and truth values.
        rows: By the unit that a protocol compares.
        ledger: What counts and what does not.
        parts: The parts of the signature that are the same under all protocols.
    """

    form: str
    unit: Literal["ids", "text", "labels"]
    rows: Mapping[Unit, list[ScoreRow]]
    ledger: Ledger
    parts: Mapping[str, str]
