"""What the pages Memory, Review and Folders look like. See `tests.tui.looks`."""

from __future__ import annotations

from tests.tui import world
from tests.tui.conftest import Chat, chatting
from tests.tui.looks import Looks
from tui.memory.screen import MemoryScreen


async def show_kind(chat: Chat, kind: str, words: str) -> None:
    """Shows things of a kind on the page Memory, and waits for the words."""
    page = chat.app.screen
    assert isinstance(page, MemoryScreen)
    page.filter.choose(kind)
    page.reload()
    await chat.until(lambda: words in chat.words())


async def test_the_memory(looks: Looks) -> None:
    async with chatting(world.remembered()) as chat:
        await chat.app.action_open_page("memory")
        await chat.until(lambda: "Facts now" in chat.text())
        await looks.everywhere(chat, "memory")
        await chat.pilot.press("down", "enter")
        await chat.until(lambda: "Facts now" in chat.text())
        await looks.everywhere(chat, "object")


async def test_what_is_known_of_the_owner_what_is_planned_and_a_note(looks: Looks) -> None:
    async with chatting(world.remembered()) as chat:
        await chat.app.action_open_page("memory")
        await chat.until(lambda: "Facts now" in chat.text())
        await show_kind(chat, "me", "Your phone")
        await looks.everywhere(chat, "me")
        await show_kind(chat, "plans", "Foghorn committee")
        await looks.everywhere(chat, "plans")
        await show_kind(chat, "notes", "Facts")
        await looks.now(chat, "note")


async def test_the_review(looks: Looks) -> None:
    async with chatting(world.reviewed()) as chat:
        await chat.app.action_open_page("review")
        await chat.until(lambda: "It is" in chat.text())
        await looks.everywhere(chat, "review")
        await chat.pilot.press("space", "down", "space", "up", "left")
        await looks.now(chat, "marked")


async def test_nothing_to_review(looks: Looks) -> None:
    async with chatting(world.client()) as chat:
        await chat.app.action_open_page("review")
        await chat.until(lambda: "There is nothing to review." in chat.text())
        await looks.now(chat, "nothing")


async def test_the_work(looks: Looks) -> None:
    async with chatting(world.working()) as chat:
        await chat.app.action_open_page("folders")
        await chat.until(lambda: "fog-signal.md" in chat.text())
        for tab in ("folders", "reading", "models", "health"):
            await chat.pilot.press("down", "up")
            await chat.until(lambda: "Look" not in chat.said("#summary"))
            await looks.everywhere(chat, tab)
            await chat.pilot.press("right")
