"""Shared parts of the chat readers: text in parts, times in many formats."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, BinaryIO

from memory.nouns import Document, Turn
from memory.time.dates import parse_date
from plugins.readers import MIB

MAX_MESSAGE = 5 * MIB  # characters read of a message
MAX_LINE = 64 * MIB  # of a file of JSON lines; a longer one is the output of a tool
SHOWN_WORDS = 12  # of a message that names a chat or is quoted
_TEXT = ("content", "text", "message")
_MILLISECONDS = 10**11  # seconds since 1970 exceed this in the year 5138


def text_of(value: Any) -> str:
    """Returns the text of a string, a part, or a list of parts; "" for images and other parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n\n".join(filter(None, (text_of(part).strip() for part in value)))
    return text_of(first_of(value, _TEXT)) if isinstance(value, Mapping) else ""


def time_of(value: Any) -> datetime | None:
    """Returns the time in ISO 8601, another written date, or seconds or milliseconds since 1970; None for anything
    else."""
    if isinstance(value, str):
        try:  # the usual format, ten times as fast
            moment = datetime.fromisoformat(value)
        except ValueError:
            return parse_date(value)
        return moment if moment.tzinfo else parse_date(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return datetime.fromtimestamp(value / 1000 if value >= _MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def clip(text: str) -> str:
    """Returns the first MAX_MESSAGE characters."""
    return text[:MAX_MESSAGE]


def read_objects(file: BinaryIO) -> Iterator[Mapping[str, Any]]:
    """Yields the lines that are JSON objects; damaged and incomplete lines are skipped."""
    while line := file.readline(MAX_LINE):
        if not line.lstrip().startswith(b"{"):
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, Mapping):
            yield value


def make_chat(uri: str, title: str | None, turns: Sequence[Turn]) -> Document:
    """Returns the document of a chat, dated by its first turn with a time."""
    at = next((turn.at for turn in turns if turn.at is not None), None)
    return Document(uri, turns=tuple(turns), title=title, conversation=title, at=at)


def quote(text: str) -> str:
    """Returns an attached or forwarded text, quoted because the sender did not write it."""
    return "\n".join(f"> {line}" for line in text.split("\n"))


def shorten(text: str) -> str:
    """Returns the first words of a message, in one line."""
    parts = text.split()
    return " ".join(parts[:SHOWN_WORDS]) + ("…" if len(parts) > SHOWN_WORDS else "")


def as_text(value: Any) -> str:
    """Returns `value` without surrounding spaces if it is a string, else ""."""
    return value.strip() if isinstance(value, str) else ""


def as_mapping(value: Any) -> Mapping[str, Any]:
    """Returns `value` if it is a JSON object, else an empty mapping."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: Any) -> list[Any]:
    """Returns `value` if it is a JSON list, else an empty one."""
    return value if isinstance(value, list) else []


def first_of(mapping: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """Returns the value of the first of these keys that is set."""
    return next((mapping[key] for key in keys if mapping.get(key) is not None), None)
