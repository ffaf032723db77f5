from __future__ import annotations

import hashlib
import random

from hypothesis import given
from hypothesis import strategies as st

from kgqa_bench.domain import Gold, Item, Question
from kgqa_bench.run.split import draw, split_hash


def items(*ids: str) -> list[Item]:
    return [Item(Question(question_id, "?", "boolean"), Gold(("true",))) for question_id in ids]


def test_the_rule_is_sort_then_shuffle() -> None:
    expected = ["a", "b", "c", "d"]
    random.Random(3).shuffle(expected)
    assert draw(["d", "b", "a", "c"], 3) == expected


@given(st.sets(st.text(min_size=1), min_size=1), st.integers(0, 5))
def test_the_draw_does_not_depend_on_the_order_of_the_rows(ids: set[str], seed: int) -> None:
    assert draw(sorted(ids), seed) == draw(sorted(ids, reverse=True), seed)
    assert sorted(draw(ids, seed)) == sorted(ids)


def test_the_hash_names_the_set() -> None:
    assert split_hash(items("b", "a")) == hashlib.sha256(b"a\nb").hexdigest() == split_hash(items("a", "b"))
    assert split_hash(items("a")) != split_hash(items("b"))
