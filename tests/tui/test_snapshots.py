"""What the page of the conversation looks like: Home, answers, what a question did. See `tests.tui.looks`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from daemon import wire
from tests.tui import world
from tests.tui.conftest import NARROW, Chat, chatting
from tests.tui.looks import Looks
from tests.tui.scripted import HOME, Script


async def ask(chat: Chat) -> None:
    await chat.ask(world.QUESTION)
    await chat.until(lambda: chat.screen.evidence.citation is not None or chat.answers[-1].no_answer)


async def test_an_empty_memory(looks: Looks) -> None:
    async with chatting(world.client(state=world.EMPTY)) as chat:
        await chat.until(lambda: "Import chats" in chat.text())
        await looks.everywhere(chat, "empty")


async def test_home(looks: Looks) -> None:
    async with chatting(world.at_home()) as chat:
        await chat.until(lambda: "Worth asking" in chat.text() and chat.client.since is None)
        await looks.everywhere(chat, "home")
        await chat.pilot.press("up", "up", "up", "up")
        await looks.now(chat, "keys")


async def test_a_memory_that_is_read_in(looks: Looks) -> None:
    async with chatting(world.client(state=world.READING)) as chat:
        await looks.now(chat, "reading")


async def test_an_answer(looks: Looks) -> None:
    async with chatting(world.client(answers=[world.answer(), world.refusal()])) as chat:
        await ask(chat)
        await looks.everywhere(chat, "answer")
        for theme in ("contrast", "ansi-dark", "ansi-light"):
            chat.app.theme = theme
            await looks.now(chat, theme)
        chat.app.theme = "palimpsest"
        await chat.pilot.press("f3")
        await chat.until(lambda: "A letter goes there" in chat.text())
        await looks.now(chat, "jump")
        await chat.pilot.press("escape")
        await chat.ask("What is the capital of Atlantis?")
        await chat.pilot.press("alt+up")
        await chat.until(lambda: chat.screen.evidence.citation is not None)
        await looks.now(chat, "earlier")
        chat.client.go_down("No daemon is running. Start it with `pal daemon start`.")
        await chat.until(lambda: "not running" in chat.said("#memory-state"))
        await chat.ask("Is anybody there?")
        await looks.now(chat, "down")


async def test_what_a_question_did(looks: Looks) -> None:
    async with chatting(world.client(answers=[world.answer()])) as chat:
        await ask(chat)
        await chat.pilot.press("tab", "down", "ctrl+t")
        await chat.until(lambda: "kept 3" in chat.words())
        await looks.everywhere(chat, "walk")


async def test_answers_of_other_kinds(looks: Looks) -> None:
    async with chatting(world.client(answers=[world.refusal(), world.clear_answer()])) as chat:
        await ask(chat)
        await looks.now(chat, "none")
        await ask(chat)
        await looks.now(chat, "clear")


async def test_an_answer_without_colour(looks: Looks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with chatting(world.client(answers=[world.answer()])) as chat:
        await ask(chat)
        await looks.now(chat, "colourless")


async def test_an_answer_that_is_being_written(looks: Looks) -> None:
    script = Script(*world.STEPS, *world.CITED[:2], wire.Token(world.TEXT[:150]), ends=False)
    async with chatting(world.client(answers=[script])) as chat:
        await chat.send(world.QUESTION)
        await chat.until(lambda: "not been sounded" in chat.text())
        await chat.send("And who has the belt for the compressor?")
        chat.client.live.give(wire.Progress(312, 1904, f"{HOME}/museum/visitors.csv"))
        await chat.until(lambda: "reading 312" in chat.text())
        await looks.now(chat, "written")


async def test_a_command_that_is_being_typed(looks: Looks) -> None:
    state = replace(world.STATUS, folders=(wire.Folder(HOME, "missing"),))
    async with chatting(world.client(state=state), NARROW) as chat:
        await chat.pilot.press("/")
        await chat.until(lambda: "/help" in chat.text())
        await looks.now(chat, "command")
