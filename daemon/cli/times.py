"""The time that a question was understood to speak of, in words."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from daemon import wire


def describe_time(step: wire.Step) -> str | None:
    """What the step has to say of the time in the question; None if it is nothing."""
    text = wire.TextNote.from_step(step)
    if text is not None and text.any_time:
        return "Nothing of that time speaks of it, so this is from any time."
    note = wire.AnalysisNote.from_step(step) or wire.ScopeNote.from_step(step)
    time = note.time if note is not None else None
    if time is None or time.kind == "now":
        return None
    if time.kind == "unknown":
        return f'No dated line says when that was: "{time.words}".'
    line = f": {time.line}" if time.line else "."
    return f'Read "{time.words}" as {_span(time)}{line}'


def _span(time: wire.TimeNote) -> str:
    since, after = (datetime.fromisoformat(end) if end else None for end in (time.since, time.until))
    until = after and (after - timedelta(microseconds=1)).date()
    if time.kind == "as_of" and until:
        return f"how it stood on {_day(until)}"
    first = since and since.date()
    if first and until:
        return _day(first) if first == until else f"{_day(first)} to {_day(until)}"
    return f"{_day(first)} or later" if first else f"{_day(until)} or earlier" if until else "any time"


def _day(of: date) -> str:
    return f"{of.day} {of:%B %Y}"
