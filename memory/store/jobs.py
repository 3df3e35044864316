"""Work that must not be lost: a durable queue in the same file, so that a result and "done" are one transaction; and
what language models were used for in doing it.

    queued -> leased -> done
      ^         |
      +-- fail -+-> dead     after too many attempts, with the reason

A job whose process is gone is handed out again: work is done at least once, and its effect must be the same the second
time. One process holds the file, so no lease runs out. Times are milliseconds UTC.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Literal, NamedTuple

from memory.llm import GRADED, PROBE_EDITION, Grades, Usage
from memory.store.connect import Connection
from memory.store.rows import LISTED, to_json

JobState = Literal["queued", "leased", "done", "dead"]

FIRST_PAUSE = 30_000
LONGEST_PAUSE = 3_600_000
ATTEMPTS = 5


class Job(NamedTuple):
    id: int
    kind: str
    dedupe_key: str
    payload: Mapping[str, Any]
    state: JobState
    attempts: int
    not_before: int
    last_error: str | None
    priority: int


_COLUMNS = "id, kind, dedupe_key, payload, state, attempts, not_before, last_error, priority"


def enqueue(
    conn: Connection, kind: str, dedupe_key: str, payload: Mapping[str, Any], now: int, *, priority: int = 0
) -> int:
    """The id of the queued job; of the one that is there if such a job waits or runs. Larger priority goes first."""
    (id,) = conn.execute(
        "INSERT INTO job(kind, dedupe_key, payload, not_before, priority, created) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(kind, dedupe_key) WHERE state IN ('queued', 'leased')"
        " DO UPDATE SET priority = max(priority, excluded.priority) RETURNING id",
        (kind, dedupe_key, to_json(dict(payload)), now, priority, now),
    ).fetchone()
    return int(id)


def claim(conn: Connection, now: int, boot_id: str, kinds: Sequence[str]) -> Job | None:
    """The next job of these kinds that is due, leased to the process `boot_id`; its attempt counts from here."""
    row = conn.execute(
        "UPDATE job SET state = 'leased', attempts = attempts + 1, boot_id = ? WHERE id = (SELECT id FROM job"
        f" WHERE state = 'queued' AND not_before <= ? AND kind IN {LISTED} ORDER BY priority DESC, id LIMIT 1)"
        f" RETURNING {_COLUMNS}",
        (boot_id, now, to_json(list(kinds))),
    ).fetchone()
    return _job(row) if row else None


def finish(conn: Connection, id: int) -> None:
    """Done: in the transaction that writes the job's result."""
    conn.execute("UPDATE job SET state = 'done', last_error = NULL WHERE id = ?", (id,))


def release(conn: Connection, id: int, not_before: int) -> None:
    """Gives a job back that could not be tried, through no fault of its own: the attempt does not count."""
    conn.execute(
        "UPDATE job SET state = 'queued', attempts = max(attempts - 1, 0), not_before = ? WHERE id = ?",
        (not_before, id),
    )


def put_back(conn: Connection) -> int:
    """Queues all that is leased, for its process ends as it was told; returns how many. The attempts do not count."""
    query = "UPDATE job SET state = 'queued', attempts = max(attempts - 1, 0) WHERE state = 'leased'"
    return conn.execute(query).rowcount


def bury(conn: Connection, id: int, error: str) -> None:
    """There is no use in trying again: dead at once, with the reason."""
    conn.execute("UPDATE job SET state = 'dead', last_error = ? WHERE id = ?", (error, id))


def retry(conn: Connection, kinds: Sequence[str], now: int, id: int | None = None) -> int:
    """Queues dead jobs of these kinds anew, or one of them, as if they had never been tried; returns how many."""
    return conn.execute(
        "UPDATE OR IGNORE job SET state = 'queued', attempts = 0, not_before = ?, last_error = NULL"
        f" WHERE state = 'dead' AND kind IN {LISTED} AND (?3 IS NULL OR id = ?3)",
        (now, to_json(list(kinds)), id),
    ).rowcount


def fail(conn: Connection, id: int, error: str, now: int, attempts: int = ATTEMPTS) -> JobState:
    """The attempt failed: later again, each pause twice the one before, or "dead" after `attempts`. "done" if there is
    no such job any more: what it was about has been forgotten."""
    row = conn.execute("SELECT attempts FROM job WHERE id = ?", (id,)).fetchone()
    if row is None:
        return "done"
    (tried,) = row
    state: JobState = "dead" if tried >= attempts else "queued"
    pause = min(FIRST_PAUSE * 2 ** max(tried - 1, 0), LONGEST_PAUSE)
    spread = 0.75 + (id * 2654435761 + tried) % 1000 / 2000  # so that what failed together does not return together
    conn.execute(
        "UPDATE job SET state = ?, last_error = ?, not_before = ? WHERE id = ?",
        (state, error, now + int(pause * spread), id),
    )
    return state


