"""The page of folders, reading, models and health: what it shows, what it does, and what it asks before."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from textual.widgets import Input

from daemon import wire
from tests.tui import world
from tests.tui.conftest import Chat, chatting
from tests.tui.scripted import HOME, NOW, Script
from tui.dialogs.dialog import AskScreen, ConfirmScreen
from tui.folders.reading import describe_seconds
from tui.folders.rows import TabList
from tui.folders.screen import FoldersScreen


async def work(chat: Chat, tab: int = 0) -> TabList:
    """Opens the page at a tab."""
    await chat.app.action_open_page("folders")
    await chat.until(lambda: isinstance(chat.app.screen, FoldersScreen))
    for _ in range(tab):
        await chat.pilot.press("right")
    page = chat.app.screen
    assert isinstance(page, FoldersScreen)
    await chat.until(lambda: page.tab.key is not None)
    return page.tab


async def typed(chat: Chat, text: str) -> None:
    """Answers the question that is asked."""
    await chat.until(lambda: isinstance(chat.app.screen, AskScreen))
    chat.app.screen.query_one(Input).value = text
    await chat.pilot.press("enter")


async def confirmed(chat: Chat, key: str = "right") -> None:
    await chat.until(lambda: isinstance(chat.app.screen, ConfirmScreen))
    await chat.pilot.press(key, "enter")


def said(chat: Chat) -> Callable[[str], bool]:
    return lambda text: isinstance(chat.app.screen, FoldersScreen) and text in chat.message()


async def test_folders_are_shown_in_peoples_words() -> None:
    async with chatting(world.working()) as chat:
        await work(chat)
        await chat.until(lambda: "Read last: museum/fog-signal.md" in chat.said("#detail"))
        about = chat.said("#detail")
        assert "Tags: museum" in about
        assert "Its text stays on this machine." in about
        assert "3 files gone · not there · 12 notes · may be sent out" in chat.text()


async def test_what_is_said_of_a_folder_is_changed_and_only_what_gives_text_away_is_asked() -> None:
    async with chatting(world.working()) as chat:
        await work(chat)
        await chat.choose("Tags")
        await typed(chat, "#work tax")
        await chat.until(lambda: isinstance(chat.app.screen, FoldersScreen))
        await chat.choose("Policy")
        await confirmed(chat, "down")
        await chat.choose("Policy")
        await confirmed(chat)
        await chat.until(lambda: chat.client.state.files.folders[0].policy == "any")
        folder = chat.client.state.files.folders[0]
        assert folder.tags == ["work", "tax"]
        await chat.until(lambda: "Its text may go to remote models" in chat.said("#detail"))
        await chat.choose("Policy")
        await chat.until(lambda: chat.client.state.files.folders[0].policy == "local")


@pytest.mark.parametrize(("name", "forget"), [("Stop", False), ("Forget", True)])
async def test_a_folder_is_let_go_after_asking(name: str, forget: bool) -> None:
    async with chatting(world.working()) as chat:
        await work(chat)
        await chat.choose(name)
        await confirmed(chat, "down")
        await chat.choose(name)
        await confirmed(chat)
        await chat.until(lambda: chat.client.done == [("unwatch", HOME, forget)])
        await chat.until(lambda: said(chat)("Forgotten: 86 notes" if forget else "Its notes stay."))


async def test_of_files_that_are_gone_a_person_decides() -> None:
    async with chatting(world.working()) as chat:
        await work(chat)
        await chat.pilot.press("down")
        await chat.choose("Drop deleted")
        await confirmed(chat)
        await chat.until(lambda: chat.client.done == [("gone", "/media/stick/letters", False)])


async def test_without_a_folder_it_says_how_to_choose_one() -> None:
    async with chatting(world.client(state=world.EMPTY)) as chat:
        await chat.app.action_open_page("folders")
        await chat.until(lambda: "No folder is watched." in chat.text())
        await chat.pilot.press("enter")
        await chat.until(lambda: "Watch another folder." in chat.text() and "Policy" not in chat.text())
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.app.screen is chat.screen and chat.screen.prompt.text == "/add ~/")
        await chat.pilot.press("f8")
        assert isinstance(chat.app.screen, FoldersScreen) and chat.client.done == []
        chat.client.state = world.working().state
        chat.app.shared.link.refresh_status()
        await chat.pilot.press("enter")
        await chat.until(lambda: "Choose where its text may go." in chat.text())


async def test_reading_tells_rate_and_time_left() -> None:
    now = NOW
    async with chatting(world.working()) as chat:
        chat.app.shared.now = lambda: now
        await work(chat, 1)
        assert chat.said("#summary").startswith("7 files to read.\n640 of 1,204 passages read by a model")
        assert "52,000 tokens, 31 of 240 min today" in chat.said("#summary")
        chat.client.live.give(wire.Progress(10, 1000, "a.md"))
        await chat.until(lambda: chat.said("#summary").startswith("Reading 10 of 1,000."))
        now += timedelta(seconds=5)
        await chat.pilot.pause(0.15)  # what comes faster is not shown
        chat.client.live.give(wire.Progress(210, 1000, "b.md"))
        await chat.until(lambda: "Reading 210 of 1,000 · 40 a second · about 20 s left." in chat.said("#summary"))
        chat.client.live.give(wire.Progress(1000, 1000, "c.md"))
        await chat.until(lambda: "7 files to read." in chat.said("#summary"))


async def test_what_was_given_up_or_skipped_is_tried_again() -> None:
    again = [Script(wire.Skipped("x", "empty file"), wire.Added(0, 0, 0, 1)), Script(wire.Added(1, 1, 0, 0))]
    async with chatting(world.working(additions=again)) as chat:
        tab = await work(chat, 1)
        assert tab.key == "job 6" and "the pdf reader failed ten times" in chat.said("#detail")
        await chat.choose("Retry")
        await chat.choose("Retry all")
        await chat.until(lambda: sorted(chat.client.done, key=str) == [("retry", 6), ("retry", None)])
        await chat.pilot.press("down", "down")
        await chat.until(lambda: "let a plug-in read such files" in chat.said("#detail"))
        await chat.choose("Retry")
        await chat.until(lambda: said(chat)("Skipped again: empty file."))
        await chat.choose("Retry")
        await chat.until(lambda: said(chat)("It was read."))


async def test_a_file_that_is_skipped_meanwhile_is_listed() -> None:
    async with chatting(world.working()) as chat:
        await work(chat, 1)
        chat.client.left_out += (wire.Skipped("/new/empty", "empty file"),)
        chat.client.live.give(wire.Skipped("/new/empty", "empty file"))
        await chat.until(lambda: "/new/empty" in chat.text())


async def test_what_is_wrong_is_mended_from_here() -> None:
    async with chatting(world.working()) as chat:
        tab = await work(chat, 2)
        assert "3 problems; 1 can be fixed here" in chat.said("#summary")
        assert "Enter fixes it: pal backup" in chat.said("#detail")
        await chat.choose("Copy")
        await chat.choose("Fix")
        assert "40 days old" in chat.app.clipboard
        await chat.until(lambda: chat.client.done == [("backup",)] and "2 problems" in chat.said("#summary"))
        assert tab.key is not None and "pal watch rm" in chat.said("#detail")
        await chat.pilot.press("enter")
        await chat.until(lambda: "Copy the problem" in chat.text())
        assert "Fix this problem." not in chat.text()


async def test_tabs_go_round_and_a_click_chooses_one() -> None:
    async with chatting(world.working()) as chat:
        await work(chat)
        page = chat.app.screen
        assert isinstance(page, FoldersScreen)
        await chat.pilot.press("left")
        await chat.until(lambda: page.tab.id == "health" and chat.app.focused is page.tab)
        await chat.pilot.click("Choices", offset=(12, 0))
        await chat.until(lambda: page.tab.id == "reading")
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)


async def test_a_daemon_that_is_gone_is_said() -> None:
    async with chatting(world.working()) as chat:
        await work(chat, 1)
        chat.client.down = "No daemon is running."
        await chat.choose("Retry")
        await chat.until(lambda: "No daemon is running." in chat.text())
        chat.client.down = ""


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "about 1 s"), (89, "about 89 s"), (600, "about 10 min"), (7300, "about 2 h")]
)
def test_seconds_are_written_for_people(seconds: float, words: str) -> None:
    assert describe_seconds(seconds) == words
