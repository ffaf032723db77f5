"""A scoring protocol that lives outside kgqa-bench: this file and its entry point are all of it."""

from __future__ import annotations

from kgqa_bench.contracts import Protocol, ScoreRow, Scores


class CaseFolded(Protocol):
    """The first line equals a gold answer but for case."""

    unit = "text"
    version = "1"

    def score(self, row: ScoreRow) -> Scores:
        """Hits@1 alone."""
        first = row.predictions[0] if row.predictions else ""
        return Scores(hits_at_1=float(first.casefold() in {answer.casefold() for answer in row.gold}))
