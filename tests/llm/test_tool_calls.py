"""Tools and tool calls over an OpenAI-compatible server, and through the gateway."""

import json

import orjson
import pytest

from kgqa_bench.contracts import ModelOptions
from kgqa_bench.domain import ToolCall
from kgqa_bench.errors import ModelError
from kgqa_bench.llm.gateway import Gateway
from kgqa_bench.llm.openai_server import OpenAIServer
from kgqa_bench.llm.resolve import open_model
from kgqa_bench.llm.tool_calls import read_tool_calls
from kgqa_bench.llm.types import Completion, Tool

EXPLORE = Tool("explore", "Finds paths.", {"type": "object", "properties": {"hops": {"type": "integer"}}})


def _wire(name="explore", arguments='{"hops": 1}', **fields):
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}} | fields


@pytest.fixture
async def gateway(stub_server, impatient):
    gateway = Gateway(OpenAIServer("stub", stub_server.url, takes_tools=True), retry=impatient)
    yield gateway
    await gateway.close()


async def test_a_chat_with_tools_goes_to_the_server_and_back(stub_server, gateway, prompt):
    stub_server.message = {"content": None, "tool_calls": [_wire(), _wire("ground", "{broken", id="c2")]}
    stub_server.finish_reason = "tool_calls"
    llm = gateway.bind("q1")
    reply = await llm.call("act", prompt(), tools=[EXPLORE])
    assert reply.tool_calls == (ToolCall("c1", "explore", {"hops": 1}), ToolCall("c2", "ground", "{broken"))
    assert (reply.text, reply.truncated, reply.call.finish_reason) == ("", False, "tool_calls")
    assert (reply.call.prompt_tokens, reply.call.completion_tokens) == (7, 3)

    results = [{"role": "tool", "tool_call_id": call.id, "content": "42 paths"} for call in reply.tool_calls]
    await llm.call("act", [*prompt(), reply.message, *results], tools=[EXPLORE])
    first, second = stub_server.bodies
    function = {"name": "explore", "description": "Finds paths.", "parameters": EXPLORE.parameters}
    assert first["tools"] == second["tools"] == [{"type": "function", "function": function}]
    question, turn, *told = second["messages"]
    assert [question] == first["messages"] == prompt()
    assert told == results
    assert turn["content"] is None
    malformed = _wire("ground", '{"malformed":"{broken"}', id="c2")  # servers parse what stands in the chat
    assert turn["tool_calls"] == [_wire(arguments='{"hops":1}'), malformed]


async def test_a_reply_in_words_has_no_tool_calls_and_words_beside_calls_are_kept(stub_server, gateway, prompt):
    llm = gateway.bind("q1")
    for null in ({}, {"tool_calls": None}, {"tool_calls": []}):
        stub_server.message = null
        reply = await llm.call("act", prompt(), tools=[EXPLORE])
        assert (reply.text, reply.tool_calls) == ("ANSWER: A", ())
        assert reply.message == {"role": "assistant", "content": "ANSWER: A"}
    stub_server.message = {"content": "<think>hm</think>Look.", "tool_calls": [_wire()]}
    reply = await llm.call("act", prompt(), tools=[EXPLORE])
    assert (reply.text, reply.call.thinking, len(reply.tool_calls)) == ("Look.", "hm", 1)
    assert reply.message == {"role": "assistant", "content": "Look.", "tool_calls": reply.tool_calls}


async def test_thinking_before_a_tool_call_is_no_truncation(stub_server, gateway, prompt):
    stub_server.message = {"content": None, "reasoning_content": "hm", "tool_calls": [_wire()]}
    assert not (await gateway.bind("q1").call("act", prompt(), tools=[EXPLORE])).truncated
    stub_server.finish_reason = "length"
    assert (await gateway.bind("q2").call("act", prompt(), tools=[EXPLORE])).truncated
    stub_server.message, stub_server.finish_reason = {"content": None, "reasoning_content": "hm"}, "stop"
    assert (await gateway.bind("q3").call("act", prompt(), tools=[EXPLORE])).truncated


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ('{"a": [1, null]}', {"a": [1, None]}),
        ({"a": 1}, {"a": 1}),
        (None, {}),
        (" ", {}),
        ("{}", {}),
        ("[1]", "[1]"),
        ('"x"', '"x"'),
        ("explore(1)", "explore(1)"),
        ('{"a": NaN}', '{"a": NaN}'),
        ('{"a": "\\ud800"}', '{"a": "\\ud800"}'),
        ([1], "[1]"),
    ],
)
def test_arguments_are_an_object_or_their_text(given, read):
    (call,) = read_tool_calls([_wire(arguments=given)])
    assert call.arguments == read
    orjson.dumps(call)


@pytest.mark.parametrize(("depth", "kept"), [(10, True), (230, True), (250, False), (2000, False)])
def test_arguments_too_deep_to_be_recorded_stay_text(depth, kept):
    text = '{"a":' * depth + "1" + "}" * depth
    (call,) = read_tool_calls([_wire(arguments=text)])
    assert isinstance(call.arguments, dict) is kept
    orjson.dumps({"messages": [{"tool_calls": [call]}]})


