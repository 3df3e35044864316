"""The folders that are watched."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from memory.nouns import Policy
from memory.store.codec import to_json
from memory.store.connect import Connection


class WatchedFolder(NamedTuple):
    """`added` is in milliseconds UTC."""

    id: int
    path: str
    policy: Policy
    added: int
    options: Mapping[str, Any]


def add(
    conn: Connection, path: str, now: int, policy: Policy = "local", options: Mapping[str, Any] | None = None
) -> bool:
    """Watches `path`, or changes policy and options of one that is watched; True if it is new."""
    known = conn.execute("SELECT 1 FROM folder WHERE path = ?", (path,)).fetchone()
    conn.execute(
        "INSERT INTO folder(path, policy, added, options) VALUES (?, ?, ?, ?)"
        " ON CONFLICT(path) DO UPDATE SET policy = excluded.policy, options = excluded.options",
        (path, policy, now, to_json(dict(options or {}))),
    )
    return known is None


def policy_of(conn: Connection, path: str) -> Policy | None:
    """The policy of the watched folder that `path` is or lies in; None if it lies in none."""
    above = {path, *(path[:end] for end, char in enumerate(path) if char == "/")}
    return next((folder.policy for folder in list_folders(conn) if folder.path in above), None)


def remove(conn: Connection, path: str) -> bool:
    """Stops watching; False if it was not watched. What was read from it stays."""
    return conn.execute("DELETE FROM folder WHERE path = ?", (path,)).rowcount > 0


def list_folders(conn: Connection) -> list[WatchedFolder]:
    """All, by path."""
    rows = conn.execute("SELECT id, path, policy, added, options FROM folder ORDER BY path")
    return [WatchedFolder(id, path, policy, added, json.loads(options)) for id, path, policy, added, options in rows]


class Skip(NamedTuple):
    """`t` is in milliseconds UTC."""

    uri: str
    reason: str
    t: int


def skip(conn: Connection, uri: str, reason: str, now: int) -> None:
    conn.execute("INSERT OR REPLACE INTO skip(uri, reason, t) VALUES (?, ?, ?)", (uri, reason, now))


def unskip(conn: Connection, uri: str) -> bool:
    """The file could be read, or has gone; False if it was not skipped."""
    return conn.execute("DELETE FROM skip WHERE uri = ?", (uri,)).rowcount > 0


def list_skipped(conn: Connection, limit: int = 50, offset: int = 0) -> list[Skip]:
    """The newest first."""
    rows = conn.execute("SELECT uri, reason, t FROM skip ORDER BY t DESC, uri LIMIT ? OFFSET ?", (limit, offset))
    return [Skip(*row) for row in rows]


def count_skipped(conn: Connection) -> int:
    found: int = conn.execute("SELECT count(*) FROM skip").fetchone()[0]
    return found
