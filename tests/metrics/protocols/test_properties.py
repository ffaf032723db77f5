"""What holds of protocols whatever is said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa_bench import registry
from kgqa_bench.contracts import ScoreRow

STRICT = ["strict-ids", "strict-text", "brink", "gerbil"]
WORDS = st.sampled_from(["Oslo", "the Oslo", "oslo!", "Rome", "New York", "York", "1", "11", "111", "", "a", "x, y"])
LISTS = st.lists(WORDS, max_size=6)


@pytest.mark.parametrize("name", STRICT)
@given(said=LISTS, gold=LISTS, order=st.randoms(use_true_random=False))
def test_order_matters_to_hits_at_1_alone(name: str, said: list[str], gold: list[str], order) -> None:
    protocol = registry.create("protocols", name)
    found = protocol.score(ScoreRow("q", tuple(said), tuple(gold), tuple(gold[:2]), gold[0] if gold else None))
    order.shuffle(said)
    order.shuffle(gold_again := list(gold))
    again = protocol.score(ScoreRow("q", tuple(said), tuple(gold_again), tuple(gold[:2]), gold[0] if gold else None))
    assert found._replace(hits_at_1=None) == again._replace(hits_at_1=None)


@pytest.mark.parametrize("name", STRICT)
@given(said=LISTS, gold=LISTS)
def test_repetitions_change_nothing(name: str, said: list[str], gold: list[str]) -> None:
    protocol = registry.create("protocols", name)
    once = protocol.score(ScoreRow("q", tuple(said), tuple(gold)))
    assert once == protocol.score(ScoreRow("q", tuple(said + said), tuple(gold + gold)))


@pytest.mark.parametrize("name", [*STRICT, "gcr", "subgraphrag", "tog"])
@given(said=LISTS, gold=LISTS)
def test_scores_lie_between_0_and_1(name: str, said: list[str], gold: list[str]) -> None:
    found = registry.create("protocols", name).score(ScoreRow("q", tuple(said), tuple(gold), tuple(gold)))
    assert all(each is None or 0 <= each <= 1 for each in found)


@given(said=LISTS, gold=LISTS)
def test_a_strict_hit_is_a_lenient_hit(said: list[str], gold: list[str]) -> None:
    row = ScoreRow("q", tuple(said), tuple(gold))
    strict = registry.create("protocols", "strict-text").score(row)
    rog = registry.create("protocols", "rog").score(row)
    assert strict.hits_any <= rog.hits_any
    assert strict.recall == 0 or rog.recall > 0


@given(said=LISTS, gold=LISTS)
def test_f1_is_the_harmonic_mean(said: list[str], gold: list[str]) -> None:
    found = registry.create("protocols", "strict-ids").score(ScoreRow("q", tuple(said), tuple(gold)))
    both = found.precision + found.recall
    assert found.f1 == pytest.approx(2 * found.precision * found.recall / both if both else 0.0)
    assert (found.f1 == 1.0) == (found.exact_match == 1.0)
