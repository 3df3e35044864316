"""What a person chose is there again when the chat is opened anew."""

from __future__ import annotations

import json
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui import world
from tests.tui.conftest import chatting
from tests.tui.scripted import NOW
from tui.preferences import Preferences


async def test_theme_effort_and_panes_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    async with chatting(world.client(answers=[world.answer()]), preferences=Preferences.load(path)) as chat:
        await chat.send("/theme parchment")
        await chat.send("/effort deep")
        await chat.ask(world.QUESTION)
        await chat.pilot.press("f2")
        await chat.until(lambda: json.loads(path.read_text())["theme"] == "parchment")
    again = Preferences.load(path)
    assert (again.seen_at, again.used["Theme"]) == (NOW, 1)
    async with chatting(world.client(answers=[world.answer()]), preferences=again) as chat:
        assert chat.app.theme == "parchment" and chat.said("#sign") == "deep ›"
        await chat.ask(world.QUESTION)
        assert not chat.screen.evidence.display
        assert chat.client.asked[0][1]["effort"] == "deep"


async def test_the_palette_begins_with_what_is_used_most() -> None:
    async with chatting(world.client(), preferences=Preferences()) as chat:
        chat.app.shared.preferences.used.update({"Status": 3, "Copy answer": 1})
        await chat.pilot.press("ctrl+p")
        await chat.until(lambda: "Show the state of the memory" in chat.text())
        lines = chat.text().splitlines()
        order = [
            next(y for y, line in enumerate(lines) if name in line) for name in ("Status", "Copy answer", "Evidence")
        ]
        assert order == sorted(order)


def test_what_cannot_be_kept_is_no_trouble(tmp_path: Path) -> None:
    Preferences(tmp_path / "none" / "chat.json").save(NOW)
    Preferences().save(NOW)
    assert list(tmp_path.iterdir()) == []


def test_it_is_readable_by_its_person_alone(tmp_path: Path) -> None:
    kept = Preferences(tmp_path / "chat.json")
    kept.note_use("Help")
    assert stat.S_IMODE((tmp_path / "chat.json").stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["chat.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"theme": 7, "used": [], "seen_at": "x"}', "\x00\xff"])
def test_a_damaged_file_keeps_no_chat_from_opening(tmp_path: Path, text: str) -> None:
    path = tmp_path / "chat.json"
    path.write_bytes(text.encode("latin-1"))
    loaded = Preferences.load(path)
    assert (loaded.theme, loaded.effort, loaded.seen_at, loaded.used) == ("", "normal", None, {})


@given(
    st.text(max_size=20),
    st.sampled_from(["quick", "normal", "deep"]),
    st.booleans(),
    st.booleans(),
    st.dictionaries(st.text(max_size=9), st.integers(1, 9), max_size=5),
)
def test_what_is_kept_is_what_was(
    tmp_path_factory: pytest.TempPathFactory,
    theme: str,
    effort: str,
    evidence: bool,
    motion: bool,
    used: dict[str, int],
) -> None:
    path = tmp_path_factory.mktemp("kept") / "chat.json"
    kept = Preferences(path, theme, effort, evidence, motion)
    kept.used.update(used)
    kept.save(datetime(2026, 1, 2, tzinfo=UTC))
    again = Preferences.load(path)
    kept.seen_at = datetime(2026, 1, 2, tzinfo=UTC)
    assert again == kept


def test_two_chats_on_one_memory_do_not_overwrite_what_the_other_saved(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    Preferences(path).save(NOW)
    one, other = Preferences.load(path), Preferences.load(path)
    one.theme = "parchment"
    one.note_use("Status")
    other.effort = "deep"
    other.note_use("Status")
    other.note_use("Help")
    again = Preferences.load(path)
    assert (again.theme, again.effort) == ("parchment", "deep")
    assert again.used == {"Status": 2, "Help": 1}
    one.save()
    assert Preferences.load(path) == again
