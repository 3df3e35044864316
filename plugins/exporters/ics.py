"""A calendar (RFC 5545): events, tasks, birthdays and other entries of notes that have a day.

An entry keeps its UID when its day or its time changes, so that a calendar that takes the file again moves it. Times
are those of the clock where one is, as notes tell them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

from plugins.exporters.contract import LAST, Line, Part

KINDS = ("day",)
MAX_OCTETS = 75  # of a line
NAMES = {"event": "Event", "task": "Task", "birthday": "Birthday", "entry": "Note"}
HEAD = ("BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Palimpsest//pal export//EN", "CALSCALE:GREGORIAN",
        "X-WR-CALNAME:Palimpsest")  # fmt: skip
_RULE = re.compile(r"FREQ=[A-Z]+(?:;[A-Z]+=[A-Z0-9,+:-]+)*")
_ESCAPED = re.compile(r"[\\;,]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def write(lines: Iterator[Line]) -> Iterator[Part]:
    """One calendar."""
    yield _part(HEAD)
    for line in lines:
        if line.kind == "day":
            yield _part(tuple(_entry(line.fields)))
        elif line.kind == LAST:
            yield _part(("END:VCALENDAR",))


def _entry(of: dict[str, Any]) -> Iterator[str]:
    kind = "VTODO" if of["kind"] == "task" else "VEVENT"
    what = f"{of['text']}: birthday" if of["kind"] == "birthday" else of["text"]
    yield f"BEGIN:{kind}"
    yield f"UID:{_uid(of)}"
    yield f"DTSTAMP:{datetime.fromisoformat(of['recorded']).astimezone(UTC):%Y%m%dT%H%M%SZ}"
    yield f"SUMMARY:{_escape(what)}"
    if kind == "VTODO":
        yield f"DUE{_moment(of, of['day'], of['begins'])}"
        yield "STATUS:NEEDS-ACTION"
    else:
        yield from _span(of)
    if of["place"]:
        yield f"LOCATION:{_escape(of['place'])}"
    where = f"{of['uri']}:{of['line']}" if of["line"] is not None else of["uri"]
    quote = " ".join(of["quote"].split())
    yield f"DESCRIPTION:{_escape(chr(10).join(filter(None, ('' if quote == what else quote, where))))}"
    yield f"CATEGORIES:{NAMES[of['kind']]}"
    yield f"END:{kind}"


def _span(of: dict[str, Any]) -> Iterator[str]:
    """When an event is, and when again."""
    first, last = date.fromisoformat(of["day"]), date.fromisoformat(of["last"] or of["day"])
    yield f"DTSTART{_moment(of, of['day'], of['begins'])}"
    if not of["begins"]:
        yield f"DTEND{_moment(of, str(_after(max(first, last))), '')}"  # the end is not included
    elif of["ends"]:
        over_night = last == first and of["ends"] <= of["begins"]
        yield f"DTEND{_moment(of, str(_after(first) if over_night else last), of['ends'])}"
    yield from (f"RRULE:{rule}" for rule in of["rules"] if _RULE.fullmatch(rule))
    for name, days in (("RDATE", of["also"]), ("EXDATE", of["left_out"])):
        for day in days:
            yield f"{name}{_moment(of, day, of['begins'])}"
    if of["kind"] != "event":
        yield "TRANSP:TRANSPARENT"


def _moment(of: dict[str, Any], day: str, clock: str) -> str:
    compact = day.replace("-", "")
    return f":{compact}T{clock.replace(':', '')}00" if clock else f";VALUE=DATE:{compact}"


def _after(day: date) -> date:
    return day + timedelta(days=1) if day < date.max else day


def _uid(of: dict[str, Any]) -> str:
    told = "\0".join((of["kind"], of["uri"], of["key"]))
    number = f"-{of['number']}" if of["number"] > 1 else ""
    return f"{hashlib.sha256(told.encode('utf-8', 'replace')).hexdigest()[:32]}{number}@palimpsest"


def _escape(text: str) -> str:
    plain = _CONTROLS.sub(" ", text.replace("\r\n", "\n"))
    return _ESCAPED.sub(lambda match: f"\\{match[0]}", plain).replace("\n", "\\n")


def _part(lines: tuple[str, ...]) -> Part:
    return Part("", b"".join(_fold(line) for line in lines))


def _fold(line: str) -> bytes:
    """A line, in pieces of MAX_OCTETS that begin with a blank behind the first; no character is cut."""
    pieces, piece, room = [], b"", MAX_OCTETS
    for character in line:
        data = character.encode("utf-8", "replace")
        if len(piece) + len(data) > room:
            pieces.append(piece)
            piece, room = b"", MAX_OCTETS - 1
        piece += data
    return b"\r\n ".join([*pieces, piece]) + b"\r\n"
