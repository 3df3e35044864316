"""Whether this machine runs on its battery, as far as Linux tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from daemon.jobs.schedule import on_battery

MAINS = {"type": "Mains", "online": "1"}
PULLED = {"type": "Mains", "online": "0"}
MOUSE = {"type": "Battery", "scope": "Device", "status": "Discharging"}


@pytest.mark.parametrize(
    ("supplies", "expected"),
    [
        ({}, None),
        ({"AC": MAINS}, False),
        ({"AC": PULLED}, True),
        ({"AC": MAINS, "BAT0": {"type": "Battery", "status": "Discharging"}}, False),
        ({"AC": PULLED, "BAT0": {"type": "Battery", "status": "Discharging"}}, True),
        ({"BAT0": {"type": "Battery", "status": "Discharging\n"}}, True),
        ({"BAT0": {"type": "Battery", "status": "Full"}}, False),
        ({"BAT0": {"type": "Battery", "status": "Charging"}}, False),
        ({"BAT0": {"type": "Battery", "status": "Unknown"}}, None),
        ({"hidpp": MOUSE}, None),
        ({"AC": MAINS, "hidpp": MOUSE}, False),
        ({"odd": {}}, None),
    ],
)
def test_what_linux_tells(tmp_path: Path, supplies: dict[str, dict[str, str]], expected: bool | None) -> None:
    for name, values in supplies.items():
        (tmp_path / name).mkdir()
        for file, value in values.items():
            (tmp_path / name / file).write_text(value)
    assert on_battery(tmp_path) is expected


def test_where_nothing_is_stated_nothing_is_known(tmp_path: Path) -> None:
    assert on_battery(tmp_path / "not there") is None


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Now drawing from 'Battery Power'\n -InternalBattery-0 (id=1)\t73%; discharging; 3:12 remaining", True),
        ("Now drawing from 'AC Power'\n -InternalBattery-0 (id=1)\t100%; charged; 0:00 remaining", False),
        ("", None),
    ],
)
def test_the_battery_of_a_mac(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, expected: bool | None
) -> None:
    tool = tmp_path / "pmset"
    tool.write_text(f"#!/bin/sh\ncat <<'END'\n{said}\nEND\n")
    tool.chmod(0o755)
    monkeypatch.setattr("sys.platform", "darwin")
    assert on_battery(pmset=str(tool)) is expected
    assert on_battery(pmset=str(tmp_path / "none")) is None
