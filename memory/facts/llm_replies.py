"""Asks a model for JSON, and makes the best of what it says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memory.errors import MalformedOutputError
from memory.llm import LlmRequest, Message
from memory.protocols import LLM

SHOWN = 4_000  # characters of a bad reply that the model gets to see again
MOST_CHARS = 1 << 20


def complete_json(llm: LLM, request: LlmRequest) -> Any:
    """The JSON value of the reply.

    One that is no JSON of the right kind is asked for once more. One that is, but breaks a rule of the schema somewhere
    inside, is returned all the same: who reads it drops the item, not the rest. Raises ModelError as the model does,
    MalformedOutputError only for the second reply.
    """
    try:
        return llm.complete(request).data
    except MalformedOutputError as error:
        if (data := parse_loosely(error.text, request.schema or {})) is not None:
            return data
        again = _again(request, error)
    try:
        return llm.complete(again).data
    except MalformedOutputError as error:
        if (data := parse_loosely(error.text, request.schema or {})) is not None:
            return data
        raise


def parse_loosely(text: str, schema: Mapping[str, Any]) -> Any:
    """The object in a text that has the lists which the schema wants, whatever is in them; None if it is none."""
    if len(text) > MOST_CHARS:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    wanted = schema.get("required", ())
    return value if isinstance(value, dict) and all(isinstance(value.get(key), list) for key in wanted) else None


def _again(request: LlmRequest, error: MalformedOutputError) -> LlmRequest:
    said = error.text[:SHOWN].strip() or "(nothing)"
    complaint = f"That cannot be used. {error} Say the whole answer again, as one JSON object and nothing else."
    return replace(request, messages=(*request.messages, Message("assistant", said), Message("user", complaint)))
