"""What the evidence looks like. See `tests.tui.looks`."""

from __future__ import annotations

from dataclasses import replace

from tests.tui import world
from tests.tui.conftest import NARROW, chatting
from tests.tui.looks import BROAD, Looks
from tests.tui.scripted import Script

FRONTMATTER = "---\ntags: [museum]\ncurator: Nuria Solano\nsince: 2019\n---\n"


async def test_the_evidence_and_why_it_was_found(looks: Looks) -> None:
    cited = (replace(world.PRISM, passage=FRONTMATTER + world.PRISM.passage), world.EARLIER, world.CHAT)
    script = Script(*cited, replace(world.ANSWERED, citations=cited))
    async with chatting(world.examined(answers=[script])) as chat:
        await chat.ask(world.QUESTION)
        await chat.until(lambda: chat.screen.evidence.citation is not None)
        await chat.pilot.press("tab", "n")
        await chat.until(lambda: "↑ lines 1 to 9" in chat.text())
        await looks.everywhere(chat, "around")
        await chat.pilot.press("tab", "w")  # in a narrow terminal it was not there, and the keys went to the prompt
        await chat.until(lambda: "Why this passage" in chat.text())
        await looks.now(chat, "why")
        await chat.pilot.resize_terminal(*BROAD)
        await looks.now(chat, "why-broad")


async def test_the_evidence_in_a_small_terminal(looks: Looks) -> None:
    async with chatting(world.client(answers=[world.answer()]), NARROW) as chat:
        await chat.ask(world.QUESTION)
        await chat.until(lambda: chat.screen.evidence.citation is not None)
        await chat.pilot.press("f2", "right")
        await chat.until(lambda: "Ordered paint" in chat.text())
        await looks.now(chat, "small")
