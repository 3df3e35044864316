"""The base of all pages: the rail above, the keys below, and the daemon's messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widget import Widget

from daemon import wire
from daemon.client.client import DaemonDownError, DaemonError
from daemon.terminal import display_safe
from tui.actions import Action, Where
from tui.actions.action import TABS
from tui.dialogs.dialog import Hasty, use_styles
from tui.link import Activity, Disconnected, StatusChanged
from tui.shared import Shared
from tui.widgets.frame import Hints, Rail

WIDE = 100  # columns from which a second pane fits
DIGITS: list[BindingType] = [  # of the pages on which nothing is typed, but in a field
    Binding(str(place), f"app.open_page('{tab.name}')", tab.title, show=False) for place, tab in enumerate(TABS, 1)
]


class Page(Hasty[None]):
    """A page with a tab. Subclasses set `NAME`, which is also the place of their actions, and put their own widgets
    between the rail and the keys with `compose_body`."""

    NAME: ClassVar[Where]
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
        yield Hints(self.NAME, self.shared.keymap)

    def compose_body(self) -> ComposeResult:
        raise NotImplementedError

    def _on_mount(self, event: object) -> None:
        # Before the `on_mount` of the page itself, which Textual calls as well.
        self.shared.status_changed.subscribe(self, self.status_changed)
        self.shared.disconnected.subscribe(self, self.show_down)
        self.shared.activity.subscribe(self, self.daemon_acted)
        if self.shared.status is not None:
            self.call_next(self.status_changed, StatusChanged(self.shared.status, connected=True))
        elif self.shared.down:
            self.call_next(self.show_down, Disconnected(self.shared.down))

    def _on_screen_resume(self, event: events.ScreenResume) -> None:
        # Before Textual's own, which styles all widgets once more: those of a new page have just been styled.
        event.refresh_styles = not self._is_new
        self._is_new = False

    @property
    def places(self) -> tuple[Where, ...]:
        """Returns the places that receive keys now: the focused part of the page, and the page."""
        part = _place_of(self.focused)
        return (part, self.NAME) if part else (self.NAME,)

    def can_do(self, action: Action) -> bool:
        """Whether an action is possible now."""
        return True

    def on_descendant_focus(self) -> None:
        self.show_keys()

    def show_keys(self) -> None:
        """Shows the keys of the focused place."""
        self.query_one(Hints).show_for(_place_of(self.focused), self.can_do)

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
            self.notify(display_safe(str(error)), severity="error", markup=False)


def _place_of(widget: Widget | None) -> Where | None:
    """Returns the place of a widget's actions, its `PLACE`."""
    return getattr(widget, "PLACE", None)
