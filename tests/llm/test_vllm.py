import asyncio
import importlib.util
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from kgqa_bench.contracts import ModelOptions
from kgqa_bench.domain import ToolCall
from kgqa_bench.errors import MissingDependencyError, ModelError
from kgqa_bench.llm.types import Request, Tool
from kgqa_bench.llm.vllm_child import VllmSettings, VllmSource

REQUEST = Request("vllm/m", ({"role": "user", "content": "What is hot?"},))


def _open(name, **settings):
    return VllmSource(VllmSettings(**settings)).open(name, ModelOptions(timeout=10.0))


def _alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _wait_until_dead(pids, seconds=30.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any(map(_alive, pids)):
        time.sleep(0.1)
    return [pid for pid in pids if _alive(pid)]


def _pids(file):
    return [int(pid) for pid in file.read_text().split()]


async def test_a_server_is_started_once_asked_and_stopped(fake_vllm):
    client = _open("m", arguments=("--max-model-len=99",))
    assert not fake_vllm.exists()  # nothing starts before the first call
    replies = await asyncio.gather(*(client.complete(REQUEST) for _ in range(3)))
    server, helper = _pids(fake_vllm)
    await client.close()
    assert [reply.text for reply in replies] == ["m 99: What is hot?"] * 3
    assert (replies[0].prompt_tokens, replies[0].completion_tokens, replies[0].cost_usd) == (4, 2, 0.0)
    assert _wait_until_dead([server, helper]) == []


async def test_tools_are_taken_with_a_parser_of_tool_calls(fake_vllm):
    request = replace(REQUEST, tools=(Tool("explore", "Finds paths.", {"type": "object"}),))
    plain = _open("m")
    assert not plain.takes_tools
    with pytest.raises(ModelError, match="requires a parser") as problem:
        await plain.complete(request)
    assert (problem.value.reason, "protocol=json" in problem.value.hint) == ("refused", True)
    await plain.close()
    client = _open("m", tool_call_parser="hermes")
    assert client.takes_tools
    reply = await client.complete(request)
    await client.close()
    assert reply.tool_calls == (ToolCall("call_a", "explore", {"entity": "fire"}),)


async def test_a_start_that_fails_shows_the_log_and_is_not_tried_again(fake_vllm, monkeypatch):
    client = _open("broken")
    with pytest.raises(ModelError, match="no such model here") as problem:
        await client.complete(REQUEST)
    assert problem.value.reason == "unavailable"
    assert not problem.value.retryable
    monkeypatch.setattr("kgqa_bench.llm.vllm_child.Child", None)
    with pytest.raises(ModelError, match="no such model here"):
        await client.complete(REQUEST)
    await client.close()


async def test_a_server_that_never_gets_ready_is_stopped(fake_vllm):
    client = _open("slow", start_timeout=3.0)
    with pytest.raises(ModelError, match="not ready within 3 s"):
        await client.complete(REQUEST)
    assert _wait_until_dead(_pids(fake_vllm)) == []


async def test_a_server_that_dies_is_reported_with_its_log(fake_vllm):
    client = _open("crash")
    with pytest.raises(ModelError) as problem:
        for _ in range(20):  # the exit may be noticed a moment after the broken connection
            try:
                await client.complete(REQUEST)
            except ModelError as failure:
                if failure.reason == "unavailable":
                    raise
                await asyncio.sleep(0.2)
    assert "CUDA out of memory" in str(problem.value)
    await client.close()


async def test_a_cancelled_start_leaves_no_process(fake_vllm):
    client = _open("slow")
    task = asyncio.create_task(client.complete(REQUEST))
    while not fake_vllm.exists() or len(fake_vllm.read_text().split()) < 2:
        await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await client.close()
    assert _wait_until_dead(_pids(fake_vllm)) == []


_PARENT = """
import asyncio
from kgqa_bench.contracts import ModelOptions
from kgqa_bench.llm.types import Request
from kgqa_bench.llm.vllm_child import VllmSource

async def main():
    client = VllmSource().open("m", ModelOptions())
    await client.complete(Request("vllm/m", ({"role": "user", "content": "x"},)))
    print("asked", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_the_server_does_not_outlive_a_killed_parent(fake_vllm):
    parent = subprocess.Popen([sys.executable, "-c", _PARENT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert parent.stdout.readline() == b"asked\n"
    pids = _pids(fake_vllm)
    assert all(map(_alive, pids))
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert _wait_until_dead(pids) == []


def test_without_vllm_the_error_names_the_extra(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr("kgqa_bench.llm.vllm_child.find_spec", lambda name: None if name == "vllm" else found(name))
    with pytest.raises(MissingDependencyError, match=r"kgqa-bench\[vllm\]"):
        _open("m")
