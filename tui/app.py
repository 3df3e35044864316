"""The chat: a Textual app over the daemon's client."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path, PurePath
from typing import ClassVar

from rich.segment import Segment
from textual.app import App, SystemCommand
from textual.color import Color
from textual.filter import LineFilter
from textual.reactive import Reactive
from textual.screen import Screen
from textual.theme import Theme

from daemon.client import Client
from daemon.paths import Paths
from daemon.starting import connect
from daemon.terminal import display_safe
from tui.actions import ACTIONS, bindings_of
from tui.link import Connect
from tui.screens.chat import ChatScreen
from tui.theme import DARK, THEMES

STYLES: list[str | PurePath] = sorted(Path(__file__).parent.rglob("*.tcss"))


def run(paths: Paths) -> int:
    """Opens the chat on the terminal and returns when the person leaves it. -> exit code."""

    def connect_daemon(start: bool) -> Client:
        return connect(paths, start=start)

    app = PalimpsestApp(connect_daemon)
    app.run()
    return app.return_code or 0


class PalimpsestApp(App[None]):
    """One window on one memory. `connect` gives the client, `now` the time."""

    TITLE = "Palimpsest"
    CSS_PATH: ClassVar = STYLES
    BINDINGS = bindings_of("app")

    # Not registered and set in __init__, for that would parse all styles a second time: 60 ms.
    theme = Reactive(DARK.name)

    def __init__(self, connect: Connect, now: Callable[[], datetime] = lambda: datetime.now().astimezone()) -> None:
        super().__init__()
        self._connect = connect
        self._now = now
        self._last_guard = [OnlyText()]

    @property
    def available_themes(self) -> dict[str, Theme]:
        return super().available_themes | {theme.name: theme for theme in THEMES}

    def get_default_screen(self) -> Screen[None]:
        return ChatScreen(self._connect, self._now)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        for action in ACTIONS:
            if action.palette:
                yield SystemCommand(action.name, action.sentence, self._runner(action.handler, action.where == "app"))

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), *self._last_guard]

    def _runner(self, handler: str, of_app: bool) -> Callable[[], object]:
        return lambda: self.call_later(self.run_action, handler, self if of_app else self.screen)


class OnlyText(LineFilter):
    """The last guard before the terminal: whatever a widget drew, no control character passes."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment if segment.text.isprintable() else Segment(display_safe(segment.text, line=True), segment.style)
            for segment in segments
        ]
