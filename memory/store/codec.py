"""How values of the library are written into columns, and read from rows: id lists, JSON, citations, sources."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, SupportsInt

from memory.nouns import Citation, Source
from memory.times import from_ms, to_ms


def id_list(ids: Iterable[SupportsInt]) -> str:
    """Ids as JSON, for `IN (SELECT value FROM json_each(?))`: any number of them in one parameter."""
    return json.dumps([int(one) for one in ids])


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def citations_to_json(citations: Sequence[Citation]) -> str:
    names = [field.name for field in fields(Citation)]
    return to_json([{name: getattr(one, name) for name in names} | {"at": to_ms(one.at)} for one in citations])


def citations_from_json(stored: str | None) -> tuple[Citation, ...]:
    return tuple(Citation(**(one | {"at": from_ms(one["at"])})) for one in json.loads(stored or "[]"))


SOURCE_COLUMNS = "id, uri, kind, title, reader, conversation, policy, at, sha256, size, mtime_ns"


def source_from_row(row: Sequence[Any]) -> Source:
    """A Source from the values of SOURCE_COLUMNS."""
    id, uri, kind, title, reader, conversation, policy, at, sha256, size, mtime_ns = row
    return Source(id, uri, kind, title, reader, conversation, policy, from_ms(at), sha256, size, mtime_ns)
