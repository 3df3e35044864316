"""The base of all pages: the rail above, the keys below, and the daemon's messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.notifications import SeverityLevel

from daemon import wire
from daemon.client.client import DaemonDownError, DaemonError
from tui.actions import Action, Where, actions_of
from tui.dialogs.dialog import ConfirmScreen, Hasty, use_styles
from tui.editor import CannotOpenError, open_in_editor
from tui.link import Activity, Disconnected, StatusChanged
from tui.shared import Shared
from tui.widgets.frame import UNDO, Hints, MessageLine, Rail
from tui.wording import describe_change

WIDE = 100  # columns from which a second pane fits
MESSAGE_SECONDS = {"information": 10.0, "warning": 15.0, "error": 15.0}
CHOOSE = "app.show_actions"
NEWEST = 20  # changes among which one to undo is looked for


class Page(Hasty[None]):
    """A page with a tab. Subclasses set `NAME`, which is also the place of their actions, and put their own widgets
    between the rail and the keys with `compose_body`."""

    NAME: ClassVar[Where]
    TAKES_LETTERS = True
    TYPING: ClassVar[str] = "ask"  # what happens to letters outside of a field
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012

    def __init__(self, shared: Shared) -> None:
        super().__init__(classes="page")
        # Textual measures the width after mounting and styling, which would restyle everything.
        self.add_class("-wide" if self.app.size.width >= WIDE else "-narrow", update=False)
        use_styles(self)
        self._is_new = True
        self.shared = shared
        self.link = shared.link

    def compose(self) -> ComposeResult:
        yield Rail(self.NAME, self.shared.keymap)
        yield from self.compose_body()
        yield MessageLine()
        yield Hints(self.shared.keymap)

    def compose_body(self) -> ComposeResult:
        raise NotImplementedError

    def _on_mount(self, event: object) -> None:
        # Before the `on_mount` of the page itself, which Textual calls as well.
        self.call_next(self._catch_up)

    def _catch_up(self) -> None:
        """Shows the current state of the daemon."""
        if self.shared.status is not None:
            self.status_changed(StatusChanged(self.shared.status, connected=True))
        elif self.shared.down:
            self.show_down(Disconnected(self.shared.down))

    def _on_screen_resume(self, event: events.ScreenResume) -> None:
        # Before Textual's own, which styles all widgets once more: those of a new page have just been styled.
        event.refresh_styles = not self._is_new
        self._is_new = False

    @property
    def places(self) -> tuple[Where, ...]:
        """Returns the places that receive keys now: the focused part of the page, and the page."""
        return (*getattr(self.focused, "PLACES", ()), self.NAME)

    def can_do(self, action: Action) -> bool:
        """Whether an action has something to act on now."""
        if action.handler == CHOOSE:
            here = (other for place in self.places for other in actions_of(place))
            return any(other.palette and self.can_do(other) for other in here)
        return action.handler != UNDO or bool(self.shared.done)

    def word_of(self, action: Action) -> str:
        """Returns the word of an action in the footer; "" if it is not there now."""
        return action.footer if action.footer and self.can_do(action) else ""

    def on_descendant_focus(self) -> None:
        self.show_keys()

    def show_keys(self) -> None:
        """Shows the keys of the focused place."""
        self.query_one(Hints).show_for(self.places, self.word_of, self.TYPING)

    async def type(self, character: str) -> None:
        """Takes a character that was typed outside of a field: to the prompt of the chat."""
        await self.run_action(f"app.ask_with({character!r})")

    def show_message(self, text: str, severity: SeverityLevel = "information") -> None:
        """Shows what happened, for some seconds, where it covers nothing."""
        self.query_one(MessageLine).show(text, severity, MESSAGE_SECONDS[severity])

    async def tell(self, text: str, severity: SeverityLevel = "information") -> None:
        """Shows the result of an action."""
        self.show_message(text, severity)

    @work
    async def action_undo(self) -> None:
        """Takes back the last action on any page; without one, offers the last change of a fact."""
        with self.tell_failures():
            if not self.shared.done:
                await self._undo_revision()
                return
            last = self.shared.done[-1]
            try:
                await self.link.call(last.undo)
            except DaemonError as error:
                if error.failed.code != "not_found":
                    raise
                await self.tell(f"{error} Nothing was undone.", "warning")  # what was done before it comes next
            else:
                await self.tell(last.message)
            self.shared.done.remove(last)
            last.show()
            self.memory_changed()

    async def _undo_revision(self) -> None:
        reply = await self.link.call(lambda client: client.revisions("all", limit=NEWEST))
        last = next((revision for revision in reply.revisions if revision.state in ("open", "kept")), None)
        if last is None:
            await self.tell("There is nothing to undo.")
            return
        question = f"Undo the last change of a fact? {describe_change(last)}"
        if await self.app.push_screen_wait(ConfirmScreen(question, "Both facts are as before.", "Yes, undo")):
            settled = await self.link.call(lambda client: client.settle(last.id, "undo"))
            await self.tell(f"{describe_change(last)}: {settled.outcome}")
            self.memory_changed()

    def open_source(self, uri: str, line: int | None) -> None:
        """Opens a source in the editor, or says why not."""
        try:
            open_in_editor(self.app, uri, line)
        except CannotOpenError as error:
            self.show_message(str(error), "warning")

    async def find_passage(self, episode: int) -> wire.Passage | None:
        """Returns a passage by its id; None if it was forgotten, or the daemon is down."""
        try:
            return await self.link.call(lambda client: client.episode(episode))
        except (DaemonError, DaemonDownError):
            return None

    async def action_go_back(self) -> None:
        await self.run_action("app.open_page('chat')")

    def memory_changed(self) -> None:
        """Refreshes the page after a change of the memory."""
        self.show_keys()
        self.link.refresh_status()

    @property
    def folders(self) -> tuple[str, ...]:
        """Returns the watched folders, for shortening paths."""
        return self.shared.folders

    def status_changed(self, message: StatusChanged) -> None:
        self.query_one(Rail).set_status(message.status)

    def show_down(self, message: Disconnected) -> None:
        """Shows that the daemon does not answer."""
        self.query_one(Rail).set_down("memory not running")

    def daemon_acted(self, message: Activity) -> None:
        if isinstance(message.event, wire.Progress):
            self.query_one(Rail).set_progress(message.event)

    @contextmanager
    def tell_failures(self) -> Iterator[None]:
        """Shows the daemon's errors to the person."""
        try:
            yield
        except (DaemonError, DaemonDownError) as error:
            self.show_message(str(error), "error")
