"""The evaluator that BRINK publishes."""

from __future__ import annotations

import re
import string

from kgqa_bench.contracts import Protocol, ScoreRow, Scores
from kgqa_bench.metrics.f1 import overlap
from kgqa_bench.metrics.hits import hits_any

_SPLIT = re.compile(r"[,\n\r]+")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = frozenset({"a", "an", "the"})


class Brink(Protocol):
    """Raw output split at commas and line ends, compared as sets in normal form; with Hits@Hard.

    boschresearch/brink ``evaluation/evaluate_brink.py`` (84b7e1b). Gold answers are *not* split, so a gold name with
    a comma is never found. Normal form: lower case, ``<pad>`` made a space, ASCII punctuation deleted, words at white
    space, a, an, the dropped. Empty pieces are left out, repetitions count once. A list of predictions is taken as
    lines. Nothing said or no gold answer scores 0. The one hard answer need not be among the gold answers.

    The original gives HHR 0 where nothing is hit; here it is undefined. It turns a null output into the word "None";
    here that question counts as not answered.
    """

    unit = "text"
    version = "1"

    def score(self, row: ScoreRow) -> Scores:
        """The scores of one answered question."""
        output = row.raw if row.raw is not None else "\n".join(row.predictions)
        predicted = {_normal_form(piece) for piece in _SPLIT.split(output)} - {""}
        gold = {_normal_form(answer) for answer in row.gold} - {""}
        precision, recall, f1 = overlap(predicted, gold)
        return Scores(
            hits_any=hits_any(predicted, gold),
            precision=precision,
            recall=recall,
            f1=f1,
            hits_hard_primary=None if row.primary is None else float(_normal_form(row.primary) in predicted),
        )


def _normal_form(text: str) -> str:
    words = text.lower().replace("<pad>", " ").translate(_PUNCTUATION).split()
    return " ".join(word for word in words if word not in _ARTICLES)
