from __future__ import annotations

import dataclasses
import functools
import importlib
import json
import typing
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon import wire
from daemon.calls import list_calls
from daemon.calls.process import DaemonCalls


def list_values(kind: object) -> Iterator[type]:
    """The messages within a type."""
    parts = typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        yield typing.cast(type, kind)
        parts = (*typing.get_type_hints(kind).values(),)
    for part in parts:
        yield from list_values(part)


NAMED = [getattr(wire, name) for name in wire.HOMES]
EVENTS = [kind for kind in NAMED if isinstance(kind, type) and issubclass(kind, wire.Event) and kind is not wire.Event]
REPLIES = [call.types["return"] for call in list_calls(DaemonCalls)]  # type: ignore[type-abstract]
VALUES = [*dict.fromkeys(value for kind in (*EVENTS, wire.Scope, *REPLIES) for value in list_values(kind))]
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
# File names may hold lone surrogates, and labels anything at all.
TEXT = st.text(st.characters(codec=None), max_size=20)


@functools.cache
def of(kind: object) -> st.SearchStrategy[object]:
    """Anything a field of this type may hold."""
    arguments = typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        fields = {field.name: of(hints[field.name]) for field in dataclasses.fields(kind)}
        days = {"day": st.dates().map(str)} if kind is wire.PlannedEntry else {}
        return st.builds(kind, **fields | days)  # type: ignore[arg-type]
    if typing.get_origin(kind) is tuple:
        return st.lists(of(arguments[0]), max_size=2).map(tuple)
    if typing.get_origin(kind) is typing.Literal:
        return st.sampled_from(arguments)
    if typing.get_origin(kind) in (dict, Mapping):
        return st.dictionaries(TEXT, PLAIN if arguments[1] is typing.Any else of(arguments[1]), max_size=2)
    if arguments:
        return st.one_of(*map(of, arguments))
    return {
        str: TEXT,
        int: st.integers(),
        float: st.floats(allow_nan=False),
        bool: st.booleans(),
        type(None): st.none(),
        datetime: st.datetimes(timezones=st.just(UTC)),
    }[kind]  # type: ignore[index]


def test_there_are_all_messages() -> None:
    assert len(VALUES) > 35 and len(EVENTS) > 12
    for name in {*wire.HOMES.values()}:
        module = importlib.import_module(name)
        here = {kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == module.__name__}
        known = {getattr(wire, kind) for kind, home in wire.HOMES.items() if home == module.__name__}
        assert here == {kind for kind in known if isinstance(kind, type)}


@given(st.sampled_from(VALUES).flatmap(of))
def test_every_message_survives_the_wire(value: object) -> None:
    text = json.dumps(wire.encode(value))
    assert wire.decode(type(value), json.loads(text)) == value


@given(st.sampled_from(EVENTS).flatmap(of))
def test_every_event_survives_as_one_line(event: wire.Event) -> None:
    line = wire.event_line(event)
    assert line.isascii() and line.endswith(b"\n") and line.count(b"\n") == 1
    assert wire.parse_event(line) == event


def test_a_newer_daemon_may_send_more() -> None:
    assert wire.decode(wire.Names, {"one": "a", "other": "b", "same": True, "replaced": 0, "since": "2027"}).one == "a"


@pytest.mark.parametrize("data", [None, [], "x", {}, {"version": "1"}])
def test_what_is_no_message_is_refused(data: object) -> None:
    with pytest.raises(ValueError):
        wire.decode(wire.Hello, data)


@pytest.mark.parametrize("line", [b"", b"[]", b"{}", b'{"type": "Hello"}', b'{"type": "Token"}', b'{"type": ["x"]}'])
def test_what_is_no_event_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):
        wire.parse_event(line)
