"""Recurrence rules: days far from the first one, and what is said of them."""

from __future__ import annotations

from datetime import date, datetime, time
from time import process_time

import pytest

from memory.time.recurrence import Recurrence, list_event_days, read_recurrence, show_next

EVENT = "## Market\nWhen: 2017-08-31 10:00 to 2017-09-01 02:00\nRepeats: FREQ=YEARLY\nAlso on: 2018-08-31\nWhere: quay"


@pytest.mark.parametrize(
    ("rule", "first", "today", "day"),
    [
        ("FREQ=YEARLY", date(1950, 2, 3), date(2026, 11, 23), date(2027, 2, 3)),
        ("FREQ=YEARLY", date(2024, 2, 29), date(2025, 1, 1), date(2028, 2, 29)),
        ("FREQ=WEEKLY;INTERVAL=2", date(2017, 1, 5), date(2026, 11, 23), date(2026, 11, 26)),
        ("FREQ=MONTHLY;BYDAY=-1FR", date(2017, 1, 27), date(2026, 11, 23), date(2026, 11, 27)),
        ("FREQ=WEEKLY;COUNT=500", date(2017, 1, 5), date(2026, 7, 27), date(2026, 7, 30)),
        ("FREQ=WEEKLY;COUNT=500", date(2017, 1, 5), date(2026, 7, 31), None),
        ("FREQ=YEARLY;UNTIL=20190101", date(2017, 8, 9), date(2020, 1, 1), None),
        ("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", date(2017, 8, 9), date(2020, 1, 1), None),
        ("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=9", date(2017, 8, 9), date(2020, 1, 1), None),
        ("FREQ=MONTHLY;INTERVAL=5;BYDAY=2TU", date(1999, 1, 12), date(2026, 11, 23), date(2026, 12, 8)),
        ("FREQ=YEARLY", date(2030, 8, 9), date(2020, 1, 1), date(2030, 8, 9)),
    ],
)
def test_the_next_day_is_found_however_long_ago_it_began(rule: str, first: date, today: date, day: date | None) -> None:
    begun = process_time()
    assert Recurrence((rule,), datetime.combine(first, time())).next_day(today) == day
    assert process_time() - begun < 0.5


def test_days_of_the_rule_and_listed_ones_are_shown_once_and_in_order() -> None:
    again = Recurrence(
        ("FREQ=DAILY;COUNT=3",),
        datetime(2026, 1, 1),
        frozenset({date(2026, 1, 2), date(2026, 1, 9)}),
        frozenset({date(2026, 1, 3)}),
    )
    assert [day.day for day in again.days(date(2026, 1, 1), date(2026, 2, 1))] == [1, 2, 9]


def test_an_event_is_shown_as_of_its_next_time() -> None:
    assert show_next(EVENT, date(2026, 11, 23)) == "When: 2027-08-31 10:00 to 2027-09-01 02:00, every year since 2017"
    assert show_next(EVENT.replace("YEARLY", "YEARLY;UNTIL=20190101"), date(2026, 11, 23)) == ""
    assert read_recurrence("## Market\nWhen: 2017-08-31 (all day)") is None
    every = read_recurrence(EVENT.replace("YEARLY", "WEEKLY;INTERVAL=2"))
    assert every is not None and every.describe() == "every 2 weeks since 2017-08-31"


@pytest.mark.parametrize("event", ["When: 2017-13-45\nRepeats: FREQ=DAILY", "When: 9999-12-31\nRepeats: FREQ=DAILY"])
def test_a_day_that_does_not_exist_breaks_nothing(event: str) -> None:
    assert show_next(event, date(9999, 12, 31)) == ""


@pytest.mark.parametrize("time", ["10:75", "24:30", "31:00"])
def test_a_time_that_does_not_exist_leaves_the_day(time: str) -> None:
    recurrence = read_recurrence(f"When: 2026-05-04 {time}\nRepeats: FREQ=DAILY")
    assert recurrence is not None and recurrence.next_day(date(2026, 5, 6)) == date(2026, 5, 6)


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=SECONDLY", "FREQ=MINUTELY;BYMONTHDAY=31;BYMONTH=2", "FREQ=DAILY;INTERVAL=0", "FREQ=NEVER", "INTERVAL=x",
        "FREQ=DAILY;UNTIL=tomorrow", "COUNT=3", "FREQ=WEEKLY;BYDAY=99XX", "FREQ=DAILY;INTERVAL=99999999999999999999",
        "FREQ=DAILY;COUNT=x", "A=" + "x" * 400,
    ],
)  # fmt: skip
def test_a_rule_that_cannot_be_read_has_no_days_but_the_first(rule: str) -> None:
    assert [*Recurrence((rule,), datetime(2025, 1, 6)).days(date(2000, 1, 1), date(9999, 12, 31))] == [date(2025, 1, 6)]


@pytest.mark.parametrize(
    ("when", "days"),
    [
        ("2026-03-01 to 2026-03-03 (all day)", [1, 2, 3]),
        ("2026-03-01 22:00 to 2026-03-02 01:00", [1]),
        ("2026-03-01 22:00 to 2026-03-03 00:00", [1, 2]),
        ("2026-03-01 10:00 to 2026-03-02 12:00", [1, 2]),
        ("2026-03-01 (all day)\nRepeats: FREQ=DAILY;INTERVAL=3;COUNT=3\nNot on: 2026-03-04", [1, 7]),
        ("2026-03-01 to 2026-03-02 (all day)\nRepeats: FREQ=WEEKLY;COUNT=2", [1, 2, 8, 9]),
    ],
)
def test_an_event_is_on_each_day_that_it_takes(when: str, days: list[int]) -> None:
    found = list_event_days(f"## Fair\nWhen: {when}\nTickets of 2026-03-20", date(2026, 3, 1), date(2026, 4, 1))
    assert [day.day for day in found] == days
