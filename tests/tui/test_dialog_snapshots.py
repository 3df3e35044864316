"""What the windows over the chat look like. See `tests.tui.looks`."""

from __future__ import annotations

from textual.widgets import Input

from tests.tui import world
from tests.tui.conftest import chatting
from tests.tui.looks import Looks
from tests.tui.test_memory_commands import asked
from tests.tui.test_models import REACHABLE
from tui.screens.help import HelpScreen
from tui.screens.models import ModelsScreen
from tui.screens.sessions import SessionsScreen


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
