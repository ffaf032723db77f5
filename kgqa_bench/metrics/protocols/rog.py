"""The scorer of RoG, the de-facto one of the field."""

from __future__ import annotations

from kgqa_bench.contracts import Protocol, ScoreRow, Scores
from kgqa_bench.metrics.normal_form import normal_form


class RoG(Protocol):
    """Gold answers as substrings of all lines joined by spaces: RoG's rule, and GNN-RAG's, which adds Hit1.

    RManLuo/reasoning-on-graphs ``src/qa_prediction/evaluate_results.py`` (ccf8ec8), cmavro/GNN-RAG. All in normal
    form; a gold answer is matched where it is a substring of the joined lines, so "US" is found in "Russia", and
    "King James" in "Stephen King", "James Brown". Precision is matched gold answers by *lines*, so it and F1 can
    exceed 1. Blank and repeated lines count; gold answers are not made unique. Hit1 looks into the first line alone.

    The original skips lines that are no JSON and divides by zero without a gold answer; here both score 0. It takes a
    prediction that is a list to be several replies, of which it keeps distinct ones; here a list is lines, as in the
    ``detailed_eval_result.jsonl`` files that it writes.
    """

    unit = "text"
    version = "1"

    def score(self, row: ScoreRow) -> Scores:
        """The scores of one answered question."""
        lines = row.predictions
        if not lines or not row.gold:
            return Scores(0.0, 0.0, 0.0, 0.0, 0.0)
        said = normal_form(" ".join(lines))
        gold = [normal_form(answer) for answer in row.gold]
        matched = sum([answer in said for answer in gold])
        if not matched:
            return Scores(0.0, 0.0, 0.0, 0.0, 0.0)
        precision, recall = matched / len(lines), matched / len(gold)
        first = normal_form(lines[0])
        return Scores(
            1.0,
            float(any([answer in first for answer in gold])),
            precision,
            recall,
            2 * precision * recall / (precision + recall),
        )
