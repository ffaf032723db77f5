"""What passes between a method, the gateway and a client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, Protocol, TypedDict

from kgqa_bench.domain import Call, ParseOutcome, ToolCall


class Message(TypedDict):
    """One chat message.

    A reply that calls tools goes back into the chat as ``Reply.message``, followed by one message of the role
    ``tool`` for each call, with its result as content and its id as ``tool_call_id``.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: NotRequired[Sequence[ToolCall]]
    tool_call_id: NotRequired[str]


@dataclass(frozen=True, slots=True)
class Tool:
    """What a model may call: a name of letters, digits, ``_`` and ``-``, and the JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """One completion asked of a client: everything that may change the reply, and so the cache key.

    ``sample`` numbers independent draws of otherwise equal requests; ``seed`` is derived from it, the run's
    seed, the question and the repeat. ``role`` is what the call is for, as ``Llm.call`` names it.
    """

    model: str
    messages: tuple[Message, ...]
    temperature: float = 0.0
    max_tokens: int = 1024
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None
    seed: int | None = None
    sample: int = 0
    extra: Mapping[str, Any] | None = None  # the model's own settings, such as enable_thinking
    role: str = ""
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """A client's reply. Token counts are None where the server gives none, cost where no price is known.

    ``seconds`` is given only by a client that knows better than the clock what the call took, as a replay does.
    """

    text: str
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    reasoning: str | None = None
    seconds: float | None = None
    tool_calls: tuple[ToolCall, ...] = ()


class Client(Protocol):
    """One model behind one interface. Raises ``ModelError`` and nothing else for a failed call.

    A client whose replies all carry ``cost_usd`` says so with an attribute ``price_known = True``; without it a
    run with a budget of money is refused at its start. One that takes a request's ``tools`` says so with
    ``takes_tools = True``; without it no request has any.
    """

    model: str

    async def complete(self, request: Request) -> Completion:
        """Ask once, without retrying."""
        ...

    async def close(self) -> None:
        """Release connections and processes."""
        ...


class LikelihoodClient(Client, Protocol):
    """A client that can also score given continuations."""

    async def log_likelihoods(self, messages: Sequence[Message], continuations: Sequence[str]) -> list[float]:
        """Mean log-likelihood per token of each continuation, in nats."""
        ...


@dataclass(slots=True)
class Reply:
    """What a method gets from a call. ``text`` is the reply without its thinking block."""

    text: str
    truncated: bool
    call: Call

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tools that the model calls, in its order. Names and arguments are unchecked."""
        return self.call.tool_calls

    @property
    def message(self) -> Message:
        """The reply as the assistant's turn of the chat."""
        if self.tool_calls:
            return {"role": "assistant", "content": self.text, "tool_calls": self.tool_calls}
        return {"role": "assistant", "content": self.text}

    def parsed(self, outcome: ParseOutcome) -> None:
        """Record how reading this reply went."""
        self.call.parse = outcome


class Llm(Protocol):
    """The model as one question's method sees it. Every call is counted and recorded under its role."""

    @property
    def takes_tools(self) -> bool:
        """Whether ``call`` takes ``tools`` with this model."""
        ...

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
        """Ask the model.

        Args:
            role: What the call is for: ``proponent``, ``choose_relations``, …
            messages: The chat so far.
            temperature: The run's own setting overrides it; None takes the gateway's default.
            max_tokens: Most tokens of the reply.
            stop: Strings that end the reply.
            schema: JSON schema of the reply, where it has a form.
            sample: Number of the draw, for several samples of one prompt.
            tools: What the model may call instead of replying in words.

        Raises:
            ModelError: When no reply could be had within the bounded retries, or tools are given to a model that
                takes none.
            BudgetExceededError: When the run's budget is used up.
        """
        ...

    async def log_likelihoods(
        self, role: str, messages: Sequence[Message], continuations: Sequence[str]
    ) -> list[float]:
        """Mean log-likelihood per token of each continuation. ModelError where the model cannot score."""
        ...
