"""The rules by which several rows with the same head, relation and tail become one triple."""

from typing import Literal

MergeRule = Literal["max", "mean", "noisy_or", "first", "last"]
"""Its confidence: the largest, the mean, 1 - product of 1 - c, or that of the first or last row."""
