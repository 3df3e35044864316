"""Models on this machine, through Ollama's official client.

What is asked of the server beside talking (which models, how long a context) is read without the client, because the
client leaves out `remote_host`: by that a model that only looks local, and runs in Ollama's cloud, is told from one
that runs here. Nothing of the environment sends a request elsewhere: no proxy, no redirect.
"""

from __future__ import annotations

import ipaddress
import itertools
import json
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

from memory.errors import MalformedOutputError, ModelUnavailableError
from memory.llm import LlmRequest, Message, Reply, ToolCall, Usage
from plugins.llms import Look, ModelInfo
from plugins.llms.call import Call, client_arguments, is_encrypted, shorten_reason
from plugins.llms.settings import OllamaSettings

if TYPE_CHECKING:
    import ollama

PORT = 11434
CONNECT_SECONDS = 2.0
ASK_SECONDS = 5.0  # for what a server knows without a model
FRESH_SECONDS = 60.0  # for which its word about a model is believed
SHORT_CONTEXT = 4096  # of a model that does not say
THOUGHT_TOKENS = 2048  # on top of what may be said
OLDEST = (0, 17, 1)  # before it, a stranger's file or page could read the server's memory
OPEN, CLOSE = "<think>", "</think>"  # around the thoughts that some models write before their answer
INSTALL = "For models on this machine, install Ollama (https://ollama.com), then: ollama pull qwen3:4b"


