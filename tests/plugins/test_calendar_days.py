"""The days of calendars: those on which recurring-ical-events says that something takes place, and no others."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given
from hypothesis import strategies as st
from icalendar import Calendar
from recurring_ical_events import of

from memory.answering.entries import read_entries
from memory.nouns import Episode, Source
from memory.time.recurrence import list_event_days
from plugins.readers.common.calendars import convert
from tests.examples import examples

FIRST = datetime(2026, 3, 3, 19, 30)  # a Tuesday
ZONES = {"": None, "America/New_York": ZoneInfo("America/New_York"), "Europe/Berlin": ZoneInfo("Europe/Berlin")}
SPANS = [(date(2026, 1, 1), date(2028, 1, 1)), (date(2034, 3, 1), date(2034, 9, 1))]


def calendar(*events: str, head: str = "") -> str:
    framed = "".join(f"BEGIN:VEVENT\n{event.strip()}\nEND:VEVENT\n" for event in events)
    return f"BEGIN:VCALENDAR\nVERSION:2.0\n{head}{framed}END:VCALENDAR\n"


def reported(text: str, since: date, until: date) -> list[date]:
    document = convert(text)
    episode = Episode(1, Source(1, "a.ics", "file", "a", "ics"), 0, "a", document.text)
    entries = [entry for entry in read_entries(episode) if entry.state == ""]
    return sorted(d for entry in entries for d in list_event_days(document.text[entry.start : entry.end], since, until))


def reference(text: str, since: date, until: date) -> list[date]:
    moments = [one["DTSTART"].dt for one in of(Calendar.from_ical(text)).between(since, until)]
    days = [moment.date() if isinstance(moment, datetime) else moment for moment in moments]
    return sorted({day for day in days if since <= day < until})


def moment(at: datetime, zone: str) -> str:
    """The end of a property: parameters and value."""
    return f";TZID={zone}:{at:%Y%m%dT%H%M%S}" if zone else f":{at:%Y%m%dT%H%M%S}"


def utc(at: datetime, zone: str) -> str:
    return (
        f"{at.replace(tzinfo=ZONES[zone]).astimezone(ZoneInfo('UTC')):%Y%m%dT%H%M%SZ}"
        if zone
        else f"{at:%Y%m%dT%H%M%S}"
    )


@st.composite
def series(draw: st.DrawFn) -> str:
    """A calendar of one series with exceptions."""
    zone = draw(st.sampled_from([*ZONES]))
    rule = draw(
        st.sampled_from(
            ["FREQ=DAILY", "FREQ=WEEKLY", "FREQ=WEEKLY;BYDAY=TU,FR", "FREQ=MONTHLY;BYDAY=1TU", "FREQ=MONTHLY",
             "FREQ=YEARLY", "FREQ=WEEKLY;INTERVAL=3;BYDAY=TU", "FREQ=MONTHLY;BYDAY=TU,TH;BYSETPOS=-1"]
        )
    )  # fmt: skip
    end = draw(st.sampled_from(["", ";COUNT=9", f";UNTIL={utc(FIRST + timedelta(days=70), zone)}"]))
    weeks = st.integers(0, 12).map(lambda n: FIRST + timedelta(weeks=n))
    left_out = draw(st.lists(weeks, max_size=2, unique=True))
    lines = [f"DTSTART{moment(FIRST, zone)}", "DURATION:PT1H", f"RRULE:{rule}{end}"]
    if draw(st.booleans()):
        lines += [f"EXDATE:{utc(at, zone)}" for at in left_out]
    else:
        lines += [f"EXDATE{moment(at, zone)}" for at in left_out]
    if draw(st.booleans()):
        lines.append(f"RDATE{moment(FIRST + timedelta(days=5), zone)}")
    events = ["UID:a\nSUMMARY:Choir\n" + "\n".join(lines)]
    times = [*islice(rrulestr(rule, dtstart=FIRST), 7)]
    changed = draw(st.lists(st.sampled_from(times), max_size=2, unique=True))
    for at in changed:
        to = at + draw(st.sampled_from([timedelta(hours=2), timedelta(days=1), timedelta(days=-2)]))
        replaced = f"RECURRENCE-ID{moment(at, zone)}"
        events.append(f"UID:a\nSUMMARY:Choir\n{replaced}\nDTSTART{moment(to, zone)}\nDURATION:PT1H")
    return calendar(*events)


@given(series())
@examples(1)
def test_days_are_those_of_the_reference_near_and_far(text: str) -> None:
    for since, until in SPANS:
        assert sorted({*reported(text, since, until)}) == reference(text, since, until)


WEEKLY = "UID:w\nSUMMARY:Chess\nDTSTART;TZID=America/New_York:20261103T193000\nRRULE:FREQ=WEEKLY;COUNT=5"


@pytest.mark.parametrize(
    ("events", "days"),
    [
        ([f"{WEEKLY}\nEXDATE:20261111T003000Z"], ["11-03", "11-17", "11-24", "12-01"]),
        ([f"{WEEKLY}\nEXDATE;TZID=Europe/Berlin:20261111T013000"], ["11-03", "11-17", "11-24", "12-01"]),
        ([f"{WEEKLY}\nEXDATE;VALUE=DATE:20261110"], ["11-03", "11-17", "11-24", "12-01"]),
        ([f"{WEEKLY}\nEXDATE;TZID=America/New_York:20261103T193000"], ["11-10", "11-17", "11-24", "12-01"]),
        ([f"{WEEKLY}\nRRULE:FREQ=WEEKLY;BYDAY=SA;COUNT=1"], ["11-03", "11-07", "11-10", "11-17", "11-24", "12-01"]),
        (
            ["UID:p\nSUMMARY:x\nDTSTART:20261103T090000Z\nRDATE;VALUE=PERIOD:20261105T090000Z/PT2H,20261109T090000Z/20261109T100000Z"],
            ["11-03", "11-05", "11-09"],
        ),
        (
            [WEEKLY, "UID:w\nSUMMARY:Chess\nRECURRENCE-ID:20261111T003000Z\nDTSTART:20261112T003000Z"],
            ["11-03", "11-12", "11-17", "11-24", "12-01"],
        ),
        (
            [WEEKLY, "UID:w\nSUMMARY:x\nRECURRENCE-ID:20261111T003000Z\nDTSTART:20261111T003000Z\nSTATUS:CANCELLED"],
            ["11-03", "11-17", "11-24", "12-01"],
        ),
        (
            [
                "UID:f\nSUMMARY:x\nDTSTART:20261103T180000\nRRULE:FREQ=WEEKLY;BYDAY=TU;COUNT=5",
                "UID:f\nSUMMARY:x\nRECURRENCE-ID;RANGE=THISANDFUTURE:20261117T180000\nDTSTART:20261119T180000",
            ],
            ["11-03", "11-10", "11-19", "11-26", "12-03"],
        ),
        (
            ["UID:s\nSEQUENCE:1\nDTSTART:20261103T180000", "UID:s\nSEQUENCE:3\nDTSTART:20261104T180000"],
            ["11-04"],
        ),
        (["UID:c\nSUMMARY:x\nDTSTART:20261103T180000\nSTATUS:CANCELLED"], []),
        (["SUMMARY:x\nDTSTART;VALUE=DATE:20261103\nDURATION:P3D"], ["11-03", "11-04", "11-05"]),
    ],
)  # fmt: skip
def test_what_takes_place(events: list[str], days: list[str]) -> None:
    text = calendar(*events)
    assert [f"{day:%m-%d}" for day in reported(text, date(2026, 11, 1), date(2026, 12, 31))] == days


def test_a_cancellation_cancels_all_of_its_events() -> None:
    text = calendar("UID:c\nSUMMARY:Lens fair\nDTSTART:20261103T180000", head="METHOD:CANCEL\n")
    assert "Status: CANCELLED" in convert(text).text and reported(text, date.min, date.max) == []


def test_what_never_takes_place_is_left_out() -> None:
    never = "UID:n\nSUMMARY:Never\nDTSTART:20261103T180000\nRRULE:FREQ=DAILY;COUNT=1\nEXDATE:20261103T180000"
    assert convert(calendar(never, "SUMMARY:Haircut\nDTSTART:20261103T180000")).text.startswith("## Haircut")


def test_times_in_utc_are_shown_in_the_zone_of_their_calendar() -> None:
    event = "SUMMARY:Supper\nDTSTART:20261104T003000Z\nDTEND:20261104T020000Z"
    told = convert(calendar(event, head="X-WR-TIMEZONE:America/New_York\n")).text
    assert "When: 2026-11-03 19:30 to 21:00 America/New_York" in told


def test_a_series_keeps_its_rules_and_not_its_days() -> None:
    text = convert(calendar("UID:d\nSUMMARY:Walk\nDTSTART:20100101T070000\nRRULE:FREQ=DAILY")).text
    assert "Repeats: FREQ=DAILY" in text and "Also on" not in text
