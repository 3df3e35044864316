"""The chat: a Textual app over the daemon's client."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from importlib import import_module
from pathlib import Path, PurePath
from typing import ClassVar

from rich.segment import Segment
from textual import events, on
from textual._context import active_message_pump
from textual.app import App, SystemCommand
from textual.color import Color
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.filter import LineFilter
from textual.notifications import SeverityLevel
from textual.reactive import Reactive
from textual.screen import ModalScreen, Screen
from textual.system_commands import SystemCommandsProvider
from textual.theme import Theme, ThemeProvider
from textual.timer import Timer
from textual.widget import MountError, Widget
from textual.widgets import OptionList
from textual.worker import WorkerFailed, active_worker

from daemon import wire
from daemon.client.client import Client
from daemon.client.starting import connect
from daemon.paths import Paths
from daemon.terminal import count, display_safe, is_file_link
from tui.actions import ACTIONS, Action, bindings_of
from tui.chat.screen import ChatScreen
from tui.dialogs.dialog import Hasty, Window
from tui.keys import FILE, Keymap, load_keymap, prepare_input, short_key, teach_alt_enter
from tui.link import EFFORTS, Activity, Connect, Disconnected, Link, StatusChanged, StreamEvent
from tui.page import CHOOSE, Page
from tui.preferences import Preferences
from tui.shared import Shared
from tui.theme import DARK, THEMES
from tui.widgets.frame import MessageLine
from tui.widgets.prompt import Prompt

STATUS_SECONDS = 30.0  # between looks at the memory's state: a folder can go missing without an event
SETTLE_SECONDS = 1.0  # after a change, before the state is asked for: changes come in crowds
MAX_PROBLEMS = 5  # shown at a time
IN_SENTENCE = 0.01  # how well an action matches by its sentence alone: any name that matches is better
PREFERENCES = "chat.json"  # in the memory's folder
SEVERITIES: dict[str, SeverityLevel] = {"error": "error", "warning": "warning"}

FOLDER = Path(__file__).parent
STYLES: list[str | PurePath] = sorted(FOLDER.glob("*.tcss"))

PAGES = {"memory": "MemoryScreen", "review": "ReviewScreen", "folders": "FoldersScreen"}  # by the names of the tabs


def _make_page(name: str, app: App[None], shared: Shared) -> Page:
    """Creates a page; its module and styles are imported when it is first opened, to open the chat quickly."""
    app.stylesheet.read(FOLDER / name / "screen.tcss")
    page: Page = getattr(import_module(f"tui.{name}.screen"), PAGES[name])(shared)
    return page


class Palette(CommandPalette, Window[None]):
    """Textual's command palette, which closes only once."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "command_list" and self.is_mounted:  # see `Options`
            return bool(self.query_one(OptionList).scrollable_content_region)
        return super().check_action(action, parameters)


class ActionsProvider(SystemCommandsProvider):
    """The app's commands in the given order, which Textual's own provider would sort by name."""

    async def discover(self) -> Hits:
        for name, sentence, callback, _ in self.app.get_system_commands(self.screen):
            yield DiscoveryHit(name, callback, help=sentence)

    async def search(self, query: str) -> Hits:
        """Matches the name as Textual does, or else a word of the sentence."""
        matcher = self.matcher(query)
        for name, sentence, callback, _ in self.app.get_system_commands(self.screen):
            if score := matcher.match(name) or IN_SENTENCE * (query.casefold() in sentence.casefold()):
                yield Hit(score, matcher.highlight(name), callback, help=sentence)


class HereProvider(ActionsProvider):
    """Only those of the page and its focused part."""

    async def discover(self) -> Hits:
        here = self.screen.places if isinstance(self.screen, Page) else ()
        async for hit in super().discover():
            if isinstance(hit, DiscoveryHit) and isinstance(hit.command, partial) and hit.command.args[0].where in here:
                yield hit


def run(paths: Paths) -> int:
    """Opens the chat on the terminal and returns the exit code when the person leaves it."""

    def connect_daemon(start: bool) -> Client:
        return connect(paths, start=start)

    teach_alt_enter()
    prepare_input()
    app = PalimpsestApp(
        connect_daemon,
        preferences=Preferences.load(paths.data / PREFERENCES),
        keymap=load_keymap(paths.config.with_name(FILE)),
    )
    if paths.at:
        from daemon.client.remote import Server

        app.sub_title = Server.parse(paths.at).host
    app.run()
    return app.return_code or 0


