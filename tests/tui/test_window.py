"""What holds on every page: help for where one is, what is said to someone who looks elsewhere."""

from __future__ import annotations

import pytest

from tests.tui import world
from tests.tui.conftest import NARROW, WIDE, chatting
from tests.tui.scripted import Script
from tui.dialogs.help import HelpScreen
from tui.widgets.plain import Plain


async def test_help_begins_with_where_one_is() -> None:
    async with chatting(world.client(answers=[world.answer()])) as chat:
        await chat.ask(world.QUESTION)
        await chat.pilot.press("tab", "f1")
        await chat.until(lambda: isinstance(chat.app.screen, HelpScreen))
        headings = [plain.text for plain in chat.app.screen.query(Plain) if plain.has_class("heading")]
        assert headings[:2] == ["In the evidence", "In the chat"]
        assert len(headings) == len(set(headings))


async def test_someone_who_looks_elsewhere_is_informed() -> None:
    slow = Script(ends=False)
    async with chatting(world.client(answers=[world.short_answer(), slow])) as chat:
        written: list[str] = []
        driver = chat.app._driver
        assert driver is not None
        driver.write = written.append  # type: ignore[method-assign]
        await chat.ask("One?")
        assert not any("answered" in text for text in written)
        await chat.send("Two?")
        await chat.until(lambda: len(chat.answers) == 2)
        chat.app.app_focus = False
        slow.give(world.ANSWERED)
        await chat.until(lambda: "\x1b]9;Palimpsest has answered.\x07" in written)


async def test_a_message_that_was_read_goes_with_the_next_key(monkeypatch: pytest.MonkeyPatch) -> None:
    async with chatting(world.client(answers=[world.short_answer()])) as chat:
        await chat.ask("One?")
        for seconds, message in ((1e9, "This answer has no further lines."), (0.0, "")):
            monkeypatch.setattr("tui.widgets.frame.READ_SECONDS", seconds)
            await chat.pilot.press("ctrl+g")
            await chat.until(lambda: chat.message() == "This answer has no further lines.")
            await chat.pilot.press("x")
            assert chat.message() == message
        chat.app.notify("It failed.", severity="error")
        await chat.pilot.press("x")
        assert chat.message() == "It failed."


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
async def test_what_is_stated_covers_nothing(size: tuple[int, int]) -> None:
    async with chatting(world.client(), size) as chat:
        for n in range(3):
            chat.app.notify(f"Something happened {n}. " * 9, markup=False)
        await chat.until(lambda: "Something happened 2." in chat.message())
        line = chat.screen.query_one("#message").region
        others = chat.screen.query("#prompt, #body, #hints, #rail")
        assert line.height and not any(line.overlaps(each.region) for each in others)
