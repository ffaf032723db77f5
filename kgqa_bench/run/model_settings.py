"""``--set model.…``: what of it is sampling, what limits and retries, and what is the model source's own."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import Field

from kgqa_bench import registry
from kgqa_bench.contracts import ModelOptions, PluginSettings
from kgqa_bench.llm.gateway import Sampling
from kgqa_bench.llm.limits import Limits
from kgqa_bench.llm.resolve import model_source
from kgqa_bench.llm.retry import RetryPolicy
from kgqa_bench.run.config import RunConfig
from kgqa_bench.storage import data_folder


class GatewaySettings(PluginSettings):
    """Settings that hold for any model (``--set model.NAME=VALUE``)."""

    temperature: float | None = Field(
        default=None, ge=0, description="Sampling temperature, in place of the method's; 0 for greedy decoding."
    )
    max_tokens: int | None = Field(
        default=None, ge=1, description="Most tokens of a reply, in place of the method's."
    )
    top_p: float | None = Field(default=None, gt=0, le=1, description="Nucleus sampling.")
    extra: dict[str, Any] | None = Field(
        default=None, description="Further fields of each request, as the server knows them."
    )
    requests_per_minute: float | None = Field(default=None, ge=1, description="Most requests in any minute.")
    tokens_per_minute: float | None = Field(default=None, ge=1, description="Most tokens in any minute.")
    max_pause: float = Field(default=60.0, ge=0, description="Longest pause in seconds that one Retry-After imposes.")
    attempts: int = Field(default=5, ge=1, description="Requests for one call, the first included.")
    first_wait: float = Field(
        default=0.5, ge=0, description="Seconds before the second attempt; doubled for each further one."
    )
    max_wait: float = Field(default=30.0, ge=0, description="Longest wait in seconds between two attempts.")
    timeout: float | None = Field(
        default=None, gt=0, description="Seconds before a request is given up; None takes what suits the model."
    )


class ModelSetup(NamedTuple):
    """How a run's model is opened and asked."""

    sampling: Sampling
    limits: Limits
    retry: RetryPolicy
    options: ModelOptions
    source: dict[str, Any]


def model_setup(model: str, config: RunConfig) -> ModelSetup:
    """How to open and ask ``model``: the parts of ``--set model.…``.

    Unknown settings are left for the source to judge.

    Raises:
        ConfigError: A setting has a wrong value.
    """
    given = config.scoped("model")
    general = {key: value for key, value in given.items() if key in GatewaySettings.model_fields}
    source = {key: value for key, value in given.items() if key not in general}
    settings = registry.checked_settings("the model gateway", GatewaySettings, general)
    concurrency = config.concurrency or 1
    timeout = settings.timeout or model_source(model, config.base_url).timeout
    return ModelSetup(
        Sampling(settings.temperature, settings.max_tokens, settings.top_p, settings.extra),
        Limits(concurrency, settings.requests_per_minute, settings.tokens_per_minute, settings.max_pause),
        RetryPolicy(settings.attempts, settings.first_wait, settings.max_wait),
        ModelOptions(config.base_url, data_folder(config.data), concurrency, timeout),
        source,
    )
