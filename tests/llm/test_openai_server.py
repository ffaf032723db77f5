import asyncio
import json
import logging
import traceback

import pytest

from kgqa_bench.contracts import ModelOptions
from kgqa_bench.errors import ConfigError, ModelError
from kgqa_bench.llm.completions import parse_retry_after, read_completion
from kgqa_bench.llm.gateway import Gateway
from kgqa_bench.llm.limits import Limits
from kgqa_bench.llm.openai_server import KEY_VARIABLE, OpenAIServer, OpenAIServerSource, completions_url
from kgqa_bench.llm.types import Request

KEY = "sk-very-secret-0123456789"
REQUEST = Request("stub", ({"role": "user", "content": "What is hot?"},), seed=5)


@pytest.fixture
async def server(stub_server):
    client = OpenAIServer("stub", stub_server.url, api_key=KEY, timeout=5.0)
    yield client
    await client.close()


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        ("http://localhost:8000", "http://localhost:8000/v1/chat/completions"),
        ("http://localhost:8000/", "http://localhost:8000/v1/chat/completions"),
        ("http://localhost:8000/v1", "http://localhost:8000/v1/chat/completions"),
        ("http://localhost:8000/v1/", "http://localhost:8000/v1/chat/completions"),
        ("https://host/api/v1", "https://host/api/v1/chat/completions"),
        ("https://host/v1beta/openai/", "https://host/v1beta/openai/chat/completions"),
        ("https://host/v1/chat/completions", "https://host/v1/chat/completions"),
        ("https://host/proxy", "https://host/proxy/v1/chat/completions"),
        ("https://host/v1?api-version=3", "https://host/v1/chat/completions?api-version=3"),
    ],
)
def test_the_base_url_is_taken_with_and_without_v1(base_url, expected):
    assert completions_url(base_url) == expected


@pytest.mark.parametrize(
    "wrong", ["", "localhost:8000", "ftp://host", "http://", "http://host:port", "http://[", "/v1"]
)
def test_what_is_no_server_address_is_refused(wrong):
    with pytest.raises(ConfigError, match="no server address"):
        completions_url(wrong)


def test_a_password_in_the_address_is_refused_and_not_repeated():
    with pytest.raises(ConfigError) as problem:
        completions_url("https://me:hunter2@host/v1")
    assert "hunter2" not in str(problem.value)


async def test_the_request_carries_every_setting(stub_server, server):
    request = Request(
        "ignored",
        ({"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is hot?"}),
        temperature=0.5,
        max_tokens=64,
        top_p=0.9,
        stop=("\n",),
        schema={"type": "object", "properties": {}, "additionalProperties": False},
        seed=5,
        extra={"chat_template_kwargs": {"enable_thinking": False}},
    )
    await server.complete(request)
    assert stub_server.bodies == [
        {
            "model": "stub",
            "messages": list(request.messages),
            "temperature": 0.5,
            "max_tokens": 64,
            "top_p": 0.9,
            "stop": ["\n"],
            "seed": 5,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": request.schema, "strict": True},
            },
            "chat_template_kwargs": {"enable_thinking": False},
        }
    ]
    assert stub_server.headers[0]["Authorization"] == f"Bearer {KEY}"


async def test_settings_that_are_not_given_are_not_sent(stub_server, server):
    await server.complete(REQUEST)
    assert set(stub_server.bodies[0]) == {"model", "messages", "temperature", "max_tokens", "seed"}


async def test_the_reply_is_read_whole(stub_server, server):
    stub_server.message = {"reasoning_content": "hm"}
    completion = await server.complete(REQUEST)
    assert (completion.text, completion.reasoning, completion.finish_reason) == ("ANSWER: A", "hm", "stop")
    assert (completion.prompt_tokens, completion.completion_tokens, completion.cost_usd) == (7, 3, None)


async def test_null_content_is_an_empty_reply(stub_server, server):
    stub_server.reply = lambda body: None
    assert (await server.complete(REQUEST)).text == ""


async def test_content_in_parts_is_joined(stub_server, server):
    stub_server.reply = lambda body: [{"type": "text", "text": "ANSWER"}, {"type": "text", "text": ": B"}]
    assert (await server.complete(REQUEST)).text == "ANSWER: B"


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": "many", "completion_tokens": -1}])
async def test_missing_token_counts_are_unknown_not_zero(stub_server, server, usage):
    stub_server.usage = usage
    completion = await server.complete(REQUEST)
    assert (completion.prompt_tokens, completion.completion_tokens) == (None, None)


