"""Keys, commands, clicks, new sizes and news in an order that nobody would choose, faster than the chat draws: nothing
of it ends the chat or leaves it deaf."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.geometry import Size
from textual.keys import _character_to_key

from daemon import wire
from daemon.client.client import DaemonError
from tests.examples import rounds
from tests.tui import world
from tests.tui.conftest import Chat, chatting
from tests.tui.scripted import Script, ScriptedClient
from tui.actions import ACTIONS

LEAVE = {"ctrl+q", "ctrl+c"}
KEYS = sorted({key for action in ACTIONS for key in action.key.split(",")} - LEAVE - {""})
COMMANDS = sorted({action.slash for action in ACTIONS} - {"", "quit"})
WORDS = ("", "", "Ozzie Penhale", "Beatrice, Ozzie", "2026-03", "nord", "[b", "\x1b[31m", "🦊" * 20, "-1", "x" * 300)
TYPED = {_character_to_key(one): one for one in "/[] "}  # what the keys with a name of several letters type
SIZES = ((120, 36), (80, 24), (40, 10), (2, 2), (99, 29))


class Patient(ScriptedClient):
    """Answers as often as it is asked."""

    def ask(self, question: str, **how: object) -> Script:
        self.asked.append((question, how))
        return world.answer()

    def add(self, paths: list[Path]) -> Script:
        return Script(wire.Progress(1, 2, "a.md"), wire.Added(2, 3, 0, 0))


class Knowing:
    """The client of a memory that has some of everything; what is not there is said to be not there."""

    def __init__(self) -> None:
        plain = vars(world.client())
        made = (world.working, world.reviewed, world.at_home, world.remembered, world.examined)
        apart = ("state", "live", "ids", "paths", "answers")
        known = {k: v for make in made for k, v in vars(make()).items() if k not in apart and v != plain[k]}
        self.inner = Patient(**known | {"state": replace(world.working().state, review=3)})

    def connect(self, start: bool) -> Any:
        self.inner.connect(start)
        return self

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.inner, name)

        def call(*given: Any, **named: Any) -> Any:
            try:
                return value(*given, **named)
            except LookupError as error:
                raise DaemonError(wire.Failed("not_found", f"There is no {error}.")) from error

        return call if callable(value) else value


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 2 + rounds(4)))  # 2 found windows that were closed twice
async def test_nothing_ends_it(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where sessions are exported to
    chance = random.Random(seed)
    client: Any = Knowing()
    async with chatting(client) as chat:
        for _ in range(30):
            for _ in range(chance.randint(1, 4)):
                chance.choice((press, press, press, command, click, resize, tell))(chat, chance)
            await chat.pilot.pause()
        set_size(chat, 120, 36)
        for _ in range(8):
            chat.app.simulate_key("escape")
            await chat.pilot.pause()
        chat.app.simulate_key("f5")
        await chat.until(lambda: chat.app.screen is chat.screen)
        chat.screen.prompt.clear()
        asked = len(client.inner.asked)
        await chat.send(world.QUESTION)
        await chat.until(lambda: len(client.inner.asked) > asked and chat.answers and chat.answers[-1].ready.is_set())
        assert chat.app.is_running and chat.app.screen is chat.screen


def press(chat: Chat, chance: random.Random) -> None:
    type_key(chat, chance.choice(KEYS))


def command(chat: Chat, chance: random.Random) -> None:
    chat.app.simulate_key("f5")
    chat.app.post_message(events.Paste(f"/{chance.choice(COMMANDS)} {chance.choice(WORDS)}"))
    chat.app.simulate_key("enter")


def click(chat: Chat, chance: random.Random) -> None:
    x, y = chance.randrange(chat.app.size.width), chance.randrange(chat.app.size.height)
    for kind in (events.MouseMove, events.MouseDown, events.MouseUp):
        chat.app.post_message(kind(None, x, y, 0, 0, 1, False, False, False, x, y))


def resize(chat: Chat, chance: random.Random) -> None:
    set_size(chat, *chance.choice(SIZES))


def set_size(chat: Chat, width: int, height: int) -> None:
    chat.app.post_message(events.Resize(Size(width, height), Size(width, height)))


def tell(chat: Chat, chance: random.Random) -> None:
    news: tuple[Callable[[], wire.Event], ...] = (
        lambda: wire.FactChanged(chance.choice([*chat.client.changed.values()])),
        lambda: wire.Notice("warning", "A [b notice."),
        lambda: wire.Progress(chance.randrange(9), 8, "[a].md"),
        lambda: wire.SourceChanged(world.PRISM.uri, "changed", 1),
    )
    chat.client.live.give(chance.choice(news)())


def type_key(chat: Chat, key: str) -> None:
    chat.app.post_message(events.Key(key, TYPED.get(key) or (key if len(key) == 1 else None)))
