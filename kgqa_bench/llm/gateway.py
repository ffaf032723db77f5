"""The one way to a model: replay, then budget, limits, retries and counting around a client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, cast

import orjson

from kgqa_bench.domain import Call
from kgqa_bench.errors import ConfigError, ModelError
from kgqa_bench.llm.budget import Budget, BudgetGuard, Usage
from kgqa_bench.llm.keys import derive_seed, likelihood_key, printable, printable_messages, request_key
from kgqa_bench.llm.limits import Limiter, Limits, OnWait
from kgqa_bench.llm.parsing import split_thinking
from kgqa_bench.llm.replay import ReplayStore, own_key
from kgqa_bench.llm.retry import RetryPolicy, try_again
from kgqa_bench.llm.tool_calls import tools_refused
from kgqa_bench.llm.types import Client, Completion, LikelihoodClient, Message, Reply, Request, Tool

Ask = Callable[[], Awaitable[Completion]]

OnCall = Callable[["BoundLlm", Call], None]
"""Told of every call that was really made, when it has ended; never of a replayed one."""

_CHARACTERS_PER_TOKEN = 4  # only for the estimate that a limit of tokens per minute needs


@dataclass(frozen=True, slots=True)
class Sampling:
    """The run's own sampling settings. They override what a method asks for; None leaves it to the method.

    Attributes:
        temperature: 0 for greedy decoding.
        max_tokens: Most tokens of a reply.
        top_p: Nucleus sampling.
        extra: Further fields of the request as the model's server knows them.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    top_p: float | None = None
    extra: Mapping[str, Any] | None = None


class Gateway:
    """All calls of a run pass here, in this order: replay → budget → limits → retry → count → client.

    A slot of the concurrency limit is held while a failed call waits for its next attempt; every attempt takes its
    turn in the rate limits.

    Args:
        client: The model.
        model: The model's name in keys, requests and records; the client's own by default.
        sampling: The run's sampling settings.
        budget: Shared by all calls; what ``replay`` holds is counted as used.
        limits: Concurrency and rates.
        retry: When to give up on a failing call.
        replay: The calls of the run's earlier part.
        seed: The run's seed.
        on_wait: Told of waits for a rate limit or before a retry.
        on_call: Told of every call that was really made.

    Raises:
        ConfigError: A budget of money is set and the model's price is unknown.
    """

    def __init__(
        self,
        client: Client,
        *,
        model: str | None = None,
        sampling: Sampling | None = None,
        budget: Budget | None = None,
        limits: Limits | None = None,
        retry: RetryPolicy | None = None,
        replay: ReplayStore | None = None,
        seed: int = 0,
        on_wait: OnWait | None = None,
        on_call: OnCall | None = None,
    ) -> None:
        self.client = client
        self.model = model or client.model
        self.sampling = sampling or Sampling()
        self.replay = ReplayStore() if replay is None else replay
        self.guard = BudgetGuard(budget or Budget(), replace(self.replay.usage))
        self.limiter = Limiter(limits or Limits(), on_wait)
        self.retry = retry or RetryPolicy()
        self.seed = seed
        self.on_call = on_call
        if self.guard.budget.usd is not None:
            require_price(client)

    @property
    def usage(self) -> Usage:
        """What the whole run has used so far, its earlier parts included."""
        return self.guard.usage

    @property
    def takes_tools(self) -> bool:
        """Whether the client takes tools."""
        return bool(getattr(self.client, "takes_tools", False))

    def bind(self, question_id: str, repeat: int = 0) -> BoundLlm:
        """The model as the method sees it while it answers one question."""
        return BoundLlm(self, question_id, repeat)

    async def close(self) -> None:
        """Release the client's connections and processes."""
        await self.client.close()

    async def perform(self, call: Call, ask: Ask) -> Completion:
        """Limits, retries and the clock around one admitted call, whose attempts and seconds are set.

        Seconds are those of the attempts, without the waits before them.
        """
        call.attempts = 0

        async def attempt() -> Completion:
            await self.limiter.turn(lambda: _estimated_tokens(call))
            call.attempts += 1
            started = perf_counter()
            try:
                return await ask()
            except ModelError as problem:
                if problem.retry_after is not None:
                    self.limiter.pause(problem.retry_after)
                raise
            finally:
                call.seconds += perf_counter() - started

        async with self.limiter.slots:
            try:
                return await attempt()
            except ModelError as problem:
                if not problem.retryable:
                    raise
                return await try_again(problem, attempt, self.retry, self._tell_backoff)

    def _tell_backoff(self, seconds: float, problem: ModelError) -> None:
        if problem.retry_after is None:  # else the pause has been told already
            self.limiter.waiting(seconds, f"retry after {problem.reason}")


def require_price(client: Client) -> None:
    """What a budget of money needs. ConfigError where the model's price is unknown."""
    if not getattr(client, "price_known", False):
        raise ConfigError(
            f"A budget of money is set, but the price of {client.model!r} is unknown.",
            hint="Use --budget-tokens or --budget-calls instead.",
        )