class OllamaModel:
    """One model of a server, which need not be there yet."""

    def __init__(self, model: str, settings: OllamaSettings | None = None) -> None:
        self._settings = settings or OllamaSettings()
        self._model = model
        self._url, self._here = locate(self._settings)
        self._lock = threading.Lock()
        self._client: ollama.Client | None = None
        self._known: tuple[float, ModelInfo, frozenset[str]] | None = None
        self.limits = (self._settings.first_token_s, self._settings.next_token_s, self._settings.total_s)

    def is_local(self) -> bool:
        """See `plugins.llms.Backend`. A server that is elsewhere is not asked."""
        return self._here and self.info().is_local

    def info(self) -> ModelInfo:
        """As its server said within the last minute. ModelUnavailableError."""
        return self._described()[0]

    def stream(self, request: LlmRequest, call: Call) -> Iterator[str | Reply]:
        """See `plugins.llms.Backend`."""
        import ollama

        info, abilities = self._described()
        think = self._thinking(request, abilities)
        system = [{"role": "system", "content": request.system}] if request.system else []
        parts = self._opened().chat(
            model=self._model,
            messages=[*system, *map(_message, request.messages)],
            tools=_tools(request),
            stream=True,
            format=dict(request.schema) if request.schema else None,
            think=think,
            keep_alive=self._settings.keep_alive,
            options={
                "num_ctx": info.context_tokens,
                "num_predict": request.max_tokens + (THOUGHT_TOKENS if think else 0),
                "temperature": request.temperature,
                "seed": request.seed,
            },
        )
        try:
            yield from _heard(call.stream(iter(parts)))
        except ollama.ResponseError as error:
            raise self._understood(error) from error
        except json.JSONDecodeError:  # whoever answers there is no Ollama
            raise
        except ValueError as error:  # its checks failed: a call whose arguments are no object, for example
            raise MalformedOutputError("What the model said is not what Ollama promises.") from error
        except (ConnectionError, httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise _gone(self._url) from error

    def close(self) -> None:
        """See `plugins.llms.Backend`."""
        with self._lock:
            if self._client is not None:
                self._client.close()  # type: ignore[no-untyped-call]

    def _described(self) -> tuple[ModelInfo, frozenset[str]]:
        """What its server says of it, and what it is able to do."""
        known = self._known
        if known is None or time.monotonic() - known[0] > FRESH_SECONDS:
            listed = {row["name"]: row for row in _rows(_ask(self._url, "/api/tags"))}
            row = listed.get(self._model) or listed.get(f"{self._model}:latest")
            if row is None:
                raise self._missing()
            shown = _ask(self._url, "/api/show", {"model": self._model})
            known = self._known = (time.monotonic(), _info(row, shown, self._here, self._settings), _abilities(shown))
        return known[1:]

    def _opened(self) -> ollama.Client:
        import ollama

        with self._lock:
            if self._client is None:
                arguments = client_arguments(httpx, self._url, self.limits, CONNECT_SECONDS)
                self._client = ollama.Client(self._url, trust_env=False, **arguments)
            return self._client

    def _thinking(self, request: LlmRequest, abilities: frozenset[str]) -> Any:
        """What to say about thinking: nothing to a model that knows nothing of it."""
        if "thinking" not in abilities:
            return None
        if self._model.startswith("gpt-oss"):  # it always thinks; only how much can be said
            return "medium" if request.think else "low"
        return request.think

    def _missing(self) -> ModelUnavailableError:
        return ModelUnavailableError(
            f"Ollama has no model {self._model!r}. Fetch it: ollama pull {self._model}", lasting=True
        )

    def _understood(self, error: ollama.ResponseError) -> ModelUnavailableError:
        status, why = error.status_code, shorten_reason(error.error)
        if status == 404:
            return self._missing()
        if 300 <= status < 500 and status != 429:
            return ModelUnavailableError(
                f"Ollama refuses the request to {self._model} ({status}: {why}). Try another model.", lasting=True
            )
        return ModelUnavailableError(f"Ollama could not answer with {self._model} ({why}). See its log: ollama serve")


def look(settings: OllamaSettings | None) -> Look:
    """The models of the server that can talk."""
    settings = settings or OllamaSettings()
    models = []
    try:
        url, here = locate(settings)
        rows = _rows(_ask(url, "/api/tags"))
        version = str(_ask(url, "/api/version").get("version", ""))
        loaded = {row["name"] for row in _rows(_ask(url, "/api/ps"))}
        for row in rows:
            shown = _ask(url, "/api/show", {"model": row["name"]})
            if {"completion", ""} & (_abilities(shown) or {""}):  # not those that only embed
                models.append(_info(row, shown, here, settings, row["name"] in loaded))
    except ModelUnavailableError as error:
        named = settings.host or os.environ.get("OLLAMA_HOST")
        return Look(problem=str(error)) if named else Look(problem=INSTALL, absent=True)
    if not models:
        return Look(problem="Ollama has no model yet. Fetch one: ollama pull qwen3:4b")
    return Look(tuple(models), problem=_outdated(version))


def locate(settings: OllamaSettings) -> tuple[str, bool]:
    """Where the server is, by the setting or by OLLAMA_HOST, and whether that is this machine. ModelUnavailableError
    for what is no address."""
    named = settings.host or os.environ.get("OLLAMA_HOST", "")
    text = named.strip().rstrip("/")
    scheme, colons, rest = text.partition("://")
    if not colons:
        scheme, rest = "http", text
    try:
        parts = urlsplit(f"{scheme}://{rest}")
        host = parts.hostname or "127.0.0.1"
        port = parts.port or ({"http": 80, "https": 443}[scheme] if colons else PORT)
    except (ValueError, KeyError) as error:
        raise ModelUnavailableError(
            f"{named!r} is no address of an Ollama. Correct [ollama] host, or OLLAMA_HOST.", lasting=True
        ) from error
    if host in ("0.0.0.0", "::"):  # where a server listens; a client has to say which of them
        host = "127.0.0.1"
    local = host == "localhost"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        pass
    else:
        local = address.is_loopback
        host = f"[{host}]" if address.version == 6 else host
    return f"{scheme}://{host}:{port}{parts.path}", local


def _ask(url: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A JSON object that the server knows at once. ModelUnavailableError."""
    try:
        timeout = httpx.Timeout(ASK_SECONDS, connect=CONNECT_SECONDS)
        with httpx.Client(trust_env=False, timeout=timeout, verify=is_encrypted(url)) as client:
            said = client.request("POST" if body else "GET", url + path, json=body).raise_for_status().json()
    except httpx.ConnectError as error:
        raise _gone(url) from error
    except (httpx.HTTPError, ValueError) as error:
        raise ModelUnavailableError(
            f"What answers at {url} is no Ollama, or is broken ({type(error).__name__}). Restart it."
        ) from error
    if not isinstance(said, dict):
        raise ModelUnavailableError(f"What answers at {url} is no Ollama. Correct [ollama] host.")
    return said


def _gone(url: str) -> ModelUnavailableError:
    return ModelUnavailableError(f"Ollama does not answer at {url}. Start it: ollama serve")


def _heard(parts: Iterator[Any]) -> Iterator[str | Reply]:
    """The pieces of a chat -> its text, and the reply."""
    text: list[str] = []
    thought: list[str] = []
    calls: list[ToolCall] = []
    last: Any = None

    def contents() -> Iterator[str]:
        nonlocal last
        for last in parts:
            thought.append(last.message.thinking or "")
            for wanted in last.message.tool_calls or ():
                function = wanted.function
                calls.append(ToolCall(f"call_{len(calls) + 1}", function.name, dict(function.arguments)))
            yield last.message.content or ""
            if last.done:
                return

    for piece in without_thoughts(contents()):
        text.append(piece)
        yield piece
    if last is None or not last.done:
        return  # it broke off
    yield Reply(
        "".join(text),
        Usage(last.prompt_eval_count or 0, last.eval_count or 0),
        calls=tuple(calls),
        stop="length" if last.done_reason == "length" else "tools" if calls else "end",
        native="".join(thought) or None,
    )


def without_thoughts(pieces: Iterable[str]) -> Iterator[str]:
    """The answer in the pieces of a text, without the thoughts before it, `<think>...</think>`, which are not kept."""
    pieces = iter(pieces)
    held = ""
    for piece in pieces:
        held += piece
        start = held.lstrip()
        if len(start) >= len(OPEN) or not OPEN.startswith(start):
            break
    if held.lstrip().startswith(OPEN):
        while CLOSE not in held:
            if (more := next(pieces, None)) is None:
                return
            held = held[-len(CLOSE) :] + more
        held = held.partition(CLOSE)[2].lstrip()
        while not held:
            if (more := next(pieces, None)) is None:
                return
            held = more.lstrip()
    yield from filter(None, itertools.chain([held], pieces))


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        text = f"Error: {message.text}" if message.failed else message.text
        return {"role": "tool", "content": text, "tool_name": message.tool}
    said: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.calls:
        said["tool_calls"] = [
            {"function": {"name": call.name, "arguments": dict(call.arguments)}} for call in message.calls
        ]
        if isinstance(message.native, str):
            said["thinking"] = message.native
    return said


def _tools(request: LlmRequest) -> list[dict[str, Any]]:
    """The client keeps of a parameter its type, items, description and enum."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
        }
        for tool in request.tools
    ]


