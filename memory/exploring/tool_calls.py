"""The tools as declared to a model, and the checks of its calls."""

from collections.abc import Mapping
from typing import Any

from memory.errors import InvalidInputError
from memory.llm import Tool
from memory.text.words import replace_surrogates

MAX_QUERY_CHARS = 500  # characters of a query
MAX_NUMBER = 10**9  # a larger number is meant to do harm
MAX_PASSAGES_PER_CALL = 8  # that one call may name
DEFAULTS = {"k": 5, "relevance": 1.0}  # of what may be left out


def _field(kind: str, description: str) -> dict[str, Any]:
    return {"type": kind, "description": description}


_OBJECT = {"object": _field("integer", "number of an object")}
_PASSAGE = {"passage": _field("integer", "number of a passage")}
_NUMBERS = f"numbers of passages, {MAX_PASSAGES_PER_CALL} at most"
_PASSAGES = {"passages": {"type": "array", "items": {"type": "integer"}, "description": _NUMBERS}}
_TOOLS: dict[str, tuple[str, dict[str, dict[str, Any]]]] = {
    "entity_search": (
        "Finds objects (people, places, things) by name: number, name, in how many passages it is named.",
        {"query": _field("string", "a name")},
    ),
    "get_chunks_for_entity": (
        "The passages that name an object, the most promising first: number, title, beginning.",
        _OBJECT,
    ),
    "vector_search": (
        "Finds passages by their meaning: number, how well it fits, title, beginning. Ask for one part of the question"
        " at a time, in words that the passage may contain.",
        {"query": _field("string", "what to look for"), "k": _field("integer", "how many, 10 at most")},
    ),
    "expand_neighbors": (
        "The objects around an object: number, name, how they are related, passages in common.",
        _OBJECT,
    ),
    "read_chunk": ("A whole passage, and the objects in it.", _PASSAGE),
    "sub_query": (
        "Answers a part of the question only from some passages, to verify it. It takes one of your turns.",
        {"question": _field("string", "a question that can be understood alone"), **_PASSAGES},
    ),
    "summarize_chunks": (
        "The sentences of some passages that say most about a topic.",
        {**_PASSAGES, "focus": _field("string", "the topic")},
    ),
    "collect_chunk": (
        "Keeps a passage as evidence. Only what is collected counts in the end.",
        {**_PASSAGE, "relevance": _field("number", "how much it helps to answer, from 0 to 1")},
    ),
    "rerank_evidence": (
        "The collected passages by how well they fit some words.",
        {"query": _field("string", "the words")},
    ),
}
TOOLS = tuple(
    Tool(
        name,
        description,
        {"type": "object", "properties": fields, "required": [key for key in fields if key not in DEFAULTS]},
    )
    for name, (description, fields) in _TOOLS.items()
)


def check_arguments(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a call, converted for its tool. InvalidInputError says what is wrong."""
    if name not in _TOOLS:
        raise InvalidInputError("There is no such tool.")
    _, fields = _TOOLS[name]
    converted = {key: _value(key, field, arguments.get(key, DEFAULTS.get(key))) for key, field in fields.items()}
    if "passages" in converted and not 1 <= len(converted["passages"]) <= MAX_PASSAGES_PER_CALL:
        raise InvalidInputError(f"Name from one to {MAX_PASSAGES_PER_CALL} passages.")
    return converted


def _value(key: str, field: Mapping[str, Any], value: Any) -> Any:
    match field["type"]:
        case "string" if isinstance(value, str) and value.strip():
            return replace_surrogates(value.strip()[:MAX_QUERY_CHARS])
        case "integer" if (number := _number(value)) is not None and number == int(number):
            return int(number)
        case "number" if (number := _number(value)) is not None and 0 <= number <= 1:
            return float(number)
        case "array" if isinstance(value, list) and all(_number(element) is not None for element in value):
            return [int(element) for element in value]
    raise InvalidInputError(f"{key} must be: {field['description']}.")


def _number(value: Any) -> float | None:
    """`value` if it is a number of ordinary size; booleans are not."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and -MAX_NUMBER <= value <= MAX_NUMBER
    return value if is_number else None
