"""The thresholds of mining as exact integers.

A ratio of two counts reaches a threshold if the nearest float of the ratio does: 7 / 100 reaches 0.07, and a ratio
copied from a file of rules is reached by the rule it was copied from, though 5 / 6 is a little less than its float.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, nextafter

import numpy as np
import numpy.typing as npt

from kgqa_bench.contracts import MiningSettings

NO_LIMIT = 2**62
"""A body size that no rule reaches."""


@dataclass(frozen=True)
class Thresholds:
    """Least head coverage and confidences as fractions; ratios of counts that round up to them are not below."""

    head_coverage: Fraction
    std_confidence: Fraction
    pca_confidence: Fraction

    @staticmethod
    def of(settings: MiningSettings) -> Thresholds:
        """The thresholds of settings."""
        return Thresholds(
            _rounding_to(settings.min_head_coverage),
            _rounding_to(settings.min_std_confidence),
            _rounding_to(settings.min_pca_confidence),
        )

    def least_support(self, head_size: int) -> int:
        """Least support of a rule whose head relation has ``head_size`` facts."""
        return ceil(self.head_coverage * head_size)

    def most_pca(self, supports: Iterable[int]) -> npt.NDArray[np.int64]:
        """Greatest PCA body size with which a rule of each support still reaches its threshold."""
        return _most(supports, self.pca_confidence)

    def most_body(self, supports: Iterable[int]) -> npt.NDArray[np.int64]:
        """Greatest body size with which a rule of each support still reaches its threshold."""
        return _most(supports, self.std_confidence)


def _rounding_to(threshold: float) -> Fraction:
    # halfway to the float below; no ratio of counts under 2^53 lies exactly there
    return (Fraction(nextafter(threshold, 0.0)) + Fraction(threshold)) / 2


def _most(supports: Iterable[int], least: Fraction) -> npt.NDArray[np.int64]:
    if least == 0:
        return np.array([NO_LIMIT for _ in supports], np.int64)
    top, bottom = least.denominator, least.numerator
    return np.array([min(int(support) * top // bottom, NO_LIMIT) for support in supports], np.int64)
