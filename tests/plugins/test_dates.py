"""Dates as people write them, and the date of a whole file."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, timezone
from email.utils import format_datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.time.dates import parse_date
from plugins.readers.common.dates import find_month, find_written_date

FIFTH = datetime(2024, 3, 5).astimezone()
HALF_PAST_TWO = datetime(2024, 3, 5, 14, 30).astimezone()
NOW = datetime(2026, 6, 1).astimezone()
MINUS_FOUR = timezone(timedelta(hours=-4))


def written(path: str, text: str, title: str = "") -> datetime | None:
    return find_written_date(Path(path), title, text, NOW, NOW)


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-05",
        "5.iii.24",
        "5.iii.2024",
        "2024-3-5",
        "2024/03/05",
        "2024.03.05",
        "2024_03_05",
        "20240305",
        "5 March 2024",
        "5th of March, 2024",
        "5-Mar-2024",
        "Mar 5 '24",
        "March 5, 2024",
        "March 5th 2024",
        "Tuesday, March 5, 2024",
        "05.03.2024",
        "5. 3. 2024",
        "05.03.24",
        "5. März 2024",
        "5 maart 2024",
        "5 mars 2024",
        "5 de marzo de 2024",
        "5 marzo 2024",
        "5 marca 2024",
        "5. marts 2024",
        "<2024-03-05 Tue>",
        "[2024-03-05]",
        "2024-W10-2",
        "20240305T000000",
    ],
)
def test_one_day_in_many_spellings(text: str) -> None:
    assert parse_date(text) == FIFTH


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-05 14:30",
        "2024-03-05T14:30",
        "2024-03-05T14:30:00.000",
        "20240305T143000",
        "20240305_1430",
        "5 March 2024, 14:30",
        "March 5, 2024 at 2:30 pm",
        "Mar 5, 2024, 2:30 PM",
        "Mar 5, 2024, 2:30\u202fPM",
        "Tue 5 Mar 2024 14:30",
    ],
)
def test_a_time_without_zone_is_local(text: str) -> None:
    assert parse_date(text) == HALF_PAST_TWO


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-05T14:30:00Z", datetime(2024, 3, 5, 14, 30, tzinfo=UTC)),
        ("20240305T143000Z", datetime(2024, 3, 5, 14, 30, tzinfo=UTC)),
        ("2024-03-05 14:30:00 UTC", datetime(2024, 3, 5, 14, 30, tzinfo=UTC)),
        ("2024-03-05T14:30:00-04:00", datetime(2024, 3, 5, 14, 30, tzinfo=MINUS_FOUR)),
        ("Tue, 05 Mar 2024 14:30:00 -0400", datetime(2024, 3, 5, 14, 30, tzinfo=MINUS_FOUR)),
        ("5 March 2024 14:30 -0400", datetime(2024, 3, 5, 14, 30, tzinfo=MINUS_FOUR)),
        ("2024-03-05 12:05 am", datetime(2024, 3, 5, 0, 5).astimezone()),
        ("13/5/2024", datetime(2024, 5, 13).astimezone()),
        ("5/13/2024", datetime(2024, 5, 13).astimezone()),
        ("2024-03", datetime(2024, 3, 1).astimezone()),
        ("2024-W10", datetime(2024, 3, 4).astimezone()),
        ("2024-03-05 10:15-11:00", datetime(2024, 3, 5, 10, 15).astimezone()),
    ],
)
def test_zones_months_weeks_and_the_order_of_day_and_month(text: str, expected: datetime) -> None:
    found = parse_date(text)
    assert found == expected
    assert found is not None and found.utcoffset() == expected.utcoffset()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Sunday",
        "March",
        "2024",
        "750",
        "3/4/2024",  # nobody can know
        "2024-13-45",
        "31.02.2024",
        "32 March 2024",
        "version 10.3.2024.1",
        "0001-01-01",
        "9999-12-31",
        "call 020240305123",
        "5 people",
        "x" * 200 + " 2024-03-05",
        "2023-W99",
    ],
)
def test_what_is_no_date(text: str) -> None:
    assert parse_date(text) is None


def test_a_local_day_has_the_offset_of_that_day(monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(time, "tzset"):
        pytest.skip("this system cannot change its zone")
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        assert parse_date("2024-01-10") == datetime(2024, 1, 10, tzinfo=timezone(timedelta(hours=1)))
        assert parse_date("2024-07-10") == datetime(2024, 7, 10, tzinfo=timezone(timedelta(hours=2)))
    finally:
        monkeypatch.undo()
        time.tzset()


DAYS = st.dates(date(1900, 1, 2), date(2099, 12, 30))


@given(DAYS)
def test_written_days_come_back(day: date) -> None:
    spellings = [
        day.isoformat(),
        day.strftime("%Y%m%d"),
        f"{day.day} {day:%B} {day.year}",
        f"{day:%B} {day.day}, {day.year}",
        f"{day:%A} {day.day} {day:%b} {day.year}",
        day.strftime("%d.%m.%Y"),
        day.strftime("%G-W%V-%u"),
    ]
    found = [parse_date(spelling) for spelling in spellings]
    assert [at and at.date() for at in found] == [day] * len(spellings)


@given(
    st.datetimes(datetime(1901, 1, 1), datetime(2099, 12, 30), timezones=st.just(UTC)),
    st.integers(-14 * 60, 14 * 60).filter(lambda minutes: minutes % 15 == 0),
)
def test_written_moments_come_back(moment: datetime, minutes: int) -> None:
    moment = moment.astimezone(timezone(timedelta(minutes=minutes))).replace(microsecond=0)
    assert parse_date(moment.isoformat()) == moment
    assert parse_date(moment.strftime("%Y-%m-%d %H:%M:%S%z")) == moment
    assert parse_date(format_datetime(moment)) == moment


@given(
    st.text(max_size=120)
    | st.text("0123456789-/.:TZ+W '", max_size=40)
    | st.from_regex(r"\d{1,4}[-/. ](\d{1,2}|march|mai)[-/. ]\d{1,4}([T ]\d\d:\d\d)?([+-]\d{4})?", fullmatch=True)
)
def test_any_text_is_a_date_or_none(text: str) -> None:
    found = parse_date(text)
    assert found is None or (found.tzinfo is not None and 1900 <= found.year < 2100)
    opened = written(str(Path("notes") / (text.replace("/", "").replace("\x00", "") or "x")), text, text)
    assert opened is None or opened.tzinfo is not None


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("note.md", "# Meeting, 5 March 2024\n\nWe met."),
        ("note.md", "On-call policy\nLast edited: 2024-03-05\n"),
        ("2023-01-01 note.md", "Some text\nDate: March 5, 2024"),
        ("2023-01-01 note.md", "**5 March 2024** we began, as planned on 6 April 2023"),
        ("note.txt", "Car stuff - Mar 5 2024\n\nSold the car yesterday"),
        ("note.txt", "\n\n\nTue 5 March 2024\nhello"),
        ("2024-03-05 call.md", "Yesterday (4 March 2024) she called about the flat of 1 May 2019."),
        ("2024-03-05.md", "Rain."),
        ("20240305_1015 scan.txt", "Rain."),
        ("IMG-20240305.txt", "Rain."),
        ("notes/2024/03/05.md", "Rain."),
        ("notes/2024/03-05 standup.md", "Rain."),
        ("plan.md", "# Hiring plan\n\nlast touched Tue Mar 5 2024\n\nDown to one head, from 1 May 2025 on"),
        ("call.md", "A short call\n5 March 2024\nwith Ana"),
        ("recipe.md", "# Dough\n\ncard 4 | 5 March 2024 | for twelve"),
        ("sheet.md", "# Care\n\nas of 05.03.2024. Born on 14.02.1945."),
        ("mail.txt", "From: Ana\nTo: Bo\nCc: Cy\nSubject: Keys\nDate: Tue, 5 Mar 2024\n\nHello"),
        ("minutes.txt", "Minutes, 5 March 2024\n\nAll were there."),
        ("lab.md", "# Lab notebook 2024-03-05"),
        ("sauce.md", "# Sauce\n\nleaf 9, updated 5 March 2024, K. + P.\n\nPeel the plums."),
        ("bill.txt", "Bill 17 | Date: 5 March 2024\n\nTo pay: 30"),
        ("sauce.txt", "Plum sauce (5 March 2024 KP)\n\nPeel the plums."),
        ("plans.md", "PLANS\n(second draft, Tuesday 5 March 2024)\n\nA pond."),
        ("plans.md", "# Plans\n\n*5 March 2024, on the train*\n\nA pond."),
        ("talks 2024.md", "# Talks\n\nTue Mar 5\n\nAll were there."),
        ("2024/talks.md", "# Talks\n\n5 March"),
        ("talks 2024.md", "# Talks (written Tue 5 March)\n\nAll were there."),
        ("2024-03 talks.md", "# Talks\n\n5/3\n\nAll were there."),
        ("2024_03.md", "Tue 5th\n\nAll were there."),
    ],
)
def test_the_date_of_a_file(path: str, text: str) -> None:
    found = written(path, text)
    assert found is not None and found.date() == FIFTH.date()


def test_a_title_may_hold_the_date() -> None:
    assert written("x.md", "Nothing here.", "Retro of 5 March 2024") == FIFTH


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("2024_03 notes.md", "Rain."),
        ("2024-03.md", "Rain."),
    ],
)
def test_a_month_in_the_name_is_its_first_day(path: str, text: str) -> None:
    assert find_month(Path(path)) == datetime(2024, 3, 1).astimezone()
    assert written(path, text) is None


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("note.md", "Rain.\n\nMore rain.\n\nAnd rain.\n\nOn 5 March 2024 it stopped."),  # the fourth line
        ("plan.md", "March 5 or April 6, who knows"),  # no year anywhere
        ("plan 2023.md", "2024: March 5"),  # two years
        ("budget 2024.md", "Rent is 1,200"),
        ("a20240305999.md", "Rain."),
        ("order 123456.md", "Rain."),
        ("lighthouse.md", "# Lighthouse\n\nLit on 1 May 1968 and switched off on Thursday 31 March 1994."),
        ("tomek.md", "# Tomek\n\nBorn in Gdansk, 3 August 1986."),
        ("tomek.md", "# Tomek\n\n- birthday: 3 August 1986"),
        ("papers.md", "# Papers\n\n- passport: C4X7T2 (expires 2036-08-27)"),
        ("flat.md", "# Flat\n\nMiete: 780, Frist 2026-08-27"),
        ("papa.md", "# Papa (born 3 May 1947)\n\nDate of birth: 3 May 1947"),
        ("form.md", "# Form\n\nDate of the accident: 3 May 2024"),
        ("lease.md", "The lease ends 31 December 2025\n\nNo pets."),
        ("party.md", "# Party 2026-12-24"),  # a plan
        ("2026-12-24.md", "Buy a tree."),
        ("roof.md", "# Roof\n\n- [ ] call the roofer 📅 2024-02-01\n- [ ] pay @{2024-12-03}"),
        ("flat.txt", "deadline: 5 March 2024\n\nFind a flat."),
        ("flat.md", "# Flat\n\nrent: 780, as of 5 March 2024"),
        ("flat.md", "# Flat\n\n- rent 780, as of 5 March 2024"),
        ("talks.md", "# Talks\n\n(5 March 2024 is the next one)"),
        ("talks 2024.md", "# Talks\n\nWed Mar 5"),  # it was a Tuesday
        ("talks 2024.md", "# Talks\n\nTue 5"),
        ("talks 2023-24.md", "# Talks\n\nMar 5"),
        ("2024-03.md", "# Talks\n\n5"),
        ("2024-03.md", "# Talks\n\n5/2"),
        ("plan 2024.md", "# Plan 2024\n\nI have lived here since March 5, and like it"),
        ("wrapped.md", "The lighthouse was lit by the first keeper, who lived until about the\n5 March 1924 or so."),
    ],
)
def test_a_file_without_a_date(path: str, text: str) -> None:
    assert written(path, text) is None


@pytest.mark.parametrize("month", ["march", "März", "MART", "марта", "ΜΑΡΤΙΟΥ", "मार्च", "มีนาคม"])
def test_months_of_many_languages(month: str) -> None:
    found = written("note.md", f"5 {month} 2024\n\nRain.")
    assert found is not None and found.month == 3


@pytest.mark.parametrize(
    "line",
    ["Дата: 5 марта 2024", "Tarih: 5 Mart 2024", "päivämäärä: 5.3.2024", "日付：2024年3月5日", "날짜: 2024년 3월 5일"],
)
def test_labels_of_many_languages(line: str) -> None:
    assert written("note.md", f"Plums\n{line}\n\nRain.") == FIFTH


@pytest.mark.parametrize(("spelling", "month"), [("5 aprıl 2024", 4), ("5 APRİL 2024", 4), ("5 ſeptember 2024", 9)])
def test_letters_that_are_others_in_lower_case(spelling: str, month: int) -> None:
    found = written("note.md", f"{spelling}\n\nRain.")
    assert found is not None and found.month == month


def test_a_month_that_none_writes_is_no_date() -> None:
    assert written("note.md", "5 μάρτιοσ 2024\n\nRain.") is None


@pytest.mark.parametrize(
    ("line", "day"),
    [
        ("Leipzig, den 05.03.24", FIFTH),
        ("Halle (Saale), den 5. März 2024", FIFTH),
        ("Leipzig, Dienstag, den 5. März 2024", FIFTH),
        ("Leipzig, den 5. März 2024, im Regen", FIFTH),
        ("Paris, le 5 mars 2024", FIFTH),
        ("We met Ana, den 5. März 2024 we shall not forget", None),
        ("seit den 5. März 2024", None),
    ],
)
def test_a_letter_begins_with_where_and_when_it_was_written(line: str, day: datetime | None) -> None:
    assert written("letter.txt", f"{line}\n\nDear Ana,") == day
