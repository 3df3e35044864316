"""What messages of all kinds of chats have in common: text in parts, times in many forms."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, BinaryIO

from memory.nouns import UNKNOWN as UNKNOWN
from memory.nouns import Document, Turn
from memory.time.dates import parse_date
from plugins.readers import MIB

MAX_MESSAGE = 5 * MIB  # characters of a message that are read
MAX_LINE = 64 * MIB  # of a file of lines in JSON; a longer one is what a tool gave back
_TEXT = ("content", "text", "message")
_MILLISECONDS = 10**11  # seconds since 1970 stay below this until the year 5138


def text_of(value: Any) -> str:
    """A string, a part with a text, or a list of parts; images and other parts say nothing."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n\n".join(filter(None, (text_of(part).strip() for part in value)))
    return text_of(first_of(value, _TEXT)) if isinstance(value, Mapping) else ""


def time_of(value: Any) -> datetime | None:
    """ISO 8601 or another written date, or seconds or milliseconds since 1970."""
    if isinstance(value, str):
        try:  # what most exports write, ten times as fast
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
    """As much of a message as is read."""
    return text[:MAX_MESSAGE]


def read_objects(file: BinaryIO) -> Iterator[Mapping[str, Any]]:
    """The lines that are objects in JSON; others are damaged, or not yet whole."""
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
    """What was said, under the name of where; it is from when the first of it is that has a time."""
    at = next((turn.at for turn in turns if turn.at is not None), None)
    return Document(uri, turns=tuple(turns), title=title, conversation=title, at=at)


def quote(text: str) -> str:
    """What was attached or forwarded: somebody's text, not what the person says."""
    return "\n".join(f"> {line}" for line in text.split("\n"))


def shorten(text: str, words: int = 12) -> str:
    """The first words of a message, in one line."""
    found = text.split()
    return " ".join(found[:words]) + ("…" if len(found) > words else "")


def as_mapping(value: Any) -> Mapping[str, Any]:
    """A value that should be an object of JSON; an empty one if it is none."""
    return value if isinstance(value, Mapping) else {}


def first_of(mapping: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """The value of the first of these keys that it has."""
    return next((mapping[key] for key in keys if mapping.get(key) is not None), None)
