"""Accuracy: the share of asked questions whose first answer is right."""

from __future__ import annotations

from collections.abc import Sequence

from kgqa_bench.contracts import Interval, Metric
from kgqa_bench.domain import Answer, Gold

CONFIDENCE_LEVEL = 0.95


class Accuracy(Metric):
    """Share of questions answered right; whatever was asked and not answered counts as wrong.

    The measure of the DoG paper (arXiv 2607.17266, section 5.1.3).
    """

    name = "accuracy"
    matching = "exact"

    def score(self, gold: Gold, answer: Answer) -> float:
        """1.0 where the first prediction is one of the gold answers, letter by letter; else 0.0."""
        return float(bool(answer.predictions) and answer.predictions[0].value in gold.answers)

    def interval(self, scores: Sequence[float]) -> Interval:
        """The mean of ``scores`` in [0, 1] with Wilson's 95 % interval (Wilson 1927).

        With several repeats ``scores`` holds each question's mean, so n stays the number of questions.

        Raises:
            ValueError: With no score, for which accuracy is undefined.
        """
        if not scores:
            raise ValueError("accuracy of no question is undefined")
        return wilson(sum(scores), len(scores))


def wilson(successes: float, n: int) -> Interval:
    """``successes`` of ``n`` as a share with its Wilson interval; fractions of a success are allowed.

    Centre (p + z²/2n) / (1 + z²/n), half width z/(1 + z²/n) · sqrt(p(1-p)/n + z²/4n²).
    """
    from statistics import NormalDist

    z = NormalDist().inv_cdf(0.5 + CONFIDENCE_LEVEL / 2)
    share = successes / n
    scale = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    half = z / scale * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    return Interval(share, max(0.0, centre - half), min(1.0, centre + half), n)
