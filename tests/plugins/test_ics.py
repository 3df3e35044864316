"""Calendars as sections of text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.plugins.conftest import Read

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
    assert calendar.at == datetime(2025, 5, 6, 12, tzinfo=UTC)
    assert calendar.lines is not None
    assert list(zip(calendar.lines, calendar.text.split("\n"), strict=True)) == [
        (9, "## Pixel at the vet; bring the box"),
        (10, "When: 2025-05-06 14:00 to 14:30 Europe/Berlin"),
        (14, "Where: Zschochersche Str."),
        (15, "Who: Thoms, Dr. <thoms@vet.example>, ana@example.example"),
        (17, "First line"),
        (17, "Second line"),
        (18, "Repeats: FREQ=WEEKLY;COUNT=3"),
        (18, "Also on: 2025-05-13, 2025-05-20"),
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


def also_on(read: Read, *lines: str) -> list[str]:
    text = read("a.ics", event("DTSTART:20250106T090000Z", "UID:1", *lines))[0].text
    return [day for line in text.split("\n") if line.startswith("Also on: ") for day in line[9:].split(", ")]


def test_an_event_that_comes_again_names_its_days(read: Read) -> None:
    assert also_on(read, "RRULE:FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20250115T235959Z") == [
        "2025-01-08", "2025-01-13", "2025-01-15",
    ]  # fmt: skip
    assert also_on(read, "RRULE:FREQ=MONTHLY;COUNT=3", "EXDATE:20250206T090000Z") == ["2025-03-06"]
    own = event("UID:1", "RECURRENCE-ID:20250206T090000Z", "DTSTART:20250207T090000Z")
    assert also_on(read, "RRULE:FREQ=MONTHLY;COUNT=3", "END:VEVENT", own) == ["2025-03-06"]


def test_listed_days_are_added_and_left_out(read: Read) -> None:
    lines = ("RRULE:FREQ=MONTHLY;COUNT=3", "RDATE;VALUE=DATE:20250110,20250120", "EXDATE:20250206T090000Z,20250120")
    assert also_on(read, *lines) == ["2025-01-10", "2025-03-06"]
    text = read("a.ics", event("DTSTART:20250106T090000Z", "UID:1", *lines))[0].text
    assert "Not on: 2025-01-20, 2025-02-06" in text


def test_a_listed_day_is_named_however_late_it_is(read: Read) -> None:
    assert also_on(read, "RRULE:FREQ=MONTHLY;COUNT=2", "RDATE:20290110T090000Z") == ["2025-02-06", "2029-01-10"]


def test_an_event_is_from_its_day_and_one_that_comes_again_or_lies_ahead_from_when_it_was_written(read: Read) -> None:
    events = ["DTSTART:20180105T100000Z"], ["DTSTART:20170105T100000Z", "RRULE:FREQ=YEARLY"], ["DTSTART:20300105"]
    ended = ["DTSTART:20170105T100000Z", "RRULE:FREQ=YEARLY;UNTIL=20190105T100000Z"]
    (calendar,) = read("a.ics", "\n".join(event(*lines) for lines in (*events, ended)))
    assert [at and at.astimezone(UTC).date().isoformat() for _, at in calendar.parts] == [
        "2018-01-05", "2020-02-03", "2020-02-03", "2019-01-05",
    ]  # fmt: skip


def test_what_comes_again_without_end_is_followed_for_two_years(read: Read) -> None:
    assert len(also_on(read, "RRULE:FREQ=DAILY")) == 103
    assert also_on(read, "RRULE:FREQ=YEARLY") == ["2026-01-06", "2027-01-06"]


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=SECONDLY", "FREQ=DAILY;INTERVAL=0", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "FREQ=NEVER", "INTERVAL=x", "",
        "FREQ=DAILY;BYSECOND=1,2", "FREQ=YEARLY;BYSETPOS=1", "FREQ=DAILY;UNTIL=tomorrow", "COUNT=3", "FREQ=DAILY;;=",
        "FREQ=WEEKLY;BYDAY=99XX", "FREQ=DAILY;INTERVAL=99999999999999999999", "A=" + "x" * 400,
    ],
)  # fmt: skip
def test_a_rule_that_cannot_be_followed_has_no_days(read: Read, rule: str) -> None:
    assert also_on(read, f"RRULE:{rule}") == []
