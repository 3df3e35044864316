"""A chat that stays open while its program is replaced under it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from textual.pilot import Pilot

from tests.tui import world
from tests.tui.scripted import NOW
from tui.app import PalimpsestApp
from tui.upgrade_guard import REPLACED, is_replaced


async def test_it_ends_with_a_sentence_where_a_page_cannot_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not is_replaced()
    gone = ModuleType("tui.gone")
    gone.__file__ = str(tmp_path / "gone.py")
    monkeypatch.setitem(sys.modules, "tui.gone", gone)
    monkeypatch.setitem(sys.modules, "tui.screens.folders", None)
    assert is_replaced()
    app = PalimpsestApp(world.client().connect, lambda: NOW)

    async def press(pilot: Pilot[None]) -> None:
        pilot.app.simulate_key("f8")

    await app.run_async(headless=True, auto_pilot=press)
    assert app.return_code == 1
    assert " ".join(capsys.readouterr().err.split()) == REPLACED