class BoundLlm:
    """The model bound to one question of one repeat: implements ``Llm`` and keeps the calls in order.

    Attributes:
        calls: Every call, replayed ones included, in the order in which they were asked.
    """

    def __init__(self, gateway: Gateway, question_id: str, repeat: int) -> None:
        self.gateway = gateway
        self.question_id = question_id
        self.repeat = repeat
        self.calls: list[Call] = []

    @property
    def takes_tools(self) -> bool:
        """See ``Llm.takes_tools``."""
        return self.gateway.takes_tools

    async def call(
        self,
        role: str,
        messages: Sequence[Message],
        *,
        temperature: float | None = None,
        max_tokens: int | None = None,
        stop: Sequence[str] = (),
        schema: Mapping[str, Any] | None = None,
        sample: int = 0,
        tools: Sequence[Tool] = (),
    ) -> Reply:
        """Ask the model; see ``Llm.call``."""
        gateway = self.gateway
        if tools and not gateway.takes_tools:
            raise tools_refused(f"{gateway.model} takes no tools.")
        run = gateway.sampling
        settings: dict[str, Any] = {
            "temperature": _first(run.temperature, temperature, 0.0),
            "max_tokens": _first(run.max_tokens, max_tokens, 1024),
            "top_p": run.top_p,
            "stop": tuple(stop),
            "schema": schema,
            "seed": derive_seed(gateway.seed, self.question_id, self.repeat, sample),
            "extra": run.extra,
        }
        if tools:
            settings["tools"] = tuple(tools)
        request = Request(gateway.model, tuple(messages), sample=sample, role=role, **settings)
        try:
            key = request_key(request)
        except TypeError:  # UTF-8 cannot carry a lone surrogate, as broken labels and replies may hold
            request = printable(request)
            key = request_key(request)
            if tools:
                settings["tools"] = request.tools
        call = Call(role, cast("list[dict[str, Any]]", list(request.messages)), settings, sample, key=key)

        await self._record(call, lambda: gateway.client.complete(request))
        text = call.reply or ""
        only_thinking = not (text or call.tool_calls) and call.thinking is not None
        return Reply(text, call.finish_reason == "length" or only_thinking, call)

    async def log_likelihoods(
        self, role: str, messages: Sequence[Message], continuations: Sequence[str]
    ) -> list[float]:
        """Score given continuations; see ``Llm.log_likelihoods``."""
        client = self.gateway.client
        if not hasattr(client, "log_likelihoods"):
            raise ModelError(
                f"{self.gateway.model} cannot score given answers by likelihood.",
                reason="unavailable",
                hint="Use a model that runs here, such as hf/ID, or a method that reads generated answers.",
            )
        scorer = cast("LikelihoodClient", client)
        try:
            key = likelihood_key(self.gateway.model, messages, continuations)
        except TypeError:
            messages = printable_messages(messages)
            key = likelihood_key(self.gateway.model, messages, continuations)
        settings = {"continuations": list(continuations)}
        call = Call(role, cast("list[dict[str, Any]]", list(messages)), settings, key=key)

        async def ask() -> Completion:
            return Completion(orjson.dumps(await scorer.log_likelihoods(messages, continuations)).decode())

        await self._record(call, ask)
        scores: list[float] = orjson.loads(call.reply or "[]")
        return scores

    async def _record(self, call: Call, ask: Ask) -> None:
        """Serve the call from the store, or make it; either way it is in ``calls``."""
        gateway = self.gateway
        if gateway.replay:
            occurrence = sum(earlier.key == call.key for earlier in self.calls)
            stored = gateway.replay.get(own_key(self.question_id, self.repeat, call.key), occurrence)
            if stored is not None:
                stored.restore(call)
                self.calls.append(call)
                return
        gateway.guard.admit()
        self.calls.append(call)
        try:
            completion = await gateway.perform(call, ask)
        except ModelError as problem:
            call.error = f"{problem.reason}: {problem}"
            raise
        except asyncio.CancelledError:
            call.error = "cancelled"
            raise
        else:
            _count(call, completion)
            gateway.usage.add_reply(call.prompt_tokens, call.completion_tokens, call.cost_usd)
        finally:
            if gateway.on_call is not None:
                gateway.on_call(self, call)


def _count(call: Call, completion: Completion) -> None:
    """Put a completion into its call."""
    reply = split_thinking(completion.text)
    call.reply = reply.text
    call.thinking = reply.thinking if completion.reasoning is None else completion.reasoning
    call.tool_calls = completion.tool_calls
    call.finish_reason = completion.finish_reason
    call.prompt_tokens = completion.prompt_tokens
    call.completion_tokens = completion.completion_tokens
    call.cost_usd = completion.cost_usd
    if completion.seconds is not None:
        call.seconds = completion.seconds


def _first(*values: Any) -> Any:
    return next(value for value in values if value is not None)


def _estimated_tokens(call: Call) -> int:
    characters = sum(len(message["content"]) for message in call.messages)
    for tool in call.settings.get("tools", ()):
        characters += len(tool.description) + len(str(tool.parameters))
    return characters // _CHARACTERS_PER_TOKEN + int(call.settings.get("max_tokens", 0))
