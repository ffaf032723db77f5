"""How texts are cut into batches (the vectors themselves: test_embedder.py)."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.local


def cost(lengths: list[int], sizes: list[int]) -> int:
    total, start = 0, 0
    for size in sizes:
        total += 25 + size * lengths[start + size - 1]
        start += size
    return total


@given(st.lists(st.integers(2, 30), max_size=8))
@settings(max_examples=100, deadline=None)
def test_batches_cost_least(lengths: list[int]) -> None:
    from kgqa_bench.text.sentence_model import batch_sizes

    lengths = sorted(lengths)
    sizes = list(batch_sizes(Counter(lengths)))
    assert sum(sizes) == len(lengths)
    cuts = [cut for n in range(len(lengths)) for cut in combinations(range(1, len(lengths)), n)]
    ways = [[b - a for a, b in zip((0, *cut), (*cut, len(lengths)), strict=True)] for cut in cuts]
    assert cost(lengths, sizes) == min((cost(lengths, way) for way in ways), default=0)


def test_batches_are_bounded() -> None:
    from kgqa_bench.text.sentence_model import batch_sizes

    assert list(batch_sizes({256: 9, 4: 600})) == [256, 256, 88, 4, 4, 1]
    assert list(batch_sizes({})) == []
