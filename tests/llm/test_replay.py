import dataclasses
import json

import orjson
import pytest

from kgqa_bench.contracts import ModelOptions
from kgqa_bench.domain import Call, ToolCall
from kgqa_bench.errors import ModelError, RunDirectoryError
from kgqa_bench.llm.budget import Budget
from kgqa_bench.llm.gateway import Gateway
from kgqa_bench.llm.replay import ReplayStore, own_key
from kgqa_bench.llm.resolve import open_model
from kgqa_bench.llm.types import Completion, Tool
from kgqa_bench.run.directory import read_calls
from kgqa_bench.run.runner import call_row
from kgqa_bench.run.schema import Hashes, RunInfo


@pytest.fixture
def record(tmp_path):
    """Writes a run directory that holds the calls of some bound models."""

    def write(*llms, model="fake"):
        info = RunInfo(
            created="2026-01-01T00:00:00+00:00",
            config={"repeats": 1},
            method_settings={},
            model=model,
            uses_gold=False,
            versions={},
            hashes=Hashes(code="", prompts="", split=""),
            benchmark={"asked": 1},
        )
        (tmp_path / "run.json").write_text(info.model_dump_json())
        rows = [
            dataclasses.asdict(call) | {"question_id": llm.question_id, "repeat": llm.repeat}
            for llm in llms
            for call in llm.calls
        ]
        (tmp_path / "calls.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
        return tmp_path

    return write


async def ask(gateway, prompt):
    """Two questions in two repeats, as a method that samples would ask them; failures as their text."""
    replies = []
    for repeat in range(2):
        for question in ("q1", "q2"):
            llm = gateway.bind(question, repeat)
            for sample in range(2):
                try:
                    replies.append(await llm.call("answer", prompt(question), temperature=0.5, sample=sample))
                except ModelError as problem:
                    replies.append((problem.reason, str(problem)))
    return replies


async def test_a_replay_reproduces_the_run_without_its_model(client, prompt, record):
    client.outcomes = iter(
        [
            Completion("<think>hm</think>Fire", "stop", 12, 3, 0.5),
            Completion("<think>cut", "length", 1, 2, 0.25),
            ModelError("wrong key", reason="refused"),
            Completion("plain", None, None, None, None, reasoning="because"),
        ]
    )
    gateway = Gateway(client, seed=4)
    llms = []
    bind = gateway.bind
    gateway.bind = lambda *names: llms.append(bind(*names)) or llms[-1]
    before = await ask(gateway, prompt)
    run = record(*llms)

    replay = Gateway(open_model(f"replay/{run}", ModelOptions()), model=f"replay/{run}", seed=4)
    again = []
    bind_again = replay.bind
    replay.bind = lambda *names: again.append(bind_again(*names)) or again[-1]
    after = await ask(replay, prompt)
    assert [getattr(reply, "text", reply) for reply in after] == [getattr(reply, "text", reply) for reply in before]
    assert [getattr(reply, "truncated", None) for reply in after] == [
        getattr(reply, "truncated", None) for reply in before
    ]
    for llm, other in zip(llms, again, strict=True):
        for call, replayed in zip(llm.calls, other.calls, strict=True):
            same = dataclasses.replace(replayed, key=call.key)
            if call.error is not None:
                same.seconds = call.seconds
            assert same == call
    assert dataclasses.asdict(replay.usage) == dataclasses.asdict(gateway.usage)


async def test_what_was_not_recorded_is_unavailable(client, prompt, record):
    llm = Gateway(client).bind("q1")
    await llm.call("answer", prompt())
    run = record(llm)
    gateway = Gateway(open_model(f"replay/{run}", ModelOptions()))
    assert (await gateway.bind("q1").call("answer", prompt())).text == "reply 1"
    for other in (gateway.bind("q2"), gateway.bind("q1", 1), gateway.bind("q1")):
        with pytest.raises(ModelError, match="no recorded reply") as problem:
            await other.call("answer", prompt())
        assert (problem.value.reason, problem.value.retryable) == ("unavailable", False)


async def test_a_replay_of_a_priced_run_knows_its_price(client, prompt, record):
    llm = Gateway(client).bind("q1")
    await llm.call("answer", prompt())
    gateway = Gateway(open_model(f"replay/{record(llm)}", ModelOptions()), budget=Budget(usd=1.0))
    await gateway.bind("q1").call("answer", prompt())
    assert gateway.usage.cost_usd == 0.25


async def test_likelihoods_are_replayed(scoring_client, prompt, record):
    llm = Gateway(scoring_client).bind("q1")
    scores = await llm.log_likelihoods("score", prompt(), ["ab", "c"])
    gateway = Gateway(open_model(f"replay/{record(llm)}", ModelOptions()))
    assert await gateway.bind("q1").log_likelihoods("score", prompt(), ["ab", "c"]) == scores
    with pytest.raises(ModelError, match="no recorded reply"):
        await gateway.bind("q1").log_likelihoods("score", prompt(), ["ab", "d"])


async def test_a_row_still_being_written_is_not_taken(client, prompt, record):
    llm = Gateway(client).bind("q1")
    for sample in range(2):
        await llm.call("answer", prompt(), sample=sample)
    run = record(llm)
    calls = run / "calls.jsonl"
    calls.write_bytes(calls.read_bytes()[:-5])
    replay = Gateway(open_model(f"replay/{run}", ModelOptions())).bind("q1")
    assert (await replay.call("answer", prompt(), sample=0)).text == "reply 1"
    with pytest.raises(ModelError, match="no recorded reply"):
        await replay.call("answer", prompt(), sample=1)


def test_what_is_no_run_directory_is_named(tmp_path):
    with pytest.raises(RunDirectoryError, match="no run directory"):
        open_model(f"replay/{tmp_path}", ModelOptions())


def test_a_run_without_model_has_nothing_to_replay(record):
    with pytest.raises(RunDirectoryError, match="asks no model"):
        open_model(f"replay/{record(model=None)}", ModelOptions())


def test_a_damaged_row_is_named_with_its_line(record):
    run = record()
    row = dataclasses.asdict(Call("answer", [], {}, key="k", reply="r")) | {"question_id": "q1", "repeat": 0}
    (run / "calls.jsonl").write_text(json.dumps(row) + "\n{broken\n")
    with pytest.raises(RunDirectoryError, match=r"calls\.jsonl, line 2"):
        open_model(f"replay/{run}", ModelOptions())


EXPLORE = Tool("explore", "Finds paths.", {"type": "object"})


async def act(llm, prompt):
    """A chat of three calls: two with tools, whose results go back, and a last one in words."""
    messages, replies = prompt(), []
    for tools in ((EXPLORE,), (EXPLORE,), ()):
        replies.append(await llm.call("act", messages, tools=tools))
        results = [
            {"role": "tool", "tool_call_id": call.id, "content": str(call.arguments)}
            for call in replies[-1].tool_calls
        ]
        messages = [*messages, replies[-1].message, *results]
    return replies


async def test_a_run_with_tools_is_replayed_and_resumed_from_its_rows(client, prompt, record):
    client.takes_tools = True
    first = (ToolCall("c1", "explore", {"hops": 1, "of": ["a", None]}), ToolCall("c2", "ground", "{broken \ud800"))
    client.outcomes = iter(
        [
            Completion("", "tool_calls", 7, 3, 0.5, tool_calls=first),
            Completion("Look.", "tool_calls", 9, 2, 0.5, tool_calls=(ToolCall("c3", "explore", {}),)),
            Completion("Fire.", "stop", 11, 1, 0.5),
        ]
    )
    rows = []
    gateway = Gateway(client, on_call=lambda llm, call: rows.append(call_row(llm, call)))
    llm = gateway.bind("q1")
    before = await act(llm, prompt)
    run = record()
    (run / "calls.jsonl").write_bytes(b"".join(row + b"\n" for row in rows))
    with_calls, _, in_words = read_calls(run)
    assert with_calls["settings"]["tools"] == [dataclasses.asdict(EXPLORE)]
    assert with_calls["tool_calls"][0] == {"id": "c1", "name": "explore", "arguments": {"hops": 1, "of": ["a", None]}}
    assert with_calls["tool_calls"][1]["arguments"] == "{broken \ufffd"
    assert "tool_calls" not in in_words and "tools" not in in_words["settings"]

    replay = Gateway(open_model(f"replay/{run}", ModelOptions())).bind("q1")
    assert replay.takes_tools
    store = ReplayStore()
    for row in read_calls(run):
        store.add(own_key("q1", 0, row["key"]), row)
    resumed = Gateway(client, replay=store).bind("q1")
    for again in (replay, resumed):
        after = await act(again, prompt)
        assert [reply.text for reply in after] == [reply.text for reply in before]
        assert [[call.id for call in reply.tool_calls] for reply in after] == [["c1", "c2"], ["c3"], []]
        assert after[0].tool_calls[0] == first[0]
        assert [call.key for call in again.calls] == [call.key for call in llm.calls]
        assert [reply.truncated for reply in after] == [False] * 3
    assert len(client.requests) == 3


async def test_a_replay_of_a_run_without_tools_takes_none(client, prompt, record):
    llm = Gateway(client).bind("q1")
    await llm.call("answer", prompt())
    assert not open_model(f"replay/{record(llm)}", ModelOptions()).takes_tools


@pytest.mark.parametrize(
    "tool_calls",
    [
        None,
        {},
        ["c1"],
        [{"id": "c1", "name": "x"}],
        [{"id": "c1", "name": "x", "arguments": [1]}],
        [{"id": 1, "name": "x", "arguments": {}}],
        [{"id": "c1", "name": "x", "arguments": {}, "more": 1}],
    ],
)
def test_damaged_tool_calls_are_named_with_their_line(record, tool_calls):
    run = record()
    row = dataclasses.asdict(Call("answer", [], {}, key="k", reply="r")) | {"question_id": "q1", "repeat": 0}
    (run / "calls.jsonl").write_text(json.dumps(row | {"tool_calls": tool_calls}) + "\n")
    with pytest.raises(RunDirectoryError, match=r"calls\.jsonl, line 1 is damaged: tool_calls"):
        open_model(f"replay/{run}", ModelOptions())


def test_a_store_serves_rows_that_lack_fields():
    store = ReplayStore()
    store.add("k", {"key": "k", "reply": "r"})
    stored = store.get("k")
    assert (stored.reply, stored.seconds, stored.attempts, stored.cost_usd) == ("r", 0.0, 1, None)
    assert store.usage.cost_usd is None
    assert (len(store), bool(store)) == (1, True)