def _rows(said: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = said.get("models")
    named = rows if isinstance(rows, list) else []
    return [row for row in named if isinstance(row, dict) and isinstance(row.get("name"), str)]


def _info(
    row: Mapping[str, Any], shown: Mapping[str, Any], here: bool, settings: OllamaSettings, loaded: bool = False
) -> ModelInfo:
    """A model by its row of /api/tags and by /api/show. It is asked for as long a context as it has, or a shorter one.
    Where the server only passes on what the model is told, it is elsewhere. In doubt it is."""
    passed_on = any(place.get(key) for place in (row, shown) for key in ("remote_host", "remote_model"))
    details = shown.get("model_info")
    numbers = details.items() if isinstance(details, dict) else ()
    own = next((n for key, n in numbers if str(key).endswith(".context_length") and isinstance(n, int)), SHORT_CONTEXT)
    size = row.get("size")
    return ModelInfo(
        row["name"],
        here and not passed_on and not row["name"].endswith(("-cloud", ":cloud")),
        min(own, settings.context),
        str(row.get("digest", "")).removeprefix("sha256:")[:12],
        size if isinstance(size, int) else 0,
        loaded,
    )


def _abilities(shown: Mapping[str, Any]) -> frozenset[str]:
    said = shown.get("capabilities")
    return frozenset(map(str, said)) if isinstance(said, list) else frozenset()


def _outdated(version: str) -> str:
    numbers = tuple(int(part) for part in version.split("-")[0].split(".") if part.isdigit())
    if not numbers or numbers >= OLDEST:
        return ""
    return f"Ollama {version} has known holes; update it to {'.'.join(map(str, OLDEST))} or later."
