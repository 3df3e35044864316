from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import InvalidInputError
from memory.time.timestamps import from_ms, to_ms


def test_the_same_moment_in_another_zone_is_the_same_number() -> None:
    utc = datetime(2024, 5, 3, 10, 0, tzinfo=UTC)
    assert to_ms(utc) == 1714730400000
    assert to_ms(utc.astimezone(timezone(timedelta(hours=-7)))) == to_ms(utc)


def test_a_naive_datetime_is_refused_with_an_example_of_a_good_one() -> None:
    with pytest.raises(InvalidInputError, match=r"no time zone; give one, for example 2024-05-03T00:00:00\+00:00"):
        to_ms(datetime(2024, 5, 3))


def test_nothing_stays_nothing() -> None:
    assert to_ms(None) is None
    assert from_ms(None) is None


@given(st.datetimes(timezones=st.just(UTC)))
def test_there_and_back_loses_less_than_a_millisecond(when: datetime) -> None:
    assert timedelta(0) <= when - from_ms(to_ms(when)) < timedelta(milliseconds=1)


def test_a_day_that_was_written_is_that_day_again_in_every_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(time, "tzset"):
        pytest.skip("this system cannot change its zone")
    try:
        for zone in ("Europe/Berlin", "America/New_York", "Pacific/Auckland"):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            assert from_ms(to_ms(datetime(2025, 3, 3).astimezone())).date() == date(2025, 3, 3)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_before_1970_too() -> None:
    assert from_ms(to_ms(datetime(1931, 2, 3, tzinfo=UTC))) == datetime(1931, 2, 3, tzinfo=UTC)


@pytest.mark.parametrize("end", ["0001-01-01T00:00+14:00", "9999-12-31T23:59:59.999999-12:00"])
def test_the_ends_of_time_come_back(end: str) -> None:
    when = datetime.fromisoformat(end)
    assert abs(from_ms(to_ms(when)) - when) < timedelta(days=1)
