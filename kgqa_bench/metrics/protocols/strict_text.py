"""Strict matching of answers as text."""

from __future__ import annotations

from kgqa_bench.contracts import Protocol, ScoreRow, Scores
from kgqa_bench.metrics.normal_form import normal_form
from kgqa_bench.metrics.protocols.strict_ids import set_scores


class StrictText(Protocol):
    """Sets of texts in normal form, equal as a whole; no substring counts, and no comma splits.

    The normal form is RoG's (``kgqa_bench.metrics.normal_form``); lines and gold answers of which it leaves nothing
    are left out. A reply given as one text is split at line ends. An empty prediction scores 0, and so does every
    prediction where there is no gold answer.
    """

    unit = "text"
    version = "1"

    def score(self, row: ScoreRow) -> Scores:
        """The scores of one answered question."""
        predictions = [line for line in map(normal_form, row.predictions) if line]
        gold = set(map(normal_form, row.gold))
        gold.discard("")
        hard = tuple(filter(None, map(normal_form, row.hard)))
        return set_scores(predictions, gold, None if row.primary is None else normal_form(row.primary), hard)
