"""The signature, word for word: a changed form makes every published score incomparable."""

from __future__ import annotations

import pytest

from kgqa_bench.metrics.accuracy import Accuracy
from kgqa_bench.metrics.signature import signature
from kgqa_bench.run.schema import Hashes, RunInfo


def info(**changes: object) -> RunInfo:
    values: dict = {
        "created": "2026-01-01T00:00:00+00:00",
        "config": {"repeats": 1},
        "method_settings": {},
        "model": "m",
        "uses_gold": False,
        "versions": {"kgqa-bench": "0.1.0", "python": "3.12.1"},
        "hashes": Hashes(code="c" * 32, prompts="1234567890", split="abcdefabcdef", graph="0123456789"),
        "benchmark": {"name": "obqa", "asked": 500},
    }
    return RunInfo(**values | changes)


def test_the_form() -> None:
    assert signature(Accuracy(), info(), asked=500) == (
        "accuracy|match:exact|benchmark:obqa|split:abcdefab|n:500|failures:wrong|graph:01234567|prompts:12345678|v:0.1.0"
    )


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"hashes": Hashes(code="", prompts="1234567890", split="abcdefabcdef")}, "graph:none"),
        ({"hashes": Hashes(code="", prompts="9", split="abcdefabcdef", graph="0")}, "prompts:9"),
        ({"uses_gold": True}, "oracle"),
        ({"benchmark": {"name": "csqa", "asked": 500}}, "benchmark:csqa"),
    ],
)
def test_what_changes_it(changes: dict, part: str) -> None:
    assert part in signature(Accuracy(), info(**changes), asked=500).split("|")


def test_what_does_not() -> None:
    """The model and the settings tell rows of one table apart; they do not make their scores incomparable."""
    other = info(model="other", method_settings={"alpha": 2}, created="2027-01-01T00:00:00+00:00")
    assert signature(Accuracy(), other, asked=500) == signature(Accuracy(), info(), asked=500)
