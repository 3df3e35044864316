"""What the chat looks like.

After a change that is meant: `pytest tests/tui/test_snapshots.py --snapshot-update`, and look at the pictures.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from daemon import wire
from tests.tui import world
from tests.tui.conftest import NARROW, WIDE, Chat
from tests.tui.looks import Look, compare_looks
from tests.tui.scripted import HOME, Script
from tests.tui.test_models import REACHABLE
from tui.screens.help import HelpScreen
from tui.screens.models import ModelsScreen
from tui.screens.sessions import SessionsScreen


@pytest.fixture
def looks_as_before(snap_compare: Look) -> Look:
    return partial(compare_looks, snap_compare)


async def ask(chat: Chat) -> None:
    await chat.ask(world.QUESTION)
    await chat.until(lambda: chat.screen.evidence.citation is not None or chat.answers[-1].no_answer)


def test_an_empty_memory(looks_as_before: Look) -> None:
    assert looks_as_before(world.client(state=world.EMPTY))


def test_a_new_session(looks_as_before: Look) -> None:
    assert looks_as_before(world.client(kept=world.sessions()))


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_home(looks_as_before: Look, size: tuple[int, int]) -> None:
    async def doing(chat: Chat) -> None:
        await chat.until(lambda: "Worth asking" in chat.text() and chat.client.since is None)

    assert looks_as_before(world.at_home(), doing, size)


def test_home_with_the_keys_in_it_on_parchment(looks_as_before: Look) -> None:
    async def doing(chat: Chat) -> None:
        chat.app.theme = "parchment"
        await chat.until(lambda: "Worth asking" in chat.text())
        await chat.pilot.press("up", "up", "up", "up")

    assert looks_as_before(world.at_home(), doing)


def test_a_memory_that_is_read_in(looks_as_before: Look) -> None:
    assert looks_as_before(world.client(state=world.READING))


def test_an_answer(looks_as_before: Look) -> None:
    assert looks_as_before(world.client(answers=[world.answer()]), ask)


def test_a_clear_answer(looks_as_before: Look) -> None:
    assert looks_as_before(world.client(answers=[world.clear_answer()]), ask)


def test_an_answer_on_parchment(looks_as_before: Look) -> None:
    async def doing(chat: Chat) -> None:
        chat.app.theme = "parchment"
        await ask(chat)

    assert looks_as_before(world.client(answers=[world.answer()]), doing)


def test_an_answer_without_colour(looks_as_before: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert looks_as_before(world.client(answers=[world.answer()]), ask)


def test_an_answer_that_is_being_written(looks_as_before: Look) -> None:
    script = Script(*world.STEPS, *world.CITED[:2], wire.Token(world.TEXT[:150]), ends=False)

    async def doing(chat: Chat) -> None:
        await chat.send(world.QUESTION)
        await chat.until(lambda: "not been sounded" in chat.text())
        await chat.send("And who has the belt for the compressor?")
        chat.client.live.give(wire.Progress(312, 1904, f"{HOME}/museum/visitors.csv"))
        await chat.until(lambda: "reading 312" in chat.text())

    assert looks_as_before(world.client(answers=[script]), doing)


def test_a_trace(looks_as_before: Look) -> None:
    async def doing(chat: Chat) -> None:
        await ask(chat)
        await chat.pilot.press("tab", "down", "ctrl+t")
        await chat.until(lambda: "kept 3" in chat.words())

    assert looks_as_before(world.client(answers=[world.answer()]), doing)


def test_an_earlier_answer_chosen(looks_as_before: Look) -> None:
    async def doing(chat: Chat) -> None:
        await ask(chat)
        await chat.ask("What is the capital of Atlantis?")
        await chat.pilot.press("alt+up")
        await chat.until(lambda: chat.screen.evidence.citation is not None)

    assert looks_as_before(world.client(answers=[world.answer(), world.refusal()]), doing)


def test_no_answer(looks_as_before: Look) -> None:
    assert looks_as_before(world.client(answers=[world.refusal()]), ask, NARROW)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_sessions(looks_as_before: Look, size: tuple[int, int]) -> None:
    async def doing(chat: Chat) -> None:
        await chat.pilot.press("ctrl+s")
        await chat.until(lambda: isinstance(chat.app.screen, SessionsScreen))
        await chat.until(lambda: "Question 1?" in chat.text())

    assert looks_as_before(world.client(kept=world.sessions()), doing, size)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_sessions_searched(looks_as_before: Look, size: tuple[int, int]) -> None:
    async def doing(chat: Chat) -> None:
        chat.app.theme = "parchment"
        await chat.pilot.press("ctrl+s")
        await chat.until(lambda: isinstance(chat.app.screen, SessionsScreen))
        await chat.pilot.press("slash", *"answer 1")
        await chat.until(lambda: "Memory: Answer" in chat.text() and "Question 1?" in chat.text())

    assert looks_as_before(world.client(kept=world.sessions()), doing, size)


def test_models(looks_as_before: Look) -> None:
    async def doing(chat: Chat) -> None:
        await chat.send("/model")
        await chat.until(lambda: isinstance(chat.app.screen, ModelsScreen))

    assert looks_as_before(world.client(reachable=REACHABLE), doing)


def test_help(looks_as_before: Look) -> None:
    async def doing(chat: Chat) -> None:
        await chat.pilot.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, HelpScreen))

    assert looks_as_before(world.client(), doing)


def test_jumping(looks_as_before: Look) -> None:
    async def doing(chat: Chat) -> None:
        await ask(chat)
        await chat.pilot.press("f3")
        await chat.until(lambda: "A letter goes there" in chat.text())

    assert looks_as_before(world.client(answers=[world.answer()]), doing)


@pytest.mark.parametrize("theme", ["contrast", "ansi-dark", "ansi-light"])
def test_an_answer_in_other_themes(looks_as_before: Look, theme: str) -> None:
    async def doing(chat: Chat) -> None:
        chat.app.theme = theme
        await ask(chat)

    assert looks_as_before(world.client(answers=[world.answer()]), doing)


def test_a_daemon_that_is_gone(looks_as_before: Look) -> None:
    down = "No daemon is running. Start it with `pal daemon start`."

    async def doing(chat: Chat) -> None:
        await ask(chat)
        chat.client.go_down(down)
        await chat.until(lambda: "not running" in chat.said("#memory-state"))
        await chat.ask("Is anybody there?")

    assert looks_as_before(world.client(answers=[world.answer()]), doing)


def test_a_small_terminal(looks_as_before: Look) -> None:
    assert looks_as_before(world.client(answers=[world.answer()]), ask, NARROW)


def test_evidence_in_a_small_terminal(looks_as_before: Look) -> None:
    async def doing(chat: Chat) -> None:
        await ask(chat)
        await chat.pilot.press("f2", "down")
        await chat.until(lambda: "Ordered paint" in chat.text())

    assert looks_as_before(world.client(answers=[world.answer()]), doing, NARROW)


def test_a_command_that_is_being_typed(looks_as_before: Look) -> None:
    state = replace(world.STATUS, folders=(wire.Folder(HOME, "missing"),))

    async def doing(chat: Chat) -> None:
        await chat.pilot.press("/")
        await chat.until(lambda: "/help" in chat.text())

    assert looks_as_before(world.client(state=state), doing, NARROW)


async def review(chat: Chat) -> None:
    await chat.app.action_open_page("review")
    await chat.until(lambda: "It is" in chat.text())


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_review(looks_as_before: Look, size: tuple[int, int]) -> None:
    assert looks_as_before(world.reviewed(), review, size)


def test_a_review_on_parchment(looks_as_before: Look) -> None:
    async def doing(chat: Chat) -> None:
        chat.app.theme = "parchment"
        await review(chat)
        await chat.pilot.press("space", "down", "space", "up")
        await chat.pilot.press("left")

    assert looks_as_before(world.reviewed(), doing)


def test_nothing_to_review(looks_as_before: Look) -> None:
    async def doing(chat: Chat) -> None:
        await chat.app.action_open_page("review")
        await chat.until(lambda: "Nothing waits" in chat.text())

    assert looks_as_before(world.client(), doing)


async def remember(chat: Chat) -> None:
    await chat.app.action_open_page("memory")
    await chat.until(lambda: "Facts now" in chat.text() or "Ozzie Penhale" in chat.text())


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_memory(looks_as_before: Look, size: tuple[int, int]) -> None:
    assert looks_as_before(world.remembered(), remember, size)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_an_object(looks_as_before: Look, size: tuple[int, int]) -> None:
    async def doing(chat: Chat) -> None:
        await remember(chat)
        await chat.pilot.press("down", "enter")
        await chat.until(lambda: "Facts now" in chat.text())

    assert looks_as_before(world.remembered(), doing, size)


def test_an_object_on_parchment(looks_as_before: Look) -> None:
    async def doing(chat: Chat) -> None:
        chat.app.theme = "parchment"
        await remember(chat)
        await chat.pilot.press("down", "enter")
        await chat.until(lambda: "Facts now" in chat.text())

    assert looks_as_before(world.remembered(), doing)


def test_a_note(looks_as_before: Look) -> None:
    async def doing(chat: Chat) -> None:
        await remember(chat)
        await chat.pilot.press("down", "f", "f", "f")
        await chat.until(lambda: "Read out of it" in chat.text())

    assert looks_as_before(world.remembered(), doing)


async def work(tab: int, chat: Chat) -> None:
    """Goes to a tab of the page of folders."""
    await chat.app.action_open_page("folders")
    await chat.until(lambda: "fog-signal.md" in chat.text())
    for _ in range(tab):
        await chat.pilot.press("right")
    await chat.pilot.press("down", "up")
    await chat.until(lambda: "Look" not in chat.said("#summary"))


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("tab", range(4), ids=["folders", "reading", "models", "health"])
def test_the_work(looks_as_before: Look, tab: int, size: tuple[int, int]) -> None:
    assert looks_as_before(world.working(), partial(work, tab), size)


def test_the_work_on_parchment(looks_as_before: Look) -> None:
    async def doing(chat: Chat) -> None:
        chat.app.theme = "parchment"
        await work(1, chat)

    assert looks_as_before(world.working(), doing)