@pytest.mark.parametrize(
    ("failure", "reason", "retryable"),
    [
        (400, "refused", False),
        (401, "refused", False),
        (403, "refused", False),
        (404, "refused", False),
        (422, "refused", False),
        ((307, {"Location": "http://127.0.0.1:1/"}), "refused", False),
        (408, "timeout", True),
        (409, "server_error", True),
        (429, "rate_limit", True),
        (500, "server_error", True),
        (502, "server_error", True),
        (503, "server_error", True),
        ("drop", "connection", True),
        ("truncated", "bad_response", True),
        ("html", "bad_response", True),
        ("no_choices", "bad_response", True),
        ("not_an_object", "bad_response", True),
        ("null_message", "bad_response", True),
        ("empty", "bad_response", True),
        ("error_in_200", "server_error", True),
    ],
)
async def test_every_failure_has_its_reason(stub_server, server, failure, reason, retryable):
    stub_server.failures.append(failure)
    with pytest.raises(ModelError) as problem:
        await server.complete(REQUEST)
    assert (problem.value.reason, problem.value.retryable) == (reason, retryable)
    assert len(stub_server.bodies) == 1, "a client asks once"
    assert (await server.complete(REQUEST)).text == "ANSWER: A"


async def test_a_server_that_hangs_is_given_up(stub_server):
    client = OpenAIServer("stub", stub_server.url, timeout=0.2)
    stub_server.failures.append("hang")
    with pytest.raises(ModelError) as problem:
        await client.complete(REQUEST)
    assert (problem.value.reason, problem.value.retryable) == ("timeout", True)
    await client.close()


async def test_nobody_listens():
    client = OpenAIServer("stub", "http://127.0.0.1:9", timeout=5.0)
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:9/v1") as problem:
        await client.complete(REQUEST)
    assert (problem.value.reason, problem.value.retryable) == ("connection", True)
    await client.close()


async def test_spent_credit_is_not_waited_for(stub_server, server):
    stub_server.failures.append((429, {"code": "insufficient_quota"}))
    with pytest.raises(ModelError, match="no credit") as problem:
        await server.complete(REQUEST)
    assert not problem.value.retryable


@pytest.mark.parametrize("status", [429, 503])
async def test_retry_after_is_read(stub_server, server, status):
    stub_server.failures.append((status, {"Retry-After": "7.5"}))
    with pytest.raises(ModelError) as problem:
        await server.complete(REQUEST)
    assert problem.value.retry_after == 7.5


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("3", 3.0),
        ("-3", 0.0),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 99 Oct 2015", None),
    ],
)
def test_retry_after_values(value, seconds):
    assert parse_retry_after(value) == seconds


def test_a_retry_after_date_in_the_future():
    assert parse_retry_after("Wed, 21 Oct 2099 07:28:00 GMT") > 1e8


@pytest.mark.parametrize("failure", [400, 401, 429, 500, "drop", "html", "hang"])
async def test_the_key_is_in_no_error_no_record_and_no_log(stub_server, prompt, caplog, impatient, failure):
    caplog.set_level(logging.DEBUG)
    client = OpenAIServer("stub", stub_server.url, api_key=KEY, timeout=0.3)
    stub_server.failures.extend([failure] * 3)
    gateway = Gateway(client, retry=impatient)
    llm = gateway.bind("q1")
    with pytest.raises(ModelError) as problem:
        await llm.call("answer", prompt())
    await gateway.close()
    assert stub_server.headers[0]["Authorization"] == f"Bearer {KEY}"
    shown = "".join(traceback.format_exception(problem.value)) + repr(problem.value) + repr(client) + repr(llm.calls)
    assert KEY not in shown
    assert KEY not in caplog.text
    if failure == 401:
        assert "Bearer [key]" in str(problem.value)


