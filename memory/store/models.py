"""Language models: what probes found of them, and what they were used for, by the day. Nothing of what was said."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import NamedTuple

from memory.llm import Grades, Usage
from memory.store.codec import to_json
from memory.store.connect import Connection


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


def keep(conn: Connection, grades: Grades) -> None:
    """Replaces what an earlier probe found of that model."""
    values = to_json(asdict(grades))
    conn.execute("INSERT OR REPLACE INTO llm_probe(name, t, grades) VALUES (?, ?, ?)", (grades.name, grades.at, values))


def grades(conn: Connection) -> dict[str, Grades]:
    """What is known of each model that was probed, by its name."""
    return {name: _grades(text) for name, text in conn.execute("SELECT name, grades FROM llm_probe ORDER BY name")}


def count(conn: Connection, use: Use) -> None:
    """Adds to what the model was used for on that day."""
    conn.execute(
        "INSERT INTO llm_use VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(day, model, purpose, is_local) DO UPDATE SET calls = calls + excluded.calls,"
        " failed = failed + excluded.failed, tok_read = tok_read + excluded.tok_read,"
        " tok_written = tok_written + excluded.tok_written, tok_cached = tok_cached + excluded.tok_cached,"
        " ms = ms + excluded.ms",
        (*use[:6], use.usage.read, use.usage.written, use.usage.cached, use.ms),
    )


def uses(conn: Connection, since: str) -> list[Use]:
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
    values = json.loads(text)
    return Grades(**{**values, "usage": Usage(**values["usage"]), "notes": tuple(values["notes"])})
