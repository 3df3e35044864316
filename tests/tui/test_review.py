"""The page of facts that changed: what is shown of them, what a person says, and how that is taken back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from daemon import wire
from tests.tui import world
from tests.tui.conftest import NARROW, Chat, chatting
from tests.tui.scripted import NOW
from tui.dialogs.dialog import AskScreen
from tui.review.screen import NOTHING, ReviewScreen
from tui.widgets.plain import Plain
from tui.wording import find_difference, news


async def review(chat: Chat) -> ReviewScreen:
    """Opens the page."""
    await chat.app.action_open_page("review")
    await chat.until(lambda: isinstance(chat.app.screen, ReviewScreen) and "Waiting" in chat.text())
    assert isinstance(chat.app.screen, ReviewScreen)
    return chat.app.screen


async def test_old_and_new_stand_side_by_side_in_their_lines() -> None:
    async with chatting(world.reviewed()) as chat:
        page = await review(chat)
        await chat.until(lambda: "It is new." in chat.text())

        def side(name: str) -> str:
            return "\n".join(plain.text for plain in page.query_one(f"#{name}").query(Plain) if plain.display)

        head = "\nuntil 2026-04-20\nnotes/museum/fog-signal.md:16\n# Fog signal\n\nBeatrice is a diaphone.\n"
        assert side("old") == (
            f"Before\nThe compressor has a belt of leather.{head}"
            "The compressor has a belt of leather. It is old.\n\nOzzie!"
        )
        assert side("new").startswith("Now\nThe compressor has a belt of rubber.\nsince 2026-03-09\n")
        assert (
            page.query_one("#why", Plain).text.endswith("Its note was edited. Found by a rule.")
            and "was leather" in chat.text()
        )
        await chat.pilot.press("down")
        await chat.until(lambda: page.query_one("#change").border_title == "Ended")
        assert side("new").endswith(":9\nOzzie no longer works at the museum."), "its own words: the passage is gone"
        await chat.pilot.press("down")
        await chat.until(lambda: page.query_one("#change").border_title == "Two notes disagree")


@pytest.mark.parametrize(("name", "verdict"), [("Keep new", "keep"), ("Keep old", "old"), ("Both are true", "both")])
async def test_a_choice_decides_and_a_key_takes_it_back(name: str, verdict: str) -> None:
    async with chatting(world.reviewed()) as chat:
        page = await review(chat)
        await chat.until(lambda: page.changes.revision)
        await chat.choose(name)
        await chat.until(lambda: chat.client.settled == [(4, verdict)] and "Ctrl+Z takes it back" in chat.words())
        await chat.until(lambda: "Review 2" in chat.said("#tabs"))
        assert [one.id for one in page.changes.revisions] == [3, 2] and page.changes.revision.id == 3
        await chat.pilot.press("ctrl+z")
        await chat.until(lambda: chat.client.settled[1:] == [(4, "open")] and len(page.changes.revisions) == 3)
        await chat.until(lambda: "Review 3" in chat.said("#tabs") and page.changes.revision.id == 4)
        await chat.pilot.press("ctrl+z")
        await chat.until(lambda: "Undo the last change of a fact?" in chat.words())


async def test_letters_decide_nothing_and_go_to_the_prompt() -> None:
    async with chatting(world.reviewed()) as chat:
        page = await review(chat)
        await chat.until(lambda: page.changes.revision)
        await chat.pilot.press(*"hello a/b")
        await chat.until(lambda: chat.app.screen is chat.screen and chat.screen.prompt.text == "hello a/b")
        assert chat.client.settled == []


async def test_enter_offers_what_can_be_decided_and_a_second_one_does_the_first() -> None:
    async with chatting(world.reviewed()) as chat:
        page = await review(chat)
        await chat.until(lambda: page.changes.revision)
        await chat.pilot.press("enter")
        await chat.until(lambda: "The old one is right, the new one was never true." in chat.text())
        assert "Sessions" not in chat.text(), "only what can be done here"
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.client.settled == [(4, "keep")] and "Ctrl+Z takes it back" in chat.words())
        await chat.pilot.press("enter", "escape")
        await chat.until(lambda: chat.app.screen is page)
        assert chat.client.settled == [(4, "keep")]


async def test_the_filter_shows_what_was_decided_and_a_decision_can_be_changed() -> None:
    async with chatting(world.reviewed()) as chat:
        page = await review(chat)
        await chat.until(lambda: page.changes.revision)
        await chat.pilot.press("tab")
        await chat.until(lambda: [one.id for one in page.changes.revisions] == [1])
        assert "new kept · was Ada Prowse" in chat.text() and "You said: the new one is right." in chat.words()
        await chat.choose("Keep old")
        await chat.until(lambda: chat.client.settled == [(1, "old")] and "old kept · was Ada" in chat.text())
        await chat.pilot.press("ctrl+z")
        await chat.until(lambda: chat.client.settled[1:] == [(1, "keep")])
        await chat.pilot.press("tab")
        await chat.until(lambda: [one.id for one in page.changes.revisions] == [4, 3, 2, 1])
        await chat.pilot.click("Choices", offset=(2, 0))
        await chat.until(lambda: [one.id for one in page.changes.revisions] == [4, 3, 2])


async def test_what_changes_meanwhile_is_listed_and_the_highlight_stays() -> None:
    async with chatting(world.reviewed()) as chat:
        page = await review(chat)
        await chat.pilot.press("down")
        await chat.until(lambda: page.changes.revision and page.changes.revision.id == 3)
        chat.client.changed[9] = replace(chat.client.changed[4], id=9)
        chat.client.live.give(wire.FactChanged(chat.client.changed[9]))
        await chat.until(lambda: len(page.changes.revisions) == 4)
        assert page.changes.revision.id == 3


async def test_the_badge_lives_on_every_page() -> None:
    async with chatting(world.reviewed()) as chat:
        assert "Review 3" in chat.said("#tabs")
        chat.client.state = replace(chat.client.state, review=7)
        chat.client.live.give(wire.FactChanged(world.changes()[4]))
        await chat.until(lambda: "Review 7" in chat.said("#tabs"))


async def test_an_empty_page_says_what_will_stand_there() -> None:
    async with chatting(world.client(suspects=(wire.AliasSuspect("Ozzie", "Ozzie Penhale"),))) as chat:
        page = await review(chat)
        await chat.until(lambda: "There is nothing to review." in chat.text())
        assert "may be one: Ozzie and Ozzie Penhale. To merge two: Memory" in chat.words()
        await chat.pilot.press("enter")
        assert chat.app.screen is page, "there is nothing to choose"
        assert chat.client.settled == [] and not page.query_one("#change").display
        await chat.pilot.press("tab")
        await chat.until(lambda: "Nothing has been decided yet." in chat.text())


async def test_the_chosen_line_opens_in_the_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[tuple[str, int | None]] = []
    monkeypatch.setattr("tui.page.open_in_editor", lambda app, uri, line: opened.append((uri, line)))
    async with chatting(world.reviewed()) as chat:
        page = await review(chat)
        await chat.until(lambda: page.changes.revision)
        await chat.pilot.press("down")
        await chat.choose("Open")
        await chat.pilot.press("left")
        await chat.choose("Open")
        await chat.pilot.press("right")
        await chat.choose("Open")
        assert [(Path(uri).name, line) for uri, line in opened] == [
            ("2026-04-20.md", 9), ("fog-signal.md", 3), ("2026-04-20.md", 9)
        ]  # fmt: skip


async def test_a_source_that_is_gone_is_said() -> None:
    async with chatting(world.reviewed()) as chat:
        page = await review(chat)
        await chat.until(lambda: page.changes.revision)
        await chat.choose("Open")
        await chat.until(lambda: "The file no longer exists" in chat.text())


async def test_the_keys_of_pages_go_there_and_a_digit_is_text() -> None:
    async with chatting(world.reviewed(), NARROW) as chat:
        await chat.pilot.press("2")
        assert chat.screen.prompt.text == "2"
        await chat.pilot.press("alt+3")
        await chat.until(lambda: isinstance(chat.app.screen, ReviewScreen))
        assert chat.screen.prompt.text == "2"
        await chat.pilot.press("1")
        await chat.until(lambda: chat.app.screen is chat.screen and chat.screen.prompt.text == "21")
        await chat.pilot.press("f7")
        await chat.until(lambda: isinstance(chat.app.screen, ReviewScreen))
        await chat.pilot.press("f5")
        await chat.until(lambda: chat.app.screen is chat.screen)
        chat.screen.prompt.clear()
        await chat.send("/review")
        await chat.until(lambda: isinstance(chat.app.screen, ReviewScreen))


async def test_a_daemon_that_is_gone_is_said() -> None:
    async with chatting(world.reviewed()) as chat:
        page = await review(chat)
        await chat.until(lambda: page.changes.revision)
        chat.client.down = "No daemon is running."
        await chat.choose("Keep new")
        await chat.until(lambda: "No daemon is running." in chat.text())
        chat.client.down = ""
        assert chat.client.settled == []


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("Marta lives in Lisbon.", "Marta lives in Porto.", ("Lisbon.", "Porto.")),
        ("She keeps bees.", "She no longer keeps bees.", ("", "no longer")),
        ("The same.", "the same", ("", "")),
        ("", "Words", ("", "Words")),
        ("a b a", "a b a b a", ("", "b a")),
        ("All others", "quite another thing", ("All others", "quite another thing")),
    ],
)
def test_the_words_that_differ_are_found(one: str, other: str, differ: tuple[str, str]) -> None:
    spans = find_difference(one, other)
    assert (one[slice(*spans[0])], other[slice(*spans[1])]) == differ


def test_news_say_what_stood_there_before() -> None:
    changed = world.changes()
    folders = ["/home/tilda/notes"]
    assert [news(changed[id], folders) for id in (4, 3, 2)] == [
        "Changed: The compressor has a belt of rubber (was leather), from notes/museum/fog-signal.md:16",
        "No longer true: Ozzie works at the museum, from notes/daily/2026-04-20.md:9",
        "Two notes disagree: The museum opens at ten / The museum opens at nine, from notes/museum/fog-signal.md:5",
    ]


@pytest.mark.parametrize("verdict", ["keep", "old", "both", "open", "undo"])
def test_a_verdict_is_known_by_what_came_of_it(verdict: str) -> None:
    client = world.reviewed()
    assert client.settle(4, verdict).verdict == verdict
    assert client.changed[4].settled == (None if verdict == "open" else NOW)


async def test_neither_is_right_and_the_value_is_corrected() -> None:
    change = replace(world.changes()[4], id=9, old=world.FACT_BEFORE, new=world.FACT_PHONE)
    known = {"Ozzie Penhale": (replace(world.FACT_PHONE, objects=("Ozzie Penhale", "none")),)}
    client = world.reviewed(changed=world.changes() | {9: change}, known=known)
    client.told = (world.FACT_PHONE,)
    async with chatting(client) as chat:
        review_page = await review(chat)
        await chat.until(lambda: review_page.changes.revision)
        await chat.choose("Correct")
        await chat.until(lambda: isinstance(chat.app.screen, AskScreen))
        field = chat.app.screen.query_one(Input)
        assert field.value == "0161 496 07" and "Ozzie Penhale, phone" in chat.text()
        field.value = "none"
        await chat.pilot.press("enter")
        await chat.until(lambda: "Ctrl+Z takes it back" in chat.message())
        assert client.settled == [(9, "keep")] and client.did == [("correct", 901, "none")]
        assert chat.message() == "Corrected. Now: Ozzie Penhale, phone: none. Ctrl+Z takes it back."
        await chat.pilot.press("ctrl+z")
        await chat.until(lambda: client.did[-1] == ("take back", 901) and client.settled[-1] == (9, "open"))
        await chat.pilot.press("down", "enter")
        await chat.until(lambda: "Keep new" in chat.text())
        assert "enter the value" not in chat.text(), "neither has a value to correct"


async def test_undo_in_the_chat_takes_back_what_was_decided_last() -> None:
    async with chatting(world.reviewed()) as chat:
        await chat.send("/me phone 0161")
        await review(chat)
        await chat.choose("Keep old")
        await chat.until(lambda: chat.client.settled)
        await chat.until(lambda: "Ctrl+Z takes it back" in chat.words())
        await chat.pilot.press("f5")
        await chat.until(lambda: chat.app.screen is chat.screen)
        await chat.send("/undo")
        await chat.until(lambda: "Taken back: a decision on the page Review." in chat.words())
        assert chat.client.settled[-1][1] == "open"
        await chat.send("/undo")
        await chat.until(lambda: "Your phone is removed." in chat.words())


def test_what_an_empty_list_says_is_broken_by_the_terminal_alone() -> None:
    assert not any("\n" in text for texts in NOTHING.values() for text in texts)
