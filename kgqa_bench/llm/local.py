"""Chat models in gguf files, run inside this process by llama.cpp (package xllamacpp)."""

from __future__ import annotations

import json
import os
import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

from pydantic import Field

from kgqa_bench.contracts import ModelOptions, ModelSource, PluginSettings
from kgqa_bench.errors import DataNotFoundError, MissingDependencyError, ModelError, UnknownNameError
from kgqa_bench.llm.types import Completion, Message, Request
from kgqa_bench.llm.weights import smollm2_weights
from kgqa_bench.llm.worker import Worker
from kgqa_bench.storage import data_folder, user_path

EMBEDDED = "smollm2"
_WAIT_VARIABLE = "OMP_WAIT_POLICY"
_FREE_CORES = 1.5
_FORCED = 1e6  # a logit bias that no other token can outweigh


class LocalSettings(PluginSettings):
    """How the model is run."""

    threads: int | None = Field(
        default=None,
        ge=1,
        description="Threads; by default 2 where two cores are free, else 1; always 1 where CI=true.",
    )
    context: int = Field(
        default=8192, ge=64, description="Tokens of prompt and reply together; at most what the model was trained on."
    )


class LocalSource(ModelSource):
    """A small model on this machine's CPU: local/smollm2, or any gguf file as local/PATH.gguf."""

    Settings = LocalSettings
    concurrency = 1
    timeout = 900.0  # nothing is stuck here, a busy machine is only slow

    def open(self, name: str, options: ModelOptions) -> LocalClient:
        """The model ``smollm2`` (its weights are fetched if need be) or the gguf file of that path.

        Raises:
            MissingDependencyError: xllamacpp is not installed.
            UnknownNameError: Neither ``smollm2`` nor a path that ends in .gguf.
            DataNotFoundError: No such file; or the weights could not be fetched.
            DataError: The weights have a wrong checksum.
        """
        if find_spec("xllamacpp") is None:
            raise MissingDependencyError(f"The model local/{name}", "xllamacpp", extra="local")
        if name.lower() == EMBEDDED:
            path = smollm2_weights(data_folder(options.data))
        elif name.lower().endswith(".gguf"):
            path = _gguf(name, data_folder(options.data))
        else:
            raise UnknownNameError("local model", name, [EMBEDDED], hint="Or give the path of a gguf file.")
        settings: LocalSettings = self.settings
        threads = settings.threads or _default_threads()
        return LocalClient(f"local/{name}", path, threads=threads, context=settings.context, timeout=options.timeout)


@dataclass(frozen=True, slots=True)
class _Server:
    """llama.cpp's server object; its own HTTP door on the loopback opens to the holder of ``key`` only."""

    handle: Any
    key: str

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """What the routes answer that have no function in Python."""
        request = HttpRequest(  # noqa: S310 - the server's own http address
            self.handle.listening_address + path,
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"},
        )
        try:
            with urlopen(request, timeout=60) as response:  # noqa: S310
                return json.load(response)
        except HTTPError as problem:
            raise _refusal(problem.read().decode("utf-8", "replace")[:300]) from problem
        except (URLError, OSError, ValueError) as problem:
            raise ModelError(
                f"The embedded server did not answer: {problem}", reason="connection", retryable=True
            ) from problem


class LocalClient:
    """One gguf model. Requests are answered one after the other, each from an empty cache.

    So a reply depends on its request alone, and equal requests with equal seeds get equal replies. Sampling is plain
    (no top-k, min-p or repetition penalty) unless the request's ``extra`` asks otherwise.

    Args:
        model: The name in records.
        path: The gguf file.
        threads: Threads used for it.
        context: Tokens of prompt and reply together.
        timeout: Seconds for one request, loading and waiting not counted.
    """

    price_known = True

    def __init__(self, model: str, path: Path, *, threads: int, context: int, timeout: float) -> None:
        self.model = model
        self._path = path
        self._threads = threads
        self._context = context
        self._worker: Worker[_Server] = Worker(self._load, timeout)

    async def complete(self, request: Request) -> Completion:
        """Generate one reply. A prompt longer than the context is refused."""
        return await self._worker.run(lambda server, stop: _generate(server, request, stop))

    async def log_likelihoods(self, messages: Sequence[Message], continuations: Sequence[str]) -> list[float]:
        """Mean log-likelihood per token, in nats, of each continuation as the assistant's reply to ``messages``.

        Every token is forced in turn and its logarithmic probability read before the forcing; prompt and
        continuation are tokenised apart, as they are when the model writes the reply itself.
        """
        return await self._worker.run(lambda server, stop: _score(server, messages, continuations, stop))

    async def close(self) -> None:
        """Free the model's memory."""
        await self._worker.close()

    def _load(self) -> _Server:
        try:
            xllamacpp = _runtime()
        except ImportError as problem:
            raise ModelError(
                f"xllamacpp cannot be loaded: {problem}",
                reason="unavailable",
                hint="If libgomp.so.1 is missing, install it (on Debian and Ubuntu: apt install libgomp1).",
            ) from problem
        params = xllamacpp.CommonParams()
        params.model.path = str(self._path)
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        params.n_ctx = self._context
        params.n_parallel = 1
        params.fit_params = False  # would change the context by the memory that happens to be free
        params.cache_ram_mib = 0
        params.verbosity = -1
        params.ui = params.endpoint_slots = False
        key = secrets.token_urlsafe(32)
        params.api_keys = [key]
        try:
            return _Server(xllamacpp.Server(params), key)
        except (RuntimeError, ValueError) as problem:
            raise ModelError(
                f"llama.cpp cannot load {self._path}.",
                reason="unavailable",
                hint="Check that it is a whole gguf file of a chat model and that memory suffices.",
            ) from problem


