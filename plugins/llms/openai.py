"""Models of any server with OpenAI's protocol (`/v1/chat/completions`): llama.cpp, LM Studio, vLLM and others.

The context length is not part of the protocol and is read from endpoints of these servers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx

from memory.errors import MalformedOutputError, ModelError, ModelRefusedError, ModelUnavailableError
from memory.llm import LlmRequest, Message, Reply, ToolCall, Usage
from plugins.llms import ModelInfo, ModelList, transport
from plugins.llms.call import Call, find_json, shorten_reason, to_int
from plugins.llms.transport import Pieces, Remedies, collect
from plugins.settings import OpenAISettings

PORT = 8080  # llama.cpp's; 1234 is LM Studio's, 8000 is vLLM's
THOUGHT_TOKENS = 2048  # on top of what may be said
ABSENT = (
    "For models of llama.cpp, LM Studio or vLLM, say where they are: pal models connect openai http://127.0.0.1:8080"
)
TEMPLATED = ("llamacpp", "vllm")  # as a server calls itself that passes arguments on to the template of a chat
REMEDIES = Remedies(
    "The server",
    key="Give it another key: pal models connect openai ADDRESS --key",
    credit="Add to it where you got the key, or use another model: pal models use answer NAME",
    missing="See those it has: pal models",
    fault="See its log.",
    gone="No server answers at {}. Start it, or give its address: pal models connect openai ADDRESS",
)


class OpenAIModel(transport.ServedModel[bool]):
    """A model of a server that need not be running yet."""

    def __init__(self, model: str, settings: OpenAISettings | None = None) -> None:
        self._settings = own = settings or OpenAISettings()
        super().__init__(model, locate(own), own.limits)

    def stream(self, request: LlmRequest, call: Call) -> Iterator[str | Reply]:
        body = self._make_body(request)
        try:
            pieces = Pieces()
            for item in collect(_read_contents(call.stream(self._stream_events(body)), pieces), pieces):
                if isinstance(item, Reply) and request.schema:
                    item = replace(item, text=find_json(item.text, str(item.native or "")))
                yield item
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise REMEDIES.make_gone(self._url) from error

    def _describe(self) -> tuple[ModelInfo, bool]:
        """Returns the model, and whether it accepts arguments for the template."""
        row = next((row for row in _list_rows(self._settings, self._url, self._here) if row["id"] == self._model), None)
        if row is None:
            raise REMEDIES.make_missing(self._model)
        info = _make_info(row, self._settings, self._url, self._here)
        return info, self._here or row.get("owned_by") in TEMPLATED

    def _make_body(self, request: LlmRequest) -> dict[str, Any]:
        """Converts the request to the protocol's body."""
        info, is_templated = self._get_description()
        system = [{"role": "system", "content": request.system}] if request.system else []
        thought = THOUGHT_TOKENS if request.think else 0
        body: dict[str, Any] = {
            "model": info.model,
            "messages": [*system, *map(_make_message, request.messages)],
            "max_tokens": request.max_tokens + thought,
            "temperature": request.temperature,
            "seed": request.seed,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.tools:
            body["tools"] = transport.make_tools(request)
        if request.schema is not None:
            form = {"name": "reply", "schema": dict(request.schema), "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if is_templated:
            body["chat_template_kwargs"] = {"enable_thinking": request.think}
        return body

    def _stream_events(self, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yields the events of a chat's reply, up to the final one. ModelError."""
        known = headers(self._settings, self._url)
        with transport.post(f"{self._url}/chat/completions", body, self.limits, known) as response:
            if response.status_code != 200:
                raise _make_error(response.status_code, response.read(), response.headers, self._model)
            for line in transport.read_lines(response.iter_bytes()):
                kind, _, data = line.partition(b":")
                if kind == b"error":
                    raise _make_error(0, data, response.headers, self._model)
                if kind != b"data":
                    if line.startswith((b"<", b"{", b"[")):
                        raise ModelUnavailableError(f"What answers at {self._url} does not speak OpenAI's JSON.")
                    continue
                if data.strip() == b"[DONE]":
                    return
                event = json.loads(data)
                if "error" in event:
                    raise _make_error(0, data, response.headers, self._model)
                yield event


def list_models(settings: OpenAISettings | None) -> ModelList:
    """Lists the server's models."""
    settings = settings or OpenAISettings()
    if not settings.url:
        return ModelList(problem=ABSENT, absent=True)
    try:
        url, here = locate(settings)
        models = tuple(_make_info(row, settings, url, here) for row in _list_rows(settings, url, here))
    except ModelError as error:
        return ModelList(problem=str(error))
    return ModelList(models) if models else ModelList(problem=f"The server at {url} has no model. Load one there.")


def locate(settings: OpenAISettings) -> tuple[str, bool]:
    """Returns the base URL, and whether it is on this machine. ModelUnavailableError for an invalid address."""
    if not settings.url:
        raise ModelUnavailableError(ABSENT, lasting=True)
    try:
        url, here = transport.locate_server(settings.url, PORT)
    except ValueError as error:
        raise ModelUnavailableError(
            f"{settings.url!r} is no address. Give another: pal models connect openai ADDRESS", lasting=True
        ) from error
    return (url if url.endswith("/v1") else f"{url}/v1"), here


def headers(settings: OpenAISettings, url: str) -> dict[str, str]:
    """Returns headers with the API key, if any. ModelUnavailableError if it would be sent elsewhere unencrypted."""
    key = transport.read_key(settings.key_file, "OPENAI_API_KEY", "openai.key_file")
    if not key:
        return {}
    if urlsplit(url).scheme != "https" and not transport.locate_server(url, PORT)[1]:
        raise ModelUnavailableError(f"{url} is no https:// address, and would get the API key.", lasting=True)
    return {"Authorization": f"Bearer {key}"}


def _list_rows(settings: OpenAISettings, url: str, here: bool) -> list[dict[str, Any]]:
    """Lists the server's models. ModelUnavailableError, also for an Ollama on this machine: it may forward text, which
    only its own protocol shows."""
    known = headers(settings, url)
    try:
        if here and transport.ask(url.removesuffix("/v1"), "/").text.strip() == "Ollama is running":
            raise ModelUnavailableError(f"At {url} is an Ollama. Use its models as ollama:MODEL.", lasting=True)
        response = transport.ask(url, "/models", headers=known)
        if response.status_code in (401, 403, 503):
            raise _make_error(response.status_code, response.content, response.headers, "The model")
        rows = response.raise_for_status().json()["data"]
    except httpx.ConnectError as error:
        raise REMEDIES.make_gone(url) from error
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        raise ModelUnavailableError(
            f"What answers at {url} does not speak OpenAI's protocol, or is broken. Correct openai.url."
        ) from error
    return transport.read_rows({"data": rows}, "data", "id")


def _make_info(row: Mapping[str, Any], settings: OpenAISettings, url: str, here: bool) -> ModelInfo:
    """Describes a model by its row. File servers (llama.cpp) state its size, which distinguishes models of one name."""
    details = row.get("meta")
    meta: Mapping[str, Any] = details if isinstance(details, dict) else {}
    context = to_int(row.get("max_model_len")) or to_int(meta.get("n_ctx"))
    if not context and here:
        context = _ask_context(url.removesuffix("/v1"), row["id"])
    size = to_int(meta.get("size"))
    version = f"{to_int(meta.get('n_params'))}-{size}" if size else ""
    return ModelInfo(row["id"], here, context or settings.context, version, size, loaded=True)


def _ask_context(url: str, model: str) -> int:
    """Requests the context length from endpoints of LM Studio or llama.cpp; 0 without them."""
    for path in ("/api/v0/models", "/props"):
        try:
            reply = transport.ask(url, path).json()
        except (httpx.HTTPError, ValueError):
            continue
        if not isinstance(reply, dict):
            continue
        data, props = reply.get("data"), reply.get("default_generation_settings")
        for row in data if isinstance(data, list) else ():
            if isinstance(row, dict) and row.get("id") == model:
                return to_int(row.get("loaded_context_length"))
        if isinstance(props, dict) and to_int(props.get("n_ctx")):
            return to_int(props["n_ctx"])
    return 0


def _read_contents(events: Iterator[dict[str, Any]], pieces: Pieces) -> Iterator[str]:
    """Yields the text of a chat's events; collects the rest in `pieces`. MalformedOutputError, ModelRefusedError."""
    calls: dict[int, dict[str, str]] = {}
    for event in events:
        if isinstance(usage := event.get("usage"), dict):
            details = usage.get("prompt_tokens_details")
            cached = to_int(details.get("cached_tokens")) if isinstance(details, dict) else 0
            pieces.usage = Usage(to_int(usage.get("prompt_tokens")), to_int(usage.get("completion_tokens")), cached)
        for choice in event.get("choices") or ():
            pieces.stop = choice.get("finish_reason") or pieces.stop
            delta = choice.get("delta") or {}
            pieces.thought.append(str(delta.get("reasoning_content") or delta.get("reasoning") or ""))
            for part in delta.get("tool_calls") or ():
                call = calls.setdefault(to_int(part.get("index")), {"id": "", "name": "", "arguments": ""})
                function = part.get("function") or {}
                call["id"] = call["id"] or str(part.get("id") or "")
                call["name"] += str(function.get("name") or "")
                call["arguments"] += str(function.get("arguments") or "")
            yield str(delta.get("content") or "")
    if pieces.stop == "content_filter":
        raise ModelRefusedError("The server filters what the model would say. Ask another one, or ask otherwise.")
    if pieces.stop not in ("", "length"):  # a call that was cut is half a call
        pieces.calls += [_call(calls[index], number) for number, index in enumerate(calls, 1)]


def _call(call: Mapping[str, str], number: int) -> ToolCall:
    try:
        arguments = json.loads(call["arguments"] or "{}")
    except (ValueError, RecursionError) as error:
        raise MalformedOutputError("The model called a tool with invalid JSON.", call["arguments"]) from error
    if not isinstance(arguments, dict):
        raise MalformedOutputError("The model called a tool with something else than an object.", call["arguments"])
    return ToolCall(call["id"] or f"call_{number}", call["name"], arguments)


def _make_message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        text = f"Error: {message.text}" if message.failed else message.text
        return {"role": "tool", "tool_call_id": message.call_id, "content": text}
    entry: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.calls:
        entry["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments), ensure_ascii=False)},
            }
            for call in message.calls
        ]
    return entry


def _make_error(status: int, body: bytes, headers: Mapping[str, str], model: str) -> ModelError:
    """Converts an error response; `status` is 0 for one within a reply."""
    kind = "insufficient_quota" if b"insufficient_quota" in body else ""
    return REMEDIES.make_error(model, status, read_reason(body), kind, headers)


def read_reason(body: bytes) -> str:
    """Returns a server's error message, in one line."""
    text = body.decode("utf-8", "replace")
    try:
        reply = json.loads(text)
    except ValueError:
        reply = text
    reason = reply.get("error", reply.get("message", "")) if isinstance(reply, dict) else reply
    return shorten_reason(str(reason.get("message", "")) if isinstance(reason, dict) else str(reason))
