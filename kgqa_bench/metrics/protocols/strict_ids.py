"""Strict matching of entity ids: the headline of this package."""

from __future__ import annotations

from collections.abc import Sequence

from kgqa_bench.contracts import Protocol, ScoreRow, Scores
from kgqa_bench.metrics.exact_match import exact_match
from kgqa_bench.metrics.f1 import overlap
from kgqa_bench.metrics.hits import hits_at_1

_NOTHING = Scores(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class StrictIds(Protocol):
    """Sets of ids, equal letter by letter; nothing is normalised, split or joined.

    Empty texts among the predictions are left out, repetitions count once. An empty prediction scores 0, and so does
    every prediction where there is no gold answer. The hard answers count as they are given, whether or not they are
    among ``gold``.
    """

    unit = "ids"
    version = "1"

    def score(self, row: ScoreRow) -> Scores:
        """The scores of one answered question."""
        predictions: Sequence[str] = row.predictions
        if "" in predictions:
            predictions = [each for each in predictions if each]
        gold = set(row.gold)
        gold.discard("")
        return set_scores(predictions, gold, row.primary, row.hard)

    def score_all(self, rows: Sequence[ScoreRow]) -> list[Scores]:
        """The same, in half the time for rows without hard answers and empty texts."""
        scores = []
        for row in rows:
            predicted, gold = set(row.predictions), set(row.gold)
            if row.primary is not None or row.hard or "" in predicted or "" in gold:
                scores.append(self.score(row))
            elif found := len(predicted & gold):
                first = 1.0 if row.predictions[0] in gold else 0.0
                precision, recall = found / len(predicted), found / len(gold)
                f1 = 2 * found / (len(predicted) + len(gold))
                scores.append(Scores(1.0, first, precision, recall, f1, 1.0 if predicted == gold else 0.0))
            else:
                scores.append(_NOTHING)
        return scores


def set_scores(predictions: Sequence[str], gold: set[str], primary: str | None, hard: Sequence[str]) -> Scores:
    """All scores of ranked predictions against the set of gold answers."""
    predicted = set(predictions)
    hard_primary = None if primary is None else float(primary in predicted)
    hard_any = None if not hard else float(not predicted.isdisjoint(hard))
    precision, recall, f1 = overlap(predicted, gold)
    if not recall:
        return Scores(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, hard_primary, hard_any)
    exact = exact_match(predicted, gold)
    return Scores(1.0, hits_at_1(predictions, gold), precision, recall, f1, exact, hard_primary, hard_any)
