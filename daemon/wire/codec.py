"""Converts dataclasses to JSON and back, and events to lines of a stream."""

from __future__ import annotations

import json
import os
import types
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")

PLAIN: dict[type, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
FROM_ITS_BEGINNING = ("since", "at")  # what a day alone is, where a field of this name has it; elsewhere it is its end
# properties that are sent with the fields
SENT_TOO = {
    "Citation": ("label",), "Answered": ("lines", "kind"), "Preview": ("lines",), "ChatMessage": ("lines",),
    "Fact": ("place", "statement", "period", "is_over"), "Passage": ("first_line",), "RecallReply": ("unknown",),
    "Grades": ("by_role", "advice"), "PlannedEntry": ("day_name", "is_past"),
    "Revision": ("title", "sides", "explanation", "verdict", "outcome"),
}  # fmt: skip


def encode(value: Any) -> Any:
    """Converts a value of `daemon.wire` to what `json.dumps` accepts: objects, lists, strings (times, too), numbers,
    true, false, null."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if is_dataclass(value):
        names = (*(item.name for item in fields(value)), *SENT_TOO.get(type(value).__name__, ()))
        sent = {name: encode(getattr(value, name)) for name in names}
        if type(value).__name__ == "Step":
            from memory.stages import describe_step  # its types take 5 ms, which an empty chat should not pay

            sent["phrase"] = describe_step(cast(Any, value))
        return sent
    if isinstance(value, (tuple, list, set, frozenset)):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):  # the daemon has another working directory
        return str(value.expanduser().absolute())
    item = getattr(value, "item", None)  # a number of numpy's, in what a stage noted
    return item() if callable(item) else str(value)


def encode_event(event: Any) -> dict[str, Any]:
    """Converts an event to its JSON object, with its `type`."""
    return {"type": type(event).__name__, **encode(event)}


def event_line(event: Any) -> bytes:
    """Encodes an event as a line of a stream, with the line feed. ASCII: a broken file name cannot break the stream."""
    return json.dumps(encode_event(event)).encode("ascii") + b"\n"


def decode(kind: type[T], data: Any, *, strict: bool = False) -> T:
    """Converts a JSON object to a `kind`; returns a `dict` unchanged. ValueError, as `decode_fields`."""
    if kind is dict:
        return cast(T, data)
    required = [
        item.name for item in fields(cast(Any, kind)) if item.default is MISSING and item.default_factory is MISSING
    ]
    return kind(**decode_fields(_read_types(cast(Any, kind)), data, required, strict=strict))


def decode_fields(
    kinds: Mapping[str, Any], data: Any, required: Collection[str], *, strict: bool = False
) -> dict[str, Any]:
    """Decodes the fields of a JSON object. Skips unknown keys, because a newer daemon may send more; `strict` rejects
    them, as in a client's request. ValueError, with the field's name, if `data` is no object, or a required field is
    missing or of the wrong type."""
    if not isinstance(data, dict):
        raise ValueError(f"a JSON object is needed, not {type(data).__name__}")
    if strict and (unknown := [name for name in data if name not in kinds]):
        raise ValueError(f"there is no field {unknown[0][:40]!r} in it, but {', '.join(kinds) or 'none at all'}")
    if missing := [name for name in required if name not in data]:
        raise ValueError(f"{', '.join(missing)} is missing")
    return {name: _decode(kinds[name], value, name, strict) for name, value in data.items() if name in kinds}


def parse_time(text: Any, name: str) -> datetime:
    """Parses an ISO 8601 time; local without an offset. InvalidInputError."""
    try:
        value = datetime.fromisoformat(text)
        if len(text) <= 10 and name not in FROM_ITS_BEGINNING:
            value = value.replace(hour=23, minute=59, second=59, microsecond=999999)
        return value if value.tzinfo else value.astimezone()
    except (TypeError, ValueError, OverflowError) as error:  # the year 1 has no other zone's time
        from memory.errors import InvalidInputError  # of the daemon alone: clients send what is a time

        raise InvalidInputError(
            f"{name} is no time: {str(text)[:40]!r}. Write 2025-05-03 or 2025-05-03T14:00+02:00."
        ) from error


def parse_path(text: str, name: str) -> Path:
    """Parses an absolute path of a file. ValueError."""
    try:
        if b"\0" in os.fsencode(text):
            raise ValueError
    except ValueError as error:  # also what is no text that a file system takes
        raise ValueError(f"{name} holds a character that no path can have") from error
    if not Path(text).is_absolute():
        raise ValueError(f"{name} must be an absolute path: the daemon has another working directory")
    return Path(text)


_read_types = cache(get_type_hints)


def _decode(kind: Any, value: Any, name: str, strict: bool) -> Any:
    if kind in PLAIN:
        if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            return value
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        raise ValueError(f"{name} must be {PLAIN[kind]}")
    if kind is datetime:
        return parse_time(value, name)
    if kind is Path:
        return parse_path(_decode(str, value, name, strict), name)
    origin = get_origin(kind)
    if origin is Literal:
        if strict and value not in get_args(kind):  # a newer daemon may know another word
            raise ValueError(f"{name} must be one of {', '.join(get_args(kind))}")
        return _decode(str, value, name, strict)
    if origin in (Union, types.UnionType):  # only `X | None` is used
        return None if value is None else _decode(get_args(kind)[0], value, name, strict)
    if origin in (tuple, Sequence):
        if not isinstance(value, list):
            raise ValueError(f"{name} must be a list")
        return tuple(_decode(get_args(kind)[0], item, name, strict) for item in value)
    if origin is Mapping and isinstance(value, dict):
        return {key: _decode(get_args(kind)[1], item, name, strict) for key, item in value.items()}
    return decode(cast(Any, kind), value, strict=strict) if is_dataclass(kind) else value
