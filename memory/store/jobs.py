"""Work that must not be lost: a durable queue in the same file, so that a result and "done" are one transaction.

    queued -> leased -> done
      ^         |
      +-- fail -+-> dead     after too many attempts, with the reason

A job whose lease has run out, or whose process is gone, is handed out again: work is done at least once, and its effect
must be the same the second time. Times are milliseconds UTC.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from memory.store.codec import to_json
from memory.store.connect import Connection

State = Literal["queued", "leased", "done", "dead"]

LEASE = 120_000
FIRST_PAUSE = 30_000
LONGEST_PAUSE = 3_600_000
ATTEMPTS = 5


class Job(NamedTuple):
    id: int
    kind: str
    dedupe_key: str
    payload: Mapping[str, Any]
    state: State
    attempts: int
    not_before: int
    last_error: str | None
    priority: int


_COLUMNS = "id, kind, dedupe_key, payload, state, attempts, not_before, last_error, priority"


def enqueue(
    conn: Connection,
    kind: str,
    dedupe_key: str,
    payload: Mapping[str, Any],
    now: int,
    *,
    priority: int = 0,
    not_before: int | None = None,
) -> int:
    """The id of the queued job; of the one that is there if such a job waits or runs. Larger priority goes first."""
    (id,) = conn.execute(
        "INSERT INTO job(kind, dedupe_key, payload, not_before, priority, created) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(kind, dedupe_key) WHERE state IN ('queued', 'leased')"
        " DO UPDATE SET priority = max(priority, excluded.priority) RETURNING id",
        (kind, dedupe_key, to_json(dict(payload)), now if not_before is None else not_before, priority, now),
    ).fetchone()
    return int(id)


def claim(
    conn: Connection, now: int, boot_id: str, kinds: Sequence[str] | None = None, lease: int = LEASE
) -> Job | None:
    """The next job that is due, leased to the process `boot_id`; its attempt counts from here."""
    chosen = "" if kinds is None else " AND kind IN (SELECT value FROM json_each(:kinds))"
    row = conn.execute(
        "UPDATE job SET state = 'leased', attempts = attempts + 1, lease_until = :now + :lease, boot_id = :boot_id"
        " WHERE id = (SELECT id FROM job WHERE (state = 'queued' AND not_before <= :now"
        f"  OR state = 'leased' AND lease_until <= :now){chosen} ORDER BY priority DESC, id LIMIT 1)"
        f" RETURNING {_COLUMNS}",
        {"now": now, "lease": lease, "boot_id": boot_id, "kinds": to_json(list(kinds or ()))},
    ).fetchone()
    return _job(row) if row else None


def renew(conn: Connection, id: int, now: int, lease: int = LEASE) -> None:
    """The job is still being worked on."""
    conn.execute("UPDATE job SET lease_until = ? WHERE id = ? AND state = 'leased'", (now + lease, id))


def finish(conn: Connection, id: int) -> None:
    """Done: in the transaction that writes the job's result."""
    conn.execute("UPDATE job SET state = 'done', lease_until = NULL, last_error = NULL WHERE id = ?", (id,))


def fail(conn: Connection, id: int, error: str, now: int, attempts: int = ATTEMPTS) -> State:
    """The attempt failed: later again, each pause twice the one before, or "dead" after `attempts`."""
    (tried,) = conn.execute("SELECT attempts FROM job WHERE id = ?", (id,)).fetchone()
    state: State = "dead" if tried >= attempts else "queued"
    pause = min(FIRST_PAUSE * 2 ** max(tried - 1, 0), LONGEST_PAUSE)
    spread = 0.75 + (id * 2654435761 + tried) % 1000 / 2000  # so that what failed together does not return together
    conn.execute(
        "UPDATE job SET state = ?, last_error = ?, not_before = ?, lease_until = NULL WHERE id = ?",
        (state, error, now + int(pause * spread), id),
    )
    return state


def requeue(conn: Connection, boot_id: str) -> int:
    """Frees what other, dead processes had leased; returns how many. Call at start, as the only process."""
    return conn.execute(
        "UPDATE job SET state = 'queued', lease_until = NULL WHERE state = 'leased' AND boot_id IS NOT ?", (boot_id,)
    ).rowcount


def pending(conn: Connection, kind: str | None = None) -> int:
    """How many wait or run."""
    found: int = conn.execute(
        "SELECT count(*) FROM job WHERE state IN ('queued', 'leased') AND (?1 IS NULL OR kind = ?1)", (kind,)
    ).fetchone()[0]
    return found


def listing(conn: Connection, state: State, limit: int = 50, offset: int = 0) -> list[Job]:
    """Jobs in one state, the newest first."""
    rows = conn.execute(
        f"SELECT {_COLUMNS} FROM job WHERE state = ? ORDER BY id DESC LIMIT ? OFFSET ?", (state, limit, offset)
    )
    return [_job(row) for row in rows]


def prune(conn: Connection, before: int) -> int:
    """Drops done jobs that were created before a time; returns how many."""
    return conn.execute("DELETE FROM job WHERE state = 'done' AND created < ?", (before,)).rowcount


def _job(row: tuple[Any, ...]) -> Job:
    id, kind, dedupe_key, payload, *rest = row
    return Job(id, kind, dedupe_key, json.loads(payload), *rest)
