"""What the chat says by itself while a person is in it: that a fact has just changed, and what stood there before."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from daemon import wire
from daemon.config.settings import Settings, WatchSettings
from tests.running import run_daemon
from tests.tui import world
from tests.tui.conftest import WIDE, Chat, chatting
from tui.app import PalimpsestApp
from tui.review.screen import ReviewScreen
from tui.widgets.below import News

NEWS = "Changed: The compressor has a belt of rubber (was leather), from notes/museum/fog-signal.md:16"


def line(chat: Chat) -> str:
    """The line of news, or nothing."""
    news = chat.screen.query_one(News)
    return news.text if news.display else ""


async def test_a_fact_that_changes_is_reported_above_the_prompt() -> None:
    async with chatting(world.reviewed()) as chat:
        assert line(chat) == ""
        await chat.pilot.press(*"half")
        chat.client.live.give(wire.FactChanged(world.changes()[4]))
        await chat.until(lambda: line(chat) == f"± {NEWS}  F7 shows it")
        assert chat.screen.prompt.text == "half" and chat.app.focused is chat.screen.prompt
        assert not chat.screen.query_one(News).region.overlaps(chat.screen.prompt.region)
        chat.client.live.give(wire.FactChanged(replace(world.changes()[3], id=9)))
        await chat.until(lambda: line(chat).startswith("± No longer true: Ozzie") and ", and 1 more" in line(chat))


async def test_a_key_shows_the_newest_change_and_then_it_is_no_news() -> None:
    async with chatting(world.reviewed()) as chat:
        await chat.pilot.press("f7")
        await chat.until(lambda: isinstance(chat.app.screen, ReviewScreen) and chat.app.screen.changes.revision)
        page = chat.app.screen
        assert isinstance(page, ReviewScreen)
        await chat.pilot.press("down", "f5")
        chat.client.changed[9] = replace(world.changes()[3], id=9)
        chat.client.live.give(wire.FactChanged(chat.client.changed[9]))
        await chat.until(lambda: "No longer true" in line(chat))
        await chat.pilot.click(News)
        await chat.until(lambda: page.changes.revision and page.changes.revision.id == 9)
        await chat.pilot.press("f5")
        await chat.until(lambda: chat.app.screen is chat.screen and line(chat) == "")


async def test_what_is_decided_elsewhere_or_was_stated_twice_is_no_news() -> None:
    async with chatting(world.reviewed()) as chat:
        waits, decided = world.changes()[4], world.changes()[1]
        for one in (decided, replace(waits, id=10, relation="duplicates"), waits):
            chat.client.live.give(wire.FactChanged(one))
        await chat.until(lambda: NEWS in line(chat) and "more" not in line(chat))
        chat.client.live.give(wire.FactChanged(replace(waits, state="kept")))
        await chat.until(lambda: line(chat) == "")
        assert NEWS not in chat.words()


async def test_a_note_that_is_edited_under_an_open_chat_is_reported_with_what_it_said_before(tmp_path: Path) -> None:
    notes, quick = tmp_path / "notes", WatchSettings(debounce_s=0.2)
    notes.mkdir()
    note = notes / "marta.md"
    note.write_text("# Marta\n\nMarta is my sister.\nMarta lives in Lisbon. She keeps bees.\n", "utf-8")
    with run_daemon(tmp_path / "home", Settings(watch=quick)) as daemon:
        daemon.client.watch(notes)
        while daemon.client.folders()[0].state != "watching" or not daemon.client.status().stats.sources:
            time.sleep(0.02)
        app = PalimpsestApp(lambda start: daemon.client)
        async with app.run_test(size=WIDE) as pilot:
            chat = Chat(pilot, world.client())
            await chat.until(lambda: "1 note ·" in chat.said("#memory-state"))
            answer = await chat.ask("Where does Marta live?")
            assert "Lisbon" in answer.text
            note.write_text(note.read_text("utf-8").replace("Lisbon", "Porto"), "utf-8")
            await chat.until(lambda: "Marta lives in Porto (was Lisbon), from notes/marta.md:4" in line(chat))
            await chat.until(lambda: "Review 1" in chat.said("#tabs"))
            daemon.client.settle(daemon.client.revisions().revisions[0].id, "old")
            await chat.until(lambda: line(chat) == "")
