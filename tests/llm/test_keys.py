import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgqa_bench.domain import ToolCall
from kgqa_bench.llm.keys import derive_seed, likelihood_key, printable, request_key
from kgqa_bench.llm.types import Request, Tool

BASE = Request("m", ({"role": "user", "content": "a"},), seed=1)
CHANGES = {
    "model": st.text(min_size=2),
    "messages": st.lists(
        st.fixed_dictionaries({"role": st.sampled_from(["user", "system"]), "content": st.text(min_size=2)}),
        max_size=3,
    ).map(tuple),
    "temperature": st.floats(min_value=0.001, max_value=2),
    "max_tokens": st.integers(1, 1023),
    "top_p": st.floats(min_value=0.001, max_value=1),
    "stop": st.lists(st.text(), min_size=1, max_size=3).map(tuple),
    "schema": st.dictionaries(st.text(), st.text(), min_size=1),
    "seed": st.integers(2, 2**31 - 1),
    "sample": st.integers(1, 100),
    "extra": st.dictionaries(st.text(), st.integers(-5, 5) | st.booleans(), min_size=1),
    "role": st.text(min_size=1),
    "tools": st.lists(
        st.builds(Tool, st.text(), st.text(), st.dictionaries(st.text(), st.text(), max_size=3)),
        min_size=1,
        max_size=2,
    ).map(tuple),
}


def test_every_field_of_a_request_is_covered():
    assert set(CHANGES) == {field.name for field in dataclasses.fields(Request)}


@given(st.data())
def test_the_key_changes_with_every_setting(data):
    name = data.draw(st.sampled_from(sorted(CHANGES)))
    changed = dataclasses.replace(BASE, **{name: data.draw(CHANGES[name])})
    assert request_key(changed) != request_key(BASE)


@given(st.fixed_dictionaries({name: change for name, change in CHANGES.items()}))
def test_equal_requests_have_equal_keys_whatever_the_order_of_their_mappings(values):
    reordered = dict(values)
    for name in ("schema", "extra"):
        reordered[name] = dict(reversed(values[name].items()))
    reordered["tools"] = tuple(
        dataclasses.replace(tool, parameters=dict(reversed(tool.parameters.items()))) for tool in values["tools"]
    )
    reordered["messages"] = tuple(dict(reversed(message.items())) for message in values["messages"])
    assert request_key(Request(**reordered)) == request_key(Request(**values))


def test_text_cannot_move_between_messages_without_changing_the_key():
    one = dataclasses.replace(BASE, messages=({"role": "user", "content": "ab"}, {"role": "user", "content": "c"}))
    two = dataclasses.replace(BASE, messages=({"role": "user", "content": "a"}, {"role": "user", "content": "bc"}))
    assert request_key(one) != request_key(two)


@given(
    st.tuples(st.integers(), st.text(), st.integers(0), st.integers(0)),
    st.tuples(st.integers(), st.text(), st.integers(0), st.integers(0)),
)
def test_seeds_are_stable_31_bit_numbers_that_tell_draws_apart(one, other):
    assert derive_seed(*one) == derive_seed(*one)
    assert 0 <= derive_seed(*one) < 2**31
    if one != other and not any("\x1f" in part for part in (one[1], other[1])):
        assert derive_seed(*one) != derive_seed(*other)


def test_the_seed_is_pinned():
    assert [derive_seed(0, "q1", 0, 0), derive_seed(0, "q1", 0, 1)] == [1457157146, 1318130262]


def test_likelihood_keys_tell_model_messages_and_continuations_apart():
    message = {"role": "user", "content": "a"}
    keys = {
        likelihood_key("m", [message], ["x"]),
        likelihood_key("n", [message], ["x"]),
        likelihood_key("m", [message, message], ["x"]),
        likelihood_key("m", [message], ["y"]),
        likelihood_key("m", [message], ["x", "y"]),
        likelihood_key("m", [message], ["y", "x"]),
    }
    assert len(keys) == 6


@given(st.text(st.characters(codec=None, categories=None)))
def test_printable_leaves_nothing_that_utf8_cannot_carry_and_changes_nothing_else(text):
    broken = dataclasses.replace(BASE, messages=({"role": "user", "content": text},))
    cleaned = printable(broken).messages[0]["content"]
    cleaned.encode("utf-8")
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert cleaned == text


def test_a_lone_surrogate_has_no_key():
    with pytest.raises(TypeError):
        request_key(dataclasses.replace(BASE, messages=({"role": "user", "content": "\ud800"},)))


def test_a_request_without_tools_has_the_key_of_old_recordings():
    assert request_key(BASE) == "40d2fc184647d16e46e3c7caf30ed40a"


def test_tool_calls_and_results_in_the_chat_are_in_the_key():
    def key(arguments, call_id="c1"):
        call = ToolCall("c1", "explore", arguments)
        turns = (
            {"role": "assistant", "content": "", "tool_calls": (call,)},
            {"role": "tool", "content": "x", "tool_call_id": call_id},
        )
        return request_key(dataclasses.replace(BASE, messages=(*BASE.messages, *turns)))

    assert len({key({"hops": 1}), key({"hops": 2}), key("{hops"), key({"hops": 1}, "c2")}) == 4
    assert key({"a": 1, "b": 2}) == key({"b": 2, "a": 1})


def test_tools_and_tool_calls_are_made_printable():
    call = ToolCall("\ud800", "n\ud800", {"k\ud800": ["\ud800", 1]})
    broken = dataclasses.replace(
        BASE,
        messages=({"role": "assistant", "content": "\ud800", "tool_calls": (call,)},),
        tools=(Tool("n", "\ud800", {"enum": ["\ud800", True]}),),
    )
    with pytest.raises(TypeError):
        request_key(broken)
    cleaned = printable(broken)
    assert cleaned.messages == (
        {
            "role": "assistant",
            "content": "\ufffd",
            "tool_calls": [ToolCall("\ufffd", "n\ufffd", {"k\ufffd": ["\ufffd", 1]})],
        },
    )
    assert cleaned.tools == (Tool("n", "\ufffd", {"enum": ["\ufffd", True]}),)
    request_key(cleaned)
