"""The time that a question was understood to speak of, in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from daemon import wire


def describe_time(stage: wire.Stage) -> str | None:
    """What the stage has to say of the time in the question; None if it is nothing."""
    if stage.detail.get("any_time"):
        return "Nothing of that time speaks of it, so this is from any time."
    time = stage.detail.get("time")
    if not isinstance(time, Mapping) or time.get("kind") == "now":
        return None
    if time.get("kind") == "unknown":
        return f'No dated line says when that was: "{time.get("words")}".'
    line = f": {time['line']}" if time.get("line") else "."
    return f'Read "{time.get("words")}" as {_span(time)}{line}'


def _span(time: Mapping[str, Any]) -> str:
    since, after = (datetime.fromisoformat(time[end]) if time.get(end) else None for end in ("since", "until"))
    until = after and (after - timedelta(microseconds=1)).date()
    if time.get("kind") == "as_of" and until:
        return f"how it stood on {_day(until)}"
    first = since and since.date()
    if first and until:
        return _day(first) if first == until else f"{_day(first)} to {_day(until)}"
    return f"{_day(first)} or later" if first else f"{_day(until)} or earlier" if until else "any time"


def _day(of: date) -> str:
    return f"{of.day} {of:%B %Y}"
