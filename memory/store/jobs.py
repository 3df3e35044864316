"""A durable job queue in the memory file, so that a result and "done" are one transaction; and the use of models.

    queued -> leased -> done
      ^         |
      +-- fail -+-> dead     after too many attempts, with the reason

A job of a dead process runs again: work is done at least once and must be idempotent. One process owns the file, so
leases do not expire. Times are ms UTC.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal, NamedTuple

import msgspec

from memory.llm import GRADED, PROBE_EDITION, Grades, Usage
from memory.store.connect import LISTED, Connection, get_meta, read_value, set_meta, to_json

JobState = Literal["queued", "leased", "done", "dead"]

FIRST_PAUSE = 30_000
ATTEMPTS = 5


class Job(NamedTuple):
    """A job; at most one of each `kind` and `key` waits or runs. Higher priority goes first. `id`: 0 if not queued."""

    kind: str
    key: str
    payload: Mapping[str, Any]
    priority: int = 0
    id: int = 0
    state: JobState = "queued"
    attempts: int = 0
    not_before: int = 0
    last_error: str | None = None


_COLUMNS = "kind, dedupe_key, payload, priority, id, state, attempts, not_before, last_error"


def enqueue(conn: Connection, job: Job, now: int) -> int:
    """Queues a job; returns its id, or that of an equal job that is queued or leased."""
    (id,) = conn.execute(
        "INSERT INTO job(kind, dedupe_key, payload, not_before, priority, created) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(kind, dedupe_key) WHERE state IN ('queued', 'leased')"
        " DO UPDATE SET priority = max(priority, excluded.priority) RETURNING id",
        (job.kind, job.key, to_json(dict(job.payload)), max(now, job.not_before), job.priority, now),
    ).fetchone()
    return int(id)


def claim(conn: Connection, now: int, boot_id: str, kinds: Sequence[str]) -> Job | None:
    """Returns the next due job of these kinds, leased to the process `boot_id`; counts an attempt."""
    row = conn.execute(
        "UPDATE job SET state = 'leased', attempts = attempts + 1, boot_id = ? WHERE id = (SELECT id FROM job"
        f" WHERE state = 'queued' AND not_before <= ? AND kind IN {LISTED} ORDER BY priority DESC, id LIMIT 1)"
        f" RETURNING {_COLUMNS}",
        (boot_id, now, to_json(list(kinds))),
    ).fetchone()
    return _make_job(row) if row else None


def next_at(conn: Connection, kinds: Sequence[str]) -> int | None:
    """Returns when the first queued job of these kinds is due (ms UTC); None without one."""
    query = f"SELECT min(not_before) FROM job WHERE state = 'queued' AND kind IN {LISTED}"
    at: int | None = read_value(conn, query, to_json(list(kinds)))
    return at


def finish(conn: Connection, id: int) -> None:
    """Marks a job done, in the transaction that writes its result."""
    conn.execute("UPDATE job SET state = 'done', last_error = NULL WHERE id = ?", (id,))


def release(conn: Connection, id: int, not_before: int) -> None:
    """Returns a job that could not be tried for external reasons; the attempt does not count."""
    conn.execute(
        "UPDATE job SET state = 'queued', attempts = max(attempts - 1, 0), not_before = ? WHERE id = ?",
        (not_before, id),
    )


def put_back(conn: Connection) -> int:
    """Queues all leased jobs at a regular shutdown; returns their number. The attempts do not count."""
    query = "UPDATE job SET state = 'queued', attempts = max(attempts - 1, 0) WHERE state = 'leased'"
    return conn.execute(query).rowcount


def bury(conn: Connection, id: int, error: str) -> None:
    """Marks a job dead at once, with the reason: a retry is useless."""
    conn.execute("UPDATE job SET state = 'dead', last_error = ? WHERE id = ?", (error, id))


def retry(conn: Connection, kinds: Sequence[str], now: int, id: int | None = None) -> int:
    """Queues dead jobs of these kinds, or one of them, with no attempts; returns their number."""
    return conn.execute(
        "UPDATE OR IGNORE job SET state = 'queued', attempts = 0, not_before = ?, last_error = NULL"
        f" WHERE state = 'dead' AND kind IN {LISTED} AND (?3 IS NULL OR id = ?3)",
        (now, to_json(list(kinds)), id),
    ).rowcount


def fail(conn: Connection, id: int, error: str, now: int) -> JobState:
    """Records a failed attempt: queued again, with doubled pauses, or dead after ATTEMPTS. Returns "done" if the job
    is gone because its subject was forgotten."""
    tried = read_value(conn, "SELECT attempts FROM job WHERE id = ?", id)
    if tried is None:
        return "done"
    state: JobState = "dead" if tried >= ATTEMPTS else "queued"
    pause = FIRST_PAUSE * 2 ** max(tried - 1, 0)
    spread = 0.75 + (id * 2654435761 + tried) % 1000 / 2000  # spread jobs that failed together
    conn.execute(
        "UPDATE job SET state = ?, last_error = ?, not_before = ? WHERE id = ?",
        (state, error, now + int(pause * spread), id),
    )
    return state


def count_attempt(conn: Connection, job: Job, error: str, now: int, attempts: int) -> int:
    """Counts a failed attempt at work outside the queue, dead after `attempts`; returns the count."""
    conn.execute("DELETE FROM job WHERE kind = ? AND dedupe_key = ? AND state = 'dead'", job[:2])
    id = enqueue(conn, job, now)
    (tried,) = conn.execute(
        "UPDATE job SET attempts = attempts + 1, payload = ?, last_error = ?,"
        " state = iif(attempts + 1 >= ?, 'dead', 'queued') WHERE id = ? RETURNING attempts",
        (to_json(dict(job.payload)), error, attempts, id),
    ).fetchone()
    return int(tried)


def drop(conn: Connection, kind: str, dedupe_keys: Sequence[str]) -> None:
    """Deletes jobs of a kind in any state."""
    conn.execute(f"DELETE FROM job WHERE kind = ? AND dedupe_key IN {LISTED}", (kind, to_json(list(dedupe_keys))))


def requeue(conn: Connection, boot_id: str) -> None:
    """Frees the leases of dead processes. Call at start, as the only process."""
    conn.execute("UPDATE job SET state = 'queued' WHERE state = 'leased' AND boot_id IS NOT ?", (boot_id,))


def count(conn: Connection, kinds: Sequence[str]) -> dict[JobState, int]:
    """Returns {state: number of jobs of these kinds}."""
    query = f"SELECT state, count(*) FROM job WHERE kind IN {LISTED} GROUP BY state"
    return dict(conn.execute(query, (to_json(list(kinds)),)).fetchall())


def list_jobs(conn: Connection, state: JobState, limit: int = -1, kinds: Sequence[str] | None = None) -> list[Job]:
    """Lists jobs in one state, of all or these kinds, newest first."""
    rows = conn.execute(
        f"SELECT {_COLUMNS} FROM job WHERE state = ? AND (?2 IS NULL OR kind IN (SELECT value FROM json_each(?2)))"
        " ORDER BY id DESC LIMIT ?3",
        (state, None if kinds is None else to_json(list(kinds)), limit),
    )
    return [_make_job(row) for row in rows]


def prune(conn: Connection, before: int, kinds: Sequence[str] | None = None) -> int:
    """Deletes done jobs, of all or these kinds, created before a time; returns their number."""
    of_kinds = "?2 IS NULL OR kind IN (SELECT value FROM json_each(?2))"
    query = f"DELETE FROM job WHERE state = 'done' AND created < ?1 AND ({of_kinds})"
    return conn.execute(query, (before, None if kinds is None else to_json(list(kinds)))).rowcount


def _make_job(row: tuple[Any, ...]) -> Job:
    kind, key, payload, *rest = row
    return Job(kind, key, json.loads(payload), *rest)


# Language models: results of probes, and usage without any texts ------------------------------------------------


class Use(NamedTuple):
    """The use of a model on a day such as "2026-11-21". `calls` includes failed ones."""

    day: str
    model: str
    purpose: str
    is_local: bool
    calls: int
    failed: int
    usage: Usage
    ms: float


def keep_grades(conn: Connection, grades: Grades) -> None:
    """Replaces the probe results of a model."""
    values = to_json(asdict(grades))
    conn.execute("INSERT OR REPLACE INTO llm_probe(name, t, grades) VALUES (?, ?, ?)", (grades.name, grades.at, values))


def list_grades(conn: Connection) -> dict[str, Grades]:
    """Returns {model: probe results}."""
    return {
        name: _parse_grades(text) for name, text in conn.execute("SELECT name, grades FROM llm_probe ORDER BY name")
    }


def count_use(conn: Connection, use: Use) -> None:
    """Adds to the use of a model on that day."""
    conn.execute(
        "INSERT INTO llm_use VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(day, model, purpose, is_local) DO UPDATE SET calls = calls + excluded.calls,"
        " failed = failed + excluded.failed, tok_read = tok_read + excluded.tok_read,"
        " tok_written = tok_written + excluded.tok_written, tok_cached = tok_cached + excluded.tok_cached,"
        " ms = ms + excluded.ms",
        (*use[:6], use.usage.read, use.usage.written, use.usage.cached, use.ms),
    )


def list_uses(conn: Connection, since: str) -> list[Use]:
    """Returns the uses of models since that day, newest first."""
    rows = conn.execute(
        "SELECT day, model, purpose, is_local, calls, failed, tok_read, tok_written, tok_cached, ms FROM llm_use"
        " WHERE day >= ? ORDER BY day DESC, model, purpose, is_local",
        (since,),
    )
    return [
        Use(day, model, purpose, bool(is_local), calls, failed, Usage(read, written, cached), ms)
        for day, model, purpose, is_local, calls, failed, read, written, cached, ms in rows
    ]


def _parse_grades(text: str) -> Grades:
    """Returns grades from the table; fields of other versions are dropped."""
    values = {"edition": 1} | json.loads(text)
    if values["edition"] != PROBE_EDITION:
        values |= dict.fromkeys(GRADED)
    return msgspec.convert(values, Grades)


# Periodic jobs -------------------------------------------------------------------------------------------------


RUN = "run:"  # prefix in the table meta for the results of a periodic job: counts only


def note_run(conn: Connection, job: str, figures: dict[str, Any]) -> None:
    """Replaces the recorded results of a periodic job."""
    set_meta(conn, RUN + job, to_json(figures))


def last_run(conn: Connection, job: str) -> dict[str, Any] | None:
    """Returns the results of the last run of a periodic job, or None."""
    figures: dict[str, Any] | None = json.loads(get_meta(conn, RUN + job) or "null")
    return figures
