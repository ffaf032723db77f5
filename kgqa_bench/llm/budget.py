"""What a run may use, and what it has used."""

from __future__ import annotations

from dataclasses import dataclass, field

from kgqa_bench.errors import BudgetExceededError, ConfigError


@dataclass(slots=True)
class Usage:
    """Sums over calls.

    Attributes:
        calls: Calls asked, failed ones included; a call retried is one call.
        prompt_tokens: Of the calls whose server tells.
        completion_tokens: Likewise.
        priced_usd: Cost of the calls whose price is known.
        unpriced: Replies whose price is unknown.
        uncounted: Replies without token counts.
        replies: Calls that got a reply.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    priced_usd: float = 0.0
    unpriced: int = 0
    uncounted: int = 0
    replies: int = 0

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def cost_usd(self) -> float | None:
        """What all calls cost; None (unknown) as soon as one reply's price is unknown."""
        return None if self.unpriced else self.priced_usd

    def add_reply(self, prompt_tokens: int | None, completion_tokens: int | None, cost_usd: float | None) -> None:
        """Count what one reply used. None means that it is not known."""
        self.replies += 1
        if prompt_tokens is None or completion_tokens is None:
            self.uncounted += 1
        self.prompt_tokens += prompt_tokens or 0
        self.completion_tokens += completion_tokens or 0
        if cost_usd is None:
            self.unpriced += 1
        else:
            self.priced_usd += cost_usd


@dataclass(frozen=True, slots=True)
class Budget:
    """Upper limits of a run, over all its questions and all its parts; None for no limit.

    Attributes:
        usd: Money, in US dollars.
        tokens: Prompt and completion tokens together.
        calls: Model calls.
    """

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None

    def __post_init__(self) -> None:
        for name in ("usd", "tokens", "calls"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise ConfigError(f"The budget of {name} is {value}.", hint="It must be 0 or more.")


@dataclass(slots=True)
class BudgetGuard:
    """Lets calls through until the budget is used up.

    Calls are counted when they are asked, so their number is never exceeded. What a reply costs is known when it
    has come: no further call is let through once tokens or money have reached the limit, and the calls in flight
    at that moment are the overshoot.
    """

    budget: Budget
    usage: Usage = field(default_factory=Usage)

    def admit(self) -> None:
        """Count one more call. BudgetExceededError where it may not be asked."""
        budget, usage = self.budget, self.usage
        if budget.calls is not None and usage.calls >= budget.calls:
            raise _exceeded("calls", f"{usage.calls} of {budget.calls} calls", "--budget-calls")
        if budget.tokens is not None:
            if usage.uncounted:
                raise _unknown("tokens", "token counts", "--budget-calls")
            if usage.tokens >= budget.tokens:
                raise _exceeded("tokens", f"{usage.tokens} of {budget.tokens} tokens", "--budget-tokens")
        if budget.usd is not None:
            if usage.unpriced:
                raise _unknown("money", "a price", "--budget-tokens")
            if usage.priced_usd >= budget.usd:
                raise _exceeded("money", f"${usage.priced_usd:.4f} of ${budget.usd:.4f}", "--budget-usd")
        usage.calls += 1


def _exceeded(what: str, used: str, flag: str) -> BudgetExceededError:
    return BudgetExceededError(
        f"The budget of {what} is used up: {used}.",
        hint=f"Raise {flag} and run the same command again: what was answered is kept.",
    )


def _unknown(what: str, missing: str, flag: str) -> BudgetExceededError:
    return BudgetExceededError(
        f"The budget of {what} cannot be kept: the model sent a reply without {missing}.",
        hint=f"Use {flag} instead.",
    )
