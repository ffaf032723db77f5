import re
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from kgqa_bench.llm.parsing import parse_json, split_thinking


class Verdict(BaseModel):
    answer: Literal["A", "B"]
    confidence: float | None = None


@pytest.mark.parametrize(
    ("reply", "text", "thinking", "cut"),
    [
        ("B", "B", None, False),
        ("  B\n", "  B\n", None, False),
        ("<think>one</think>B", "B", "one", False),
        ("<think>one</think>\n\nB\n", "B", "one", False),
        ("<think></think>B", "B", "", False),
        ("<think>one</think>x<think>two</think>B", "xB", "one\n\ntwo", False),
        ("one\n</think>\nB", "B", "one", False),
        ("<think>one", "", "one", True),
        ("<think>", "", "", True),
        ("B <think>but then", "", "but then", True),
        ("<think>one</think>B<think>two", "", "one\n\ntwo", True),
        ("<think>a<think>b</think>c</think>B", "B", "c\n\na<think>b", False),
    ],
)
def test_thinking(reply, text, thinking, cut):
    assert split_thinking(reply) == (text, thinking, cut)


@given(st.lists(st.sampled_from(["<think>", "</think>", "a", "B", "\n", " "])).map("".join))
def test_no_tag_is_left_and_splitting_twice_changes_nothing(reply):
    text, thinking, _ = split_thinking(reply)
    assert "<think>" not in text
    assert "</think>" not in text
    assert split_thinking(text) == (text, None, False)
    assert (thinking is None) == ("think>" not in reply)


@pytest.mark.parametrize(
    ("text", "answer", "outcome"),
    [
        ('{"answer": "A"}', "A", "ok"),
        (' {"answer": "A", "confidence": 0.5}\n', "A", "ok"),
        ('Sure: {"answer": "A"} as asked.', "A", "repaired"),
        ('```json\n{"answer": "A"}\n```', "A", "repaired"),
        ('```\n{"answer": "A",}\n```\nI hope {this} helps.', "A", "repaired"),
        ("{'answer': 'A'}", "A", "repaired"),
        ('{"answer": "A"', "A", "repaired"),
        ('{answer: "A"}', "A", "repaired"),
        ('{"answer": "A"} no, {"answer": "B"}', "B", "repaired"),
        ('{"note": 1} {"answer": "B"} {"note": 2}', "B", "repaired"),
        ('[{"answer": "B"}]', "B", "repaired"),
        ('{"answer": "C"}', None, "failed"),
        ('{"reply": "A"}', None, "failed"),
        ("The answer is A.", None, "failed"),
        ("A", None, "failed"),
        ("null", None, "failed"),
        ("", None, "failed"),
        ("{" * 5000, None, "failed"),
        ("[" * 5000, None, "failed"),
        ('{"a":' * 5000, None, "failed"),
    ],
)
def test_json_is_read_tolerantly_but_nothing_is_made_up(text, answer, outcome):
    parsed = parse_json(text, Verdict)
    assert parsed.outcome == outcome
    assert (parsed.value.answer if parsed.value else None) == answer
    assert (parsed.problem is None) == (outcome != "failed")


def test_a_failure_says_which_field_is_wrong():
    assert parse_json('{"answer": "C"}', Verdict).problem.startswith("answer: ")


@given(st.text())
def test_any_text_gets_an_outcome(text):
    assert parse_json(text, Verdict).outcome in ("ok", "repaired", "failed")


@given(st.lists(st.sampled_from(["<think>", "</think>", "a", " b\n", "<thi", "nk>"]), max_size=12).map("".join))
def test_blocks_are_those_that_a_regular_expression_finds(reply):
    """A model may repeat ``<think>`` up to its limit: the parser must not look for an end from each of them anew."""
    blocks = [block.strip() for block in re.findall(r"<think>(.*?)</think>", reply, re.DOTALL)]
    rest = re.sub(r"<think>.*?</think>", "", reply, flags=re.DOTALL)
    text, thinking, cut = split_thinking(reply)
    expected = rest.rpartition("</think>")[2].partition("<think>")[0].strip()
    assert cut == ("<think>" in rest.rpartition("</think>")[2])
    assert (text or "") == ("" if cut else expected if "think>" in reply else reply)
    assert all(block in (thinking or "") for block in blocks)
