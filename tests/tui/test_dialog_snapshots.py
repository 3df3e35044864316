"""What the windows over the chat look like. See `tests.tui.looks`."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from daemon import wire
from daemon.paths import Paths
from tests.tui import world
from tests.tui.conftest import chatting
from tests.tui.looks import Looks
from tests.tui.test_memory_commands import asked
from tests.tui.test_models import REACHABLE
from tui.dialogs.help import HelpScreen
from tui.dialogs.models import ConnectScreen, ModelsScreen
from tui.dialogs.sessions import SessionsScreen
from tui.dialogs.start import KeepScreen, PathScreen, Tree


async def test_sessions(looks: Looks) -> None:
    async with chatting(world.client(kept=world.sessions())) as chat:
        await chat.pilot.press("ctrl+s")
        await chat.until(lambda: isinstance(chat.app.screen, SessionsScreen))
        await chat.until(lambda: "Question 1?" in chat.text())
        await looks.everywhere(chat, "sessions")
        chat.app.screen.query_one(Input).cursor_blink = False
        await chat.pilot.press("slash", *"answer 1")
        await chat.until(lambda: "Memory: Answer" in chat.text() and "Question 1?" in chat.text())
        await looks.everywhere(chat, "searched")


async def test_models(looks: Looks) -> None:
    async with chatting(world.client(reachable=REACHABLE)) as chat:
        await chat.send("/model")
        await chat.until(lambda: isinstance(chat.app.screen, ModelsScreen))
        await looks.everywhere(chat, "models")


async def test_connecting(looks: Looks, tmp_path: Path) -> None:
    async with chatting(world.client(state=world.EMPTY, paths=Paths.in_folder(tmp_path))) as chat:
        await chat.send("/connect")
        await chat.until(lambda: isinstance(chat.app.screen, ConnectScreen))
        await looks.now(chat, "services")
        await chat.pilot.press("down", "down", "enter")
        for field in chat.app.screen.query(Input):
            field.cursor_blink = False
        await chat.until(lambda: "API key" in chat.text())
        await looks.everywhere(chat, "connect")


async def test_choosing_a_folder(looks: Looks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("letters", "notes"):
        (tmp_path / "home" / name).mkdir(parents=True)
    async with chatting(world.client(state=world.EMPTY)) as chat:
        chat.app.push_screen(PathScreen(chat.app.shared.link, start=tmp_path / "home"))
        await chat.until(lambda: "letters/" in chat.text())
        field = chat.app.screen.query_one(Input)
        field.cursor_blink = False
        chat.app.screen.query_one(Tree).focus()  # what is typed leads to no other folder then
        field.value = "~/home/notes"
        await chat.until(lambda: "would be read" in chat.words())
        await looks.everywhere(chat, "path")
        await chat.app.pop_screen()
        much = wire.Counted(1904, 52_000_000, complete=True)
        chat.app.push_screen(KeepScreen(Path("/home/tilda/notes"), much))
        await chat.until(lambda: "1,904 files would be read" in chat.words())
        await looks.everywhere(chat, "keep")


async def test_help(looks: Looks) -> None:
    async with chatting(world.client()) as chat:
        await chat.pilot.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, HelpScreen))
        await looks.everywhere(chat, "help")


async def test_all_questions(looks: Looks) -> None:
    questions = asked("Who has the belt for the compressor?", "Where is Atlantis?", "When was the fog signal sounded?")
    async with chatting(world.client(questions=questions)) as chat:
        await chat.pilot.press("ctrl+r")
        await chat.until(lambda: "Atlantis" in chat.text())
        chat.app.screen.query_one(Input).cursor_blink = False
        await chat.pilot.press("down")
        await looks.everywhere(chat, "asked")
