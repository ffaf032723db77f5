"""Any OpenAI-compatible chat-completions server, over aiohttp."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from pydantic import Field

from kgqa_bench.contracts import ModelOptions, ModelSource, PluginSettings
from kgqa_bench.errors import ConfigError, ModelError
from kgqa_bench.llm.completions import read_completion, request_body, status_error
from kgqa_bench.llm.tool_calls import about_tools
from kgqa_bench.llm.types import Completion, Request

if TYPE_CHECKING:
    import aiohttp

KEY_VARIABLE = "OPENAI_API_KEY"

_MOST_BYTES = 8 * 1024 * 1024
_SHORTEST_SECRET = 12  # shorter keys are placeholders such as EMPTY, which replies may hold

_VERSION_SEGMENT = re.compile(r"/v\d+\w*(/|$)")


def completions_url(base_url: str) -> str:
    """The address of chat completions under a base address given with or without its ``/v1``.

    Raises:
        ConfigError: It is no http(s) address.
    """
    try:
        parts = urlsplit(base_url.strip())
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        valid = False
    if not valid:
        raise ConfigError(
            f"{base_url!r} is no server address.", hint="Give one like http://localhost:8000/v1 as --base-url."
        )
    if parts.username or parts.password:
        raise ConfigError(
            "The server address holds a user name or password, which would end up in records.",
            hint=f"Leave it out and set {KEY_VARIABLE}.",
        )
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    if not _VERSION_SEGMENT.search(path):
        path += "/v1"
    return urlunsplit((parts.scheme, parts.netloc, f"{path}/chat/completions", parts.query, ""))


class OpenAIServer:
    """One model on one server, over one session.

    The API key goes into the request header and nowhere else; wherever a server's own words are quoted it is
    blotted out.

    Args:
        model: The model's name as the server knows it.
        base_url: The server's address, with or without ``/v1``.
        api_key: Sent as bearer token where given.
        concurrency: Most connections; the session's pool must not be smaller than what the run asks for.
        timeout: Seconds before a request is given up.
        takes_tools: The server and its model take tools.
    """

    def __init__(
        self,
        model: str,
        base_url: str,
        *,
        api_key: str | None = None,
        concurrency: int = 8,
        timeout: float = 120.0,
        takes_tools: bool = False,
    ) -> None:
        self.model = model
        self.takes_tools = takes_tools
        self._url = completions_url(base_url)
        self._api_key = (api_key or "").strip()
        if not (self._api_key.isascii() and self._api_key.isprintable()):
            raise ConfigError("The API key holds characters that no header can carry.", hint=f"Check {KEY_VARIABLE}.")
        self._concurrency = concurrency
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None

    async def complete(self, request: Request) -> Completion:
        """Ask the server once."""
        import aiohttp

        session = self._session or self._open()
        try:
            async with session.post(
                self._url, data=request_body(request, self.model), allow_redirects=False
            ) as response:
                payload = await self._body(response)
        except TimeoutError:
            raise ModelError(
                f"The model server sent no reply within {self._timeout:g} s.",
                reason="timeout",
                retryable=True,
                hint="Allow more time or fewer requests at once.",
            ) from None
        except (aiohttp.ClientError, OSError) as problem:
            raise ModelError(
                self._redacted(f"No connection to {self._url}: {type(problem).__name__}: {problem}"),
                reason="connection",
                retryable=True,
                hint="Is the server running at that address?",
            ) from None
        try:
            if response.status != 200:
                raise status_error(response.status, payload, response.headers.get("Retry-After"))
            return read_completion(payload)
        except ModelError as problem:
            problem.message = self._redacted(problem.message)
            problem.args = (problem.message,)
            raise about_tools(problem, request) from None

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        parts, size = [], 0
        async for part in response.content.iter_any():
            parts.append(part)
            size += len(part)
            if size > _MOST_BYTES:
                raise ModelError(
                    f"The model server's reply is longer than {_MOST_BYTES:,} bytes.",
                    reason="bad_response",
                    retryable=True,
                )
        payload = b"".join(parts)
        if len(self._api_key) >= _SHORTEST_SECRET:  # a server that echoes the request must not get it recorded
            payload = payload.replace(self._api_key.encode(), b"[key]")
        return payload

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        headers = {"Content-Type": "application/json"}
        if self._api_key:
            headers["Authorization"] = f"Bearer {self._api_key}"
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._concurrency),
            timeout=aiohttp.ClientTimeout(total=self._timeout),
            headers=headers,
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self._session

    def _redacted(self, text: str) -> str:
        return text.replace(self._api_key, "[key]") if self._api_key else text


class OpenAIServerSettings(PluginSettings):
    """What the server can do."""

    tools: bool = Field(
        default=False,
        description="The server takes native tool calls for this model (vLLM: --enable-auto-tool-choice, llama.cpp: "
        "--jinja).",
    )


class OpenAIServerSource(ModelSource):
    """A model on the OpenAI-compatible server at --base-url; its key is read from OPENAI_API_KEY."""

    Settings = OpenAIServerSettings

    def open(self, name: str, options: ModelOptions) -> OpenAIServer:
        """A client for the model that the server calls ``name``."""
        if options.base_url is None:
            raise ConfigError(
                f"No server is given for the model {name!r}.", hint="Give --base-url http://HOST:PORT/v1."
            )
        return OpenAIServer(
            name,
            options.base_url,
            api_key=os.environ.get(KEY_VARIABLE),
            concurrency=options.concurrency,
            timeout=options.timeout,
            takes_tools=self.settings.tools,
        )
