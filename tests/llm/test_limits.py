import asyncio
import time

import pytest

from kgqa_bench.errors import ConfigError, ModelError
from kgqa_bench.llm.gateway import Gateway
from kgqa_bench.llm.limits import Limits
from kgqa_bench.llm.retry import RetryPolicy


def rate_limited(seconds):
    return ModelError("slow down", reason="rate_limit", retryable=True, retry_after=seconds)


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_no_more_requests_are_in_flight_than_allowed(client, prompt, concurrency):
    client.delay = 0.001
    gateway = Gateway(client, limits=Limits(concurrency=concurrency))
    await asyncio.gather(*(gateway.bind(str(number)).call("answer", prompt()) for number in range(12)))
    assert client.most_running == concurrency


async def test_retry_after_holds_back_every_request_that_has_not_started(client, prompt):
    starts = []
    complete = client.complete

    async def timed(request):
        starts.append(time.monotonic())
        return await complete(request)

    client.complete = timed
    client.outcomes = iter([rate_limited(0.2)])
    waits = []
    gateway = Gateway(
        client,
        limits=Limits(concurrency=2),
        retry=RetryPolicy(first_wait=0.0, jitter=0.0),
        on_wait=lambda seconds, reason: waits.append((seconds, reason)),
    )
    first = asyncio.create_task(gateway.bind("q1").call("answer", prompt()))
    await asyncio.sleep(0.02)
    second = asyncio.create_task(gateway.bind("q2").call("answer", prompt()))
    await asyncio.gather(first, second)
    assert waits == [(0.2, "rate limit")]
    assert all(start - starts[0] >= 0.19 for start in starts[1:])
    assert (await first).call.seconds < 0.19, "the pause is no part of the call's own time"


async def test_a_long_retry_after_is_capped_and_ends_in_a_typed_error(client, prompt):
    client.outcomes = iter([rate_limited(86400.0)] * 3)
    waits = []
    gateway = Gateway(
        client,
        limits=Limits(max_pause=0.01),
        retry=RetryPolicy(attempts=3, first_wait=0.0, jitter=0.0),
        on_wait=lambda seconds, reason: waits.append(seconds),
    )
    with pytest.raises(ModelError) as problem:
        await asyncio.wait_for(gateway.bind("q1").call("answer", prompt()), 10)
    assert problem.value.reason == "rate_limit"
    assert waits == [0.01, 0.01, 0.01]
    assert (await asyncio.wait_for(gateway.bind("q2").call("answer", prompt()), 10)).text == "reply 4"


async def test_a_backoff_is_told_with_its_reason(client, prompt):
    client.outcomes = iter([ModelError("no luck", reason="server_error", retryable=True)])
    waits = []
    gateway = Gateway(
        client,
        retry=RetryPolicy(first_wait=0.01, jitter=0.0),
        on_wait=lambda seconds, reason: waits.append((seconds, reason)),
    )
    await gateway.bind("q1").call("answer", prompt())
    assert waits == [(0.01, "retry after server_error")]


async def test_backoff_doubles_up_to_its_bound(client, prompt):
    client.outcomes = iter([ModelError("no luck", reason="server_error", retryable=True)] * 5)
    waits = []
    gateway = Gateway(
        client,
        retry=RetryPolicy(attempts=6, first_wait=0.001, max_wait=0.004, jitter=0.0),
        on_wait=lambda seconds, reason: waits.append(seconds),
    )
    await gateway.bind("q1").call("answer", prompt())
    assert waits == [0.001, 0.002, 0.004, 0.004, 0.004]


@pytest.mark.parametrize(
    ("limits", "reason", "seconds"),
    [
        (Limits(requests_per_minute=1), "limit of requests per minute", 60),
        (Limits(tokens_per_minute=2000), "limit of tokens per minute", 30.75),  # 1,000 + 100 / 4 tokens
    ],
)
async def test_rates_per_minute_hold_requests_back(client, prompt, limits, reason, seconds):
    waits = []
    gateway = Gateway(client, limits=limits, on_wait=lambda seconds, reason: waits.append((seconds, reason)))
    llm = gateway.bind("q1")
    await llm.call("answer", prompt("x" * 100), max_tokens=1000)
    held = asyncio.create_task(llm.call("answer", prompt("x" * 100), max_tokens=1000))
    await asyncio.sleep(0.02)
    assert not held.done()
    assert len(client.requests) == 1
    assert waits == [(pytest.approx(seconds), reason)]
    held.cancel()


async def test_a_request_larger_than_a_minutes_tokens_is_not_refused_for_ever(client, prompt):
    gateway = Gateway(client, limits=Limits(tokens_per_minute=10))
    assert (await gateway.bind("q1").call("answer", prompt("x" * 1000))).text == "reply 1"


@pytest.mark.parametrize(
    "wrong",
    [{"concurrency": 0}, {"requests_per_minute": 0}, {"tokens_per_minute": float("nan")}, {"max_pause": -1}],
)
def test_senseless_limits_are_refused(wrong):
    with pytest.raises(ConfigError):
        Limits(**wrong)
