"""What a model said, checked: JSON that follows a schema, calls of tools that there are. Thoughts are left out.

A model's words are data of a stranger. Nothing of them gets into an error's message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from memory.errors import MalformedOutputError
from memory.llm import Tool, ToolCall

FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", re.DOTALL)
OPEN, CLOSE = "<think>", "</think>"


def parse_json(text: str, schema: Mapping[str, Any]) -> Any:
    """JSON -> its value, which follows the schema. MalformedOutputError says where it does not."""
    if not text.strip():
        raise MalformedOutputError("The model said nothing where JSON was asked for.")
    fenced = FENCE.fullmatch(text)
    try:
        value = json.loads(fenced[1] if fenced else text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        where = f"at character {error.pos}" if isinstance(error, json.JSONDecodeError) else type(error).__name__
        raise MalformedOutputError(f"What the model said is not JSON ({where}).", text) from None
    if trouble := find_violation(value, schema):
        raise MalformedOutputError(f"The model's JSON does not follow the schema: {trouble}.", text)
    return value


def find_violation(value: Any, schema: Mapping[str, Any]) -> str:
    """Where a value first departs from a schema, and from which rule of it; "" if it follows it."""
    from jsonschema import Draft202012Validator

    try:
        error = next(Draft202012Validator(dict(schema)).iter_errors(value), None)
    except RecursionError:
        return "it is too deep"
    return f"{error.json_path[:200]}: {error.validator}" if error else ""


def check_calls(calls: Iterable[ToolCall], tools: Iterable[Tool], text: str) -> None:
    """MalformedOutputError if a call is of no tool there is, or its arguments are not what the tool takes."""
    known = {tool.name: tool for tool in tools}
    for call in calls:
        if call.name not in known:
            raise MalformedOutputError("The model called a tool that there is not.", f"{call.name}\n{text}")
        if trouble := find_violation(dict(call.arguments), known[call.name].parameters):
            said = json.dumps(call.arguments, ensure_ascii=False)
            raise MalformedOutputError(f"The model called {call.name} with wrong arguments: {trouble}.", said)


class Thoughts:
    """Takes the thoughts that some models write before their answer, `<think>...</think>`, out of a stream of text."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "before"  # -> "inside" -> "gap" -> "behind", or from "before" to "behind"

    def feed(self, text: str) -> str:
        """The part of the answer that is known to be one now."""
        self._held += text
        if self._state == "before":
            start = self._held.lstrip()
            if len(start) < len(OPEN) and OPEN.startswith(start):
                return ""
            self._state = "inside" if start.startswith(OPEN) else "behind"
        if self._state == "inside":
            _, end, behind = self._held.partition(CLOSE)
            self._held = behind if end else self._held[-len(CLOSE) :]
            self._state = "gap" if end else "inside"
        if self._state == "gap":
            self._held = self._held.lstrip()
            self._state = "behind" if self._held else "gap"
        if self._state != "behind":
            return ""
        said, self._held = self._held, ""
        return said

    def rest(self) -> str:
        """What was held back at the end and was no thought after all."""
        return self._held if self._state == "before" else ""


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
