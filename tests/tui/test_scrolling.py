"""Nobody who has scrolled up is moved; who is at the end stays at the end."""

from __future__ import annotations

from daemon import wire
from tests.tui import world
from tests.tui.conftest import NARROW, chatting
from tests.tui.scripted import Script


def paragraphs(first: int, last: int) -> wire.Token:
    return wire.Token("".join(f"Paragraph {n}.\n\n" for n in range(first, last)))


async def test_the_end_stays_in_view_while_an_answer_grows() -> None:
    script = Script(paragraphs(0, 4), ends=False)
    async with chatting(world.client(answers=[script]), NARROW) as chat:
        await chat.send("Go on?")
        for n in range(4, 40, 6):
            script.give(paragraphs(n, n + 6))
            await chat.until(lambda n=n: f"Paragraph {n + 5}." in chat.text())
        assert "more line" not in chat.text()


async def test_who_reads_above_is_not_moved_and_sees_what_came() -> None:
    script = Script(paragraphs(0, 40), ends=False)
    async with chatting(world.client(answers=[script]), NARROW) as chat:
        transcript = chat.screen.conversation.transcript
        await chat.send("Go on?")
        await chat.until(lambda: "Paragraph 39." in chat.text())
        await chat.pilot.press("pageup", "pageup")
        await chat.until(lambda: not transcript.follows)
        before = transcript.scroll_y
        script.give(paragraphs(40, 45))
        await chat.until(lambda: "↓ 10 more lines  ^End" in chat.text())
        assert transcript.scroll_y == before and "Paragraph 44." not in chat.text()
        await chat.pilot.click("#behind")
        await chat.until(lambda: "Paragraph 44." in chat.text())
        assert "more line" not in chat.text()
        script.give(paragraphs(45, 50))
        await chat.until(lambda: "Paragraph 49." in chat.text())


async def test_the_mouse_wheel_lets_go_of_the_end_and_finds_it_again() -> None:
    script = Script(paragraphs(0, 40), ends=False)
    async with chatting(world.client(answers=[script]), NARROW) as chat:
        transcript = chat.screen.conversation.transcript
        await chat.send("Go on?")
        await chat.until(lambda: "Paragraph 39." in chat.text())
        transcript.scroll_up(animate=False)
        await chat.until(lambda: not transcript.follows)
        for _ in range(3):
            transcript.scroll_down(animate=False)
            await chat.pilot.pause()
        await chat.until(lambda: transcript.follows)
        assert "Paragraph 39." in chat.text() and "more line" not in chat.text()


async def test_asking_goes_to_the_end() -> None:
    client = world.client(answers=[Script(paragraphs(0, 40), wire.Answered(paragraphs(0, 40).text)), world.answer()])
    async with chatting(client, NARROW) as chat:
        await chat.ask("Go on?")
        await chat.pilot.press("pageup", "pageup")
        await chat.until(lambda: not chat.screen.conversation.transcript.follows)
        await chat.ask(world.QUESTION)
        await chat.until(lambda: "not right?" in chat.text())
        assert chat.screen.conversation.transcript.follows


async def test_a_smaller_terminal_keeps_the_end_in_view() -> None:
    client = world.client(answers=[Script(wire.Answered(paragraphs(0, 40).text))])
    async with chatting(client) as chat:
        await chat.ask("Go on?")
        await chat.until(lambda: "Paragraph 39." in chat.text())
        await chat.pilot.resize_terminal(50, 12)
        await chat.until(lambda: "Paragraph 39." in chat.text())
        await chat.pilot.resize_terminal(20, 5)
        await chat.pilot.resize_terminal(200, 60)
        await chat.until(lambda: "Paragraph 39." in chat.text() and "Evidence" in chat.text())
        assert chat.screen.conversation.transcript.follows
