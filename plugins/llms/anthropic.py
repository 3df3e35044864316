"""Models of Anthropic, through its official client, which takes two seconds to import: only requests need it.

The fixed part of a request (tools, system) is marked for the vendor's prompt cache; in a conversation with tools all
earlier turns are. The client does not retry: it would sleep for as long as a server asks, and nothing could interrupt
it.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import httpx

from memory.errors import (
    MalformedOutputError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
)
from memory.llm import LlmRequest, Message, Reply, ToolCall, Usage
from plugins.llms import READING, ModelInfo, ModelList, transport
from plugins.llms.call import Call, client_arguments, to_int
from plugins.llms.transport import LATER, Remedies, read_key
from plugins.settings import AnthropicSettings

if TYPE_CHECKING:
    import anthropic

URL = "https://api.anthropic.com"
API_VERSION = "2026-10-21"  # of the protocol, as the client speaks it
CONNECT_SECONDS = 5.0
CONTEXT = 200_000  # where the server does not say
OUTPUT = 8_192
THOUGHT_TOKENS = 4096  # on top of what may be said
CACHED = {"type": "ephemeral"}
JSON_TOOL = "answer"
NO_KEY = "Give it a key: pal models connect anthropic --key (or ANTHROPIC_API_KEY where the daemon starts)"
REMEDIES = Remedies(
    "Anthropic",
    key=NO_KEY,
    credit="Add to it: https://console.anthropic.com/settings/billing",
    missing="See those it has: pal models",
    fault=LATER,
    gone="{} cannot be reached, or broke off. Check the network.",
)


class AnthropicModel:
    """One model of the API."""

    def __init__(self, model: str, settings: AnthropicSettings | None = None) -> None:
        self._settings = settings or AnthropicSettings()
        self._model = model
        self._lock = threading.Lock()
        self._client: anthropic.Anthropic | None = None
        self._about: dict[str, Any] | None = None
        self.limits = self._settings.limits

    def is_local(self) -> bool:
        """Returns False, wherever its server seems to be."""
        return False

    def info(self) -> ModelInfo:
        """Describes the model from the API. ModelUnavailableError."""
        room = to_int(self._read_description().get("max_input_tokens")) or CONTEXT
        return ModelInfo(self._model, False, room, version=self._model)

    def stream(self, request: LlmRequest, call: Call) -> Iterator[str | Reply]:
        import anthropic

        arguments = self._make_arguments(request)
        try:
            yield from _read_events(call.stream(self._stream_events(arguments)), as_json="tool_choice" in arguments)
        except anthropic.APIError as error:
            raise self._convert_error(error) from error
        except json.JSONDecodeError:  # whoever answers there is no Anthropic
            raise
        except ValueError as error:  # the client reads the arguments of a call
            raise MalformedOutputError("The model called a tool with invalid JSON.", str(error)) from error

    def close(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()

    def _make_arguments(self, request: LlmRequest) -> dict[str, Any]:
        """Converts the request to arguments of the API, which has neither temperature nor seed."""
        from anthropic import transform_schema

        able = self._read_description().get("capabilities") or {}
        most = to_int(self._read_description().get("max_tokens")) or OUTPUT
        arguments: dict[str, Any] = {
            "model": self._model,
            "max_tokens": min(request.max_tokens + (THOUGHT_TOKENS if request.think else 0), most),
            "messages": _make_messages(request),
        }
        if request.system:
            arguments["system"] = [{"type": "text", "text": request.system, "cache_control": CACHED}]
        if request.tools:
            arguments["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
                for tool in request.tools
            ]
            arguments["cache_control"] = CACHED
        if request.schema is not None:
            schema = dict(request.schema)
            if _is_able(able, "structured_outputs", otherwise=True):
                arguments["output_config"] = {"format": {"type": "json_schema", "schema": transform_schema(schema)}}
            else:
                arguments["tools"] = [{"name": JSON_TOOL, "description": "Your answer.", "input_schema": schema}]
                arguments["tool_choice"] = {"type": "tool", "name": JSON_TOOL}
        if request.purpose in READING and _is_able(able, "effort", "low", otherwise=False):
            arguments.setdefault("output_config", {})["effort"] = "low"  # it copies words; nothing is to be worked out
        kind = "adaptive" if request.think else "disabled"
        if _is_able(able, "thinking", "types", kind, otherwise=False):
            arguments["thinking"] = {"type": kind}
        return arguments

    def _read_description(self) -> dict[str, Any]:
        """Returns the API's description of the model; {} from another server that only implements messages."""
        if self._about is None:
            self._about = _ask(self._settings, f"/v1/models/{quote(self._model, safe='')}")
        return self._about

    def _stream_events(self, arguments: dict[str, Any]) -> Iterator[Any]:
        """Yields the events of one message. Closes the connection when the reader stops."""
        with self._open_client().messages.stream(**arguments) as events:
            yield from events

    def _open_client(self) -> anthropic.Anthropic:
        import anthropic
        import httpx2

        with self._lock:
            if self._client is None:
                url = _find_url(self._settings)
                arguments = client_arguments(httpx2, url, self.limits, CONNECT_SECONDS)
                self._client = anthropic.Anthropic(
                    api_key=_read_key(self._settings),
                    base_url=url,
                    max_retries=0,
                    timeout=arguments["timeout"],
                    open_telemetry=False,  # nobody else gets the conversation
                    http_client=anthropic.DefaultHttpxClient(**arguments),
                )
            return self._client

    def _convert_error(self, error: anthropic.APIError) -> ModelError:
        import anthropic

        if not isinstance(error, anthropic.APIStatusError):
            return REMEDIES.make_gone(_find_url(self._settings))
        kind, why = str(error.type or ""), error.api_message or ""
        return REMEDIES.make_error(self._model, error.status_code, why if kind else "", kind, error.response.headers)


