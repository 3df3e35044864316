"""pal tidy, and the night in pal status, with a real daemon."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from daemon import wire
from daemon.cli.status import describe_night
from tests.cli.vault import NOTES, Shell

PAIR = re.compile(r"Katharina Brandel +Katharina Brandl +same phone, address or birthday")


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> object:
    folder = tmp_path_factory.mktemp("town")
    shell = Shell(folder, folder / "home")
    assert shell.pal("add", str(Path(NOTES))).code == 0
    yield shell
    shell.pal("daemon", "stop")


def test_what_is_in_order_stays_so(shell: Shell) -> None:
    said = shell.pal("tidy")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("All is in order.")
    again = shell.pal("tidy", "--json").json
    assert (again["joined"], again["stale"], again["questions"], again["episodes"]) == (0, 0, 0, 0)
    assert not again["stopped"]


def test_names_that_may_be_one_are_reported_with_the_command(shell: Shell) -> None:
    for name in ("Katharina Brandl", "Katharina Brandel"):
        shell.pal("remember", "--title", name, f"# {name}\nPhone: 0161 496 0355\nCity: Riga")
    said = shell.pal("doctor", "--memory")
    assert "pal same NAME OTHER" in said.out and PAIR.search(said.out)
    shell.pal("same", "Katharina Brandel", "Katharina Brandl")
    assert not PAIR.search(shell.pal("doctor", "--memory").out)


def test_status_tells_of_the_night(shell: Shell) -> None:
    assert "nothing done yet; every day from 3:00 on" in shell.pal("status", "--all").out


def test_a_night_is_reported_in_a_line() -> None:
    done = wire.Night("idle", 3, datetime(2026, 3, 9, 3, 4, tzinfo=UTC), joined=2)
    assert describe_night(done).endswith(": 2 facts stated twice merged")
    assert describe_night(wire.Night("off", 3)).endswith("off: night.enabled")
    assert "plugged in" in describe_night(wire.Night("battery", 3))
    assert "at work now" in describe_night(wire.Night("working", 3))
    assert "log says where" in describe_night(wire.Night("failed", 3))
    assert ": all was in order" in describe_night(wire.Night("idle", 3, datetime(2026, 3, 9, 3, 4, tzinfo=UTC)))
