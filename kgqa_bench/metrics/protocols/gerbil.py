"""The F-measure of GERBIL, the benchmarking platform of QALD."""

from __future__ import annotations

from kgqa_bench.contracts import Protocol, ScoreRow, Scores
from kgqa_bench.metrics.f1 import overlap


class Gerbil(Protocol):
    """Sets of ids with precision, recall and F1, where saying nothing is right if there is nothing to say.

    dice-group/gerbil ``FMeasureCalculator.calculateMeasures``: no gold answer and no prediction score 1, 1, 1;
    nothing in common scores 0, 0, 0. So a system that was down scored above 0 (dice-group/gerbil#155). Here that is
    so for a question answered with nothing, not for one that was not answered.
    """

    unit = "ids"
    version = "1"

    def score(self, row: ScoreRow) -> Scores:
        """The scores of one answered question."""
        predicted, gold = set(row.predictions) - {""}, set(row.gold) - {""}
        if not predicted and not gold:
            return Scores(precision=1.0, recall=1.0, f1=1.0)
        precision, recall, f1 = overlap(predicted, gold)
        return Scores(precision=precision, recall=recall, f1=f1)
