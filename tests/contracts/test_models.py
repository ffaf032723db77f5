"""The contract of model sources, over every registered one."""

import asyncio
import math
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from kgqa_bench import registry
from kgqa_bench.contracts import ModelOptions, ModelSource
from kgqa_bench.domain import Call
from kgqa_bench.errors import ConfigError, KgqaBenchError, ModelError
from kgqa_bench.llm.budget import Budget
from kgqa_bench.llm.gateway import Gateway, Sampling
from kgqa_bench.llm.resolve import open_model
from kgqa_bench.llm.types import Reply, Tool
from kgqa_bench.run.runner import call_row
from kgqa_bench.run.schema import Hashes, RunInfo

MESSAGES = ({"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is hot?"})
TOKENS = 6


class Setup(NamedTuple):
    """What a source needs to answer: the model's name, how to reach it, its own request fields and settings."""

    name: str
    options: ModelOptions = ModelOptions()
    extra: dict[str, Any] | None = None
    settings: Mapping[str, Any] = MappingProxyType({})


Get = Callable[[str], Any]  # a fixture by name


def _scripted(get: Get) -> Setup:
    script = get("tmp_path") / "script.jsonl"
    script.write_text('{"reply": "ANSWER: A"}\n')
    return Setup(f"scripted/{script}")


def _replay(get: Get) -> Setup:
    """A run that holds the calls which the tests below make."""
    name = _scripted(get).name
    run = get("tmp_path") / "run"
    run.mkdir()
    _write_run(run, name, _ask_all)
    return Setup(f"replay/{run}")


def _write_run(run: Path, name: str, ask: Callable[[Gateway], Awaitable[Any]]) -> None:
    """A run directory with the calls that ``ask`` makes."""
    info = RunInfo(
        created="2026-01-01T00:00:00+00:00",
        config={"repeats": 1},
        method_settings={},
        model=name,
        uses_gold=False,
        versions={},
        hashes=Hashes(code="", prompts="", split=""),
        benchmark={"asked": 1},
    )
    (run / "run.json").write_text(info.model_dump_json())
    rows: list[bytes] = []

    async def record() -> None:
        await ask(
            Gateway(open_model(name, ModelOptions()), on_call=lambda llm, call: rows.append(call_row(llm, call)))
        )

    asyncio.run(record())
    (run / "calls.jsonl").write_bytes(b"\n".join(rows) + b"\n")


async def _ask_all(gateway: Gateway) -> None:
    for question in (*range(4), *range(4)):  # each is asked twice below
        await _ask(gateway, question)


def _vllm(get: Get) -> Setup:
    get("fake_vllm")
    return Setup("vllm/m")


def _litellm(get: Get) -> Setup:
    get("monkeypatch").setenv("OPENAI_API_KEY", "sk-none-0123456789")
    return Setup("gpt-4o-mini", extra={"mock_response": "ANSWER: A"})


SETUPS: dict[str, Callable[[Get], Setup]] = {
    "hf": lambda get: Setup(f"hf/{get('tiny_chat_model')}"),
    "litellm": _litellm,
    "local": lambda get: Setup(get("embedded_model")),
    "openai-server": lambda get: Setup("stub", ModelOptions(base_url=get("stub_server").url)),
    "replay": _replay,
    "scripted": _scripted,
    "vllm": _vllm,
}


TOOL = Tool("explore", "Finds relation paths.", {"type": "object", "properties": {"entity": {"type": "string"}}})
WIRE_CALL = {"id": "c1", "type": "function", "function": {"name": "explore", "arguments": '{"entity": "fire"}'}}


def _tools_scripted(get: Get) -> Setup:
    script = get("tmp_path") / "tools.jsonl"
    script.write_text('{"tool_calls": [{"name": "explore", "arguments": {"entity": "fire"}}]}\n')
    return Setup(f"scripted/{script}")


def _tools_server(get: Get) -> Setup:
    server = get("stub_server")
    server.message = {"content": None, "tool_calls": [WIRE_CALL]}
    return Setup("stub", ModelOptions(base_url=server.url), settings={"tools": True})


def _tools_replay(get: Get) -> Setup:
    run = get("tmp_path") / "run"
    run.mkdir()
    _write_run(run, _tools_scripted(get).name, _act)
    return Setup(f"replay/{run}")


WITH_TOOLS: dict[str, Callable[[Get], Setup]] = {
    "litellm": lambda get: _litellm(get)._replace(extra={"mock_response": "", "mock_tool_calls": [WIRE_CALL]}),
    "openai-server": _tools_server,
    "replay": _tools_replay,
    "scripted": _tools_scripted,
    "vllm": lambda get: _vllm(get)._replace(settings={"tool_call_parser": "hermes"}),
}
"""Where tools are taken: a model whose every reply calls ``explore`` on fire."""


def _own() -> list[str]:
    """The sources of this project: a third party's may need what no test here can give."""
    points = registry._entry_points("models")
    return [name for name, point in points.items() if point.dist is None or point.dist.name == "kgqa-bench"]


sources = pytest.mark.parametrize(
    "source", [pytest.param(name, marks=pytest.mark.local if name == "local" else ()) for name in sorted(SETUPS)]
)


async def _ask(gateway: Gateway, question: int = 0) -> Call:
    llm = gateway.bind(f"q{question}")
    await llm.call("answer", MESSAGES, temperature=1.0, max_tokens=TOKENS)
    return llm.calls[-1]


