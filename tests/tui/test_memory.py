"""The page of the memory: looked for, looked at, gone along, and changed by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from daemon import wire
from tests.tui import world
from tests.tui.conftest import NARROW, Chat, chatting
from tests.tui.scripted import HOME
from tui.dialogs.dialog import AskScreen, ConfirmScreen
from tui.memory.details import make_fact_line
from tui.memory.screen import MemoryScreen
from tui.widgets.plain import Plain


async def memory(chat: Chat, until: str = "Ozzie Penhale") -> MemoryScreen:
    """Opens the page."""
    await chat.app.action_open_page("memory")
    await chat.until(lambda: isinstance(chat.app.screen, MemoryScreen) and until in chat.text())
    assert isinstance(chat.app.screen, MemoryScreen)
    return chat.app.screen


def title(page: MemoryScreen) -> str:
    return str(page.query_one("#detail").border_title)


def lines(page: MemoryScreen) -> str:
    return "\n".join(str(option.prompt) for option in page.detail.options)


def told(chat: Chat) -> str:
    """What was said beside the page."""
    return chat.message()


def asked(chat: Chat) -> str:
    """What the window over the page says."""
    return " ".join(plain.text for plain in chat.app.screen.query(Plain))


def rows(page: MemoryScreen) -> list[str]:
    return [page.items.render_line(y).text.split("  ")[0].strip() for y in range(min(page.items.total, 20))]


async def test_one_search_over_things_facts_and_notes() -> None:
    async with chatting(world.remembered()) as chat:
        page = await memory(chat)
        assert rows(page)[:4] == ["Things", "Ozzie Penhale", "Compressor", "Beatrice"]
        assert "Facts" in rows(page) and "Notes" in rows(page)
        assert "Things 3   Facts 2   Notes 2" in page.filter.text
        await chat.pilot.press(*"compr")
        await chat.until(lambda: "Compressor" in rows(page)[:2] and "Ozzie Penhale" not in rows(page))
        await chat.pilot.press("down", "tab", "tab")
        await chat.until(lambda: page.filter.chosen == "facts" and not page.items.total)
        assert "No facts match; 1 thing does." in chat.text() and "Things 1   Facts   Notes   Me" in page.filter.text
        await chat.pilot.press("slash", "escape")
        await chat.until(lambda: page.items.total == 2)
        assert "Things 3   Facts 2   Notes 2" in page.filter.text
        await chat.pilot.press(*"xyz")
        await chat.until(lambda: "Nothing in your memory matches." in chat.text())


async def test_of_a_hundred_thousand_things_only_those_in_view_are_asked_for() -> None:
    asked: list[int] = []
    client = world.client()

    def search(what: str, words: str = "", limit: int = 100, offset: int = 0) -> wire.SearchReply:
        if what != "objects":
            return others(what, words, limit, offset)
        asked.append(offset)
        names = (f"Thing {n:06}" for n in range(offset, min(offset + limit, 100_000)))
        return wire.SearchReply(100_000, tuple(map(wire.FoundObject, names)))

    others, client.search = client.search, search  # type: ignore[method-assign]
    async with chatting(client) as chat:
        page = await memory(chat, "Thing 000000")
        assert "Things 100k" in page.filter.text
        await chat.pilot.press("down", "tab")
        await chat.until(lambda: page.items.total == 100_000)
        asked.clear()
        await chat.pilot.press("end")
        await chat.until(lambda: "Thing 099999" in chat.text())
        await chat.pilot.press("home", "pagedown")
        await chat.until(lambda: page.items.row is not None and page.items.cursor > 10)
        assert asked == [99_900]


async def test_an_object_its_neighbours_and_the_way_back() -> None:
    async with chatting(world.remembered()) as chat:
        page = await memory(chat)
        await chat.until(lambda: title(page) == "Ozzie Penhale")
        text = lines(page)
        assert "also called Ozzie" in text and "phone  0161 496 07" in text and "since 2026-03-09 · notes" in text
        assert text.index("Facts now") < text.index("History") < text.index("Notes that mention it")
        assert "Ozzie has the belt." in text and "── keeps ─▸ Compressor" in text
        await chat.pilot.press("down", "enter", "end", "enter")
        await chat.until(lambda: title(page) == "Ozzie Penhale › Compressor")
        await chat.pilot.press("end", "enter")
        await chat.until(lambda: title(page) == "Ozzie Penhale › Compressor › Beatrice")
        await chat.pilot.press("backspace")
        await chat.until(lambda: title(page) == "Ozzie Penhale › Compressor")
        await chat.pilot.press("escape")
        await chat.until(
            lambda: title(page) == "Ozzie Penhale" and page.detail.highlighted == page.detail.option_count - 1
        )
        await chat.pilot.press("escape", "escape", "escape")
        await chat.until(lambda: chat.app.screen is chat.screen)


async def test_a_note_and_a_fact_have_pages() -> None:
    async with chatting(world.remembered()) as chat:
        page = await memory(chat)
        await chat.pilot.press("down", "tab", "tab", "tab")
        await chat.until(lambda: title(page) == "Fog signal")
        text = lines(page)
        assert "notes/museum/fog-signal.md\nof 9 Mar 2026 · read 20 Apr 2026 by rules and qwen" in text
        assert "#museum" in text and "Beatrice is a diaphone" in text and "last sounded  9 March 2026" in text
        await chat.pilot.press("enter", "down", "enter")
        await chat.until(lambda: title(page).endswith("› Fact"))
        assert "About\nBeatrice\n" in lines(page) and "Fog signal  notes/museum" in lines(page)


async def test_a_source_opens_in_the_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[tuple[str, int | None]] = []
    monkeypatch.setattr("tui.page.open_in_editor", lambda app, uri, line: opened.append((uri, line)))
    async with chatting(world.remembered()) as chat:
        page = await memory(chat)
        await chat.until(lambda: title(page) == "Ozzie Penhale")
        await chat.pilot.press("down", "enter")
        await chat.choose("Open")
        await chat.until(lambda: opened)
        assert opened == [(f"{HOME}/people/Ozzie Penhale.md", 2)] and chat.app.screen is page


async def test_a_fact_is_corrected_and_taken_back_here_and_in_the_chat() -> None:
    async with chatting(world.remembered()) as chat:
        page = await memory(chat)
        await chat.until(lambda: title(page) == "Ozzie Penhale")
        await chat.pilot.press("down", "enter")
        await chat.choose("Correct")
        await chat.until(lambda: isinstance(chat.app.screen, AskScreen))
        assert "Ozzie Penhale, phone" in chat.text()
        field = chat.app.screen.query_one(Input)
        assert field.value == "0161 496 07"
        field.value = "0161 496 99"
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.client.did == [("correct", 901, "0161 496 99")])
        await chat.until(lambda: "07 is now 0161 496 99. Ctrl+Z takes it back." in told(chat))
        await chat.pilot.press("ctrl+z")
        await chat.until(lambda: chat.client.did[-1] == ("take back", 901))
        await chat.pilot.press("ctrl+z")
        await chat.until(lambda: "There is nothing to undo." in told(chat))
        await chat.choose("Correct")
        await chat.until(lambda: isinstance(chat.app.screen, AskScreen))
        chat.app.screen.query_one(Input).value = "0161 496 99"
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.client.did[-1] == ("correct", 901, "0161 496 99"))
        await chat.until(lambda: len(chat.app.shared.done) == 1)
        await chat.pilot.press("f5")
        await chat.send("/undo")
        await chat.until(lambda: "Taken back: Ozzie Penhale, phone: 0161 496 07 is now 0161 496 99." in chat.words())
        assert chat.client.did[-1] == ("take back", 901) and not chat.app.shared.done


async def test_two_names_are_one_and_two_again() -> None:
    async with chatting(world.remembered()) as chat:
        page = await memory(chat)
        await chat.until(lambda: title(page) == "Ozzie Penhale")
        await chat.pilot.press("down", "enter")
        await chat.choose("Same")
        await chat.until(lambda: isinstance(chat.app.screen, AskScreen))
        await chat.pilot.press(*"Oz", "enter")
        await chat.until(lambda: chat.client.decided == [("Ozzie Penhale", "Oz", True)])
        await chat.pilot.press("ctrl+z")
        await chat.until(lambda: chat.client.decided[-1] == ("Ozzie Penhale", "Oz", False))
        await chat.choose("Not the same")
        await chat.until(lambda: isinstance(chat.app.screen, AskScreen))
        assert chat.app.screen.query_one(Input).value == "Ozzie"
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.client.decided[-1] == ("Ozzie Penhale", "Ozzie", False))


async def test_forgetting_says_what_goes_and_asks() -> None:
    async with chatting(world.remembered()) as chat:
        page = await memory(chat)
        await chat.until(lambda: title(page) == "Ozzie Penhale")
        await chat.pilot.press("down", "delete")
        await chat.until(lambda: isinstance(chat.app.screen, ConfirmScreen))
        assert "It and its 1 fact are deleted for good. The 2 notes that name it stay. This cannot be undone." in asked(
            chat
        )
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is page)
        assert chat.client.forgotten == []
        await chat.pilot.press("enter", "delete")
        await chat.until(lambda: isinstance(chat.app.screen, ConfirmScreen))
        assert "Forget that Ozzie Penhale, phone: 0161 496 07?" in asked(chat)
        await chat.pilot.press("y", "e", "s", "enter")
        await chat.until(lambda: chat.app.screen is page)
        assert chat.client.forgotten == [], "letters decide nothing"
        await chat.pilot.press("delete")
        await chat.until(lambda: isinstance(chat.app.screen, ConfirmScreen))
        await chat.pilot.press("right", "enter")
        await chat.until(lambda: chat.client.forgotten == [{"fact": 901}])


async def test_what_is_yours_is_listed_and_corrected() -> None:
    async with chatting(world.remembered()) as chat:
        page = await memory(chat)
        page.filter.choose("me")
        page.reload()
        await chat.until(lambda: rows(page) == ["phone: 0161 496 00"] and title(page) == "Your phone")
        await chat.pilot.press("down")
        await chat.choose("Correct")
        await chat.until(lambda: isinstance(chat.app.screen, AskScreen))
        chat.app.screen.query_one(Input).value = "0161 496 11"
        await chat.pilot.press("enter")
        await chat.until(lambda: "phone: 0161 496 11" in chat.text())
        await chat.choose("Correct")
        await chat.until(lambda: isinstance(chat.app.screen, AskScreen))
        chat.app.screen.query_one(Input).value = "0161 496 22"
        await chat.pilot.press("enter")
        await chat.until(lambda: "phone: 0161 496 22" in chat.text())
        await chat.pilot.press("ctrl+z")
        await chat.until(lambda: "phone: 0161 496 11" in chat.text())
        await chat.pilot.press("ctrl+z")
        await chat.until(lambda: chat.client.mine.entries == ())
        await chat.until(lambda: title(page) == "")
        assert "Nothing is known about you yet." in chat.text()


async def test_the_mouse_does_it_all() -> None:
    async with chatting(world.remembered()) as chat:
        page = await memory(chat)

        def place(text: str) -> tuple[int, int]:
            screen = chat.text().splitlines()
            y = next(y for y, line in enumerate(screen) if text in line)
            return screen[y].index(text) + 1, y

        await chat.until(lambda: title(page) == "Ozzie Penhale" and "Compressor  " in chat.text())
        await chat.pilot.click(offset=place("Compressor  "))
        await chat.until(lambda: title(page) == "Compressor")
        await chat.until(lambda: "Notes 2" in chat.text())
        await chat.pilot.click(offset=place("Notes 2"))
        await chat.until(lambda: title(page) == "Fog signal")
        assert page.filter.chosen == "notes"


async def test_on_a_narrow_screen_the_page_stands_alone() -> None:
    async with chatting(world.remembered(), NARROW) as chat:
        page = await memory(chat)
        await chat.until(lambda: title(page) == "Ozzie Penhale")
        await chat.pilot.press("down")
        assert "Facts now" not in chat.text()
        await chat.pilot.press("enter")
        await chat.until(lambda: "Facts now" in chat.text())
        await chat.pilot.press("escape")
        await chat.until(lambda: "Facts now" not in chat.text())


def test_a_fact_that_a_model_read_says_so() -> None:
    read = [str(make_fact_line(replace(world.FACT_PHONE, origin=by), "phone", ()).content) for by in ("rule", "model")]
    assert [line.endswith(" · read by a model") for line in read] == [False, True]
