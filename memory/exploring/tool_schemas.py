"""The nine tools of an agent, as a model is told of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory.llm import Tool
from memory.text.unicode import replace_surrogates

MAX_QUERY_CHARS = 500  # characters of a query
MAX_NUMBER = 10**9  # a larger number is meant to do harm
MAX_PASSAGES_PER_CALL = 8  # that one call may name
DEFAULTS = {"k": 5, "relevance": 1.0}  # of what may be left out


def _tool(name: str, description: str, **fields: dict[str, Any]) -> Tool:
    needed = [key for key in fields if key not in DEFAULTS]
    return Tool(name, description, {"type": "object", "properties": fields, "required": needed})


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _whole(description: str) -> dict[str, Any]:
    return {"type": "integer", "description": description}


_OBJECT = _whole("number of an object")
_PASSAGE = _whole("number of a passage")
_SOME = {
    "type": "array",
    "items": {"type": "integer"},
    "description": f"numbers of passages, {MAX_PASSAGES_PER_CALL} at most",
}

TOOLS: tuple[Tool, ...] = (
    _tool(
        "entity_search",
        "Finds objects (people, places, things) by name: number, name, in how many passages it stands.",
        query=_text("a name"),
    ),
    _tool(
        "get_chunks_for_entity",
        "The passages that speak of an object, the most promising first: number, title, beginning.",
        object=_OBJECT,
    ),
    _tool(
        "vector_search",
        "Finds passages by what they say: number, how well it fits, title, beginning. Ask for one part of the question"
        " at a time, in words that would stand in the passage.",
        query=_text("what to look for"),
        k=_whole("how many, 10 at most"),
    ),
    _tool(
        "expand_neighbors",
        "The objects around an object: number, name, how they are related, passages in common.",
        object=_OBJECT,
    ),
    _tool("read_chunk", "A whole passage, and the objects in it.", passage=_PASSAGE),
    _tool(
        "sub_query",
        "Has a part of the question answered from some passages alone, to verify it. Takes one of your turns.",
        question=_text("a question that stands for itself"),
        passages=_SOME,
    ),
    _tool(
        "summarize_chunks",
        "The sentences of some passages that say most about something.",
        passages=_SOME,
        focus=_text("what it should be about"),
    ),
    _tool(
        "collect_chunk",
        "Keeps a passage as evidence. Only what is collected counts in the end.",
        passage=_PASSAGE,
        relevance={"type": "number", "description": "how much it helps to answer, from 0 to 1"},
    ),
    _tool("rerank_evidence", "The collected passages by how well they fit some words.", query=_text("the words")),
)


class NoSuchCallError(Exception):
    """A call that makes no sense; the message tells the model."""


def check_arguments(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call, as its tool wants them. NoSuchCallError says what is wrong with them."""
    tool = next((tool for tool in TOOLS if tool.name == name), None)
    if tool is None:
        raise NoSuchCallError("There is no such tool.")
    fields = tool.parameters["properties"]
    given = {key: _value(key, field, arguments.get(key, DEFAULTS.get(key))) for key, field in fields.items()}
    if isinstance(given.get("passages"), list) and not 1 <= len(given["passages"]) <= MAX_PASSAGES_PER_CALL:
        raise NoSuchCallError(f"Name from one to {MAX_PASSAGES_PER_CALL} passages.")
    return given


def _value(key: str, field: Mapping[str, Any], value: Any) -> Any:
    match field["type"]:
        case "string" if isinstance(value, str) and value.strip():
            return replace_surrogates(value.strip()[:MAX_QUERY_CHARS])
        case "integer" if (number := _number(value)) is not None and number == int(number):
            return int(number)
        case "number" if (number := _number(value)) is not None and 0 <= number <= 1:
            return float(number)
        case "array" if isinstance(value, list) and all(_number(one) is not None for one in value):
            return [int(one) for one in value]
    raise NoSuchCallError(f"{key} must be: {field['description']}.")


def _number(value: Any) -> float | None:
    """`value` if it is a number of ordinary size; a truth value is none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and -MAX_NUMBER <= value <= MAX_NUMBER
    return value if is_number else None
