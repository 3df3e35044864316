"""Giving episodes that are stored already the vectors of another embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memory.protocols import Vectors
from memory.store import episodes, vectors
from memory.store.connect import Connection


class Passage(NamedTuple):
    """A live episode and what its vector is made of; `sha256` names the words."""

    id: int
    text: str
    sha256: str


def embedded_text(title: str, text: str) -> str:
    """What the vector of an episode is made of."""
    return f"{title}. {text}"


def passages(conn: Connection, ids: Sequence[int]) -> list[Passage]:
    """Those of these episodes that are live."""
    return [Passage(row.id, embedded_text(row.title, row.text), row.sha256) for row in episodes.words_of(conn, ids)]


def put(conn: Connection, embedder_id: int, made: Sequence[Passage], matrix: Vectors) -> None:
    """Stores the vectors, a row for each passage; those of episodes that have gone since are left out."""
    live = {row.id for row in episodes.words_of(conn, [passage.id for passage in made])}
    kept = [place for place, passage in enumerate(made) if passage.id in live]
    ids, hashes = [made[place].id for place in kept], [made[place].sha256 for place in kept]
    vectors.put_many(conn, embedder_id, "episode", ids, matrix[kept], hashes)
