"""What the prompt looks like while something is suggested, limited, pasted or waiting. See `tests.tui.looks`."""

from __future__ import annotations

from textual.events import Paste

from tests.tui import world
from tests.tui.conftest import NARROW, Chat, chatting
from tests.tui.looks import Looks
from tests.tui.scripted import Script, ScriptedClient
from tests.tui.test_prompt import FOG, GOAT, LONG
from tui.inquiry import Limit
from tui.widgets.below import Chip


def noted() -> ScriptedClient:
    return world.client(listed=(FOG, GOAT), tagged={"boat": 3}, answers=[Script(ends=False)])


async def limit(chat: Chat) -> None:
    for one in (Limit("note", FOG.uri, FOG.title), Limit("tag", "boat", "boat"), Limit("day", "2026-03", "2026-03")):
        chat.screen.limits.add(one)
    chat.app.post_message(Paste(LONG))
    await chat.until(lambda: len(chat.screen.query(Chip)) == 4)


async def test_what_is_suggested_and_what_limits_a_question(looks: Looks) -> None:
    async with chatting(noted()) as chat:
        chat.screen.prompt.insert("When was it sounded? @fo")
        await chat.until(lambda: "Fog signal" in chat.text())
        await chat.pilot.press("down")
        await looks.now(chat, "suggested")
        await chat.pilot.press("escape")
        chat.screen.prompt.clear()
        chat.screen.prompt.insert("Is this so?\nAnd since when?")
        await limit(chat)
        await looks.everywhere(chat, "limited")


async def test_questions_that_wait(looks: Looks) -> None:
    async with chatting(noted()) as chat:
        await limit(chat)
        for question in ("When was it sounded?", "Who has the belt?", "What did the mayor say?"):
            await chat.send(question)
        await chat.until(lambda: "2 waiting" in chat.text())
        await chat.pilot.press("alt+q")
        await looks.now(chat, "waiting")


async def test_what_is_asked_before_forgetting(looks: Looks) -> None:
    async with chatting(world.client()) as chat:
        await chat.pilot.resize_terminal(*NARROW)
        await chat.send("/forget name Ana")
        await chat.until(lambda: "cannot be undone" in chat.text())
        await looks.everywhere(chat, "confirm")
