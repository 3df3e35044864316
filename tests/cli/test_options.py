from __future__ import annotations

import time
from datetime import datetime, timedelta
from pathlib import Path

import click
import pytest

from daemon.cli.options import as_date, make_scope, require_path
from daemon.cli.show import format_time
from memory.nouns import Scope
from tests.cli.conftest import Pal

DAY = timedelta(days=1)
TICK = timedelta(microseconds=1)


def when(text: str, edge: str) -> datetime:
    moment = as_date(edge)(text)
    assert moment.utcoffset() is not None
    return moment.replace(tzinfo=None)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026", datetime(2026, 1, 1), datetime(2027, 1, 1) - TICK),
        ("2026-12", datetime(2026, 12, 1), datetime(2027, 1, 1) - TICK),
        ("2024-2", datetime(2024, 2, 1), datetime(2024, 3, 1) - TICK),
        ("2026-03-09", datetime(2026, 3, 9), datetime(2026, 3, 10) - TICK),
        ("09.03.2026", datetime(2026, 3, 9), datetime(2026, 3, 10) - TICK),
        ("March 2026", datetime(2026, 3, 1), datetime(2026, 4, 1) - TICK),
        ("Ende März 2026", datetime(2026, 3, 21), datetime(2026, 4, 1) - TICK),
        (" 2026-03-09t18:30 ", datetime(2026, 3, 9, 18, 30), datetime(2026, 3, 9, 18, 30)),
    ],
)
def test_a_date_means_its_first_or_last_moment(text: str, first: datetime, last: datetime) -> None:
    assert when(text, "start") == first
    assert when(text, "end") == last


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo"])
def test_the_ends_of_the_calendar_are_dates(day: str, zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert when(day, "end").isoformat().startswith(day) and format_time(as_date("end")(day))
    finally:
        monkeypatch.undo()
        time.tzset()


def test_today_and_yesterday_are_days() -> None:
    assert when("today", "end") - when("today", "start") == DAY - TICK
    assert when("Yesterday", "start") == when("today", "start") - DAY


def test_a_time_keeps_its_own_offset_as_an_instant() -> None:
    given = "2026-03-09T18:30:00+05:30"
    assert as_date("start")(given) == datetime.fromisoformat(given)


@pytest.mark.parametrize("text", ["", "soon", "2026-13", "2026-02-30", "03/04/2026", "0000", "99999"])
def test_no_date_is_reported_with_an_example(text: str, pal: Pal) -> None:
    result = pal("ask", "--since", text, "where?")
    assert result.exit_code == 2
    assert "is no date. Write it like 2026-03-09" in result.stderr


def test_since_after_until_is_refused(pal: Pal) -> None:
    result = pal("recall", "--since", "2026-05", "--until", "2026-04", "where?")
    assert result.exit_code == 2
    assert "lies after --until" in result.stderr


def test_the_same_day_from_start_to_end_is_a_scope(pal: Pal) -> None:
    result = pal("recall", "--since", "2026-05-01", "--until", "2026-05-01", "where?")
    assert result.exit_code == 3  # understood; nobody is there to answer


def test_folders_and_files_are_distinguished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "one.md").touch()
    monkeypatch.chdir(tmp_path)
    assert make_scope(("notes", "one.md"), ("#boats", "goat"), None, None) == Scope(
        sources=(f"{tmp_path}/one.md",), folders=(f"{tmp_path}/notes/", f"{tmp_path}/one.md#"), tags=("boats", "goat")
    )


def test_a_wrong_path_is_reported_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "Harbour office.md").touch()
    with pytest.raises(click.BadParameter, match=r"There is no .*Did you mean 'Harbour office.md'\?"):
        require_path(tmp_path / "Harbor office.md", "PATH")
    with pytest.raises(click.BadParameter, match=r"There is no .*nowhere' either"):
        require_path(tmp_path / "nowhere" / "a.md", "PATH")


def test_an_address_of_the_web_is_distinguished_from_a_wrong_path() -> None:
    with pytest.raises(click.BadParameter, match="not fetched from the web"):
        require_path(Path("https://example.org/page"), "PATH")


def test_a_broken_link_is_left_to_the_daemon(tmp_path: Path) -> None:
    link = tmp_path / "gone.md"
    link.symlink_to(tmp_path / "nothing")
    assert require_path(link, "PATH") == link
