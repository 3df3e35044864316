"""What an answer takes of the terminal while it comes: it is drawn in few steps, and typing is not delayed by it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from daemon import wire
from tests.tui import world
from tests.tui.conftest import NARROW, Chat, chatting
from tests.tui.scripted import Script
from tui.widgets.prose import Prose

MANY = [wire.Token(f"Sentence {n}. [1]\n\n") for n in range(60)]


@contextmanager
def count_layouts(chat: Chat) -> Iterator[list[object]]:
    """One entry for each time the screen is laid out anew: what that costs grows with all that is on it."""
    laid_out: list[object] = []
    chat.screen.screen_layout_refresh_signal.subscribe(chat.screen, laid_out.append, immediate=True)
    yield laid_out
    chat.screen.screen_layout_refresh_signal.unsubscribe(chat.screen)


async def test_what_comes_at_once_is_drawn_at_once() -> None:
    text = "".join(token.text for token in MANY)
    script = Script(*world.STEPS, world.PRISM, *MANY, wire.Answered(text, (world.PRISM,), ms=41.0))
    async with chatting(world.client(answers=[script])) as chat:
        with count_layouts(chat) as laid_out:
            answer = await chat.ask(world.QUESTION)
            await chat.until(lambda: "Sentence 59." in chat.text())
        assert len(laid_out) < 20 and answer.query_one(Prose).source.rstrip() == text.rstrip()


async def test_typing_lays_nothing_out() -> None:
    async with chatting(world.client(answers=[world.answer()])) as chat:
        await chat.ask(world.QUESTION)
        await chat.until(lambda: "not right?" in chat.text())
        await chat.pilot.pause(0.2)
        with count_layouts(chat) as laid_out:
            await chat.pilot.press(*"sounded")
        assert chat.screen.prompt.text == "sounded" and not laid_out


async def test_what_has_been_drawn_of_an_answer_stays_when_it_is_whole() -> None:
    script = Script(world.PRISM, wire.Token("It was "), ends=False)
    async with chatting(world.client(answers=[script])) as chat:
        await chat.send(world.QUESTION)
        await chat.until(lambda: "It was" in chat.text())
        [drawn] = chat.answers[0].query_one(Prose).children
        script.give(wire.Token("sounded. [1]"))
        script.give(wire.Answered("It was sounded. [1]", (world.PRISM,)))
        await chat.until(chat.answers[0].ready.is_set)
        await chat.until(lambda: "It was sounded. [1]" in chat.text())
        assert [*chat.answers[0].query_one(Prose).children] == [drawn]


async def test_a_code_fence_that_came_in_pieces_is_whole_in_the_end() -> None:
    script = Script(wire.Token("```python\nsound"), ends=False)
    async with chatting(world.client(answers=[script])) as chat:
        await chat.send("How?")
        await chat.until(lambda: "sound" in chat.text())
        for piece in ("(beatrice)\n`", "``\nDo"):
            script.give(wire.Token(piece))
        await chat.until(lambda: "beatrice" in chat.text())
        script.give(wire.Answered("```python\nsound(beatrice)\n```\nDone. [1]", (world.PRISM,)))
        await chat.until(chat.answers[0].ready.is_set)
        assert [block.__class__.__name__ for block in chat.answers[0].query_one(Prose).children] == [
            "MarkdownFence",
            "MarkdownParagraph",
        ]


async def test_what_has_come_when_it_is_stopped_is_kept_also_if_it_was_not_drawn() -> None:
    script = Script(wire.Token("It was sounded"), ends=False)
    async with chatting(world.client(answers=[script])) as chat:
        await chat.send(world.QUESTION)
        await chat.until(lambda: "It was sounded" in chat.text())
        script.give(wire.Token(" in March."))
        await chat.until(lambda: chat.screen.conversation._events)
        await chat.pilot.press("escape")
        await chat.until(chat.answers[0].ready.is_set)
        assert chat.answers[0].text == "It was sounded in March." and "Stopped." in chat.text()


async def test_who_reads_above_sees_nothing_drawn_for_a_second_and_all_of_it_back_at_the_end() -> None:
    script = Script(*MANY[:40], ends=False)
    async with chatting(world.client(answers=[script]), NARROW) as chat:
        transcript = chat.screen.conversation.transcript
        await chat.send(world.QUESTION)
        await chat.until(lambda: "Sentence 39." in chat.text())
        await chat.pilot.press("pageup", "pageup")
        await chat.until(lambda: not transcript.follows)
        with count_layouts(chat) as laid_out:
            for token in MANY[40:]:
                script.give(token)
                await chat.pilot.pause(0.01)
        assert len(laid_out) < len(MANY[40:]) / 2
        await chat.until(lambda: "↓ 40 more lines" in chat.text())
        await chat.pilot.press("ctrl+end")
        await chat.until(lambda: "Sentence 59." in chat.text() and "more line" not in chat.text())
