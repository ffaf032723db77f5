"""Shared fixtures: user state goes to temporary folders, real data is asked for by name, models are stubs."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import textwrap
import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from platformdirs import user_cache_dir

from kgqa_bench.graph.sources import fetch
from kgqa_bench.storage import CACHE_VARIABLE, DATA_VARIABLE

# an example may compile a kernel or meet a busy machine: none is too slow
hypothesis_settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("any machine")

_REAL_DATA = os.environ.get(DATA_VARIABLE)
# before any test module is imported: the graph's kernels look for their cache when they are
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parent.parent / ".pytest_cache" / "numba"))
_REAL_CACHE = os.environ.get(CACHE_VARIABLE) or user_cache_dir("kgqa-bench", appauthor=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fail-on-skip", action="store_true", help="Fail if a selected test skips.")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--fail-on-skip"):
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and reporter.stats.get("skipped") and not session.exitstatus:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session", autouse=True)
def _isolated_state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test reads or writes the user's caches, nor sees a data folder it did not ask for."""
    os.environ[CACHE_VARIABLE] = str(tmp_path_factory.mktemp("cache"))
    os.environ.pop(DATA_VARIABLE, None)
    fetch._GITHUB = "http://127.0.0.1:9"  # no test fetches a published graph


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets; skips where ``KGQA_BENCH_DATA`` is not set."""
    if not _REAL_DATA:
        pytest.skip(f"{DATA_VARIABLE} is not set")
    return Path(_REAL_DATA)


BODIES = {
    "truncated": ("application/json", '{"choices": [{"message": {"cont'),
    "html": ("text/html", "<html><body>Bad gateway</body></html>"),
    "no_choices": ("application/json", '{"choices": []}'),
    "not_an_object": ("application/json", "[1, 2]"),
    "null_message": ("application/json", '{"choices": [{"message": null}]}'),
    "empty": ("application/json", ""),
    "error_in_200": ("application/json", '{"error": {"message": "upstream overloaded", "code": 502}}'),
}


class StubServer:
    """A small OpenAI-compatible chat-completions server that runs in a thread and fails on demand.

    It answers every prompt with ``reply(body)``; the entries of ``failures`` are served first, one a call.

    A failure is an HTTP status, the name of one of ``BODIES``, ``drop`` or ``hang``; a pair adds headers, of which
    ``said`` is the error's message.

    Attributes:
        url: Base address with /v1.
        bodies: The requests received, parsed.
        headers: Their headers.
        max_in_flight: Most requests open at one moment.
    """

    def __init__(self) -> None:
        self.failures: deque[Any] = deque()
        self.reply: Callable[[dict[str, Any]], str | None] = lambda body: "ANSWER: A"
        self.message: dict[str, Any] = {}
        self.finish_reason = "stop"
        self.usage: dict[str, Any] | None = {"prompt_tokens": 7, "completion_tokens": 3}
        self.latency = 0.0
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.in_flight = self.max_in_flight = 0
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> StubServer:
        self._thread.start()
        assert self._ready.wait(20)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(20)

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        try:
            failure = self.failures.popleft() if self.failures else None
            if self.latency:
                await asyncio.sleep(self.latency)
            return await self._fail(request, failure) if failure is not None else self._complete(body)
        finally:
            self.in_flight -= 1

    def _complete(self, body: dict[str, Any]) -> web.Response:
        message = {"role": "assistant", "content": self.reply(body)} | self.message
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        return web.json_response({"object": "chat.completion", "choices": [choice], "usage": self.usage})

    async def _fail(self, request: web.Request, failure: Any) -> web.StreamResponse:
        kind, headers = failure if isinstance(failure, tuple) else (failure, {})
        if kind == "drop":
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if kind == "hang":
            await asyncio.sleep(30)
            return web.Response()
        if kind in BODIES:
            content_type, text = BODIES[kind]
            return web.Response(text=text, content_type=content_type)
        # servers are known to quote the key they were given
        quoted = headers.get("said") or f"status {kind} for {request.headers.get('Authorization')}"
        error = {"error": {"message": quoted, "type": "stub", "code": headers.get("code")}}
        return web.Response(status=kind, text=json.dumps(error), content_type="application/json", headers=headers)


@pytest.fixture
def stub_server() -> Iterator[StubServer]:
    """A running stub server; give ``stub_server.url`` as base URL."""
    with StubServer() as server:
        yield server


@pytest.fixture(scope="session")
def embedded_model(_isolated_state: None) -> str:
    """The embedded chat model's name, its weights at hand: those fetched before are used, else they are fetched."""
    pytest.importorskip("xllamacpp")
    from kgqa_bench.errors import DataNotFoundError
    from kgqa_bench.llm.weights import FILE, smollm2_weights
    from kgqa_bench.storage import cache_folder

    fetched = Path(_REAL_CACHE) / "weights" / FILE
    if fetched.is_file():
        shutil.copyfile(fetched, cache_folder("weights") / FILE)
    try:
        smollm2_weights(None)
    except DataNotFoundError as problem:
        pytest.skip(str(problem))
    return "local/smollm2"


