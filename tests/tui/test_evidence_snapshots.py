"""What the evidence looks like: `pytest tests/tui/test_evidence_snapshots.py --snapshot-update`, and look at them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui import world
from tests.tui.conftest import NARROW, WIDE, Chat
from tests.tui.looks import Look, compare_looks
from tests.tui.scripted import Script

BROAD = (200, 50)
FRONTMATTER = "---\ntags: [museum]\ncurator: Nuria Solano\nsince: 2019\n---\n"


async def look_around(chat: Chat) -> None:
    await chat.ask(world.QUESTION)
    await chat.until(lambda: chat.screen.evidence.citation is not None)
    await chat.pilot.press("tab", "n")
    await chat.until(lambda: "↑ lines 1 to 9" in chat.text())


async def ask_why(chat: Chat) -> None:
    await look_around(chat)
    await chat.pilot.press("w")
    await chat.until(lambda: "Why this passage" in chat.text())


@pytest.mark.parametrize("size", [NARROW, WIDE, BROAD], ids=["narrow", "wide", "broad"])
def test_the_evidence_with_what_stands_around_it(snap_compare: Look, size: tuple[int, int]) -> None:
    cited = (replace(world.PRISM, passage=FRONTMATTER + world.PRISM.passage), world.EARLIER, world.CHAT)
    script = Script(*cited, replace(world.ANSWERED, citations=cited))
    assert compare_looks(snap_compare, world.examined(answers=[script]), look_around, size)


def test_why_a_passage_was_found_on_parchment(snap_compare: Look) -> None:
    async def doing(chat: Chat) -> None:
        chat.app.theme = "parchment"
        await ask_why(chat)

    assert compare_looks(snap_compare, world.examined(), doing)


def test_why_a_passage_was_found_beside_the_others(snap_compare: Look) -> None:
    assert compare_looks(snap_compare, world.examined(), ask_why, BROAD)
