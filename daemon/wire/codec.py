"""Dataclasses to JSON and back, events to lines of a stream."""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")


class Event:
    """What comes in a stream. On the wire it carries its class name in `"type"`."""

    __slots__ = ()


def encode(value: Any) -> Any:
    """A value of `daemon.wire` -> what `json.dumps` takes: objects, lists, strings, numbers, true, false, null."""
    if is_dataclass(value):
        return {f.name: encode(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, (tuple, list)):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    return value


def decode(kind: type[T], data: Any) -> T:
    """The JSON object of a `kind` -> a `kind`. Keys it does not know are left out: a newer daemon may send more.

    Raises ValueError if `data` is no object or a field without a default is missing.
    """
    if not isinstance(data, dict):
        raise ValueError(f"a {kind.__name__} is a JSON object, not {type(data).__name__}")
    types_of = _types(cast(Any, kind))
    try:
        return kind(**{name: _decoded(types_of[name], value) for name, value in data.items() if name in types_of})
    except TypeError as error:
        raise ValueError(f"not a {kind.__name__}: {error}") from error


@cache
def _types(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _decoded(kind: Any, value: Any) -> Any:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):  # only `X | None` is used
        return None if value is None else _decoded(get_args(kind)[0], value)
    if origin is tuple:
        return tuple(_decoded(get_args(kind)[0], item) for item in value)
    return decode(cast(Any, kind), value) if is_dataclass(kind) else value


def event_line(event: Event) -> bytes:
    """An event -> its line in a stream, with the line feed. ASCII: a broken file name cannot break the stream."""
    return json.dumps({"type": type(event).__name__, **encode(event)}).encode("ascii") + b"\n"