@pytest.fixture(scope="session")
def tiny_chat_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a chat model of two layers with random weights and one token a byte; 256 tokens of context."""
    pytest.importorskip("transformers")
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({byte: number for number, byte in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    template = "{% for m in messages %}{{ m.role[0] }}:{{ m.content }}</s>{% endfor %}a:"
    folder = tmp_path_factory.mktemp("tiny_chat_model")
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="</s>", pad_token="<pad>", chat_template=template
    ).save_pretrained(folder)
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=len(alphabet) + 2,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        initializer_range=0.6,
        eos_token_id=len(alphabet),
        pad_token_id=len(alphabet) + 1,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture
def fake_vllm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package ``vllm`` in place of the real one: its server repeats the question, and calls the first tool.

    The model ``broken`` prints and exits, ``slow`` is never ready, ``crash`` dies at the first question. The file
    whose path is returned gets the process ids of the server and of a helper that it starts.
    """
    folder = tmp_path / "fake"
    package = folder / "vllm" / "entrypoints" / "openai"
    package.mkdir(parents=True)
    for parent in (folder / "vllm", package.parent, package):
        (parent / "__init__.py").touch()
    (package / "api_server.py").write_text(
        textwrap.dedent(
            """
            import argparse, json, os, pathlib, subprocess, sys
            from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

            parser = argparse.ArgumentParser()
            for name in ("--model", "--host", "--port", "--max-model-len", "--tool-call-parser"):
                parser.add_argument(name)
            parser.add_argument("--enable-auto-tool-choice", action="store_true")
            options = parser.parse_args()
            if options.model == "broken":
                sys.exit("ValueError: no such model here")
            helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            pathlib.Path(os.environ["FAKE_VLLM_PIDS"]).write_text(f"{os.getpid()} {helper.pid}")

            class Handler(BaseHTTPRequestHandler):
                def reply(self, status, value):
                    body = json.dumps(value).encode()
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

                def do_GET(self):
                    self.reply(503 if options.model == "slow" else 200, {})

                def do_POST(self):
                    request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                    if options.model == "crash":
                        print("CUDA out of memory", flush=True)
                        os._exit(9)
                    if self.headers["Authorization"] != f"Bearer {os.environ['VLLM_API_KEY']}":
                        return self.reply(401, {"error": {"message": "wrong key"}})
                    text = f"{options.model} {options.max_model_len}: {request['messages'][-1]['content']}"
                    message = {"role": "assistant", "content": text}
                    if "tools" in request and not (options.enable_auto_tool_choice and options.tool_call_parser):
                        return self.reply(400, {"error": {"message": "tool choice requires a parser to be set"}})
                    for tool in request.get("tools", ())[:1]:
                        function = {"name": tool["function"]["name"], "arguments": '{"entity": "fire"}'}
                        message["tool_calls"] = [{"id": "call_a", "type": "function", "function": function}]
                    choice = {"message": message, "finish_reason": "stop"}
                    self.reply(200, {"choices": [choice], "usage": {"prompt_tokens": 4, "completion_tokens": 2}})

            ThreadingHTTPServer((options.host, int(options.port)), Handler).serve_forever()
            """
        )
    )
    pids = tmp_path / "pids"
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setenv("FAKE_VLLM_PIDS", str(pids))
    return pids