class PalimpsestApp(App[None]):
    """One window on one memory. `connect` returns the client, `now` the time; `preferences` and `keymap` are the
    person's."""

    TITLE = "Palimpsest"
    CSS_PATH: ClassVar = STYLES
    BINDINGS = bindings_of("app")
    COMMANDS: ClassVar = {ActionsProvider}
    DEFAULT_MODE = "chat"

    # Not registered and set in __init__, for that would parse all styles a second time: 60 ms.
    theme = Reactive(DARK.name)

    def __init__(
        self,
        connect: Connect,
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
        preferences: Preferences | None = None,
        keymap: Keymap | None = None,
    ) -> None:
        super().__init__()
        self.animation_level = "none"
        self.shared = Shared(Link(connect, self), now, preferences or Preferences(), keymap or Keymap())
        self._restore(self.shared.preferences)
        self.add_mode("chat", partial(ChatScreen, self.shared))
        for name in PAGES:
            self.add_mode(name, partial(_make_page, name, self, self.shared))
        self._look: Timer | None = None
        self._is_leaving = False
        self._last_guard = [OnlyText()]

    def on_mount(self) -> None:
        self.theme_changed_signal.subscribe(self, self._keep_theme)
        self.call_after_refresh(self._opened)
        self.set_interval(STATUS_SECONDS, self._look_again)

    def _opened(self) -> None:
        if not gc.isenabled():  # see `daemon.cli.chat`
            gc.freeze()
            gc.enable()
        self._take_keymap(self.shared.keymap)
        self.shared.link.open()  # now that every widget is there to show what comes

    def _take_keymap(self, keymap: Keymap) -> None:
        if keymap.changed:
            self.set_keymap(dict(keymap.changed))
        if keymap.problems:
            text = "\n".join(keymap.problems[:MAX_PROBLEMS])
            self.notify(text, title=f"Keys, in {FILE}", severity="warning", markup=False)

    def on_unmount(self) -> None:
        self._keep_seen()

    async def _shutdown(self) -> None:
        # Before Textual takes the pages apart: what still came would look for widgets that are gone.
        self._is_leaving = True
        self.shared.link.close()
        self.workers.cancel_all()
        await super()._shutdown()

    def _handle_exception(self, error: Exception) -> None:
        # The last keys and messages are still handled after `exit`, when nothing can be mounted any more, and while
        # the pages are removed: such errors are ignored.
        # So are those of a window that is closed while it is built, or while a worker still looks for its widgets.
        cause = error.error if isinstance(error, WorkerFailed) else error
        worker = active_worker.get(None)
        node = active_message_pump.get(None) if worker is None else worker.node
        is_closed = self._exit or self._is_leaving or (isinstance(node, Widget) and node._pruning)
        if is_closed and isinstance(cause, (NoMatches, MountError)):
            return
        super()._handle_exception(error)

    def _restore(self, preferences: Preferences) -> None:
        if preferences.theme in self.available_themes:
            self.set_reactive(PalimpsestApp.theme, preferences.theme)
            self.stylesheet.set_variables(self.get_css_variables())
        if preferences.effort in EFFORTS:
            self.shared.link.effort = preferences.effort

    def _keep_theme(self, theme: Theme) -> None:
        if theme.name != self.shared.preferences.theme:
            self.shared.preferences.theme = theme.name
            self.shared.preferences.save()

    def _keep_seen(self) -> None:
        self.shared.preferences.save(self.shared.now())

    @property
    def available_themes(self) -> dict[str, Theme]:
        return super().available_themes | {theme.name: theme for theme in THEMES}

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Yields the actions of the current place first, then those of the chat, and of everywhere."""
        here = screen.places if isinstance(screen, Page) else ()
        offered = (action for action in ACTIONS if action.palette or action.slash)
        listed = [action for action in offered if action.where in (*here, "app", "chat")]
        listed = [action for action in listed if self._page_of(action, screen).can_do(action)]
        listed.sort(key=lambda action: (action.name == "Quit", action.where not in here))
        for action in listed:
            key = short_key(self.shared.keymap.give_key(action).key)
            sentence = " · ".join(filter(None, (key, action.sentence)))
            yield SystemCommand(action.name, sentence, partial(self._do, action, screen))

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())

    def action_show_actions(self) -> None:
        page = self.screen
        chooses = [action for action in ACTIONS if action.handler == CHOOSE]
        if isinstance(page, Page) and any(action.where in page.places and page.can_do(action) for action in chooses):
            self.push_screen(Palette(providers=[HereProvider], placeholder="Enter does it, Esc goes back"))

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Shows a message in the line above the keys, where it covers nothing."""
        page = next((screen for screen in reversed(self.screen_stack) if isinstance(screen, Page)), self.chat)
        if page.is_mounted:
            page.show_message(": ".join(filter(None, (title, message))), severity)

    async def on_event(self, event: events.Event) -> None:
        # Here and not where the letter bubbles up to, when the next ones are already in the prompt.
        key = event if isinstance(event, events.Key) and not event.is_forwarded else None
        if key is not None and isinstance(self.screen, Page) and self.screen.is_mounted:
            self.screen.query_one(MessageLine).note_key()
        if key is not None and isinstance(self.screen, Hasty) and self.screen.is_typed_outside(key):
            await self.screen.type(key.character or "")
        else:
            await super().on_event(event)

    async def action_leave(self) -> None:
        """Stops the running answer; without one, leaves the chat."""
        if self.screen is not self.chat or not await self.chat.conversation.take_back():
            await self.action_quit()

    async def action_ask_with(self, text: str) -> None:
        """Opens the chat, and begins its question."""
        await self.action_open_page("chat")
        self.chat.prompt.focus()
        self.chat.prompt.insert(text)

    def search_themes(self) -> None:
        self.push_screen(Palette(providers=[ThemeProvider], placeholder="Search for themes…"))

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), *self._last_guard]

    def _page_of(self, action: Action, screen: Screen[object]) -> Page:
        return screen if isinstance(screen, Page) and action.where in screen.places else self.chat

    def _do(self, action: Action, page: Screen[object]) -> None:
        """Runs an action chosen in the palette over a page; actions of the chat open the chat first. One that needs an
        argument begins its command in the prompt."""
        if action.needs_argument:
            self.call_later(self.action_ask_with, f"/{action.slash} ")
            return
        node: DOMNode = page.focused or page
        if action.where in ("app", "chat"):
            node = self if action.where == "app" else self.chat
        elif isinstance(page, Page) and action.where == page.NAME:
            node = page
        if action.where == "chat" and page is not self.chat:
            self.call_later(self.action_open_page, "chat")
        self.call_later(self.run_action, action.handler, node)  # in the page, or the part that has the focus

    # The daemon ---------------------------------------------------------------------------------

    @on(StatusChanged)
    def _status_changed(self, message: StatusChanged) -> None:
        self.shared.status, self.shared.down = message.status, ""
        for page in self._pages:
            page.status_changed(message)

    @on(Disconnected)
    def _disconnected(self, message: Disconnected) -> None:
        self.shared.status, self.shared.down = None, message.reason
        for page in self._pages:
            page.show_down(message)

    @on(StreamEvent)
    async def _relay(self, message: StreamEvent) -> None:
        await self.chat.receive(message)
        match message:
            case StreamEvent(event=wire.Answered()):
                self.call_attention("Palimpsest has answered.")
            case StreamEvent(event=wire.Added(sources=sources)):
                self.call_attention(f"Palimpsest has read {count(sources, 'file')}.")

    @on(Activity)
    def _daemon_acted(self, message: Activity) -> None:
        match message.event:
            case wire.Progress(done, total) if done >= total:
                self._look_soon()
            case wire.FactChanged(revision):
                self.shared.note_change(revision)
                self._look_soon()
            case wire.SourceChanged() | wire.Skipped():
                self._look_soon()
            case wire.Notice(level, text):
                self.notify(text, severity=SEVERITIES.get(level, "information"), markup=False)
        for page in self._pages:
            page.daemon_acted(message)

    @on(Prompt.Changed)
    def _typed(self, message: Prompt.Changed) -> None:
        self.shared.typed_at = time.monotonic() if message.text_area.text else None

    def _look_soon(self) -> None:
        if self._look is None:
            self._look = self.set_timer(SETTLE_SECONDS, self._look_now)

    def _look_now(self) -> None:
        self._look = None
        self.shared.link.refresh_status()

    def _look_again(self) -> None:
        self._keep_seen()  # a terminal that is closed ends the chat without a word
        if self.shared.status is not None:
            self.shared.link.refresh_status()

    # Pages --------------------------------------------------------------------------------------

    @property
    def _pages(self) -> list[Page]:
        """Returns the open pages."""
        opened = (screen for stack in self._screen_stacks.values() for screen in stack)
        return [screen for screen in opened if isinstance(screen, Page) and screen.is_mounted]

    @property
    def chat(self) -> ChatScreen:
        """Returns the page of the conversation, which always exists."""
        chat = self.get_screen_stack("chat")[0]
        assert isinstance(chat, ChatScreen)
        return chat

    async def action_open_page(self, name: str) -> None:
        while isinstance(self.screen, ModalScreen):
            await self.pop_screen()
        await self.switch_mode(name)

    def action_show_help(self) -> None:
        from tui.dialogs.help import HelpScreen

        self.push_screen(HelpScreen(self.shared.keymap, self.screen.places if isinstance(self.screen, Page) else ()))

    def call_attention(self, text: str) -> None:
        """Notifies a person in another window, if the terminal can."""
        if not self.app_focus and self._driver is not None:
            self.bell()
            self._driver.write(f"\x1b]9;{display_safe(text, line=True)}\x07")


class OnlyText(LineFilter):
    """The last filter before the terminal: removes control characters, and links except to files of this machine."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return list(map(_guard, segments))


def _guard(segment: Segment) -> Segment:
    text, style, _ = segment
    if not text.isprintable():
        segment = Segment(display_safe(text, line=True), style)
    if style is not None and style.link is not None and not is_file_link(style.link):
        segment = Segment(segment.text, style.update_link(None))
    return segment
