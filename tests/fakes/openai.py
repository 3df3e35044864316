"""OpenAI's protocol as llama.cpp, LM Studio and vLLM speak it: /v1/models, /v1/embeddings, and /v1/chat/completions
with server-sent events. Each also tells in its own way how long its context is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tests.fakes.server import Answer, Breaks, Exchange, Fails, FakeServer, Hangs, Reply, Says, Sends
from tests.fakes.vectors import Vectors

AT = 1_795_168_800
STOPS = {"end": "stop", "tools": "tool_calls", "refusal": "content_filter"}
Kind = Literal["llama.cpp", "older llama.cpp", "LM Studio", "vLLM", "Ollama"]


@dataclass(frozen=True)
class ServedModel:
    """A model as a server lists it."""

    name: str
    context: int = 16_384
    tools: bool = True
    embeds: bool = False


class FakeOpenAI(FakeServer):
    """A server of that kind that has these models. With `key`, nothing is said without it."""

    def __init__(
        self, *models: ServedModel, kind: Kind = "llama.cpp", key: str = "", answer: Answer | None = None
    ) -> None:
        super().__init__(answer)
        self.models = {model.name: model for model in models}
        self.kind = kind
        self.key = key
        self.vectors = Vectors()

    @property
    def chats(self) -> list[dict[str, Any]]:
        """The bodies of the chats that came."""
        return [seen.body for seen in self.seen if seen.path == "/v1/chat/completions"]

    def route(self, exchange: Exchange) -> None:
        if self.key and exchange.seen.headers.get("authorization") != f"Bearer {self.key}":
            _complain(exchange, 401, "Invalid API Key", "authentication_error")
            return
        match exchange.seen.method, exchange.seen.path:
            case "GET", "/" if self.kind == "Ollama":
                exchange.send(Sends(b"Ollama is running", 200, "text/plain"))
            case "GET", "/v1/models":
                exchange.reply({"object": "list", "data": [self._row(model) for model in self.models.values()]})
            case "GET", "/props" if self.kind.endswith("llama.cpp"):
                exchange.reply({"default_generation_settings": {"n_ctx": next(iter(self.models.values())).context}})
            case "GET", "/api/v0/models" if self.kind == "LM Studio":
                rows = [{"id": model.name, "loaded_context_length": model.context} for model in self.models.values()]
                exchange.reply({"object": "list", "data": rows})
            case "POST", "/v1/chat/completions":
                self._chat(exchange)
            case "POST", "/v1/embeddings":
                self._embed(exchange)
            case _ if self.kind == "LM Studio":
                exchange.reply({"error": f"Unexpected endpoint or method. ({exchange.seen.path})"})
            case _:
                _complain(exchange, 404, "File Not Found", "not_found_error")

    def _row(self, model: ServedModel) -> dict[str, Any]:
        row: dict[str, Any] = {"id": model.name, "object": "model", "created": AT}
        match self.kind:
            case "llama.cpp" | "older llama.cpp":
                meta = {"n_ctx_train": 131_072, "n_params": 4_022_468_096, "size": 2_491_000_000}
                if self.kind == "llama.cpp":
                    meta["n_ctx"] = model.context
                return row | {"owned_by": "llamacpp", "meta": meta}
            case "vLLM":
                return row | {"owned_by": "vllm", "max_model_len": model.context}
            case _:
                return row | {"owned_by": "organization_owner"}

    def _embed(self, exchange: Exchange) -> None:
        body = exchange.seen.body
        model = self.models.get(body.get("model"))
        if model is None:
            _complain(exchange, 404, f"The model `{body.get('model')}` does not exist.", "not_found_error")
            return
        if not model.embeds:
            say = "This server does not support embeddings. Start it with `--embeddings`"
            _complain(exchange, 501, say, "not_supported_error")
            return
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if self.vectors.is_too_long(texts):
            if self.kind == "vLLM":
                _complain(exchange, 400, "This model's maximum context length is 512 tokens.", "BadRequestError")
            else:
                say = "input (900 tokens) is too large to process. increase the physical batch size"
                _complain(exchange, 500, say, "server_error")
            return

        def shape(vectors: list[Any]) -> dict[str, Any]:
            rows = [{"object": "embedding", "index": n, "embedding": one} for n, one in enumerate(vectors)]
            return {"object": "list", "data": rows[::-1], "model": model.name, "usage": {"prompt_tokens": 1}}

        def fail(fails: Fails) -> None:
            _complain(exchange, fails.status, fails.message, fails.kind, fails.headers)

        self.vectors.reply(exchange, texts, shape, fail)

    def _chat(self, exchange: Exchange) -> None:
        body = exchange.seen.body
        model = self.models.get(body.get("model"))
        if model is None:
            _complain(exchange, 404, f"The model `{body.get('model')}` does not exist.", "not_found_error")
            return
        if wrong := _wrong(body, model):
            _complain(exchange, 400, wrong, "invalid_request_error")
            return
        reply: Reply = self.next_reply(body)
        match reply:
            case Hangs():
                exchange.hang()
            case Sends():
                exchange.send(reply)
            case Fails(says=None):
                _complain(exchange, reply.status, reply.message, reply.kind, reply.headers)
            case Fails(says=Says() as says):
                error = _event({"error": {"code": 500, "message": reply.message, "type": reply.kind}})
                self._stream(exchange, [*list(_events(body, says))[: reply.after], error])
            case Breaks():
                self._stream(exchange, list(_events(body, reply.says))[: reply.after], tidily=reply.tidily)
            case Says():
                self._stream(exchange, self._lines(exchange, reply))

    def _lines(self, exchange: Exchange, says: Says) -> Iterator[bytes]:
        before = bool(says.thinking)
        for number, event in enumerate(_events(exchange.seen.body, says)):
            exchange.pace(says, number - before)
            yield event
        yield b"data: [DONE]\n\n"

    def _stream(self, exchange: Exchange, events: Any, *, tidily: bool = True) -> None:
        exchange.stream(iter(events), "text/event-stream", tidily=tidily)


def _events(body: Mapping[str, Any], says: Says) -> Iterator[bytes]:
    """The chunks of a completion: the arguments of a call come in two, the usage in one of its own, if it is wanted."""
    if says.thinking:
        yield _chunk(body, {"role": "assistant", "reasoning_content": says.thinking})
    for piece in says.split():
        yield _chunk(body, {"content": piece})
    for index, call in enumerate(says.calls):
        text = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        first = {"name": call.name, "arguments": text[:3]}
        yield _chunk(body, {"tool_calls": [{"index": index, "id": f"c{index}", "type": "function", "function": first}]})
        yield _chunk(body, {"tool_calls": [{"index": index, "function": {"arguments": text[3:]}}]})
    stop = "tool_calls" if says.calls and says.stop == "end" else STOPS.get(says.stop, says.stop)
    yield _chunk(body, {}, stop)
    if (body.get("stream_options") or {}).get("include_usage"):
        read = sum(len(str(message.get("content", "")).split()) for message in body["messages"])
        written = len("".join(says.split()).split())
        counted = (read if says.read is None else says.read), (written if says.written is None else says.written)
        usage = {"prompt_tokens": counted[0], "completion_tokens": counted[1], "total_tokens": sum(counted)}
        yield _event(_common(body) | {"choices": [], "usage": usage})


def _chunk(body: Mapping[str, Any], delta: dict[str, Any], stop: str | None = None) -> bytes:
    return _event(_common(body) | {"choices": [{"index": 0, "delta": delta, "finish_reason": stop}]})


def _common(body: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": AT, "model": body["model"]}


def _event(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _complain(
    exchange: Exchange, status: int, message: str, kind: str, headers: Mapping[str, str] | None = None
) -> None:
    exchange.reply({"error": {"code": status, "message": message, "type": kind}}, status, headers)


def _wrong(body: Mapping[str, Any], model: ServedModel) -> str:
    """What a server would complain of in the body of a chat."""
    if body.get("stream") is not True:
        return "this server only streams"
    if body.get("tools") and not model.tools:
        return "tools param requires --jinja flag"
    form = body.get("response_format")
    if form is not None and not isinstance((form.get("json_schema") or {}).get("schema"), dict):
        return "response_format must hold json_schema.schema"
    asked: set[str] = set()
    for message in body["messages"]:
        match message["role"]:
            case "assistant":
                calls = message.get("tool_calls") or ()
                asked |= {call["id"] for call in calls}
                if any(not isinstance(call["function"]["arguments"], str) for call in calls):
                    return "tool_calls.function.arguments must be a string"
            case "tool" if message.get("tool_call_id") not in asked:
                return "a tool message must answer a call of an assistant's message"
            case "system" | "user" | "tool":
                pass
            case _:
                return "invalid role"
    words = sum(len(str(message.get("content", "")).split()) for message in body["messages"])
    if words > model.context:
        return f"the request exceeds the available context size ({model.context} tokens), try increasing it"
    return ""
