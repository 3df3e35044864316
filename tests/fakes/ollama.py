"""Ollama's HTTP API: /api/tags, /api/show, /api/ps, /api/version, /api/embed; /api/chat with a line of JSON a piece."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from tests.fakes.server import Answer, Breaks, Exchange, Fails, FakeServer, Hangs, Reply, Says, Sends
from tests.fakes.vectors import Vectors

AT = "2026-11-20T10:00:00.000000Z"
REASONS = {"end": "stop"}  # where Ollama's word for a stop is another one


@dataclass(frozen=True)
class OllamaModel:
    """A model as Ollama lists it. With `remote_host` it runs there, in the cloud. `unthinking` is what it says where it
    is told not to think and has a form to keep to, as with some models Ollama then does: it forgets the form ("prose"),
    or takes the answer for a thought ("thought"). Another `build` of a name is another model."""

    name: str
    context: int = 40960
    capabilities: tuple[str, ...] = ("completion", "tools")
    remote_host: str = ""
    loaded: bool = False
    unthinking: Literal["", "prose", "thought"] = ""
    build: str = ""

    @property
    def digest(self) -> str:
        return hashlib.sha256(f"{self.name}{self.build}".encode()).hexdigest()

    def row(self) -> dict[str, Any]:
        row = {
            "name": self.name,
            "model": self.name,
            "modified_at": AT,
            "size": 2_620_788_019,
            "digest": self.digest,
            "details": {"format": "gguf", "family": "qwen3", "parameter_size": "4.0B", "quantization_level": "Q4_K_M"},
        }
        return row | self._remote()

    def shown(self) -> dict[str, Any]:
        shown = {
            "modelfile": f"FROM {self.name}",
            "template": "{{ .Prompt }}",
            "details": self.row()["details"],
            "model_info": {"general.architecture": "qwen3", "qwen3.context_length": self.context},
            "capabilities": list(self.capabilities),
            "modified_at": AT,
        }
        return shown | self._remote()

    def _remote(self) -> dict[str, str]:
        return {"remote_model": self.name, "remote_host": self.remote_host} if self.remote_host else {}


class FakeOllama(FakeServer):
    """An Ollama that has these models."""

    def __init__(self, *models: OllamaModel, answer: Answer | None = None, version: str = "0.19.2") -> None:
        super().__init__(answer)
        self.models = {model.name: model for model in models}
        self.version = version
        self.vectors = Vectors()

    @property
    def chats(self) -> list[dict[str, Any]]:
        """The bodies of the chats that came."""
        return [seen.body for seen in self.seen if seen.path == "/api/chat"]

    def route(self, exchange: Exchange) -> None:
        match exchange.seen.method, exchange.seen.path:
            case "GET", "/api/version":
                exchange.reply({"version": self.version})
            case "GET", "/api/tags":
                exchange.reply({"models": [model.row() for model in self.models.values()]})
            case "GET", "/api/ps":
                loaded = [model for model in self.models.values() if model.loaded]
                exchange.reply({"models": [one.row() | {"expires_at": AT, "size_vram": 0} for one in loaded]})
            case "POST", "/api/show":
                model = self._model(exchange)
                if model is not None:
                    exchange.reply(model.shown())
            case "POST", "/api/chat":
                self._chat(exchange)
            case "POST", "/api/embed":
                self._embed(exchange)
            case _:
                exchange.send(Sends(b"404 page not found", 404, "text/plain"))

    def _model(self, exchange: Exchange) -> OllamaModel | None:
        body = exchange.seen.body
        name = body.get("model") if isinstance(body, dict) else None
        if not isinstance(name, str) or not name:
            exchange.reply({"error": "model is required"}, 400)
            return None
        model = self.models.get(name) or self.models.get(f"{name}:latest")
        if model is None:
            exchange.reply({"error": f"model '{name}' not found"}, 404)
        return model

    def _embed(self, exchange: Exchange) -> None:
        model, body = self._model(exchange), exchange.seen.body
        if model is None:
            return
        if "embedding" not in model.capabilities:
            exchange.reply({"error": "this model does not support embeddings"}, 501)
            return
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if not body.get("truncate", True) and self.vectors.is_too_long(texts):
            exchange.reply({"error": "the input length exceeds the context length"}, 400)
            return

        def fail(fails: Fails) -> None:
            exchange.reply({"error": fails.message}, fails.status)

        self.vectors.reply(exchange, texts, lambda vectors: {"model": model.name, "embeddings": vectors}, fail)

    def _chat(self, exchange: Exchange) -> None:
        model = self._model(exchange)
        if model is None:
            return
        if wrong := _wrong(exchange.seen.body, model):
            exchange.reply({"error": wrong}, 400)
            return
        reply = _unformed(self.next_reply(exchange.seen.body), exchange.seen.body, model)
        match reply:
            case Hangs():
                exchange.hang()
            case Sends():
                exchange.send(reply)
            case Fails(says=None):
                exchange.reply({"error": reply.message}, reply.status, reply.headers)
            case Fails(says=Says() as says):
                lines = [*list(self._lines(exchange, says))[: reply.after], _line({"error": reply.message})]
                exchange.stream(iter(lines), "application/x-ndjson")
            case Breaks():
                lines = list(self._lines(exchange, reply.says))[: reply.after]
                exchange.stream(iter(lines), "application/x-ndjson", tidily=reply.tidily)
            case Says() if exchange.seen.body.get("stream") is False:
                exchange.reply(self._whole(exchange.seen.body, reply))
            case Says():
                exchange.stream(self._lines(exchange, reply), "application/x-ndjson")

    def _lines(self, exchange: Exchange, says: Says) -> Iterator[bytes]:
        name = exchange.seen.body["model"]
        if says.thinking:
            yield _part(name, {"role": "assistant", "content": "", "thinking": says.thinking})
        for number, piece in enumerate(says.split()):
            exchange.pace(says, number)
            yield _part(name, {"role": "assistant", "content": piece})
        for call in _calls(says):
            yield _part(name, {"role": "assistant", "content": "", "tool_calls": [call]})
        yield _line(self._last(exchange.seen.body, says, {"role": "assistant", "content": ""}))

    def _whole(self, body: Mapping[str, Any], says: Says) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "".join(says.split())}
        if says.calls:
            message["tool_calls"] = _calls(says)
        return self._last(body, says, message)

    def _last(self, body: Mapping[str, Any], says: Says, message: dict[str, Any]) -> dict[str, Any]:
        return {
            "model": body["model"],
            "created_at": AT,
            "message": message,
            "done": True,
            "done_reason": REASONS.get(says.stop, says.stop),
            "total_duration": 2_000_000_000,
            "load_duration": 500_000_000,
            "prompt_eval_count": _count_words(body) if says.read is None else says.read,
            "prompt_eval_duration": 500_000_000,
            "eval_count": len("".join(says.split()).split()) if says.written is None else says.written,
            "eval_duration": 1_000_000_000,
        }


def _count_words(body: Mapping[str, Any]) -> int:
    return sum(len(str(message.get("content", "")).split()) for message in body["messages"])


def _wrong(body: Mapping[str, Any], model: OllamaModel) -> str:
    """What a server would complain of in the body of a chat."""
    if "completion" not in model.capabilities:
        return f'"{model.name}" does not support chat'
    if body.get("tools") and "tools" not in model.capabilities:
        return f"registry.ollama.ai/library/{model.name} does not support tools"
    if body.get("think") and "thinking" not in model.capabilities:
        return f'"{model.name}" does not support thinking'
    if any(message.get("role") not in ("system", "user", "assistant", "tool") for message in body.get("messages", ())):
        return "invalid role"
    if not isinstance(body.get("format", ""), dict) and body.get("format", "") not in ("", "json"):
        return "invalid format: expected 'json' or a JSON schema"
    for name in ("truncate", "shift"):
        if not isinstance(body.get(name, True), bool):
            return f"json: cannot unmarshal into Go struct field ChatRequest.{name} of type bool"
    context = body.get("options", {}).get("num_ctx", 4096)
    if body.get("truncate") is False and _count_words(body) > context:
        return "the input length exceeds the context length"
    return ""


def _unformed(reply: Reply, body: Mapping[str, Any], model: OllamaModel) -> Reply:
    """What becomes of a reply where the model has forgotten its form."""
    if not isinstance(reply, Says) or not body.get("format") or body.get("think") is not False:
        return reply
    match model.unthinking:
        case "prose":
            return replace(reply, text="Sure! I have read the note, and here is what it says.", pieces=())
        case "thought":
            return replace(reply, text="", pieces=(), thinking="".join(reply.split()))
    return reply


def _calls(says: Says) -> list[dict[str, Any]]:
    return [
        {"id": f"call_{number}", "function": {"index": number, "name": call.name, "arguments": call.arguments}}
        for number, call in enumerate(says.calls)
    ]


def _part(name: str, message: dict[str, Any]) -> bytes:
    return _line({"model": name, "created_at": AT, "message": message, "done": False})


def _line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"