def list_models(settings: AnthropicSettings | None) -> ModelList:
    """Lists the models that the key can use."""
    settings = settings or AnthropicSettings()
    if not settings.key_file and not os.environ.get("ANTHROPIC_API_KEY"):
        return ModelList(problem=f"For models of Anthropic: {NO_KEY}", absent=True)
    try:
        rows = transport.read_rows(_ask(settings, "/v1/models?limit=100"), "data", "id")
    except ModelError as error:
        return ModelList(problem=str(error))
    models = [
        ModelInfo(row["id"], False, to_int(row.get("max_input_tokens")), version=row["id"])
        for row in rows
        if row.get("lifecycle") != "retired"
    ]
    return (
        ModelList(tuple(models))
        if models
        else ModelList(problem="The key for Anthropic can use no models. See its console.")
    )


def _read_events(events: Iterator[Any], as_json: bool) -> Iterator[str | Reply]:
    """Yields the text of a message's events, then the reply. With `as_json` the text is the input of the single tool
    call. An interrupted message has no message_stop and yields no reply."""
    pieces: list[str] = []
    message = None
    for event in events:
        if event.type == ("input_json" if as_json else "text"):
            pieces.append(event.partial_json if as_json else event.text)
            yield pieces[-1]
        elif event.type == "message_stop":
            message = event.message
            break
    if message is not None:
        yield _make_reply(message, "".join(pieces), as_json)


