"""What the pages look like. Words are tested elsewhere: these few pictures are for the layout and the colours. See
`tests.tui.looks`."""

from __future__ import annotations

from tests.tui import world
from tests.tui.conftest import chatting
from tests.tui.looks import Looks


async def test_home(looks: Looks) -> None:
    async with chatting(world.at_home()) as chat:
        await chat.until(lambda: "Worth asking" in chat.text() and chat.client.since is None)
        await looks.both(chat, "home")


async def test_an_answer(looks: Looks) -> None:
    async with chatting(world.examined()) as chat:
        await chat.ask(world.QUESTION)
        await chat.until(lambda: chat.screen.evidence.citation is not None)
        await looks.both(chat, "answer")
        await chat.pilot.press("ctrl+t")
        await chat.until(lambda: "kept 3" in chat.words())
        await looks.both(chat, "walk")


async def test_the_memory(looks: Looks) -> None:
    async with chatting(world.remembered()) as chat:
        await chat.app.action_open_page("memory")
        await chat.until(lambda: "Facts now" in chat.text())
        await looks.both(chat, "memory")


async def test_the_review(looks: Looks) -> None:
    async with chatting(world.reviewed()) as chat:
        await chat.app.action_open_page("review")
        await chat.until(lambda: "It is" in chat.text())
        await looks.both(chat, "review")


async def test_the_folders(looks: Looks) -> None:
    async with chatting(world.working()) as chat:
        await chat.app.action_open_page("folders")
        await chat.until(lambda: "fog-signal.md" in chat.text())
        await looks.both(chat, "folders")
