"""A cap on how many questions of one split have the same primary answer."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from .model import Draft


def balanced(drafts: Sequence[Draft], max_share: float, seed: int) -> list[Draft]:
    """The questions of one split, less some of those whose primary answer is too frequent, in the order given.

    No entity is the primary answer of more than ``max_share`` of the questions that are returned; but one question
    may always stay, as in a split of fewer than 1 / ``max_share`` none could otherwise. Which ones go is drawn.

    Args:
        drafts: The questions of the split, all of different ``ask``.
        max_share: In (0, 1].
        seed: Seeds the draw.
    """
    order = sorted(range(len(drafts)), key=lambda place: drafts[place].ask)
    random.Random(f"{seed}|balance").shuffle(order)
    frequent = Counter(draft.primary for draft in drafts)
    size = len(drafts)
    while True:  # each round may leave fewer questions, of which the share is then fewer
        most = max(1, int(max_share * size + 1e-9))
        left = sum(min(times, most) for times in frequent.values())
        if left == size:
            break
        size = left
    taken: Counter[int] = Counter()
    chosen = []
    for place in order:
        taken[drafts[place].primary] += 1
        if taken[drafts[place].primary] <= most:
            chosen.append(place)
    return [drafts[place] for place in sorted(chosen)]
