"""The scorer of GCR: RoG's, with a precision that cannot exceed 1."""

from __future__ import annotations

from kgqa_bench.contracts import Protocol, ScoreRow, Scores
from kgqa_bench.metrics.normal_form import normal_form


class GCR(Protocol):
    """Gold answers as substrings: recall over all lines joined, precision as the share of lines that hold one.

    RManLuo/graph-constrained-reasoning ``src/utils/qa_utils.py``. RoG's normal form; gold answers and lines are made
    unique as they are written, blank lines are left out. Hit is any gold answer within the joined lines. Nothing
    said, or no gold answer, scores 0. The original leaves out questions for which its model returned nothing; here
    they score 0.
    """

    unit = "text"
    version = "1"

    def score(self, row: ScoreRow) -> Scores:
        """The scores of one answered question."""
        lines = list(dict.fromkeys(line for line in row.predictions if line.strip()))
        gold = [normal_form(answer) for answer in dict.fromkeys(row.gold)]
        if not lines or not gold:
            return Scores(hits_any=0.0, precision=0.0, recall=0.0, f1=0.0)
        said = normal_form(" ".join(lines))
        recall = sum(answer in said for answer in gold) / len(gold)
        right = sum(any(answer in line for answer in gold) for line in map(normal_form, lines))
        precision = right / len(lines)
        return Scores(
            hits_any=float(recall > 0),
            precision=precision,
            recall=recall,
            f1=2 * precision * recall / (precision + recall) if precision + recall else 0.0,
        )
