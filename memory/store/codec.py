"""How values of the library are written into columns, and read from rows: id lists, JSON, citations, sources."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import chain, islice
from typing import Any, SupportsInt

import numpy as np
from numpy.typing import NDArray

from memory.nouns import Citation, Source
from memory.time.timestamps import from_ms, to_ms

FIRST_EDGE = 1 << 30  # node ids begin at 1, so the id of a fact tells a relation from a thesis
PIECE = 50_000  # rows that are Python objects at a time


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


def numbers(cursor: Iterator[tuple[int, ...]], width: int) -> Iterator[NDArray[np.int64]]:
    """The rows of whole numbers in pieces (any, width), so that never all are Python objects at once."""
    flat = chain.from_iterable(cursor)
    while len(piece := np.fromiter(islice(flat, PIECE * width), np.int64)):
        yield piece.reshape(-1, width)


def columns(cursor: Iterator[tuple[int, ...]], width: int) -> NDArray[np.int64]:
    """(width, any) the rows of whole numbers, turned."""
    return np.concatenate([np.zeros((width, 0), np.int64), *(piece.T for piece in numbers(cursor, width))], axis=1)