def count_attempt(
    conn: Connection, kind: str, dedupe_key: str, payload: Mapping[str, Any], error: str, now: int, attempts: int
) -> int:
    """Counts an attempt that failed at something that nobody claims, dead after so `attempts`; returns how many."""
    conn.execute("DELETE FROM job WHERE kind = ? AND dedupe_key = ? AND state = 'dead'", (kind, dedupe_key))
    id = enqueue(conn, kind, dedupe_key, payload, now)
    (tried,) = conn.execute(
        "UPDATE job SET attempts = attempts + 1, payload = ?, last_error = ?,"
        " state = iif(attempts + 1 >= ?, 'dead', 'queued') WHERE id = ? RETURNING attempts",
        (to_json(dict(payload)), error, attempts, id),
    ).fetchone()
    return int(tried)


def drop(conn: Connection, kind: str, dedupe_keys: Sequence[str]) -> None:
    """Forgets jobs of that kind, whatever became of them."""
    conn.execute(f"DELETE FROM job WHERE kind = ? AND dedupe_key IN {LISTED}", (kind, to_json(list(dedupe_keys))))


def requeue(conn: Connection, boot_id: str) -> int:
    """Frees what other, dead processes had leased; returns how many. Call at start, as the only process."""
    query = "UPDATE job SET state = 'queued' WHERE state = 'leased' AND boot_id IS NOT ?"
    return conn.execute(query, (boot_id,)).rowcount


def count(conn: Connection, kinds: Sequence[str]) -> dict[JobState, int]:
    """How many jobs of these kinds there are in each state that has any."""
    query = f"SELECT state, count(*) FROM job WHERE kind IN {LISTED} GROUP BY state"
    return dict(conn.execute(query, (to_json(list(kinds)),)).fetchall())


def list_jobs(conn: Connection, state: JobState, limit: int = -1, kinds: Sequence[str] | None = None) -> list[Job]:
    """Jobs in one state, of all kinds or of these, the newest first."""
    chosen = "" if kinds is None else " AND kind IN (SELECT value FROM json_each(:kinds))"
    rows = conn.execute(
        f"SELECT {_COLUMNS} FROM job WHERE state = :state{chosen} ORDER BY id DESC LIMIT :limit",
        {"state": state, "limit": limit, "kinds": to_json(list(kinds or ()))},
    )
    return [_job(row) for row in rows]


def prune(conn: Connection, before: int, kinds: Sequence[str] | None = None) -> int:
    """Drops done jobs, of all kinds or of these, that were created before a time; returns how many."""
    chosen = "" if kinds is None else " AND kind IN (SELECT value FROM json_each(:kinds))"
    return conn.execute(
        f"DELETE FROM job WHERE state = 'done' AND created < :before{chosen}",
        {"before": before, "kinds": to_json(list(kinds or ()))},
    ).rowcount


def _job(row: tuple[Any, ...]) -> Job:
    id, kind, dedupe_key, payload, *rest = row
    return Job(id, kind, dedupe_key, json.loads(payload), *rest)


# Language models: what probes found of them, and what they were used for; nothing of what was said -------------


class Use(NamedTuple):
    """What a model was used for on a day, which is like "2026-11-21". `calls` counts those that failed, too."""

    day: str
    model: str
    purpose: str
    is_local: bool
    calls: int
    failed: int
    usage: Usage
    ms: float


def keep_grades(conn: Connection, grades: Grades) -> None:
    """Replaces what an earlier probe found of that model."""
    values = to_json(asdict(grades))
    conn.execute("INSERT OR REPLACE INTO llm_probe(name, t, grades) VALUES (?, ?, ?)", (grades.name, grades.at, values))


def list_grades(conn: Connection) -> dict[str, Grades]:
    """What is known of each model that was probed, by its name."""
    return {name: _grades(text) for name, text in conn.execute("SELECT name, grades FROM llm_probe ORDER BY name")}


def count_use(conn: Connection, use: Use) -> None:
    """Adds to what the model was used for on that day."""
    conn.execute(
        "INSERT INTO llm_use VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(day, model, purpose, is_local) DO UPDATE SET calls = calls + excluded.calls,"
        " failed = failed + excluded.failed, tok_read = tok_read + excluded.tok_read,"
        " tok_written = tok_written + excluded.tok_written, tok_cached = tok_cached + excluded.tok_cached,"
        " ms = ms + excluded.ms",
        (*use[:6], use.usage.read, use.usage.written, use.usage.cached, use.ms),
    )


def list_uses(conn: Connection, since: str) -> list[Use]:
    """What models were used for from that day on, the newest first."""
    rows = conn.execute(
        "SELECT day, model, purpose, is_local, calls, failed, tok_read, tok_written, tok_cached, ms FROM llm_use"
        " WHERE day >= ? ORDER BY day DESC, model, purpose, is_local",
        (since,),
    )
    return [
        Use(day, model, purpose, bool(is_local), calls, failed, Usage(read, written, cached), ms)
        for day, model, purpose, is_local, calls, failed, read, written, cached, ms in rows
    ]


def _grades(text: str) -> Grades:
    """Grades as they were kept; of those of other tasks only what is not a grade."""
    values = {"edition": 1} | json.loads(text)
    names = {field.name for field in fields(Grades)} & values.keys()
    if values["edition"] != PROBE_EDITION:
        names -= {*GRADED}
    known = {name: values[name] for name in names}
    return Grades(**{**known, "usage": Usage(**values["usage"]), "notes": tuple(values["notes"])})
