"""Calendars as sections of text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.plugins.conftest import MODIFIED, Read

CALENDAR = """BEGIN:VCALENDAR
X-WR-CALNAME:Ana\\, private
BEGIN:VTIMEZONE
TZID:Europe/Berlin
BEGIN:STANDARD
DTSTART:19701025T030000
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
DTSTART;TZID=Europe/Berlin:20250506T140000
DTEND;TZID=Europe/Berlin:20250506T143000
SUMMARY:Pixel at the ve
 t\\; bring the box
LOCATION:Zschochersche Str.
ORGANIZER;CN="Thoms, Dr.":mailto:thoms@vet.example
ATTENDEE:mailto:ana@example.example
DESCRIPTION:First line\\nSecond line
RRULE:FREQ=WEEKLY;COUNT=3
BEGIN:VALARM
DESCRIPTION:never shown
DTSTART:20010101T000000Z
END:VALARM
END:VEVENT
BEGIN:VEVENT
SUMMARY:Holiday
DTSTART;VALUE=DATE:20250804
DTEND;VALUE=DATE:20250823
END:VEVENT
BEGIN:VTODO
DUE:20250901T100000Z
SUMMARY:Pay
END:VTODO
END:VCALENDAR
"""


def test_events_become_sections(read: Read) -> None:
    (calendar,) = read("cal.ics", CALENDAR.replace("\n", "\r\n"))
    assert calendar.title == "Ana, private"
    assert calendar.at == MODIFIED  # not the day of an event
    assert calendar.lines is not None
    assert list(zip(calendar.lines, calendar.text.split("\n"), strict=True)) == [
        (9, "## Pixel at the vet; bring the box"),
        (10, "When: 2025-05-06 14:00 to 14:30 Europe/Berlin"),
        (14, "Where: Zschochersche Str."),
        (15, "Who: Thoms, Dr. <thoms@vet.example>, ana@example.example"),
        (17, "First line"),
        (17, "Second line"),
        (18, "Repeats: FREQ=WEEKLY;COUNT=3"),
        (18, ""),
        (24, "## Holiday"),
        (26, "When: 2025-08-04 to 2025-08-22 (all day)"),
        (26, ""),
        (29, "## Pay"),
        (30, "Due: 2025-09-01 10:00 UTC"),
    ]


def event(*lines: str) -> str:
    return "\n".join(["BEGIN:VEVENT", *lines, "SUMMARY:x", "END:VEVENT"])


@pytest.mark.parametrize(
    ("lines", "when"),
    [
        (["DTSTART;VALUE=DATE:20250712"], "2025-07-12 (all day)"),
        (["DTSTART;VALUE=DATE:20250712", "DTEND;VALUE=DATE:20250713"], "2025-07-12 (all day)"),
        (["DTSTART:20250712T220000Z", "DTEND:20250713T010000Z"], "2025-07-12 22:00 to 2025-07-13 01:00 UTC"),
        (["DTSTART:20250712T220000", "DURATION:PT1H30M"], "2025-07-12 22:00 to 23:30"),
        (["DTSTART:20250712T220000", "DTEND;VALUE=DATE:20250713"], "2025-07-12 22:00"),
        (["DTSTART;TZID=My/Zone:20250712T220000"], "2025-07-12 22:00 My/Zone"),
        (["DTSTART:20251399T999999Z", "DTEND:garbage"], "20251399T999999Z"),
        (["DTSTART:tomorrow"], "tomorrow"),
    ],
)
def test_when(read: Read, lines: list[str], when: str) -> None:
    (calendar,) = read("a.ics", event(*lines))
    assert f"When: {when}\n" in calendar.text + "\n"


def test_broken_dates_leave_the_date_to_the_name(read: Read) -> None:
    (calendar,) = read("2024-03-05.ics", event("DTSTART:20251399T999999Z", "DURATION:P99999D"))
    assert calendar.at == datetime(2024, 3, 5).astimezone()


def test_an_event_at_the_end_of_time(read: Read) -> None:
    (calendar,) = read("a.ics", event("DTSTART:99991231T235959", "DURATION:P99999D") + "\n" + event("DTSTART:00010101"))
    assert "When: 9999-12-31 23:59" in calendar.text


def test_an_entry_without_anything_has_a_name(read: Read) -> None:
    assert read("a.ics", "BEGIN:VEVENT\nEND:VEVENT\nBEGIN:VTODO\n")[0].text == "## Event\n\n## Task"


def test_when_it_is_stands_first_wherever_the_file_says_so(read: Read) -> None:
    (calendar,) = read("a.ics", event("DESCRIPTION:Teacher: Mr Lindner", "LOCATION:Hall", "DTSTART:20260903T160000Z"))
    assert [*zip(calendar.lines or (), calendar.text.split("\n"), strict=True)] == [
        (1, "## x"), (2, "When: 2026-09-03 16:00 UTC"), (2, "Teacher: Mr Lindner"), (3, "Where: Hall"),
    ]  # fmt: skip


def test_an_entry_is_from_when_it_was_changed_last_and_never_from_its_day(read: Read) -> None:
    day, stamp, changed = "DTSTART:20180105T100000Z", "DTSTAMP:20171220T100000Z", "LAST-MODIFIED:20171211T100000Z"
    entries = [event(*lines) for lines in ([day], [day, stamp], [day, stamp, changed], ["RRULE:FREQ=DAILY", stamp])]
    journal = event(day, stamp).replace("VEVENT", "VJOURNAL")
    (calendar,) = read("a.ics", "\n".join([*entries, journal]))
    assert [at and at.astimezone(UTC).date().isoformat() for _, at in calendar.parts] == [
        "2020-02-03", "2017-12-20", "2017-12-11", "2017-12-20", "2018-01-05",
    ]  # fmt: skip
