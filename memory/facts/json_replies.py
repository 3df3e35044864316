"""JSON replies of a model: requested a second time if unusable, and parsed as far as they go."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memory.errors import MalformedOutputError
from memory.llm import LlmRequest
from memory.protocols import LLM

SECOND_TEMPERATURE = 0.4  # at which a reply that cannot be used is asked for again
LEAST_SECOND_TOKENS = 500  # that a second reply may have
MAX_REPLY_CHARS = 1 << 20
MAX_DEPTH = 20  # of brackets in a reply
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|$)|[][{}]', re.DOTALL)


def complete_json(llm: LLM, request: LlmRequest) -> Any:
    """Returns the JSON value of the reply. A cut or endlessly repeating reply is parsed up to its last complete item; a
    reply of the wrong kind is requested once more, in other words, since the same request would be answered the same
    way. A reply that breaks a rule of the schema somewhere inside is returned: its reader drops the invalid item.
    Raises ModelError as the model does, MalformedOutputError only for the second reply."""
    schema = request.schema or {}
    try:
        return llm.complete(request).data
    except MalformedOutputError as error:
        if (data := parse_loosely(error.text, schema)) is not None:
            return data
        complaint = f"{error} Answer with one JSON object and nothing else, in one line, and briefly."
    messages = (
        *request.messages[:-1],
        replace(request.messages[-1], text=f"{request.messages[-1].text}\n\n{complaint}"),
    )
    again = replace(
        request,
        messages=messages,
        temperature=SECOND_TEMPERATURE,
        seed=request.seed + 1,
        max_tokens=max(LEAST_SECOND_TOKENS, request.max_tokens // 2),
    )
    try:
        return llm.complete(again).data
    except MalformedOutputError as error:
        if (data := parse_loosely(error.text, schema)) is not None:
            return data
        raise


def parse_loosely(text: str, schema: Mapping[str, Any]) -> Any:
    """Returns the first object in a text, also in prose or a fence, that has the lists required by the schema, whatever
    they contain. If its end is missing, the complete items; None without any."""
    begin = text.find("{")
    if begin < 0 or len(text) > MAX_REPLY_CHARS:
        return None
    wanted = schema.get("required", ())
    try:
        value, is_cut = json.JSONDecoder().raw_decode(text, begin)[0], False
    except (ValueError, RecursionError):
        value, is_cut = _parse_cut(text[begin:]), True
    if not isinstance(value, dict) or not all(isinstance(value.get(key), list) for key in wanted):
        return None
    return value if not is_cut or any(value[key] for key in wanted) else None


def _parse_cut(text: str) -> Any:
    """Parses JSON without its end up to the last complete item; None without one."""
    open_brackets: list[str] = []
    whole = (0, "")  # where the last item ended, and what closes the rest
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "{[":
            open_brackets.append("}" if token == "{" else "]")
        elif token in "}]":
            if not open_brackets or open_brackets.pop() != token or len(open_brackets) > MAX_DEPTH:
                break
            whole = match.end(), "".join(reversed(open_brackets))
    end, closing = whole
    try:
        return json.loads(text[:end] + closing)
    except (ValueError, RecursionError):
        return None


def rows_of(value: Any, key: str) -> Sequence[Any]:
    """Returns the list at a key of a reply, which may be anything; empty without one."""
    rows = value.get(key) if isinstance(value, Mapping) else None
    return rows if isinstance(rows, list) else ()
