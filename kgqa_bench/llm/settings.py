"""The settings of a run's model: those of the gateway, and those left to the model's source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import Field

from kgqa_bench import registry
from kgqa_bench.contracts import ModelOptions, Plugin, PluginSettings
from kgqa_bench.llm.budget import Budget
from kgqa_bench.llm.gateway import Gateway, OnCall, Sampling
from kgqa_bench.llm.limits import Limits, OnWait
from kgqa_bench.llm.replay import ReplayStore
from kgqa_bench.llm.resolve import open_model
from kgqa_bench.llm.retry import RetryPolicy


class GatewaySettings(PluginSettings):
    """Settings that every model has (``--set model.NAME=VALUE``).

    Attributes:
        temperature: Overrides what methods ask for; 0 is greedy.
        max_tokens: Overrides what methods ask for.
        top_p: Nucleus sampling; None leaves it to the server.
        extra: Further fields of the request, such as ``{chat_template_kwargs: {enable_thinking: false}}``.
        timeout: Seconds before a request is given up; None takes the default.
        attempts: Requests for one call, the first included.
        requests_per_minute: Rate limit, retries included.
        tokens_per_minute: Rate limit, by an estimate of each request.
        max_pause: Longest pause in seconds that a server's Retry-After can impose at once.
    """

    temperature: float | None = Field(None, ge=0)
    max_tokens: int | None = Field(None, ge=1)
    top_p: float | None = Field(None, gt=0, le=1)
    extra: dict[str, Any] | None = None
    timeout: float | None = Field(None, gt=0)
    attempts: int = Field(RetryPolicy().attempts, ge=1)
    requests_per_minute: float | None = Field(None, ge=1)
    tokens_per_minute: float | None = Field(None, ge=1)
    max_pause: float = Field(Limits().max_pause, ge=0)


class _Common(Plugin):
    Settings = GatewaySettings


def open_gateway(
    name: str,
    options: ModelOptions,
    settings: Mapping[str, Any] | None = None,
    *,
    budget: Budget | None = None,
    replay: ReplayStore | None = None,
    seed: int = 0,
    on_wait: OnWait | None = None,
    on_call: OnCall | None = None,
) -> Gateway:
    """The gateway of a run to the model called ``name``.

    Args:
        name: The model's name, see ``open_model``; it is in the keys of all calls.
        options: How to reach it; its concurrency is the gateway's.
        settings: Those named in ``GatewaySettings`` are the gateway's, all others the model source's.
        budget: See ``Gateway``, as for all that follow.
        replay: The calls of the run's earlier part.
        seed: The run's seed.
        on_wait: Told of waits.
        on_call: Told of every call really made.

    Raises:
        ConfigError: A setting is unknown or wrong, or a budget of money is set for a model without known price.
        UnknownNameError, DataNotFoundError, DataError, RunDirectoryError: See ``open_model``.
    """
    given = dict(settings or {})
    own = {key: given.pop(key) for key in GatewaySettings.model_fields if key in given}
    common: GatewaySettings = registry.configure(_Common, own).settings
    if common.timeout is not None:
        options = replace(options, timeout=common.timeout)
    return Gateway(
        open_model(name, options, given),
        model=name,
        sampling=Sampling(common.temperature, common.max_tokens, common.top_p, common.extra),
        budget=budget,
        limits=Limits(options.concurrency, common.requests_per_minute, common.tokens_per_minute, common.max_pause),
        retry=RetryPolicy(common.attempts),
        replay=replay,
        seed=seed,
        on_wait=on_wait,
        on_call=on_call,
    )
