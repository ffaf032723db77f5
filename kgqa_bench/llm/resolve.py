"""From a model's name to its client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kgqa_bench import registry
from kgqa_bench.contracts import ModelOptions, ModelSource
from kgqa_bench.errors import ConfigError, UnknownNameError
from kgqa_bench.llm.types import Client

SERVER_SOURCE = "openai-server"
HOSTED_SOURCE = "litellm"


def open_model(name: str, options: ModelOptions, settings: Mapping[str, Any] | None = None) -> Client:
    """A client for the model called ``name``.

    With a base URL it is the model of that name on that server. Otherwise ``PREFIX/REST`` is opened by the source
    registered as PREFIX, and any other name is a hosted model's, called through litellm.

    Args:
        name: The model's name.
        options: How to reach it.
        settings: The source's own settings.

    Raises:
        ConfigError: The name is empty, or a setting is wrong.
        UnknownNameError: No source can open the name.
        DataNotFoundError, DataError, RunDirectoryError: What the name points to is missing or damaged.
    """
    source, rest = split_name(name, options.base_url)
    opened: ModelSource = registry.create("models", source, dict(settings or {}))
    return opened.open(rest, options)


def model_source(name: str, base_url: str | None = None) -> type[ModelSource]:
    """The source that opens the model called ``name``. Errors as for ``open_model``."""
    source: type[ModelSource] = registry.load("models", split_name(name, base_url)[0])
    return source


def split_name(name: str, base_url: str | None = None) -> tuple[str, str]:
    """The source that opens a model name, and the name it is given."""
    if not name.strip():
        raise ConfigError("No model is given.", hint="Give --model NAME, such as local/smollm2.")
    if base_url is not None:
        return SERVER_SOURCE, name
    known = registry.names("models")
    prefix, slash, rest = name.partition("/")
    source = registry.normalise(prefix)
    if source in known:
        if not (slash and rest):
            raise ConfigError(f"The model name {name!r} ends too early.", hint=f"Give {prefix}/NAME.")
        return source, rest
    if HOSTED_SOURCE not in known:
        raise UnknownNameError("model source", prefix, known, hint="Give SOURCE/NAME, or --base-url for a server.")
    return HOSTED_SOURCE, name
