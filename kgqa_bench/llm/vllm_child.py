"""Models served by vLLM, started and stopped with the run."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec

from pydantic import Field

from kgqa_bench.contracts import ModelOptions, ModelSource, PluginSettings
from kgqa_bench.errors import MissingDependencyError, ModelError
from kgqa_bench.llm.child import Child
from kgqa_bench.llm.openai_server import OpenAIServer
from kgqa_bench.llm.types import Completion, Request

_POLL = 0.25
_HOST = "127.0.0.1"


class VllmSettings(PluginSettings):
    """How the server is started."""

    start_timeout: float = Field(
        default=1800.0, gt=0, description="Seconds that loading (with a first download) may take."
    )
    arguments: tuple[str, ...] = Field(
        default=(), description="Further arguments of vLLM's server, such as --max-model-len=8192."
    )
    tool_call_parser: str | None = Field(
        default=None,
        description="vLLM's parser of the model's tool calls, such as hermes for Qwen3; native tool calls need one.",
    )


class VllmSource(ModelSource):
    """A model on a vLLM server of its own, as in vllm/Qwen/Qwen3-8B; needs vllm and usually a GPU."""

    Settings = VllmSettings

    def open(self, name: str, options: ModelOptions) -> VllmClient:
        """The model of that hub id or folder; its server starts at the first call.

        Raises:
            MissingDependencyError: vllm is not installed.
        """
        if find_spec("vllm") is None:
            raise MissingDependencyError(f"The model vllm/{name}", "vllm", extra="vllm")
        return VllmClient(name, self.settings, options)


class VllmClient:
    """A vLLM server as a child process, and the connection to it.

    Args:
        name: Hub id or folder.
        settings: How the server is started.
        options: Concurrency and time-out of the requests.
    """

    price_known = True

    def __init__(self, name: str, settings: VllmSettings, options: ModelOptions) -> None:
        self.model = f"vllm/{name}"
        self.takes_tools = settings.tool_call_parser is not None
        self._name = name
        self._settings = settings
        self._options = options
        self._starting = asyncio.Lock()
        self._child: Child | None = None
        self._server: OpenAIServer | None = None
        self._failure: ModelError | None = None

    async def complete(self, request: Request) -> Completion:
        """Ask the server once; the first call starts it."""
        server = self._server or await self._started()
        try:
            return replace(await server.complete(request), cost_usd=0.0)
        except ModelError as problem:
            if self._child is not None and self._child.exit_code() is not None:
                raise self._ended(self._child, "ended while it was asked") from problem
            raise

    async def close(self) -> None:
        """Stop the server."""
        async with self._starting:
            server, self._server = self._server, None
            if server is not None:
                await server.close()
            await self._stop()

    async def _started(self) -> OpenAIServer:
        async with self._starting:
            if self._failure is not None:
                raise self._failure
            if self._server is None:
                try:
                    self._server = await self._start()
                except BaseException as problem:
                    if isinstance(problem, ModelError):  # would only fail again
                        self._failure = problem
                    await self._stop()
                    raise
            return self._server

    async def _start(self) -> OpenAIServer:
        port, key = _free_port(), secrets.token_urlsafe(32)
        command = [
            *(sys.executable, "-m", "vllm.entrypoints.openai.api_server"),
            *(f"--model={self._name}", f"--host={_HOST}", f"--port={port}"),
            *self._tool_arguments(),
            *self._settings.arguments,
        ]
        # the key goes by environment: arguments can be read by every user of the machine
        self._child = Child(command, {"VLLM_API_KEY": key, "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"})
        with _status(f"Starting vLLM with {self._name}"):
            await self._await_health(self._child, f"http://{_HOST}:{port}/health")
        return OpenAIServer(
            self._name,
            f"http://{_HOST}:{port}/v1",
            api_key=key,
            concurrency=self._options.concurrency,
            timeout=self._options.timeout,
        )

    def _tool_arguments(self) -> list[str]:
        parser = self._settings.tool_call_parser
        return [] if parser is None else ["--enable-auto-tool-choice", f"--tool-call-parser={parser}"]

    async def _stop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await asyncio.shield(asyncio.to_thread(child.stop))

    async def _await_health(self, child: Child, url: str) -> None:
        import aiohttp

        deadline = time.monotonic() + self._settings.start_timeout
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session:
            while time.monotonic() < deadline:
                if child.exit_code() is not None:
                    raise self._ended(child, "ended while it was starting")
                with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                    async with session.get(url) as response:
                        if response.status == 200:
                            return
                await asyncio.sleep(_POLL)
        raise ModelError(
            f"vLLM with {self._name} was not ready within {self._settings.start_timeout:g} s.",
            reason="unavailable",
            hint=f"Raise start_timeout. The end of its log:\n{child.log_tail()}",
        )

    def _ended(self, child: Child, when: str) -> ModelError:
        return ModelError(
            f"vLLM with {self._name} {when} (exit code {child.exit_code()}).",
            reason="unavailable",
            hint=f"The end of its log:\n{child.log_tail()}",
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def _status(what: str) -> Iterator[None]:
    """Show on standard error what is being waited for."""
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:
        with console.status(f"{what} …"):
            yield
    else:
        console.print(f"{what} …", soft_wrap=True)
        yield