def test_a_call_without_an_id_gets_one():
    calls = read_tool_calls([_wire(id=None), _wire(id=""), _wire(id=7), _wire(id="own")])
    assert [call.id for call in calls] == ["call_0", "call_1", "call_2", "own"]


@pytest.mark.parametrize(
    "broken",
    [[{"id": "c1"}], [{"id": "c1", "function": {}}], [_wire(None)], [_wire("")], [3], ["x"], 3, [{"function": 3}]],
)
async def test_tool_calls_of_another_form_are_a_bad_response_and_asked_again(stub_server, gateway, prompt, broken):
    stub_server.message = {"tool_calls": broken}
    llm = gateway.bind("q1")
    with pytest.raises(ModelError) as problem:
        await llm.call("act", prompt(), tools=[EXPLORE])
    assert (problem.value.reason, llm.calls[0].attempts) == ("bad_response", 3)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        (400, "registry/library/gemma does not support tools"),
        (404, "No endpoints found that support tool use"),
        (500, "tools param requires --jinja flag"),
        (422, "tools: Extra inputs are not permitted"),
        (400, "Invalid schema for function 'explore'"),
    ],
)
async def test_a_server_that_refuses_tools_is_asked_once_and_told_with_the_way_out(
    stub_server, gateway, prompt, status, said
):
    stub_server.failures.append((status, {"said": said}))
    llm = gateway.bind("q1")
    with pytest.raises(ModelError) as problem:
        await llm.call("act", prompt(), tools=[EXPLORE])
    assert (problem.value.reason, problem.value.retryable) == ("refused", False)
    assert said in problem.value.message
    assert "protocol=json" in problem.value.hint
    assert len(stub_server.bodies) == 1
    assert llm.calls[0].error.startswith("refused: ")


@pytest.mark.parametrize(
    ("status", "said", "reason", "asked"),
    [
        (400, "context length exceeded", "refused", 1),
        (500, "the tool server is on fire", "server_error", 3),
        (429, "no tools are supported at this rate", "rate_limit", 3),
    ],
)
async def test_other_failures_of_a_call_with_tools_stay_what_they_are(
    stub_server, gateway, prompt, status, said, reason, asked
):
    stub_server.failures.extend([(status, {"said": said})] * 3)
    with pytest.raises(ModelError) as problem:
        await gateway.bind("q1").call("act", prompt(), tools=[EXPLORE])
    assert (problem.value.reason, len(stub_server.bodies)) == (reason, asked)
    assert "protocol" not in (problem.value.hint or "")


async def test_words_of_tools_mean_nothing_where_none_were_given(stub_server, gateway, prompt):
    stub_server.failures.append((404, {"said": "tools are not supported"}))
    with pytest.raises(ModelError) as problem:
        await gateway.bind("q1").call("act", prompt())
    assert "model's name" in problem.value.hint


async def test_a_model_that_takes_no_tools_is_not_asked(client, prompt):
    llm = Gateway(client).bind("q1")
    assert not llm.takes_tools
    with pytest.raises(ModelError, match="fake takes no tools") as problem:
        await llm.call("act", prompt(), tools=[EXPLORE])
    assert (problem.value.reason, "protocol=json" in problem.value.hint) == ("refused", True)
    assert (client.requests, llm.calls) == ([], [])
    assert (await llm.call("act", prompt())).text == "reply 1"


@pytest.mark.parametrize(("setting", "takes"), [({}, False), ({"tools": True}, True)])
def test_a_server_takes_tools_where_its_setting_says_so(setting, takes):
    options = ModelOptions(base_url="http://localhost:1")
    assert open_model("stub", options, setting).takes_tools is takes


async def test_tools_are_recorded_with_the_call_and_only_where_given(client, prompt):
    client.takes_tools = True
    calls = (ToolCall("c1", "explore", {"hops": 1}),)
    client.outcomes = iter([Completion("", "tool_calls", 7, 3, 0.5, tool_calls=calls), Completion("Fire.")])
    gateway = Gateway(client)
    llm = gateway.bind("q1")
    await llm.call("act", prompt(), tools=[EXPLORE])
    await llm.call("act", prompt())
    with_tools, without = llm.calls
    assert (with_tools.settings["tools"], with_tools.tool_calls) == ((EXPLORE,), calls)
    assert ("tools" in without.settings, without.tool_calls) == (False, ())
    assert client.requests[0].tools == (EXPLORE,)
    assert (gateway.usage.calls, gateway.usage.cost_usd) == (2, None)


async def test_broken_letters_in_tools_and_calls_reach_no_server_and_can_be_recorded(client, prompt):
    client.takes_tools = True
    tool = Tool("explore", "of \ud800", {"enum": ["\ud800"]})
    turn = {"role": "assistant", "content": "", "tool_calls": (ToolCall("c", "x", "\ud800"),)}
    llm = Gateway(client).bind("q1")
    await llm.call("act", [*prompt(), turn], tools=[tool])
    (request,) = client.requests
    assert request.tools[0].parameters == {"enum": ["\ufffd"]}
    assert request.messages[1]["tool_calls"][0].arguments == "\ufffd"
    assert json.loads(orjson.dumps(llm.calls[0]))["settings"]["tools"][0]["description"] == "of \ufffd"
