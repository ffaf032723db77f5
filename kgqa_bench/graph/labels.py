"""Finding labels like a text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

_LEAST_SIMILARITY = 70.0  # of 100; below that the labels found share little with the text


class LabelSearch:
    """Search over the labels of a graph, by position. Holds them in folded case."""

    def __init__(self, labels: Sequence[str]) -> None:
        self._folded = [_fold(label) for label in labels]
        self._order = sorted(range(len(self._folded)), key=lambda at: (self._folded[at], at))

    def find(self, text: str, limit: int) -> list[int]:
        """Positions of at most ``limit`` labels: exact, then those that begin so (shorter first), then near.

        Case and surrounding space are ignored. Nearness is rapidfuzz's weighted ratio.
        """
        wanted = _fold(text)
        if not wanted or limit <= 0:
            return []
        begin = bisect_left(self._order, wanted, key=self._folded.__getitem__)
        end = bisect_left(self._order, wanted + "\U0010ffff", begin, key=self._folded.__getitem__)
        found = sorted(self._order[begin:end], key=lambda at: (len(self._folded[at]), self._folded[at], at))
        if len(found) < limit:
            known = set(found)
            found += [at for at in self._near(wanted, limit + len(found)) if at not in known]
        return found[:limit]

    def _near(self, wanted: str, limit: int) -> list[int]:
        from rapidfuzz import fuzz, process

        scores = process.cdist([wanted], self._folded, scorer=fuzz.WRatio, score_cutoff=_LEAST_SIMILARITY)[0]
        near = np.flatnonzero(scores)
        # parts of the text score high too: prefer labels of its length
        difference = np.array([abs(len(self._folded[at]) - len(wanted)) for at in near.tolist()])
        return [int(at) for at in near[np.lexsort((near, difference, -scores[near]))][:limit]]


def _fold(label: str) -> str:
    return label.strip().casefold()
