"""Whatever a file holds, it is refused with a message or every row of it is accounted for."""

from __future__ import annotations

import contextlib
import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa_bench.errors import KgqaBenchError
from kgqa_bench.metrics.side_by_side import applicable, side_by_side
from kgqa_bench.predictions.names import ANSWERS, HARD, IDS, PREDICTIONS, QUESTIONS
from kgqa_bench.predictions.read import read_predictions

KEYS = st.sampled_from([*IDS, *QUESTIONS, *PREDICTIONS, *ANSWERS, *HARD, "primary", "q_entity", "rule_type", "hops"])
TEXTS = st.sampled_from(
    ["", "1", "11", "a", "Who?", '{"A": {"Answer": ["x"]}}', '{"A": 1}', "{}", "}{", "\x00", "x, y"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)
ROWS = st.dictionaries(KEYS, VALUES | st.lists(TEXTS, max_size=3), min_size=1, max_size=7)
LINES = st.lists(ROWS.map(json.dumps) | VALUES.map(json.dumps) | st.just("") | st.just('{"id'), max_size=6)


def scored(content: bytes, gold: list[object] | None = None) -> None:
    """Score under all protocols that fit; what is counted must add up."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "p.jsonl")
        path.write_bytes(content)
        gold_path = None
        if gold is not None:
            gold_path = Path(folder, "g.json")
            gold_path.write_text(json.dumps(gold))
        found = read_predictions(path, gold_path)
    ledger = found.ledger
    assert ledger.asked == ledger.answered + sum(ledger.unanswered.values()) == len(found.rows["ids"])
    assert sum(row.answered for row in found.rows["ids"]) == ledger.answered
    if gold is not None:
        assert ledger.asked == len(gold)
    report = side_by_side(found, applicable(found))
    for entry in report["protocols"].values():
        assert all(each is None or each["value"] >= 0 for each in entry["scores"].values())


@settings(deadline=None)
@given(lines=LINES)
def test_rows_of_any_kind(lines: list[str]) -> None:
    with contextlib.suppress(KgqaBenchError):
        scored("\n".join(lines).encode())


@settings(deadline=None)
@given(lines=LINES)
def test_rows_of_any_kind_with_gold(lines: list[str]) -> None:
    """The denominator is the gold's, whatever the file says."""
    gold = [
        {"id": "1", "question": "Who?", "answers": ["a"], "hard_answer": "a"},
        {"id": "11", "question": "who", "answers": []},
        {"id": "a", "answers": ["x", "y"]},
    ]
    with contextlib.suppress(KgqaBenchError):
        scored("\n".join(lines).encode(), gold)


@settings(deadline=None)
@given(content=st.binary(max_size=60))
def test_bytes_of_any_kind(content: bytes) -> None:
    with contextlib.suppress(KgqaBenchError):
        scored(content)