def _runtime() -> Any:
    """xllamacpp, whose threads sleep while they wait for each other.

    By default they spin, which on a machine with other work makes two threads ten times slower than one. The variable
    is read when the OpenMP library is loaded (too late where torch has loaded it before), and taken back afterwards.
    """
    given = _WAIT_VARIABLE in os.environ
    os.environ.setdefault(_WAIT_VARIABLE, "passive")
    try:
        import xllamacpp
    finally:
        if not given:
            del os.environ[_WAIT_VARIABLE]
    return xllamacpp


def _generate(server: _Server, request: Request, stop: threading.Event) -> Completion:
    """Stream a reply, so that it can be ended early."""
    text: list[str] = []
    reasoning: list[str] = []
    finish_reason: str | None = None
    usage: Mapping[str, Any] = {}
    for event in _events(server, _body(request), stop):
        usage = event.get("usage") or usage
        for choice in event.get("choices") or ():
            delta = choice.get("delta") or {}
            text.append(delta.get("content") or "")
            reasoning.append(delta.get("reasoning_content") or "")
            finish_reason = choice.get("finish_reason") or finish_reason
    return Completion(
        "".join(text),
        finish_reason,
        usage.get("prompt_tokens"),
        usage.get("completion_tokens"),
        cost_usd=0.0,
        reasoning="".join(reasoning) or None,
    )


def _body(request: Request) -> dict[str, Any]:
    body: dict[str, Any] = {
        "messages": list(request.messages),
        "temperature": request.temperature,
        "top_p": 1.0 if request.top_p is None else request.top_p,
        "top_k": 0,
        "min_p": 0.0,
        "max_tokens": request.max_tokens,
        "stop": list(request.stop),
        "cache_prompt": False,  # a reused cache changes the last digits, and so now and then a reply
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.seed is not None:
        body["seed"] = request.seed
    if request.schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": request.schema, "strict": True},
        }
    return {**body, **(request.extra or {})}


def _events(server: _Server, body: Mapping[str, Any], stop: threading.Event) -> Iterator[Mapping[str, Any]]:
    events: list[Mapping[str, Any]] = []

    def take(event: Mapping[str, Any]) -> bool:
        events.append(event)
        return stop.is_set()

    _call(server.handle.handle_chat_completions, body, take)
    for event in events:
        if "error" in event:
            raise _refusal(event["error"])
        yield event


def _call(handler: Any, *arguments: Any) -> Any:
    try:
        return handler(*arguments)
    except (ValueError, RuntimeError, TypeError) as problem:  # a schema or a field that llama.cpp cannot take
        raise _refusal(str(problem)) from problem


def _refusal(error: Any) -> ModelError:
    """The error that llama.cpp's own words stand for."""
    kind = error.get("type") if isinstance(error, Mapping) else None
    said = error.get("message") if isinstance(error, Mapping) else error
    text = f"The embedded model refused the request: {said}"
    if kind == "exceed_context_size_error":
        return ModelError(text, reason="refused", hint="Shorten the prompt or use a model with a longer context.")
    if kind in ("server_error", "unavailable_error"):
        return ModelError(text, reason="server_error", retryable=True)
    return ModelError(text, reason="refused", hint="Check the schema and the model's own settings.")


def _score(
    server: _Server, messages: Sequence[Message], continuations: Sequence[str], stop: threading.Event
) -> list[float]:
    text = server.post("/apply-template", {"messages": list(messages)})["prompt"]
    prompt = server.post("/tokenize", {"content": text, "add_special": True, "parse_special": True})["tokens"]
    scores: list[float] = []
    for number, continuation in enumerate(continuations):
        tokens = server.post("/tokenize", {"content": continuation, "add_special": False})["tokens"]
        if not tokens:
            raise ModelError(f"Continuation {number} is empty: it has no likelihood.", reason="refused")
        total = 0.0
        for position, token in enumerate(tokens):
            if stop.is_set():
                return scores
            # the first step starts from an empty cache, so that nothing asked earlier can change a digit
            fresh = number == 0 and position == 0
            total += _log_probability(server, prompt + tokens[:position], token, cache=not fresh)
        scores.append(total / len(tokens))
    return scores


def _log_probability(server: _Server, before: list[int], token: int, *, cache: bool) -> float:
    """Logarithm of the probability of ``token`` after ``before``, in nats."""
    body = {
        "prompt": before,
        "max_tokens": 1,
        "temperature": 0.0,
        "logprobs": 1,
        "logit_bias": [[token, _FORCED]],  # forces the choice; the probabilities reported are those before it
        "cache_prompt": cache,
    }
    reply = _call(server.handle.handle_completions, body)
    if "error" in reply:
        raise _refusal(reply["error"])
    (chosen,) = reply["choices"][0]["logprobs"]["content"]
    if chosen["id"] != token:
        raise ModelError(f"llama.cpp did not score token {token}.", reason="bad_response")
    return float(chosen["logprob"])


def _gguf(name: str, data: Path | None) -> Path:
    for path in (user_path(name), *([data / name] if data is not None else [])):
        if path.is_file():
            return path
    raise DataNotFoundError(f"There is no file {name}.", hint="Give the path of a gguf file, as in local/PATH.gguf.")


def _default_threads() -> int:
    """Two where two cores are free, else one: threads that share a core stall each other. Replies do not differ."""
    if os.environ.get("CI", "").lower() == "true":
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return 2 if cores - busy > _FREE_CORES else 1
