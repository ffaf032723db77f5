"""The scorer of Think-on-Graph."""

from __future__ import annotations

from kgqa_bench.contracts import Protocol, ScoreRow, Scores


class ToG(Protocol):
    """What it calls Exact Match: the answer equals a gold answer, or either contains the other.

    GasolSun36/ToG ``eval/utils.py`` (934064c); PoG and GoG match alike. The answer is the text within the first
    braces, else all of it, lines joined by spaces; spaces are removed and case is not looked at. So an empty text,
    such as ``{}``, counts as right, and so does "a" for "Texas". ``{NULL}`` counts as wrong. It is given here as
    Hits@Any; there is no other score. A list without any prediction, which the original never sees, scores 0.
    """

    unit = "text"
    version = "1"

    def score(self, row: ScoreRow) -> Scores:
        """The score of one answered question."""
        if not row.predictions and row.raw is None:
            return Scores(hits_any=0.0)
        said = row.raw if row.raw is not None else " ".join(row.predictions)
        _before, brace, rest = said.partition("{")
        if brace:
            said = rest.partition("}")[0]
            if said == "NULL":
                return Scores(hits_any=0.0)
        answer = _squeezed(said)
        return Scores(hits_any=float(any(answer in gold or gold in answer for gold in map(_squeezed, row.gold))))


def _squeezed(text: str) -> str:
    return text.strip().replace(" ", "").lower()
