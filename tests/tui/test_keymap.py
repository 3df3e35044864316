"""Keys of one's own: they do what they are given, are shown everywhere, and nothing in the file stops the chat."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.binding import Binding

from tests.tui import world
from tests.tui.conftest import Chat, chatting
from tui.actions import ACTIONS
from tui.app import PalimpsestApp
from tui.dialogs.help import HelpScreen
from tui.dialogs.sessions import SessionsScreen
from tui.keys import FILE, Keymap, load_keymap, parse_key, read_keymap

OWN = """
chat.sessions = "Ctrl+Y"
prompt.send = "F9"
[evidence]
copy = ["c", "C"]
open = "y"
"""


@pytest.fixture
def keymap(tmp_path: Path) -> Keymap:
    (tmp_path / FILE).write_text(OWN, "utf-8")
    return load_keymap(tmp_path / FILE)


def test_every_action_with_a_key_has_a_name_of_its_own() -> None:
    ids = [action.id for action in ACTIONS if action.key]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("written", "key"),
    [("Ctrl+E", "ctrl+e"), ("PgUp", "pageup"), ("Esc", "escape"), ("alt+↑", "alt+up"), ("Y", "Y"), ("/", "slash")],
)
def test_a_key_may_be_written_as_it_is_shown(written: str, key: str) -> None:
    assert parse_key(written) == key


def test_a_key_that_another_one_leaves_may_be_had(keymap: Keymap) -> None:
    assert keymap.problems == ()
    assert keymap.changed == {
        "chat.sessions": "ctrl+y", "prompt.send": "f9", "evidence.copy": "c,C", "evidence.open": "y",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        ({"evidence": {"coppy": "c"}}, "No key does evidence.coppy."),
        (
            {"evidence": {"copy": "ctl+c"}},
            'evidence.copy takes a key like "ctrl+e" or "f9", or several in brackets: it stays at Ctrl+O.',
        ),
        ({"evidence": {"copy": ""}}, "evidence.copy takes a key"),
        ({"evidence": {"copy": 7}}, "evidence.copy takes a key"),
        (
            {"evidence": {"copy": "Enter"}},
            "Enter is evidence.open already: evidence.copy stays at Ctrl+O.",
        ),
        ({"evidence": {"copy": "ctrl+p"}}, "Ctrl+P is app.actions already"),
        ({"chat": {"evidence": "e"}}, "chat.evidence takes a key"),
        ({"evidence": {"copy": "k9", "open": "escape"}}, "evidence.copy takes a key"),
        ({"x": 1, "y": [1], "": {"": {}}}, "No key does x."),
    ],
)
def test_what_cannot_be_had_is_said_and_left_out(told: dict[str, Any], problem: str) -> None:
    keymap = read_keymap(told)
    assert problem in "\n".join(keymap.problems) and not keymap.changed


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    assert load_keymap(tmp_path / FILE) == Keymap()
    (tmp_path / FILE).write_text("[chat\n", "utf-8")
    assert "is no TOML" in load_keymap(tmp_path / FILE).problems[0]
    (tmp_path / FILE).write_bytes(b"\xff\xfe")
    assert "cannot be read" in load_keymap(tmp_path / FILE).problems[0]
    assert "cannot be read" in load_keymap(tmp_path).problems[0]


async def test_own_keys_do_what_they_are_given_and_are_shown(keymap: Keymap) -> None:
    client = world.examined(kept=world.sessions())
    async with chatting(client, keymap=keymap) as chat:
        assert "^Y sessions" in chat.text().splitlines()[-1]
        chat.screen.prompt.insert(world.QUESTION)
        await chat.pilot.press("enter")
        assert chat.screen.prompt.text == f"{world.QUESTION}\n" and not client.asked
        await chat.pilot.press("f9")
        await chat.until(lambda: chat.answers and chat.answers[-1].ready.is_set())
        await chat.pilot.press("tab")
        await chat.until(lambda: "c copy" in chat.text().splitlines()[-1])
        await chat.pilot.press("y")
        await chat.until(lambda: "The file no longer exists" in chat.message())
        assert not chat.app.clipboard
        await chat.pilot.press("C")
        await chat.until(lambda: world.PRISM.quote in chat.app.clipboard)
        await chat.pilot.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, HelpScreen) and "c or C" in chat.text())
        await chat.pilot.press("escape", "ctrl+s", "ctrl+y")
        await chat.until(lambda: isinstance(chat.app.screen, SessionsScreen))


def shown(chat: Chat) -> list[str]:
    return [chat.message()] if FILE in chat.message() else []


async def test_what_is_wrong_is_said_once() -> None:
    keymap = read_keymap({"chat": {"sessions": "ctrl+n", "nothing": "\x1b[31m"}})
    async with chatting(world.client(), keymap=keymap) as chat:
        await chat.until(lambda: shown(chat))
        await chat.pilot.press("ctrl+s", "escape")
        assert len(shown(chat)) == 1 and "Ctrl+N is chat.new-session already" in shown(chat)[0]


def test_every_binding_of_the_registry_has_its_id() -> None:
    assert all(isinstance(one, Binding) and one.id for one in PalimpsestApp.BINDINGS)
