"""Models of Ollama, through its official client.

Importing the client takes 0.25 s of processor time, so only chats and vectors use it. Other requests use plain HTTP,
also because the client drops `remote_host`, which distinguishes models in Ollama's cloud from local ones."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx

from memory.errors import MalformedOutputError, ModelUnavailableError
from memory.facts.json_replies import parse_loosely
from memory.llm import LlmRequest, Message, Reply, ToolCall, Usage, length
from plugins.llms import READING, ModelInfo, ModelList, transport
from plugins.llms.call import Call, client_arguments, find_json, rewrite_stream
from plugins.llms.transport import Pieces, Remedies, collect
from plugins.settings import OllamaSettings

if TYPE_CHECKING:
    import ollama

PORT = 11434
KEEP_ALIVE, KEEP_ALIVE_READING = "10m", "1m"  # for which a model stays loaded after a question, and after reading
SHORT_CONTEXT = 4096  # of a model that does not say
THOUGHT_TOKENS = 2048  # on top of what may be said
OLDEST = (0, 17, 1)  # before it, a stranger's file or page could read the server's memory
INSTALL = "For models on this machine, install Ollama (https://ollama.com), then: ollama pull qwen3:4b"
REMEDIES = Remedies(
    "Ollama",
    key="Sign in: ollama signin",  # to Ollama's cloud
    credit="See your plan: https://ollama.com/settings",
    missing="Fetch it: ollama pull {}",
    fault="See its log: ollama serve",
    gone="Ollama does not answer at {}. Start it: ollama serve",
)
LINE_ENDS = {"\x85": b"\\u0085", "\u2028": b"\\u2028", "\u2029": b"\\u2029"}  # for the client, which splits there


class OllamaModel(transport.ServedModel[frozenset[str]]):
    """A model of a server that need not be running yet."""

    def __init__(self, model: str, settings: OllamaSettings | None = None) -> None:
        self._settings = own = settings or OllamaSettings()
        super().__init__(model, locate(own), own.limits)
        self._must_think = False  # for JSON, since it ignored the form that it should have

    def stream(self, request: LlmRequest, call: Call) -> Iterator[str | Reply]:
        from ollama import ResponseError

        arguments = self._make_arguments(request)
        try:
            with connect(self._url, self.limits, _make_extra_arguments(request)) as client:
                pieces = Pieces()
                parts = call.stream(client.chat(**arguments, stream=True))
                for item in collect(_read_contents(parts, pieces), pieces):
                    if isinstance(item, Reply) and request.schema:
                        item = self._move_json(item, arguments)
                    yield item
        except ResponseError as error:
            raise REMEDIES.make_error(self._model, error.status_code, str(error.error)) from error
        except json.JSONDecodeError:  # whoever answers there is no Ollama
            raise
        except ValueError as error:  # the client checks each part
            raise MalformedOutputError("The reply is not in Ollama's format.") from error
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise REMEDIES.make_gone(self._url) from error

    def _make_arguments(self, request: LlmRequest) -> dict[str, Any]:
        """Converts the request to arguments of the client; `_make_extra_arguments` has the rest."""
        info, abilities = self._get_description()
        system = [{"role": "system", "content": request.system}] if request.system else []
        reading = request.purpose in READING
        arguments: dict[str, Any] = {
            "model": self._model,
            "messages": [*system, *map(_make_message, request.messages)],
            "keep_alive": KEEP_ALIVE_READING if reading else KEEP_ALIVE,
        }
        if request.schema:
            arguments["format"] = dict(request.schema)
        most = request.max_tokens
        if "thinking" in abilities:
            arguments["think"] = think = self._choose_thinking(request)
            if think and think != "low":
                most = min(most + THOUGHT_TOKENS, max(most, info.context_tokens - length(request)))
        arguments["options"] = {
            "num_ctx": info.context_tokens,
            "num_predict": most,
            "temperature": request.temperature,
            "seed": request.seed,
            "repeat_penalty": 1.0,  # older servers have 1.1, and a quote repeats the note
        }
        return arguments

    def _move_json(self, reply: Reply, arguments: Mapping[str, Any]) -> Reply:
        """Returns the reply with the required JSON as its text, also if a reasoning model put it elsewhere. Some
        servers ignore the schema if thinking is off (Ollama's issues 14645, 14850, 15260): thinking is then turned on,
        after which they respect it."""
        text = find_json(reply.text, str(reply.native or ""))
        if arguments.get("think") is False and reply.stop == "end" and parse_loosely(text, {}) is None:
            self._must_think = True
        return replace(reply, text=text)

    def _describe(self) -> tuple[ModelInfo, frozenset[str]]:
        """Returns the model and its capabilities."""
        listed = {row["name"]: row for row in _list_rows(self._url, "/api/tags")}
        row = listed.get(self._model) or listed.get(f"{self._model}:latest")
        if row is None:
            raise REMEDIES.make_missing(self._model)
        shown = _ask(self._url, "/api/show", {"model": self._model})
        return _make_info(row, shown, self._here, self._settings), _list_abilities(shown)

    def _choose_thinking(self, request: LlmRequest) -> bool | str:
        """Returns the thinking argument for a model that can think."""
        if self._model.startswith("gpt-oss"):  # it always thinks; only how much can be said
            return "medium" if request.think else "low"
        return request.think or bool(request.schema and self._must_think)


def list_models(settings: OllamaSettings | None) -> ModelList:
    """Lists the server's chat models."""
    settings = settings or OllamaSettings()
    models = []
    try:
        url, here = locate(settings)
        rows = _list_rows(url, "/api/tags")
        version = str(_ask(url, "/api/version").get("version", ""))
        loaded = {row["name"] for row in _list_rows(url, "/api/ps")}
        for row in rows:
            shown = _ask(url, "/api/show", {"model": row["name"]})
            if {"completion", ""} & (_list_abilities(shown) or {""}):  # not those that only embed
                models.append(_make_info(row, shown, here, settings, row["name"] in loaded))
    except ModelUnavailableError as error:
        named = settings.host or os.environ.get("OLLAMA_HOST")
        return ModelList(problem=str(error)) if named else ModelList(problem=INSTALL, absent=True)
    if not models:
        return ModelList(problem="Ollama has no model yet. Fetch one: ollama pull qwen3:4b")
    return ModelList(tuple(models), problem=_describe_outdated(version))


def locate(settings: OllamaSettings) -> tuple[str, bool]:
    """Returns the server's URL, by the setting or OLLAMA_HOST, and whether it is on this machine. ModelUnavailableError
    for an invalid address."""
    named = settings.host or os.environ.get("OLLAMA_HOST", "")
    try:
        return transport.locate_server(named, PORT)
    except ValueError as error:
        raise ModelUnavailableError(
            f"{named!r} is no address of an Ollama. Correct [ollama] host, or OLLAMA_HOST.", lasting=True
        ) from error


def _ask(url: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Requests a JSON object that the server has at once. ModelUnavailableError."""
    try:
        reply = transport.ask(url, path, body).raise_for_status().json()
    except httpx.ConnectError as error:
        raise REMEDIES.make_gone(url) from error
    except (httpx.HTTPError, ValueError) as error:
        raise ModelUnavailableError(
            f"What answers at {url} is no Ollama, or is broken. Restart it: ollama serve"
        ) from error
    if not isinstance(reply, dict):
        raise ModelUnavailableError(f"What answers at {url} is no Ollama. Correct [ollama] host.")
    return reply


def _list_rows(url: str, path: str) -> list[dict[str, Any]]:
    return transport.read_rows(_ask(url, path), "models", "name")


def connect(url: str, limits: tuple[float, float, float], added: Mapping[str, Any] | None = None) -> ollama.Client:
    """Returns Ollama's client for one call within `limits` (those of `plugins.llms.Backend`). `added` is merged into
    the body of a chat. Sends no key of the environment, and follows neither proxy nor redirect."""
    import ollama

    def prepare(request: httpx.Request) -> None:
        request.headers.pop("authorization", None)  # OLLAMA_API_KEY, whoever the server is
        if added:
            body = json.dumps(json.loads(request.content) | added).encode()
            request.stream = httpx.ByteStream(body)
            request.headers["content-length"] = str(len(body))

    def escape(response: httpx.Response) -> None:
        rewrite_stream(httpx, response, _escape_lines)

    arguments = client_arguments(httpx, url, limits, transport.CONNECT_SECONDS)
    arguments["event_hooks"]["request"].append(prepare)
    arguments["event_hooks"]["response"].append(escape)
    return ollama.Client(url, trust_env=False, headers=transport.PLAIN, **arguments)


def _escape_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Splits lines of JSON at line feeds only."""
    for line in transport.read_lines(chunks):
        for character, escaped in LINE_ENDS.items():
            line = line.replace(character.encode(), escaped)
        yield line + b"\n"


def _make_extra_arguments(request: LlmRequest) -> dict[str, Any]:
    """Returns the arguments that the client cannot send. Too long a prompt or reply must be an error: by default the
    server drops the beginning with the instructions. The client also drops limits and nested parts of a tool's
    schema."""
    added: dict[str, Any] = {"truncate": False, "shift": False}
    if request.tools:
        added["tools"] = transport.make_tools(request)
    return added


def _read_contents(parts: Iterator[ollama.ChatResponse], pieces: Pieces) -> Iterator[str]:
    """Yields the text of a chat's parts; collects the rest in `pieces`."""
    for part in parts:
        pieces.thought.append(part.message.thinking or "")
        for call in part.message.tool_calls or ():
            name = f"call_{len(pieces.calls) + 1}"
            pieces.calls.append(ToolCall(name, call.function.name, call.function.arguments))
        if part.done:
            pieces.usage = Usage(part.prompt_eval_count or 0, part.eval_count or 0)
            pieces.stop = part.done_reason or "stop"
        yield part.message.content or ""
        if part.done:
            return


def _make_message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        text = f"Error: {message.text}" if message.failed else message.text
        return {"role": "tool", "content": text, "tool_name": message.tool}
    entry: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.calls:
        entry["tool_calls"] = [
            {"function": {"name": call.name, "arguments": dict(call.arguments)}} for call in message.calls
        ]
        if isinstance(message.native, str):
            entry["thinking"] = message.native
    return entry


def _make_info(
    row: Mapping[str, Any], shown: Mapping[str, Any], here: bool, settings: OllamaSettings, loaded: bool = False
) -> ModelInfo:
    """Describes a model by its row of /api/tags and its /api/show. Its context is limited by the setting. A model that
    the server only forwards to is remote, also in doubt."""
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


def _list_abilities(shown: Mapping[str, Any]) -> frozenset[str]:
    capabilities = shown.get("capabilities")
    return frozenset(map(str, capabilities)) if isinstance(capabilities, list) else frozenset()


def _describe_outdated(version: str) -> str:
    numbers = tuple(int(part) for part in version.split("-")[0].split(".") if part.isdigit())
    if not numbers or numbers >= OLDEST:
        return ""
    return f"Ollama {version} has known holes; update it to {'.'.join(map(str, OLDEST))} or later."
