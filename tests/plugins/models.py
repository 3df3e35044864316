"""What the tests of all models share."""

from __future__ import annotations

from typing import Any

from memory.llm import LlmRequest, Message, Reply, Tool
from plugins.llms.guard import Guarded

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "year": {"type": "integer", "minimum": 1}},
    "required": ["name"],
}
FIND = Tool("find", "Finds a person.", PERSON)
LONG = "Ana has lived in Porto since she left Lisbon in the spring of 2024."


def ask(text: str = "Where does Ana live?", **more: Any) -> LlmRequest:
    return LlmRequest(messages=(Message("user", text),), **more)


def streamed(model: Guarded, request: LlmRequest) -> tuple[list[str], Reply]:
    """The pieces, and the reply."""
    *pieces, reply = model.stream(request)
    assert isinstance(reply, Reply)
    return [piece for piece in pieces if isinstance(piece, str)], reply
