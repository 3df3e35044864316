"""The chat: a Textual app over the daemon's client."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath
from typing import ClassVar

from rich.segment import Segment
from textual import on
from textual.app import App, SystemCommand
from textual.color import Color
from textual.filter import LineFilter
from textual.notifications import SeverityLevel
from textual.reactive import Reactive
from textual.screen import ModalScreen, Screen
from textual.signal import Signal
from textual.theme import Theme
from textual.timer import Timer

from daemon import wire
from daemon.client import Client
from daemon.paths import Paths
from daemon.starting import connect
from daemon.terminal import display_safe
from tui.actions import ACTIONS, bindings_of
from tui.link import Connect, Link
from tui.messages import Activity, Disconnected, SessionStarted, StatusChanged, StreamEvent
from tui.screens.chat import ChatScreen
from tui.screens.help import HelpScreen
from tui.screens.page import Page
from tui.shared import Shared
from tui.theme import DARK, THEMES

STATUS_SECONDS = 30.0  # between looks at the memory's state: a folder can go missing without an event
SETTLE_SECONDS = 1.0  # after a change, before the state is asked for: changes come in crowds
SEVERITIES: dict[str, SeverityLevel] = {"error": "error", "warning": "warning"}
SCREENS: dict[str, Callable[[Shared], Page]] = {"chat": ChatScreen}  # by the names of the tabs

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
    DEFAULT_MODE = "chat"

    # Not registered and set in __init__, for that would parse all styles a second time: 60 ms.
    theme = Reactive(DARK.name)

    def __init__(self, connect: Connect, now: Callable[[], datetime] = lambda: datetime.now().astimezone()) -> None:
        super().__init__()
        self.shared = Shared(
            Link(connect, self), now, Signal(self, "status"), Signal(self, "disconnected"), Signal(self, "activity")
        )
        for name, make in SCREENS.items():
            self.add_mode(name, partial(make, self.shared))
        self._look: Timer | None = None
        self._last_guard = [OnlyText()]

    def on_mount(self) -> None:
        self.call_after_refresh(self.shared.link.open)  # when every widget is there to show what comes
        self.set_interval(STATUS_SECONDS, self._look_again)

    def on_unmount(self) -> None:
        self.shared.link.close()

    @property
    def available_themes(self) -> dict[str, Theme]:
        return super().available_themes | {theme.name: theme for theme in THEMES}

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        for action in ACTIONS:
            if action.palette:
                yield SystemCommand(action.name, action.sentence, self._runner(action.handler, action.where == "app"))

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), *self._last_guard]

    def _runner(self, handler: str, of_app: bool) -> Callable[[], object]:
        return lambda: self.call_later(self.run_action, handler, self if of_app else self.screen)

    # The daemon ---------------------------------------------------------------------------------

    @on(StatusChanged)
    def _status_changed(self, message: StatusChanged) -> None:
        self.shared.status, self.shared.down = message.status, ""
        self.shared.status_changed.publish(message)

    @on(Disconnected)
    def _disconnected(self, message: Disconnected) -> None:
        self.shared.status, self.shared.down = None, message.reason
        self.shared.disconnected.publish(message)

    @on(StreamEvent)
    @on(SessionStarted)
    async def _relay(self, message: StreamEvent | SessionStarted) -> None:
        await self.chat.receive(message)

    @on(Activity)
    def _daemon_acted(self, message: Activity) -> None:
        match message.event:
            case wire.Progress(done, total) if done >= total:
                self._look_soon()
            case wire.SourceChanged() | wire.Skipped() | wire.FactChanged():
                self._look_soon()
            case wire.Notice(level, text):
                severity: SeverityLevel = (
                    "error" if level == "error" else "warning" if level == "warning" else "information"
                )
                self.notify(display_safe(text), severity=severity, markup=False)
        self.shared.activity.publish(message)

    def _look_soon(self) -> None:
        if self._look is None:
            self._look = self.set_timer(SETTLE_SECONDS, self._look_now)

    def _look_now(self) -> None:
        self._look = None
        self.shared.link.refresh_status()

    def _look_again(self) -> None:
        if self.shared.status is not None:
            self.shared.link.refresh_status()

    # Pages --------------------------------------------------------------------------------------

    @property
    def chat(self) -> ChatScreen:
        """The page of the conversation, which is always there."""
        chat = self.get_screen_stack("chat")[0]
        assert isinstance(chat, ChatScreen)
        return chat

    async def action_open_page(self, name: str) -> None:
        while isinstance(self.screen, ModalScreen):
            await self.pop_screen()
        await self.switch_mode(name)

    def action_show_help(self) -> None:
        self.push_screen(HelpScreen())


class OnlyText(LineFilter):
    """The last guard before the terminal: whatever a widget drew, no control character passes."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment if segment.text.isprintable() else Segment(display_safe(segment.text, line=True), segment.style)
            for segment in segments
        ]
