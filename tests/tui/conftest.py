"""The chat with a scripted daemon, run without a terminal."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.message import Message
from textual.message_pump import MessagePump
from textual.pilot import Pilot
from textual.widgets import OptionList

from tests.tui.scripted import NOW, ScriptedClient
from tui.app import Palette, PalimpsestApp
from tui.chat.screen import ChatScreen
from tui.keys import Keymap
from tui.page import Page
from tui.preferences import Preferences
from tui.widgets.answer import Answer
from tui.widgets.frame import MessageLine
from tui.widgets.plain import Plain

WIDE = (120, 36)
NARROW = (80, 24)
PATIENCE = 6000  # pauses of 10 ms: what has not come by then does not come


parse_rules = Stylesheet._parse_rules
parsed: dict[object, list[RuleSet]] = {}


def parse_once(sheet: Stylesheet, *args: Any, **kwargs: Any) -> list[RuleSet]:
    """The rules of a style sheet, parsed once for a theme, not for each chat: a third of what opening one takes."""
    key = (tuple(sheet._variables.items()), args, tuple(kwargs.items()))
    if key not in parsed:
        parsed[key] = parse_rules(sheet, *args, **kwargs)
    return parsed[key]


apply_rules = Stylesheet.apply
narrowed: WeakKeyDictionary[Stylesheet, tuple[list[RuleSet], dict[frozenset[str], list[RuleSet]]]] = WeakKeyDictionary()


def apply_few(sheet: Stylesheet, node: DOMNode, **how: Any) -> None:
    """Gives a node its styles, out of the rules that name something it has: each time to go through all of them was a
    tenth of the time of a chat."""
    before = sheet.rules
    whole, found = narrowed.get(sheet, ([], {}))
    if before is not whole and not any(before is few for few in found.values()):
        whole, found = narrowed[sheet] = (before, {})
    names = frozenset(sheet.rules_map.keys() & node._selector_names)
    if names not in found:
        wanted = {id(rule) for name in names for rule in sheet.rules_map[name]}
        found[names] = [rule for rule in whole if id(rule) in wanted]
    sheet._rules = found[names]
    try:
        apply_rules(sheet, node, **how)
    finally:
        sheet._rules = before


wait_for_screen = Pilot._wait_for_screen


def is_busy(pump: MessagePump) -> bool:
    """Whether it has a message before it, or is at one."""
    queue = pump._message_queue
    return not pump._closed and (not queue.empty() or not queue.ready_event._waiters or bool(pump._next_callbacks))


async def wait_for_the_busy(pilot: Pilot[Any], timeout: float = 30.0) -> bool:
    """Waits until no widget has a message before it, and what follows from those has happened, too. To send each of
    them one more message and wait for that took a quarter of the time of a chat."""
    for _ in range(100):
        if pilot.app._exception_event.is_set() or not pilot.app._screen_stack:
            break
        pumps = (pilot.app, *pilot.app.screen.walk_children(with_self=True))
        if not any(is_busy(pump) for pump in pumps):
            return True
        await asyncio.sleep(0)
    return await wait_for_screen(pilot, timeout)


render_update = Compositor.render_update


def render_for_somebody(compositor: Compositor, full: bool = False, *args: Any, **kwargs: Any) -> Any:
    """What changes is not drawn for a terminal that is not there, which took a quarter of the time of a chat. What a
    test looks at is drawn when it looks: by `Chat.text`, and in full by whoever takes a picture."""
    if full:
        return render_update(compositor, full, *args, **kwargs)
    compositor._dirty_regions.clear()
    return None


# No fixtures, for a chat is opened without pytest, too.
Compositor.render_update = render_for_somebody  # type: ignore[method-assign]
Stylesheet._parse_rules = parse_once  # type: ignore[method-assign]
Pilot._wait_for_screen = wait_for_the_busy  # type: ignore[method-assign]
Stylesheet.apply = apply_few  # type: ignore[method-assign]
RuleSet.__hash__ = object.__hash__  # type: ignore[method-assign]  # which is as good, and is not written in Python


@dataclass
class Chat:
    """A running chat, with verbs for what a person does and sees."""

    pilot: Pilot[None]
    client: ScriptedClient
    messages: list[Message] = field(default_factory=list)

    @property
    def app(self) -> PalimpsestApp:
        assert isinstance(self.pilot.app, PalimpsestApp)
        return self.pilot.app

    @property
    def screen(self) -> ChatScreen:
        return self.app.chat

    @property
    def answers(self) -> list[Answer]:
        return self.screen.conversation.transcript.answers

    async def until(self, condition: Callable[[], object]) -> None:
        """Waits until something is so."""
        for _ in range(PATIENCE):
            if condition():
                for _ in range(3):  # what follows from it: a pause leaves no time for that on a busy machine
                    await self.pilot._wait_for_screen()
                await self.pilot.pause()
                return
            await self.pilot.pause(0.01)
        raise AssertionError(f"it never came to be; the screen says:\n{self.text()}")

    async def send(self, text: str) -> None:
        """Types text and presses Enter."""
        self.screen.prompt.focus()
        self.screen.prompt.insert(text)
        await self.pilot.press("enter")

    async def ask(self, question: str) -> Answer:
        """Asks and waits for the answer."""
        count = len(self.answers)
        await self.send(question)
        await self.until(lambda: len(self.answers) > count and self.answers[-1].ready.is_set())
        return self.answers[-1]

    def said(self, selector: str) -> str:
        """What the one widget of a selector says."""
        return self.app.screen.query_one(selector, Plain).text

    def message(self) -> str:
        """What the line above the keys says."""
        page = next(screen for screen in reversed(self.app.screen_stack) if isinstance(screen, Page))
        line = page.query_one(MessageLine)
        return line.text if line.display else ""

    async def choose(self, name: str) -> None:
        """Chooses one of the actions that are offered here."""
        await self.pilot.press("ctrl+p", *("space" if letter == " " else letter for letter in name.lower()))
        await self.until(lambda: str(self._options[:1]).count(name))
        await self.pilot.press("enter")
        await self.until(lambda: not isinstance(self.app.screen, Palette))

    @property
    def _options(self) -> list[str]:
        return [str(option.prompt) for each in self.app.screen.query(OptionList) for option in each.options]

    def title(self) -> str:
        """The title of the session, as it stands on the frame."""
        return str(self.screen.conversation.border_title or "").removeprefix("Session: ")

    def text(self) -> str:
        """The whole screen, line by line, as the terminal would show it."""
        visible_screen_stack.set(self.app._background_screens)  # what a dialog lets through
        lines = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in lines)

    def words(self) -> str:
        """The screen's words, however they are wrapped, without the frames between them."""
        return " ".join(re.sub("[│╭╮╰╯]|─+", " ", self.text()).split())


@asynccontextmanager
async def chatting(
    client: ScriptedClient,
    size: tuple[int, int] = WIDE,
    preferences: Preferences | None = None,
    keymap: Keymap | None = None,
) -> AsyncIterator[Chat]:
    """A chat that has connected, or knows that it cannot."""
    messages: list[Message] = []
    app = PalimpsestApp(client.connect, lambda: NOW, preferences, keymap)
    app.animation_level = "none"
    async with app.run_test(size=size, message_hook=messages.append, notifications=True) as pilot:
        chat = Chat(pilot, client, messages)
        await chat.until(lambda: "connecting" not in chat.said("#memory-state"))
        yield chat
