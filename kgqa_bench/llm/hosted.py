"""Hosted models by their litellm names, such as gpt-4o-mini or anthropic/claude-sonnet-4-5."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from typing import Any

from pydantic import Field

from kgqa_bench.contracts import ModelOptions, ModelSource, PluginSettings
from kgqa_bench.errors import MissingDependencyError, ModelError
from kgqa_bench.llm.completions import parse_retry_after
from kgqa_bench.llm.tool_calls import about_tools, read_tool_calls, wire_messages, wire_tools
from kgqa_bench.llm.types import Completion, Request

_EXCERPT = 500
_SECRET_VARIABLE = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
_SECRET_TEXT = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|AIza|key)[-_][\w-]{8,}|\bAIza[\w-]{20,}|(?<=Bearer )\S+|(?<=key=)[^\s&\"']+"
)
_SHORTEST_SECRET = 8

# HTTP status → (reason, is another attempt worth it)
_STATUS = {
    408: ("timeout", True),
    409: ("server_error", True),
    429: ("rate_limit", True),
}


class LitellmSettings(PluginSettings):
    """What the model can do."""

    tools: bool | None = Field(
        default=None,
        description="The model takes native tool calls; by default where litellm's list of models says so.",
    )


class LitellmSource(ModelSource):
    """A hosted model by its litellm name; its key is read from the provider's own environment variable."""

    Settings = LitellmSettings

    def open(self, name: str, options: ModelOptions) -> LitellmClient:
        """A client for the hosted model called ``name``. litellm is imported at the first call."""
        if find_spec("litellm") is None:
            raise MissingDependencyError(f"The hosted model {name}", "litellm")
        return LitellmClient(
            name, timeout=options.timeout, base_url=options.base_url, takes_tools=self.settings.tools
        )


def price_known(model: str) -> bool:
    """Whether litellm's price map, as installed, has a price for prompt and completion tokens of ``model``.

    A price of 0 counts only where the map says so in figures. Imports litellm.
    """
    litellm = _litellm()
    try:
        entry = litellm.model_cost[litellm.get_model_info(model)["key"]]
    except Exception:  # an unknown model is reported by errors of several kinds
        return False
    return all(isinstance(entry.get(f"{side}_cost_per_token"), int | float) for side in ("input", "output"))


class LitellmClient:
    """One hosted model, called through litellm without its retries, callbacks and telemetry.

    Args:
        model: litellm's name of the model.
        timeout: Seconds before a request is given up.
        base_url: Another address than the provider's own; prices are unknown there.
        takes_tools: The model takes tools; None asks litellm's list of models.
    """

    def __init__(
        self, model: str, *, timeout: float, base_url: str | None = None, takes_tools: bool | None = None
    ) -> None:
        self.model = model
        self._timeout = timeout
        self._base_url = base_url
        self._loading = asyncio.Lock()
        self._priced: bool | None = None
        self._takes_tools = takes_tools

    @property
    def price_known(self) -> bool:
        """Whether every reply will carry its cost in US dollars."""
        if self._priced is None:
            self._priced = self._base_url is None and price_known(self.model)
        return self._priced

    @property
    def takes_tools(self) -> bool:
        """Whether the model takes tools. Imports litellm where it has to ask."""
        if self._takes_tools is None:
            self._takes_tools = bool(_litellm().supports_function_calling(self.model))
        return self._takes_tools

    async def complete(self, request: Request) -> Completion:
        """Ask once."""
        async with self._loading:  # the import takes seconds, in which the loop must go on
            litellm = await asyncio.to_thread(_litellm)
        try:
            async with asyncio.timeout(self._timeout):
                response = await litellm.acompletion(**self._arguments(request))
        except TimeoutError:
            raise ModelError(
                f"{self.model} sent no reply within {self._timeout:g} s.",
                reason="timeout",
                retryable=True,
                hint="Allow more time or fewer requests at once.",
            ) from None
        except Exception as problem:  # litellm lets errors of many libraries through
            raise about_tools(_model_error(self.model, problem), request) from None
        return self._completion(response)

    async def close(self) -> None:
        """Close the connections that litellm keeps."""
        import sys

        if litellm := sys.modules.get("litellm"):
            await litellm.close_litellm_async_clients()

    def _arguments(self, request: Request) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self.model,
            "messages": list(wire_messages(request.messages)),
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "timeout": self._timeout,
            "num_retries": 0,
            "max_retries": 0,
            "drop_params": True,
        }
        optional = {
            "top_p": request.top_p,
            "seed": request.seed,
            "stop": list(request.stop) or None,
            "api_base": self._base_url,
        }
        arguments.update({name: value for name, value in optional.items() if value is not None})
        if request.schema is not None:
            arguments["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": dict(request.schema), "strict": True},
            }
        if request.tools:
            arguments["tools"] = wire_tools(request.tools)
            arguments["allowed_openai_params"] = ["tools"]  # else left out where litellm's list lacks them
        return {**arguments, **(request.extra or {})}

    def _completion(self, response: Any) -> Completion:
        try:
            choice = response.choices[0]
            text = choice.message.content
            if text is not None and not isinstance(text, str):
                raise TypeError
            tool_calls = read_tool_calls([call.model_dump() for call in choice.message.tool_calls or ()])
        except (AttributeError, IndexError, KeyError, TypeError):
            raise ModelError(
                f"The reply of {self.model} is no chat completion.", reason="bad_response", retryable=True
            ) from None
        usage: Any = getattr(response, "usage", None)
        counted = bool(getattr(usage, "prompt_tokens", None))  # litellm writes 0 where the server told nothing
        return Completion(
            text or "",
            choice.finish_reason,
            usage.prompt_tokens if counted else None,
            usage.completion_tokens if counted else None,
            cost_usd=self._cost(response) if counted else None,
            reasoning=getattr(choice.message, "reasoning_content", None),
            tool_calls=tool_calls,
        )

    def _cost(self, response: Any) -> float | None:
        if not self.price_known:
            return None
        try:
            return float(_litellm().completion_cost(completion_response=response, model=self.model))
        except Exception:  # not priced after all: unknown, which a budget of money refuses
            return None