@pytest.mark.parametrize("key", ["line\nbreak", "schlüssel"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(key):
    with pytest.raises(ConfigError) as problem:
        OpenAIServer("stub", "http://localhost", api_key=key)
    assert key not in str(problem.value)


async def test_no_key_no_authorization(stub_server, monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    client = OpenAIServerSource().open("stub", ModelOptions(base_url=stub_server.url))
    await client.complete(REQUEST)
    await client.close()
    assert "Authorization" not in stub_server.headers[0]


async def test_the_source_takes_the_key_from_the_environment(stub_server, monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, f"{KEY}\n")
    client = OpenAIServerSource().open("stub", ModelOptions(base_url=stub_server.url))
    await client.complete(REQUEST)
    await client.close()
    assert stub_server.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_the_source_needs_an_address():
    with pytest.raises(ConfigError, match="--base-url"):
        OpenAIServerSource().open("stub", ModelOptions())


async def test_256_requests_are_really_in_flight_at_once(stub_server, prompt):
    stub_server.latency = 1.0
    client = OpenAIServer("stub", stub_server.url, concurrency=256, timeout=60)
    gateway = Gateway(client, limits=Limits(concurrency=256))
    replies = await asyncio.gather(*(gateway.bind(str(n)).call("answer", prompt(f"{n}")) for n in range(300)))
    await gateway.close()
    assert [reply.text for reply in replies] == ["ANSWER: A"] * 300
    assert stub_server.max_in_flight == 256


async def test_a_run_with_all_kinds_of_failures_gets_every_answer(stub_server, prompt, impatient):
    stub_server.failures.extend([(429, {"Retry-After": "0"}), 500, "drop", "truncated", "html", "no_choices"] * 2)
    stub_server.reply = lambda body: body["messages"][0]["content"]
    gateway = Gateway(
        OpenAIServer("stub", stub_server.url, concurrency=1), limits=Limits(concurrency=1), retry=impatient
    )
    llms = [gateway.bind(str(number)) for number in range(40)]
    results = await asyncio.gather(
        *(llm.call("answer", prompt(llm.question_id)) for llm in llms), return_exceptions=True
    )
    await gateway.close()
    # one at a time, three attempts each: the twelve failures hit the first four questions
    assert [isinstance(result, ModelError) for result in results] == [True] * 4 + [False] * 36
    assert [result.text for result in results[4:]] == [str(number) for number in range(4, 40)]
    assert [llm.calls[0].error is None for llm in llms] == [False] * 4 + [True] * 36


async def test_a_server_that_echoes_the_key_gets_it_into_no_record(stub_server, server):
    stub_server.reply = lambda body: f"ANSWER: A {stub_server.headers[-1]['Authorization']}"
    assert (await server.complete(REQUEST)).text == "ANSWER: A Bearer [key]"


async def test_a_placeholder_for_a_key_may_stand_in_a_reply(stub_server):
    client = OpenAIServer("stub", stub_server.url, api_key="EMPTY")
    stub_server.reply = lambda body: "The set is EMPTY."
    assert (await client.complete(REQUEST)).text == "The set is EMPTY."
    await client.close()


async def test_a_reply_without_end_is_given_up(stub_server, server):
    stub_server.reply = lambda body: "x" * 9_000_000
    with pytest.raises(ModelError, match="longer than 8,388,608 bytes") as problem:
        await server.complete(REQUEST)
    assert problem.value.reason == "bad_response"
    stub_server.reply = lambda body: "x" * 1_000_000
    assert len((await server.complete(REQUEST)).text) == 1_000_000


@pytest.mark.parametrize(
    ("content", "text"), [(b"\xff ANSWER: A", "\ufffd ANSWER: A"), (b"\\ud800 ANSWER: A", "\ud800 ANSWER: A")]
)
def test_an_answer_with_broken_letters_is_kept(content, text):
    completion = read_completion(
        b'{"choices":[{"message":{"content":"' + content + b'"}}],"usage":{"prompt_tokens":7,"completion_tokens":3}}'
    )
    assert (completion.text, completion.prompt_tokens, completion.completion_tokens) == (text, 7, 3)


@pytest.mark.parametrize("payload", [b"[" * 100_000, b'{"choices": \xff', b'{"a": ' * 100_000])
def test_what_is_no_json_is_a_bad_response(payload):
    with pytest.raises(ModelError) as problem:
        read_completion(payload)
    assert problem.value.reason == "bad_response"


@pytest.mark.parametrize("count", [-1, 7.0, "7", True, 2**63, 10**30, 10**9 + 1])
def test_what_is_no_token_count_is_unknown(count):
    usage = {"prompt_tokens": count, "completion_tokens": 3}
    completion = read_completion(json.dumps({"choices": [{"message": {"content": ""}}], "usage": usage}).encode())
    assert (completion.prompt_tokens, completion.completion_tokens) == (None, 3)
