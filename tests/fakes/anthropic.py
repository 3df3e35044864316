"""Anthropic's HTTP API: /v1/models and /v1/messages with server-sent events, and its complaints about requests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.fakes.server import Answer, Breaks, Exchange, Fails, FakeServer, Hangs, Says, Sends

VERSIONS = ("2023-06-01", "2026-10-21")
STOPS = {"end": "end_turn", "length": "max_tokens"}  # where the API's word for a stop is another one
KINDS = {400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
         404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error",
         529: "overloaded_error"}  # fmt: skip
FIELDS = frozenset(
    "model max_tokens messages system tools tool_choice stream stop_sequences metadata output_config thinking "
    "cache_control container service_tier speed inference_geo diagnostics".split()
)
BREAKPOINTS = 4  # of the cache, in one request


@dataclass(frozen=True)
class ClaudeModel:
    """A model as the API lists it."""

    id: str
    context: int = 200_000
    output: int = 64_000
    structured: bool = True
    thinking: tuple[str, ...] = ("adaptive", "disabled")
    effort: tuple[str, ...] = ("low", "medium", "high")
    lifecycle: str = "active"

    def row(self) -> dict[str, Any]:
        efforts = ("low", "medium", "high", "xhigh", "max")
        kinds = ("adaptive", "between_tools", "disabled", "enabled")
        return {
            "type": "model",
            "id": self.id,
            "display_name": self.id,
            "created_at": "2026-08-01T00:00:00Z",
            "lifecycle": self.lifecycle,
            "max_input_tokens": self.context,
            "max_tokens": self.output,
            "capabilities": {
                "effort": {
                    "supported": bool(self.effort),
                    **{level: {"supported": level in self.effort} for level in efforts},
                },
                "structured_outputs": {"supported": self.structured},
                "thinking": {
                    "supported": "adaptive" in self.thinking,
                    "types": {kind: {"supported": kind in self.thinking} for kind in kinds},
                },
            },
        }


class FakeAnthropic(FakeServer):
    """The API with these models, for whoever has the key."""

    def __init__(self, *models: ClaudeModel, answer: Answer | None = None, key: str = "sk-ant-fake") -> None:
        super().__init__(answer)
        self.models = {model.id: model for model in models}
        self.key = key
        self._cache: set[str] = set()

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The bodies of the requests for a message that came."""
        return [seen.body for seen in self.seen if seen.path == "/v1/messages"]

    def route(self, exchange: Exchange) -> None:
        seen = exchange.seen
        path = seen.path.partition("?")[0]
        given = seen.headers.get("x-api-key") or seen.headers.get("authorization", "").removeprefix("Bearer ")
        if given != self.key:
            self._fail(exchange, Fails(401, "invalid API key"))
        elif seen.headers.get("anthropic-version") not in VERSIONS:
            self._fail(exchange, Fails(400, "anthropic-version: a known version is required"))
        elif (seen.method, path) == ("GET", "/v1/models"):
            rows = [model.row() for model in self.models.values()]
            ids = [row["id"] for row in rows] or [None]
            exchange.reply({"data": rows, "has_more": False, "first_id": ids[0], "last_id": ids[-1]})
        elif seen.method == "GET" and path.removeprefix("/v1/models/") in self.models:
            exchange.reply(self.models[path.removeprefix("/v1/models/")].row())
        elif (seen.method, path) == ("POST", "/v1/messages"):
            self._message(exchange)
        else:
            self._fail(exchange, Fails(404, path.rpartition("/")[2]))

    def _message(self, exchange: Exchange) -> None:
        body = exchange.seen.body
        model = self.models.get(body.get("model", ""))
        if model is None:
            self._fail(exchange, Fails(404, f"model: {body.get('model')}"))
            return
        if wrong := _wrong(body, model):
            self._fail(exchange, Fails(400, wrong))
            return
        reply = self.next_reply(body)
        match reply:
            case Hangs():
                exchange.hang()
            case Sends():
                exchange.send(reply)
            case Fails(says=None):
                self._fail(exchange, reply)
            case Fails(says=Says() as says):
                error = {"type": "error", "error": {"type": reply.kind, "message": reply.message}}
                events = [*list(self._events(exchange, says))[: reply.after], _event("error", error)]
                exchange.stream(iter(events), "text/event-stream; charset=utf-8")
            case Breaks():
                events = list(self._events(exchange, reply.says))[: reply.after]
                exchange.stream(iter(events), "text/event-stream; charset=utf-8", tidily=reply.tidily)
            case Says() if body.get("stream"):
                exchange.stream(self._events(exchange, reply), "text/event-stream; charset=utf-8")
                self._cache.add(_fixed(body))
            case Says():
                exchange.reply(self._whole(body, reply))
                self._cache.add(_fixed(body))

    def _fail(self, exchange: Exchange, fails: Fails) -> None:
        kind = KINDS.get(fails.status, fails.kind)
        error = {"type": "error", "error": {"type": kind, "message": fails.message}, "request_id": "req_fake"}
        exchange.reply(error, fails.status, {"request-id": "req_fake", **fails.headers})

    def _events(self, exchange: Exchange, says: Says) -> Iterator[bytes]:
        body = exchange.seen.body
        start = self._whole(body, Says(read=says.read, written=1)) | {"content": [], "stop_reason": None}
        yield _event("message_start", {"type": "message_start", "message": start})
        yield _event("ping", {"type": "ping"})
        for index, block in enumerate(_blocks(body, says)):
            empty = block | {key: "" for key in ("text", "thinking", "signature") if key in block}
            if block["type"] == "tool_use":
                empty["input"] = {}
            yield _event("content_block_start", {"type": "content_block_start", "index": index, "content_block": empty})
            for number, delta in enumerate(_deltas(block, says)):
                exchange.pace(says, number)
                yield _event("content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta})
            yield _event("content_block_stop", {"type": "content_block_stop", "index": index})
        whole = self._whole(body, says)
        delta = {key: whole[key] for key in ("stop_reason", "stop_sequence", "stop_details")}
        usage = {"output_tokens": whole["usage"]["output_tokens"]}
        yield _event("message_delta", {"type": "message_delta", "delta": delta, "usage": usage})
        yield _event("message_stop", {"type": "message_stop"})

    def _whole(self, body: Mapping[str, Any], says: Says) -> dict[str, Any]:
        blocks = _blocks(body, says)
        used = any(block["type"] == "tool_use" for block in blocks)
        refused = {"type": "refusal", "category": "cyber", "explanation": None}
        return {
            "id": "msg_fake",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [block | ({"input": _parsed(block["input"])} if "input" in block else {}) for block in blocks],
            "stop_reason": "tool_use" if used and says.stop == "end" else STOPS.get(says.stop, says.stop),
            "stop_sequence": None,
            "stop_details": refused if says.stop == "refusal" else None,
            "usage": self._usage(body, says),
        }

    def _usage(self, body: Mapping[str, Any], says: Says) -> dict[str, int]:
        """Words are tokens. What is marked for the cache is read from it the second time."""
        words = len(json.dumps([body.get("tools"), body.get("system"), body["messages"]]).split())
        marked, known = len(_fixed(body).split()), _fixed(body) in self._cache
        return {
            "input_tokens": words - marked if says.read is None else says.read,
            "cache_creation_input_tokens": 0 if known else marked,
            "cache_read_input_tokens": marked if known else 0,
            "output_tokens": len("".join(says.split()).split()) if says.written is None else says.written,
        }


def _fixed(body: Mapping[str, Any]) -> str:
    """What of a request may be kept: its tools and its system prompt, if anything is marked."""
    return json.dumps([body.get("tools"), body.get("system")]) if "cache_control" in json.dumps(body) else ""


def _blocks(body: Mapping[str, Any], says: Says) -> list[dict[str, Any]]:
    """The content of the message. Where one tool is demanded, the text is what that is called with."""
    blocks: list[dict[str, Any]] = []
    if says.thinking:
        blocks.append({"type": "thinking", "thinking": says.thinking, "signature": "c2lnbmVk"})
    text = "".join(says.split())
    demanded = body.get("tool_choice", {}).get("name")
    if demanded:
        blocks.append({"type": "tool_use", "id": "toolu_0", "name": demanded, "input": text})
    elif text:
        blocks.append({"type": "text", "text": text})
    for number, call in enumerate(says.calls, 1):
        blocks.append({"type": "tool_use", "id": f"toolu_{number}", "name": call.name, "input": call.arguments})
    return blocks


def _parsed(arguments: Any) -> Any:
    """What a tool is called with, of which nothing is left if it is no JSON."""
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return {}


def _deltas(block: Mapping[str, Any], says: Says) -> Iterator[dict[str, Any]]:
    match block["type"]:
        case "thinking":
            yield {"type": "thinking_delta", "thinking": block["thinking"]}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "text":
            for piece in says.split():
                yield {"type": "text_delta", "text": piece}
        case "tool_use":
            text = block["input"] if isinstance(block["input"], str) else json.dumps(block["input"])
            yield {"type": "input_json_delta", "partial_json": ""}
            for at in range(0, len(text), 9):
                yield {"type": "input_json_delta", "partial_json": text[at : at + 9]}


def _wrong(body: Mapping[str, Any], model: ClaudeModel) -> str:
    """What the API would complain of."""
    if unknown := sorted(set(body) - FIELDS):
        return f"{unknown[0]}: Extra inputs are not permitted"
    most = body.get("max_tokens")
    if not isinstance(most, int) or not 1 <= most <= model.output:
        return f"max_tokens: {most} is not in 1..{model.output}"
    messages = body.get("messages") or []
    if not messages or messages[0].get("role") != "user":
        return "messages: first message must use the user role"
    if json.dumps(body).count('"cache_control"') > BREAKPOINTS:
        return "A maximum of 4 blocks with cache_control may be provided."
    thinking = body.get("thinking", {}).get("type")
    if thinking and thinking not in model.thinking:
        return f"thinking.type: {thinking} is not supported by this model"
    effort = body.get("output_config", {}).get("effort")
    if effort is not None and effort not in model.effort:
        return f"output_config.effort: {effort} is not supported by this model"
    schema = body.get("output_config", {}).get("format", {}).get("schema")
    if schema is not None and not model.structured:
        return "output_config.format: this model does not support structured outputs"
    if schema is not None and (open_ := _open(schema)):
        return f"output_config.format.schema: 'additionalProperties' must be false for {open_}"
    wanted: set[str] = set()
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        given = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
        if not blocks or any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            return "messages: text content blocks must be non-empty"
        if wanted - given:
            return f"messages: `tool_use` ids without `tool_result` blocks: {', '.join(sorted(wanted))}"
        if given - wanted:
            return f"messages: unexpected `tool_use_id` found in `tool_result` blocks: {', '.join(sorted(given))}"
        wanted = {block["id"] for block in blocks if block["type"] == "tool_use"}
    return ""


def _open(schema: Any, where: str = "$") -> str:
    """Where an object of the schema admits fields that it does not name."""
    if isinstance(schema, dict):
        if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
            return where
        return next((found for key, value in schema.items() if (found := _open(value, f"{where}.{key}"))), "")
    if isinstance(schema, list):
        return next((found for value in schema if (found := _open(value, where))), "")
    return ""


def _event(name: str, value: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps(value)}\n\n".encode()
