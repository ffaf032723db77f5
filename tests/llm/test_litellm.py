import asyncio
import json
import subprocess
import sys
from dataclasses import replace

import pytest

from kgqa_bench.contracts import ModelOptions
from kgqa_bench.domain import ToolCall
from kgqa_bench.errors import ConfigError, ModelError
from kgqa_bench.llm.budget import Budget
from kgqa_bench.llm.gateway import Gateway
from kgqa_bench.llm.hosted import LitellmClient, LitellmSettings, LitellmSource, price_known
from kgqa_bench.llm.types import Request, Tool

KEY = "sk-very-secret-0123456789"
REQUEST = Request("openai/gpt-4o-mini", ({"role": "user", "content": "What is hot?"},), seed=5)


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
async def client(stub_server):
    client = LitellmClient("openai/gpt-4o-mini", timeout=10.0, base_url=stub_server.url)
    yield client
    await client.close()


def _mock(text, **fields):
    return replace(REQUEST, extra={"mock_response": text, **fields})


async def test_reply_counts_and_cost_by_the_price_map():
    client = LitellmSource().open("gpt-4o-mini", ModelOptions())
    reply = await client.complete(_mock("Fire."))
    assert reply.text == "Fire."
    assert reply.finish_reason == "stop"
    # $0.15 a million prompt tokens, $0.60 a million completion tokens
    assert reply.cost_usd == pytest.approx(reply.prompt_tokens * 0.15e-6 + reply.completion_tokens * 0.6e-6)
    assert reply.cost_usd > 0


async def test_an_unknown_price_is_none_and_refuses_a_budget_of_money():
    client = LitellmClient("openai/some-new-model", timeout=10.0)
    assert (await client.complete(_mock("Fire."))).cost_usd is None
    with pytest.raises(ConfigError, match="price"):
        Gateway(client, budget=Budget(usd=1.0))
    assert Gateway(LitellmClient("gpt-4o-mini", timeout=1.0), budget=Budget(usd=1.0)).guard.budget.usd == 1.0


@pytest.mark.parametrize(
    ("model", "known"),
    [("gpt-4o-mini", True), ("openai/gpt-4o-mini", True), ("openai/none-such", False), ("none-such", False)],
)
def test_which_prices_are_known(model, known):
    assert price_known(model) is known


async def test_the_request_carries_every_setting_and_the_price_elsewhere_is_unknown(stub_server, client):
    stub_server.reply = lambda body: "Fire."
    request = replace(
        REQUEST,
        temperature=0.5,
        max_tokens=64,
        top_p=0.9,
        stop=("\n\n",),
        schema={"type": "object"},
        extra={"presence_penalty": 0.25},
    )
    reply = await client.complete(request)
    body = stub_server.bodies[0]
    assert body["model"] == "gpt-4o-mini"
    assert body["messages"] == list(REQUEST.messages)
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert {
        name: body[name] for name in ("temperature", "max_tokens", "top_p", "stop", "seed", "presence_penalty")
    } == {
        "temperature": 0.5,
        "max_tokens": 64,
        "top_p": 0.9,
        "stop": ["\n\n"],
        "seed": 5,
        "presence_penalty": 0.25,
    }
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens, reply.cost_usd) == ("Fire.", 7, 3, None)


@pytest.mark.parametrize(
    ("failure", "reason", "retryable", "wait"),
    [
        ((429, {"Retry-After": "7"}), "rate_limit", True, 7.0),
        (429, "rate_limit", True, None),
        ((429, {"code": "insufficient_quota"}), "refused", False, None),
        (500, "server_error", True, None),
        (503, "server_error", True, None),
        (400, "refused", False, None),
        (401, "refused", False, None),
        (403, "refused", False, None),
        (404, "refused", False, None),
        ("drop", "connection", True, None),
        ("truncated", "bad_response", True, None),
        ("html", "bad_response", True, None),
        ("no_choices", "bad_response", True, None),
        ("empty", "bad_response", True, None),
    ],
)
async def test_failures_are_told_apart_made_once_and_without_the_key(
    stub_server, client, failure, reason, retryable, wait
):
    stub_server.failures.append(failure)
    with pytest.raises(ModelError) as problem:
        await client.complete(REQUEST)
    assert (problem.value.reason, problem.value.retryable, problem.value.retry_after) == (reason, retryable, wait)
    assert KEY not in str(problem.value)
    assert len(stub_server.bodies) == 1  # retrying is the gateway's work
    assert (await client.complete(REQUEST)).text == "ANSWER: A"


async def test_no_reply_in_time(stub_server):
    stub_server.failures.append("hang")
    client = LitellmClient("openai/gpt-4o-mini", timeout=1.0, base_url=stub_server.url)
    with pytest.raises(ModelError, match="within 1 s") as problem:
        await client.complete(REQUEST)
    assert (problem.value.reason, problem.value.retryable) == ("timeout", True)
    await client.close()


