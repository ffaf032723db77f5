"""Bounded retries with exponential backoff and jitter. Retry-After is the limiter's: it holds for all requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from kgqa_bench.errors import ConfigError, ModelError

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how patiently a failed request is repeated.

    Attributes:
        attempts: Requests for one call, the first included.
        first_wait: Seconds before the second attempt; doubled for each further one.
        max_wait: Longest wait in seconds, jitter not counted.
        jitter: At most so many seconds, drawn at random, are added to each wait.
    """

    attempts: int = 5
    first_wait: float = 0.5
    max_wait: float = 30.0
    jitter: float = 0.5

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ConfigError(f"attempts is {self.attempts}.", hint="It must be at least 1.")


async def try_again(
    first: ModelError,
    attempt: Callable[[], Awaitable[T]],
    policy: RetryPolicy,
    on_wait: Callable[[float, ModelError], None],
) -> T:
    """Go on after a first, failed attempt.

    Only a call that failed comes here: the first attempt of every call does without this machinery.

    Args:
        first: The first attempt's failure.
        attempt: Makes one further attempt.
        policy: When to give up.
        on_wait: Told the seconds and the failure before each wait.

    Raises:
        ModelError: The last attempt's failure, or the first one that is not retryable.
    """
    import tenacity

    pending: ModelError | None = first

    async def again() -> T:
        nonlocal pending
        if pending is not None:
            problem, pending = pending, None
            raise problem
        return await attempt()

    def tell(state: RetryCallState) -> None:
        problem = state.outcome.exception() if state.outcome is not None else None
        assert isinstance(problem, ModelError)  # nothing else is retried
        on_wait(state.upcoming_sleep, problem)

    retrying = tenacity.AsyncRetrying(
        stop=tenacity.stop_after_attempt(policy.attempts),
        wait=tenacity.wait_exponential(policy.first_wait, policy.max_wait) + tenacity.wait_random(0, policy.jitter),
        retry=tenacity.retry_if_exception(lambda problem: isinstance(problem, ModelError) and problem.retryable),
        before_sleep=tell,
        reraise=True,
    )
    return await retrying(again)