@pytest.fixture
def setup(source, request):
    return SETUPS[source](request.getfixturevalue)


@pytest.fixture
async def gateway(setup):
    gateway = Gateway(open_model(setup.name, setup.options), sampling=Sampling(extra=setup.extra))
    yield gateway
    await gateway.close()


def test_every_source_of_the_project_is_checked():
    assert set(_own()) == set(SETUPS)


@pytest.mark.parametrize("name", registry.names("models"))
def test_a_source_has_a_summary_and_documented_settings(name):
    source = registry.load("models", name)
    assert issubclass(source, ModelSource)
    assert (source.__doc__ or "").strip().splitlines()[0].endswith(".")
    assert all(field.description for field in source.Settings.model_fields.values())
    with pytest.raises(ConfigError, match="no_such_setting"):
        registry.create("models", name, {"no_such_setting": 1})


def test_no_source_loads_a_heavy_library_to_be_listed():
    heavy = ("torch", "transformers", "litellm", "xllamacpp", "vllm", "huggingface_hub", "aiohttp")
    program = f"""
import sys
from kgqa_bench import registry
for name in {sorted(SETUPS)!r}:
    registry.load("models", name)
print([name for name in {heavy!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


@sources
async def test_a_reply_is_whole_and_says_what_it_cost(gateway):
    call = await _ask(gateway)
    assert isinstance(call.reply, str)
    assert call.finish_reason in ("stop", "length")
    assert call.prompt_tokens is None or call.prompt_tokens > 0
    assert call.completion_tokens is None or call.completion_tokens >= 0
    if getattr(gateway.client, "price_known", False):
        assert call.cost_usd is not None and call.cost_usd >= 0
        assert Gateway(gateway.client, budget=Budget(usd=1.0)).usage.calls == 0
    assert isinstance(gateway.client.model, str) and gateway.client.model


@sources
async def test_questions_at_the_same_time_get_their_own_replies(gateway):
    """Asked together or alone, with equal seeds: the same replies."""
    together = await asyncio.gather(*(_ask(gateway, question) for question in range(4)))
    alone = [await _ask(gateway, question) for question in range(4)]
    assert [call.reply for call in together] == [call.reply for call in alone]


@sources
async def test_likelihoods_are_negative_finite_and_in_order(gateway):
    llm = gateway.bind("q")
    texts = ["fire", "a very long and unlikely reply", "ice"]
    if not hasattr(gateway.client, "log_likelihoods"):
        with pytest.raises(ModelError, match="likelihood"):
            await llm.log_likelihoods("score", MESSAGES, texts)
        return
    try:
        scores = await llm.log_likelihoods("score", MESSAGES, texts)
    except ModelError as problem:
        assert problem.reason == "unavailable"  # a replay of a run that scored nothing
        return
    assert len(scores) == 3
    assert all(math.isfinite(score) and score < 0 for score in scores)
    backwards = await llm.log_likelihoods("score", MESSAGES, texts[::-1])
    assert backwards[::-1] == pytest.approx(scores, abs=1e-4)


async def _act(gateway: Gateway) -> tuple[Reply, Reply]:
    """A reply with tools, and the one to the result of its first call."""
    llm = gateway.bind("q")
    first = await llm.call("act", MESSAGES, tools=[TOOL])
    result = {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "3 paths"}
    return first, await llm.call("act", [*MESSAGES, first.message, result], tools=[TOOL])


@pytest.fixture
def tool_setup(source, request):
    return WITH_TOOLS[source](request.getfixturevalue)


@pytest.mark.parametrize("source", sorted(WITH_TOOLS))
async def test_tools_are_called_and_their_results_taken(tool_setup):
    setup = tool_setup
    client = open_model(setup.name, setup.options, setup.settings)
    assert client.takes_tools is True
    gateway = Gateway(client, sampling=Sampling(extra=setup.extra))
    first, second = await _act(gateway)
    await gateway.close()
    for reply in (first, second):
        (call,) = reply.tool_calls
        assert (call.name, call.arguments) == ("explore", {"entity": "fire"})
        assert call.id
        assert isinstance(reply.text, str)
        assert not reply.truncated
        assert reply.call.error is None
        assert reply.call.prompt_tokens is None or reply.call.prompt_tokens > 0


@sources
async def test_a_source_without_tools_refuses_them_before_anything_is_asked(source, setup):
    client = open_model(setup.name, setup.options)
    takes = getattr(client, "takes_tools", False)
    assert isinstance(takes, bool)
    if takes:
        assert source in WITH_TOOLS
    else:
        llm = Gateway(client).bind("q")
        with pytest.raises(ModelError, match="takes no tools") as problem:
            await llm.call("act", MESSAGES, tools=[TOOL])
        assert (problem.value.reason, problem.value.retryable, llm.calls) == ("refused", False, [])
        assert "protocol=json" in problem.value.hint
    await client.close()


@sources
async def test_closing_twice_or_unused_is_no_error(setup):
    client = open_model(setup.name, setup.options)
    await client.close()
    await client.close()


@pytest.mark.parametrize(
    "name", ["local/none-such", "hf/./none/such", "replay/none/such", "scripted/none/such.jsonl"]
)
def test_a_name_that_leads_nowhere_is_told_at_once(name):
    with pytest.raises(KgqaBenchError, match="none"):
        open_model(name, ModelOptions())
