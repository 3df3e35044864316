"""The base of the tabs of the page Folders: rows, a line above them, and the details of a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar, TypeVar

from textual import work
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from daemon import wire
from daemon.client.client import Client, DaemonDownError, DaemonError
from daemon.terminal import display_safe
from tui.actions import Action, bindings_of
from tui.link import Activity
from tui.shared import Shared
from tui.widgets.plain import Options

T = TypeVar("T")


class TabList(Options):
    """One tab. Subclasses give rows with `list_rows`, and the details of a row with `describe`."""

    TITLE: ClassVar[str]
    EMPTY: ClassVar[str]
    BINDINGS = bindings_of("rows")

    def __init__(self, shared: Shared, changed: Callable[[TabList], None], id: str) -> None:
        super().__init__(id=id, markup=False, compact=True)
        self.shared = shared
        self._changed = changed  # called when the rows or details are others
        self._keys: list[str] = []

    @property
    def key(self) -> str | None:
        return None if self.highlighted is None else self._keys[self.highlighted]

    def can_do(self, action: Action) -> bool:
        """Whether an action is possible now."""
        return self.key is not None or not action.of_row

    @property
    def summary(self) -> str | Content:
        return ""

    def list_rows(self) -> Iterable[tuple[str, Content]]:
        """Yields the key and content of each row."""
        raise NotImplementedError

    def describe(self, key: str) -> Content:
        raise NotImplementedError

    def load(self) -> None:
        """Called when the tab is shown, or its content may have changed."""
        self._fetch()

    @work(exclusive=True, group="fetch")
    async def _fetch(self) -> None:
        await self.fetch()

    async def fetch(self) -> None:
        """Requests from the daemon what its state does not contain."""

    def status_changed(self, status: wire.Status) -> None:
        """Handles a new state of the daemon."""

    def daemon_acted(self, message: Activity) -> None:
        """Handles an event of the daemon."""

    def show_rows(self) -> None:
        """Reloads the rows; the highlight stays."""
        before, place = self.key, self.highlighted or 0
        rows = list(self.list_rows())
        self._keys = [key for key, _ in rows]
        with self.prevent(OptionList.OptionHighlighted):
            self.set_options(Option(content) for _, content in rows)
        if before in self._keys:
            place = self._keys.index(before)
        self.highlighted = min(place, len(rows) - 1) if rows else None
        self.show_changes()

    def show_changes(self) -> None:
        """Shows new rows or details, with the next messages."""
        self.call_next(self._changed, self)

    async def call(self, method: Callable[[Client], T]) -> T | None:
        """Returns the result of a call; None if it failed, after a message."""
        try:
            return await self.shared.link.call(method)
        except (DaemonError, DaemonDownError) as error:
            self.notify(str(error), severity="error", markup=False)
        return None

    def say(self, text: str) -> None:
        self.notify(text, markup=False)


def two_lines(head: str, below: str, style: str = "") -> Content:
    """Returns a row: a head, and muted details below."""
    return Content.assemble(
        (display_safe(head, line=True), style), (f"\n  {display_safe(below, line=True)}", "$foreground-muted")
    )


def paragraphs(head: str, *parts: str) -> Content:
    """Returns the details of a row: a heading, and the non-empty parts."""
    texts = [display_safe(part) for part in parts if part]
    return Content("\n\n").join([Content.styled(display_safe(head), "bold"), *map(Content, texts)])