@cache
def _litellm() -> Any:
    """litellm, imported once: with its local price map, silent, and reporting to nobody."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else the import fetches one from the network
    import logging

    import litellm

    litellm.suppress_debug_info = True
    litellm.set_verbose = False
    litellm.telemetry = False
    litellm.turn_off_message_logging = True
    litellm.callbacks = []
    litellm.success_callback = []
    litellm.failure_callback = []
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm


def _model_error(model: str, problem: Exception) -> ModelError:
    """What an error of litellm or of the libraries beneath it means for a run."""
    litellm = _litellm()
    text = _redacted(str(problem).strip())
    said = f"{model}: {text[:_EXCERPT]}" if text else f"{model}: {type(problem).__name__}"
    if isinstance(problem, litellm.AuthenticationError) or "Missing credentials" in text:
        return ModelError(said, reason="refused", hint=_key_hint(model))
    if "LLM Provider NOT provided" in text:
        return ModelError(
            f"litellm knows no provider for the model {model!r}.",
            reason="refused",
            hint="Give PROVIDER/NAME, such as openai/gpt-4o-mini; `kgqa-bench list models` shows the other sources.",
        )
    if isinstance(problem, litellm.Timeout):
        return ModelError(said, reason="timeout", retryable=True, hint="Allow more time or fewer requests at once.")
    if isinstance(problem, litellm.NotFoundError):
        return ModelError(
            said, reason="refused", hint="Check the model's name (https://docs.litellm.ai/docs/providers)."
        )
    if isinstance(problem, litellm.ContextWindowExceededError):
        return ModelError(said, reason="refused", hint="Shorten the prompt or use a model with a longer context.")
    if isinstance(problem, litellm.APIResponseValidationError):
        return ModelError(said, reason="bad_response", retryable=True)
    if isinstance(problem, litellm.RateLimitError) and _code(problem) == "insufficient_quota":
        return ModelError(said, reason="refused", hint="The account behind the key has no credit left.")
    if isinstance(
        problem, litellm.BadRequestError | litellm.PermissionDeniedError | litellm.UnprocessableEntityError
    ):
        return ModelError(said, reason="refused", hint="Check the model's name and settings.")
    if isinstance(problem, litellm.InternalServerError) and not _headers(problem):
        # no server said 500: this is how litellm reports what it cannot read, or whom it cannot reach
        if any("Connect" in type(cause).__name__ for cause in _causes(problem)):
            return ModelError(said, reason="connection", retryable=True, hint="Is the network up?")
        return ModelError(said, reason="bad_response", retryable=True)
    if isinstance(problem, litellm.APIConnectionError):
        return ModelError(said, reason="connection", retryable=True, hint="Is the network up?")
    status = getattr(problem, "status_code", None)
    if isinstance(status, int):
        reason, retryable = _STATUS.get(status, ("server_error", True) if status >= 500 else ("refused", False))
        wait = parse_retry_after(_headers(problem).get("retry-after")) if retryable else None
        return ModelError(said, reason=reason, retryable=retryable, retry_after=wait)
    return ModelError(said, reason="bad_response", retryable=True)


def _code(problem: Exception) -> Any:
    body = getattr(problem, "body", None)
    return body.get("code") if isinstance(body, Mapping) else None


def _causes(problem: BaseException) -> Iterator[BaseException]:
    cause = problem.__cause__ or problem.__context__
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _headers(problem: Exception) -> Mapping[str, str]:
    """The response's headers with lower-case names, wherever litellm has put them."""
    for place in (getattr(problem, "response", None), problem):
        for attribute in ("headers", "litellm_response_headers"):
            headers = getattr(place, attribute, None)
            if headers:
                return {str(name).lower(): str(value) for name, value in dict(headers).items()}
    return {}


def _key_hint(model: str) -> str:
    litellm = _litellm()
    try:
        missing = litellm.validate_environment(model)["missing_keys"]
        variable = f"{litellm.get_llm_provider(model)[1].upper()}_API_KEY"
    except Exception:  # only the hint is at stake
        missing, variable = [], ""
    if missing:
        return f"Set {' and '.join(missing)}."
    where = variable if variable in os.environ else "the provider's environment variable"
    return f"The key in {where} is not accepted: check it."


def _redacted(text: str) -> str:
    """The text without anything that is or looks like a key."""
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_SECRET and _SECRET_VARIABLE.search(name):
            text = text.replace(value, "[key]")
    return _SECRET_TEXT.sub("[key]", text)
