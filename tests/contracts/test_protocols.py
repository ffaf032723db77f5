"""The contract of protocols, over every registered one."""

from __future__ import annotations

import pytest

from kgqa_bench import registry
from kgqa_bench.contracts import Protocol, ScoreRow

RIGHT = ScoreRow("q", ("205",), ("205",), ("205",), "205")


@pytest.fixture(params=registry.names("protocols"))
def protocol(request: pytest.FixtureRequest) -> Protocol:
    """Each registered protocol with its default settings."""
    created: Protocol = registry.create("protocols", request.param)
    return created


def test_says_what_it_compares(protocol: Protocol) -> None:
    assert protocol.unit in ("ids", "text")
    assert protocol.version
    assert registry.summary(type(protocol)).endswith(".")


def test_right_is_1_and_wrong_is_0(protocol: Protocol) -> None:
    right, wrong = protocol.score(RIGHT), protocol.score(RIGHT._replace(predictions=("99",)))
    assert {each for each in right if each is not None} == {1.0}
    assert {each for each in wrong if each is not None} == {0.0}


def test_defines_the_same_fields_for_all_answers(protocol: Protocol) -> None:
    """So that a column holds all questions, or none."""
    answers: list[tuple[str, ...]] = [(), ("",), ("99",), ("205", "99"), ("205", "205")]
    defined = {
        tuple(each is None for each in protocol.score(RIGHT._replace(predictions=answer))) for answer in answers
    }
    assert len(defined) == 1


def test_many_at_once_score_as_one_by_one(protocol: Protocol) -> None:
    answers: list[tuple[str, ...]] = [(), ("",), ("99", "205"), ("205", "99"), ("205", "205"), ("", "205"), ("99",)]
    golds: list[tuple[str, ...]] = [(), ("205",), ("205", "99"), ("", "205"), ("205", "205", "7")]
    rows = [
        ScoreRow("q", answer, gold, hard, hard[0] if hard else None)
        for answer in answers
        for gold in golds
        for hard in ((), ("205",))
    ]
    assert protocol.score_all(rows) == [protocol.score(row) for row in rows]


def test_holds_no_state(protocol: Protocol) -> None:
    before = protocol.score(RIGHT)
    protocol.score(RIGHT._replace(predictions=("99", "x"), gold=()))
    assert protocol.score(RIGHT) == before


@pytest.mark.parametrize("odd", ["\x00", "{", "}{", "\u2028", "ans:", "\ud83d\ude00", "a" * 100_000])
def test_takes_any_text(protocol: Protocol, odd: str) -> None:
    row = RIGHT._replace(predictions=(odd,), raw=odd)
    assert all(each is None or each >= 0 for each in protocol.score(row))