def _make_reply(message: Any, text: str, as_json: bool) -> Reply:
    """Builds the reply of a complete message. ModelRefusedError, MalformedOutputError."""
    if message.stop_reason == "refusal":
        category = message.stop_details and message.stop_details.category
        why = f" ({category})" if category else ""
        raise ModelRefusedError(f"The model will not answer that{why}. Ask another one, or ask otherwise.")
    cut = message.stop_reason in ("max_tokens", "model_context_window_exceeded")
    counted, cached = message.usage, message.usage.cache_read_input_tokens or 0
    read = counted.input_tokens + cached + (counted.cache_creation_input_tokens or 0)
    # The API takes back neither an empty text nor half a call.
    blocks = [
        block
        for block in message.content
        if not (block.type == "text" and not block.text) and not (block.type == "tool_use" and (cut or as_json))
    ]
    calls = tuple(_call(block) for block in blocks if block.type == "tool_use")
    return Reply(
        text,
        Usage(read, counted.output_tokens, cached),
        calls=calls,
        stop="length" if cut else "tools" if calls else "end",
        native=tuple(block.model_dump(exclude_none=True) for block in blocks),
    )


def _call(block: Any) -> ToolCall:
    if not isinstance(block.input, dict):
        raise MalformedOutputError("The model called a tool with something else than an object.", str(block.input))
    return ToolCall(block.id, block.name, block.input)


def _make_messages(request: LlmRequest) -> list[dict[str, Any]]:
    """Converts the turns of a request; successive tool results form one turn of the user."""
    turns: list[dict[str, Any]] = []
    for message in request.messages:
        role = "assistant" if message.role == "assistant" else "user"
        if message.role == "tool" and turns and turns[-1]["role"] == "user":
            turns[-1]["content"] += _make_blocks(message)
        else:
            turns.append({"role": role, "content": _make_blocks(message)})
    return turns


def _make_blocks(message: Message) -> list[dict[str, Any]]:
    if message.role == "tool":
        result = {"type": "tool_result", "tool_use_id": message.call_id, "content": message.text}
        return [result | ({"is_error": True} if message.failed else {})]
    if isinstance(message.native, tuple) and message.native:
        return [dict(block) for block in message.native]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": message.text}] if message.text else []
    calls = message.calls
    return blocks + [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)} for call in calls
    ]


def _ask(settings: AnthropicSettings, path: str) -> dict[str, Any]:
    """Requests a JSON object from the API without its client; {} if the path does not exist. ModelError."""
    url = _find_url(settings)
    headers = {"Authorization": f"Bearer {_read_key(settings)}", "anthropic-version": API_VERSION}  # as the client does
    try:
        response = transport.ask(url, path, headers=headers, proxied=True)
        reply = response.json()
    except (httpx.HTTPError, ValueError) as error:
        raise REMEDIES.make_gone(url) from error
    if response.status_code == 404:
        return {}
    problem = reply.get("error") if isinstance(reply, dict) else None
    if response.is_error or not isinstance(reply, dict):
        about: dict[str, Any] = problem if isinstance(problem, dict) else {}
        kind, why = str(about.get("type", "")), str(about.get("message", ""))
        raise REMEDIES.make_error(path, response.status_code, why, kind, response.headers)
    return reply


def _read_key(settings: AnthropicSettings) -> str:
    """Reads the API key; called for each request. ModelUnavailableError."""
    if key := read_key(settings.key_file, "ANTHROPIC_API_KEY", "anthropic.key_file"):
        return key
    raise ModelUnavailableError(f"There is no API key for Anthropic. {NO_KEY}", lasting=True)


def _find_url(settings: AnthropicSettings) -> str:
    """Returns the API's address. ModelUnavailableError if the key would be sent unencrypted."""
    url = (settings.url or os.environ.get("ANTHROPIC_BASE_URL") or URL).rstrip("/")
    parts = urlsplit(url)
    if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        raise ModelUnavailableError(f"{url} is no https:// address. Correct anthropic.url.", lasting=True)
    return url


def _is_able(able: Any, *path: str, otherwise: bool) -> bool:
    """Whether the API lists the capability, else `otherwise`."""
    for name in path:
        able = able.get(name) if isinstance(able, dict) else None
    supported = able.get("supported") if isinstance(able, dict) else None
    return supported if isinstance(supported, bool) else otherwise
