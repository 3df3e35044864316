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
    assert again.seen_at == NOW
    async with chatting(world.client(answers=[world.answer()]), preferences=again) as chat:
        assert chat.app.theme == "parchment" and chat.said("#sign") == "deep ›"
        await chat.ask(world.QUESTION)
        assert not chat.screen.evidence.display
        assert chat.client.asked[0][1]["effort"] == "deep"


def test_what_cannot_be_kept_is_no_trouble(tmp_path: Path) -> None:
    Preferences(tmp_path / "none" / "chat.json").save(NOW)
    Preferences().save(NOW)
    assert list(tmp_path.iterdir()) == []


def test_it_is_readable_by_its_person_alone(tmp_path: Path) -> None:
    kept = Preferences(tmp_path / "chat.json")
    kept.save()
    assert stat.S_IMODE((tmp_path / "chat.json").stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["chat.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"theme": 7, "seen_at": "x"}', "\x00\xff"])
def test_a_damaged_file_keeps_no_chat_from_opening(tmp_path: Path, text: str) -> None:
    path = tmp_path / "chat.json"
    path.write_bytes(text.encode("latin-1"))
    loaded = Preferences.load(path)
    assert (loaded.theme, loaded.effort, loaded.seen_at) == ("", "normal", None)


@given(
    st.text(max_size=20),
    st.sampled_from(["quick", "normal", "deep"]),
    st.booleans(),
)
def test_what_is_kept_is_what_was(
    tmp_path_factory: pytest.TempPathFactory,
    theme: str,
    effort: str,
    evidence: bool,
) -> None:
    path = tmp_path_factory.mktemp("kept") / "chat.json"
    kept = Preferences(path, theme, effort, evidence)
    kept.save(datetime(2026, 1, 2, tzinfo=UTC))
    again = Preferences.load(path)
    kept.seen_at = datetime(2026, 1, 2, tzinfo=UTC)
    assert again == kept


def test_two_chats_on_one_memory_do_not_overwrite_what_the_other_saved(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    Preferences(path).save(NOW)
    one, other = Preferences.load(path), Preferences.load(path)
    one.theme = "parchment"
    one.save()
    other.effort = "deep"
    other.save()
    again = Preferences.load(path)
    assert (again.theme, again.effort) == ("parchment", "deep")
    one.save()
    assert Preferences.load(path) == again
