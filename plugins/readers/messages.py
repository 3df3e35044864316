"""What messages of all kinds of chats have in common: text in parts, times in many forms."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from memory.time.dates import parse_date
from plugins.readers import MIB

MAX_MESSAGE = 5 * MIB  # characters of a message that are read
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


def first_of(mapping: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """The value of the first of these keys that it has."""
    return next((mapping[key] for key in keys if mapping.get(key) is not None), None)