async def test_a_reply_without_usage_has_unknown_counts(stub_server, client):
    stub_server.usage = None
    reply = await client.complete(REQUEST)
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cost_usd) == (None, None, None)


TOOL = Tool("explore", "Finds paths.", {"type": "object", "properties": {"hops": {"type": "integer"}}})


@pytest.mark.parametrize(
    ("model", "setting", "takes"),
    [
        ("gpt-4o-mini", {}, True),
        ("anthropic/claude-sonnet-4-5", {}, True),
        ("openai/none-such", {}, False),
        ("none-such", {}, False),
        ("openai/none-such", {"tools": True}, True),
        ("gpt-4o-mini", {"tools": False}, False),
    ],
)
def test_which_models_take_tools(model, setting, takes):
    assert LitellmSource(LitellmSettings(**setting)).open(model, ModelOptions()).takes_tools is takes


@pytest.mark.parametrize("model", ["openai/gpt-4o-mini", "openai/none-such", "featherless_ai/none"])
async def test_tools_and_tool_calls_pass_through(stub_server, monkeypatch, model):
    monkeypatch.setenv("FEATHERLESS_AI_API_KEY", KEY)
    client = LitellmClient(model, timeout=10.0, base_url=stub_server.url)
    function = {"name": "explore", "arguments": '{"hops": 1}'}
    stub_server.message = {"content": None, "tool_calls": [{"id": "c1", "type": "function", "function": function}]}
    stub_server.finish_reason = "tool_calls"
    reply = await client.complete(replace(REQUEST, tools=(TOOL,)))
    assert reply.tool_calls == (ToolCall("c1", "explore", {"hops": 1}),)
    assert (reply.text, reply.finish_reason) == ("", "tool_calls")
    turns = (
        {"role": "assistant", "content": "", "tool_calls": reply.tool_calls},
        {"role": "tool", "tool_call_id": "c1", "content": "42 paths"},
    )
    await client.complete(replace(REQUEST, messages=(*REQUEST.messages, *turns), tools=(TOOL,)))
    await client.close()
    sent = {"name": TOOL.name, "description": TOOL.description, "parameters": TOOL.parameters}
    assert [body["tools"] for body in stub_server.bodies] == [[{"type": "function", "function": sent}]] * 2
    question, turn, result = stub_server.bodies[1]["messages"]
    assert question == REQUEST.messages[0]
    assert json.loads(turn["tool_calls"][0]["function"]["arguments"]) == {"hops": 1}
    assert (result["role"], result["tool_call_id"], result["content"]) == ("tool", "c1", "42 paths")


async def test_a_refusal_of_tools_is_told_with_the_way_out(stub_server, client):
    stub_server.failures.append((400, {"said": "stub does not support tools"}))
    with pytest.raises(ModelError, match="does not support tools") as problem:
        await client.complete(replace(REQUEST, tools=(TOOL,)))
    assert (problem.value.reason, problem.value.retryable) == ("refused", False)
    assert "protocol=json" in problem.value.hint


async def test_an_empty_reply_is_a_reply(stub_server, client):
    stub_server.reply = lambda body: None
    assert (await client.complete(REQUEST)).text == ""


@pytest.mark.parametrize(
    ("model", "variable"), [("gpt-4o-mini", "OPENAI_API_KEY"), ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY")]
)
async def test_a_missing_key_is_named(monkeypatch, model, variable):
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ModelError) as problem:
        await LitellmClient(model, timeout=10.0).complete(REQUEST)
    assert problem.value.reason == "refused"
    assert problem.value.hint == f"Set {variable}."


async def test_a_rejected_key_is_named(stub_server, client):
    stub_server.failures.append(401)
    with pytest.raises(ModelError) as problem:
        await client.complete(REQUEST)
    assert "OPENAI_API_KEY" in problem.value.hint


async def test_a_model_of_no_provider_is_refused_with_the_way_out():
    with pytest.raises(ModelError, match="no provider for the model 'nonesuch'") as problem:
        await LitellmClient("nonesuch", timeout=10.0).complete(REQUEST)
    assert problem.value.reason == "refused"


async def test_requests_run_at_the_same_time(stub_server, client):
    stub_server.latency = 0.3
    await client.complete(REQUEST)
    await asyncio.gather(*(client.complete(REQUEST) for _ in range(6)))
    assert stub_server.max_in_flight == 6


def test_the_import_waits_for_the_first_call_and_reads_the_local_price_map():
    program = """
import asyncio, os, sys
from kgqa_bench.contracts import ModelOptions
from kgqa_bench.llm.hosted import LitellmSource
from kgqa_bench.llm.types import Request
client = LitellmSource().open("gpt-4o-mini", ModelOptions())
assert "litellm" not in sys.modules
request = Request("m", ({"role": "user", "content": "x"},), extra={"mock_response": "Fire."})
print(asyncio.run(client.complete(request)).text)
import litellm
assert os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
assert not (litellm.callbacks or litellm.success_callback or litellm.failure_callback or litellm.telemetry)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "Fire.\n"), done.stderr
