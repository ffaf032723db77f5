"""The scores of all questions under one protocol, as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgqa_bench.contracts import Interval, Protocol, ScoreRow, Scores
from kgqa_bench.metrics.averages import average
from kgqa_bench.metrics.hits_hard import hard_hits_rate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

HARD = {"hhr": "hits_hard_primary", "hhr_any_of_set": "hits_hard_any"}
"""The hard hits rates and the Hits@Hard each is made of; the primary answer's is the headline."""


@dataclass(frozen=True)
class QuestionScores:
    """Scores by field of ``Scores``; nan where a field is not defined for a question.

    Attributes:
        ids: The questions, each once, in the order of the rows.
        groups: What each belongs to.
        columns: Fields that the protocol defines for any question, each of the length of ``ids``. With repeats, a
            question's mean over them.
    """

    ids: tuple[str, ...]
    groups: tuple[Mapping[str, str], ...]
    columns: Mapping[str, Values]

    def averages(self) -> dict[str, Interval | None]:
        """The mean of each field over the questions it is defined for, then the hard hits rates.

        A rate is None where nothing is hit; it is left out where no question has a hard answer, or the protocol
        defines no Hits@Hard.
        """
        import numpy as np

        found: dict[str, Interval | None] = {}
        for field, values in self.columns.items():
            found[field] = average(field, values[~np.isnan(values)])
            if field == "recall":
                found["accuracy"] = found[field]
        for name, field in HARD.items():
            if field in self.columns and "hits_any" in self.columns:
                has = ~np.isnan(self.columns[field])
                found[name] = hard_hits_rate(self.columns["hits_any"][has], self.columns[field][has])
        return found

    def split_by(self, group: str) -> dict[str, QuestionScores]:
        """The questions by the value of a group fact, sorted by value; those without one are left out."""
        import numpy as np

        members: dict[str, list[int]] = {}
        for place, facts in enumerate(self.groups):
            if group in facts:
                members.setdefault(facts[group], []).append(place)
        parts = {}
        for value in sorted(members):
            places = members[value]
            columns = {field: values[places] for field, values in self.columns.items()}
            parts[value] = QuestionScores(
                tuple(self.ids[place] for place in places),
                tuple(self.groups[place] for place in places),
                {field: values for field, values in columns.items() if not np.isnan(values).all()},
            )
        return parts


def score_questions(protocol: Protocol, rows: Sequence[ScoreRow]) -> QuestionScores:
    """Score rows; several of one id are repeats of a question, which count by their mean.

    Whatever was not answered scores 0 in every field that the protocol defines.
    """
    import numpy as np

    if not rows:
        return QuestionScores((), (), {})
    answered = iter(protocol.score_all([row for row in rows if row.answered]))
    scored = zip(*[next(answered) if row.answered else _zeros(protocol, row) for row in rows], strict=True)
    table = np.stack([np.array(column, dtype=np.float64) for column in scored], axis=1)
    unknown = [place for place, row in enumerate(rows) if not row.answered and not row.gold]
    if unknown:  # of these not even the gold answers are known: they count wherever the others do
        known = np.ones(len(rows), dtype=bool)
        known[unknown] = False
        if known.any():
            everywhere = ~np.isnan(table[known]).any(axis=0)
            table[np.ix_(~known, everywhere)] = 0.0
    first: dict[str, int] = {}
    for place, row in enumerate(rows):
        first.setdefault(row.id, place)
    if len(first) < len(rows):
        place_of = {question_id: number for number, question_id in enumerate(first)}
        number = np.array([place_of[row.id] for row in rows])
        table = np.stack([np.bincount(number, column) for column in table.T], axis=1)
        table /= np.bincount(number)[:, None]
    columns = {field: table[:, place] for place, field in enumerate(Scores._fields)}
    return QuestionScores(
        tuple(first),
        tuple(rows[place].groups for place in first.values()),
        {field: values for field, values in columns.items() if not np.isnan(values).all()},
    )


def _zeros(protocol: Protocol, row: ScoreRow) -> tuple[float | None, ...]:
    """0 in every field that the protocol defines for such a question."""
    return tuple(None if score is None else 0.0 for score in protocol.score(row._replace(predictions=(), raw=None)))
