"""Dataclasses to JSON and back, events to lines of a stream."""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")

PLAIN: dict[type, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


class Event:
    """What comes in a stream. On the wire it carries its class name in `"type"`."""

    __slots__ = ()


def encode(value: Any) -> Any:
    """A value of `daemon.wire` -> what `json.dumps` takes: objects, lists, strings (times, too), numbers, true, false,
    null."""
    if is_dataclass(value):
        return {f.name: encode(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, (tuple, list)):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    return value.isoformat() if isinstance(value, datetime) else value


def decode(kind: type[T], data: Any) -> T:
    """The JSON object of a `kind` -> a `kind`. Keys it does not know are left out: a newer daemon may send more.

    Raises ValueError, with the name of the field, if `data` is no object, a field without a default is missing or one
    holds another type than it should.
    """
    if not isinstance(data, dict):
        raise ValueError(f"a {kind.__name__} is a JSON object, not {type(data).__name__}")
    types_of = _types(cast(Any, kind))
    values = {name: _decoded(types_of[name], value, name) for name, value in data.items() if name in types_of}
    try:
        return kind(**values)
    except TypeError as error:
        missing = [item.name for item in fields(cast(Any, kind)) if item.name not in values and _is_required(item)]
        raise ValueError(f"{', '.join(missing)} is missing" if missing else f"not a {kind.__name__}") from error


@cache
def _types(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _is_required(item: Field[Any]) -> bool:
    return item.default is MISSING and item.default_factory is MISSING


def _decoded(kind: Any, value: Any, name: str) -> Any:
    if kind in PLAIN:
        if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            return value
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        raise ValueError(f"{name} must be {PLAIN[kind]}")
    if kind is datetime:
        try:
            return datetime.fromisoformat(value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must be a time: 2025-05-03T14:00+02:00") from error
    origin = get_origin(kind)
    if origin is Literal:
        return _decoded(str, value, name)  # a newer daemon may know another word
    if origin in (Union, types.UnionType):  # only `X | None` is used
        return None if value is None else _decoded(get_args(kind)[0], value, name)
    if origin is tuple:
        if not isinstance(value, list):
            raise ValueError(f"{name} must be a list")
        return tuple(_decoded(get_args(kind)[0], item, name) for item in value)
    return decode(cast(Any, kind), value) if is_dataclass(kind) else value


def event_line(event: Event) -> bytes:
    """An event -> its line in a stream, with the line feed. ASCII: a broken file name cannot break the stream."""
    return json.dumps({"type": type(event).__name__, **encode(event)}).encode("ascii") + b"\n"
