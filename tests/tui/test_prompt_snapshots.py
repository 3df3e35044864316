"""What the prompt looks like while something is suggested, limited, pasted or waiting.

After a change that is meant: `pytest tests/tui/test_prompt_snapshots.py --snapshot-update`, and look at the pictures.
"""

from __future__ import annotations

import pytest
from textual.events import Paste
from textual.widgets import Input

from tests.tui import world
from tests.tui.conftest import NARROW, WIDE, Chat
from tests.tui.looks import Look, compare_looks
from tests.tui.scripted import Script, ScriptedClient
from tests.tui.test_memory_commands import LYON, TURIN, asked
from tests.tui.test_prompt import FOG, GOAT, LONG
from tui.inquiry import Limit
from tui.widgets.chips import Chip

SIZES = pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])


def noted() -> ScriptedClient:
    return world.client(listed=(FOG, GOAT), tagged={"boat": 3}, answers=[Script(ends=False)])


async def limit(chat: Chat) -> None:
    for one in (Limit("note", FOG.uri, FOG.title), Limit("tag", "boat", "boat"), Limit("day", "2026-03", "2026-03")):
        chat.screen.limit(one)
    chat.app.post_message(Paste(LONG))
    await chat.until(lambda: len(chat.screen.query(Chip)) == 4)


@SIZES
def test_notes_to_ask_within(snap_compare: Look, size: tuple[int, int]) -> None:
    async def doing(chat: Chat) -> None:
        chat.screen.prompt.insert("When was it sounded? @fo")
        await chat.until(lambda: "Fog signal" in chat.text())
        await chat.pilot.press("down")

    assert compare_looks(snap_compare, noted(), doing, size)


@SIZES
def test_limits_and_a_pasted_text(snap_compare: Look, size: tuple[int, int]) -> None:
    async def doing(chat: Chat) -> None:
        chat.screen.prompt.insert("Is this so?\nAnd since when?")
        await limit(chat)

    assert compare_looks(snap_compare, noted(), doing, size)


def test_questions_that_wait_on_parchment(snap_compare: Look) -> None:
    async def doing(chat: Chat) -> None:
        chat.app.theme = "parchment"
        await limit(chat)
        for question in ("When was it sounded?", "Who has the belt?", "What did the mayor say?"):
            await chat.send(question)
        await chat.until(lambda: "2 waiting" in chat.text())
        await chat.pilot.press("alt+q")

    assert compare_looks(snap_compare, noted(), doing)


@SIZES
def test_all_questions(snap_compare: Look, size: tuple[int, int]) -> None:
    questions = asked("Who has the belt for the compressor?", "Where is Atlantis?", "When was the fog signal sounded?")

    async def doing(chat: Chat) -> None:
        await chat.pilot.press("ctrl+r")
        await chat.until(lambda: "Atlantis" in chat.text())
        chat.app.screen.query_one(Input).cursor_blink = False
        await chat.pilot.press("down")

    assert compare_looks(snap_compare, world.client(questions=questions), doing, size)


def test_facts_in_the_conversation(snap_compare: Look) -> None:
    async def doing(chat: Chat) -> None:
        await chat.send("/facts Ana")
        await chat.until(lambda: "Known of Ana" in chat.text())
        await chat.send("/forget name Ana")
        await chat.until(lambda: "cannot be undone" in chat.text())

    assert compare_looks(snap_compare, world.client(known={"Ana": (TURIN, LYON)}), doing)
