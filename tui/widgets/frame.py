"""The line above a page, with the tabs and the state of the memory, and the line of keys below."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import PurePath

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.timer import Timer

from daemon import wire
from daemon.terminal import count, display_safe
from tui.actions import Action, Where
from tui.actions.table import TABS
from tui.keys import Keymap, short_key
from tui.widgets.plain import Parts, Plain

_LABEL = 24
_GAP = 2
READ_SECONDS = 2.0  # in which keys hide no message: a person may have been typing when it came


class Rail(Horizontal):
    """The tabs on the left; notes, passages, reading progress and problems on the right."""

    def __init__(self, page: str, keymap: Keymap) -> None:
        super().__init__(id="rail")
        self._status: wire.Status | None = None
        self._progress: wire.Progress | None = None
        self._down = "connecting"
        self._tabs = TabLine(page, keymap)
        self._memory = Plain(self._state(), id="memory-state")

    def compose(self) -> ComposeResult:
        yield Plain("palimpsest", id="app-name")
        yield self._tabs
        yield self._memory

    def set_status(self, status: wire.Status) -> None:
        """Shows the state of a running daemon."""
        self._status, self._down = status, ""
        self._tabs.set_badge("review", status.review)
        self._tabs.set_badge("folders", status.files.failed_total)
        self._show()

    def set_progress(self, progress: wire.Progress) -> None:
        """Shows the progress of reading until it is done."""
        self._progress = progress if progress.done < progress.total else None
        self._show()

    def set_down(self, word: str) -> None:
        """Shows that the daemon is down; `word` is the current remedy."""
        self._down, self._progress = word, None
        self._show()

    def _show(self) -> None:
        self._memory.update(self._state(), layout=False)  # it has what is left of the line

    def _state(self) -> Content:
        if self._down or self._status is None:
            return Content.styled(f"○ {self._down}", "$text-warning")
        stats, files = self._status.stats, self._status.files
        at = f"{self.app.sub_title}: " if self.app.sub_title else ""
        parts = [Content(f"{at}{count(stats.sources, 'note')} · {count(stats.episodes, 'passage')}")]
        if self._progress is not None:
            label = display_safe(self._progress.label.rpartition("/")[2], line=True)[:_LABEL]
            parts.insert(0, Content(f"reading {self._progress.done:,}/{self._progress.total:,} {label}".rstrip()))
        elif files.queue:
            parts.insert(0, Content(f"{files.queue:,} to read"))
        warned = next((folder for folder in files.folders if folder.state == "missing" or folder.gone), None)
        if warned is None:
            return Content.assemble(("● ", "$success"), Content("  ").join(parts))
        problem = f"has lost {count(warned.gone, 'file')}" if warned.gone else "is missing"
        warning = f"! {display_safe(PurePath(warned.path).name or warned.path, line=True)} {problem}"
        return Content("  ").join([Content.styled(warning, "$text-warning"), *parts])


class TabLine(Parts):
    """The tabs in one widget, each with its key and number of waiting items; a click opens a page."""

    def __init__(self, page: str, keymap: Keymap) -> None:
        super().__init__(id="tabs")
        self._keys = {name: short_key(keymap.keys_of(f"open_page({name!r})")) for name in TABS}
        self._page = page
        self._badges: dict[str, int] = {}
        self._show()

    def set_badge(self, page: str, number: int) -> None:
        """Shows the number of waiting items on a page."""
        if self._badges.get(page, 0) != number:
            self._badges[page] = number
            self._show()

    def _show(self) -> None:
        self.show_parts(((self._word(name, title), name) for name, title in TABS.items()), " " * _GAP)

    def _word(self, name: str, title: str) -> Content:
        here, badge = name == self._page, self._badges.get(name)
        return Content.assemble(
            (f"{self._keys[name]} ", "$accent" if here else "$foreground-muted"),
            (title, "bold $accent underline" if here else "$foreground-muted"),
            (f" {badge}" if badge else "", "bold $text-warning"),
        )

    async def choose_part(self, name: str) -> None:
        await self.run_action(f"app.open_page({name!r})")


class MessageLine(Plain):
    """The last message, between the page and the keys, where it covers nothing: for some seconds, or until a key."""

    def __init__(self) -> None:
        super().__init__(id="message")
        self.display = False
        self._timer: Timer | None = None
        self._shown_at = 0.0

    def show(self, text: str, severity: str, seconds: float) -> None:
        """Shows a text in place of the one before."""
        self.set_classes(f"-{severity}")
        self.update(text)
        self.display = bool(self.text.strip())
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(seconds, self.hide)
        self._shown_at = time.monotonic()

    def note_key(self) -> None:
        """Hides a message that only informs, at the first key after the time to read it."""
        if self.display and self.has_class("-information") and time.monotonic() - self._shown_at > READ_SECONDS:
            self.hide()


WHERE_TEXT_IS_TYPED = ("prompt", "finding")
UNDO = "screen.undo"


class Hints(Parts):
    """Actions with a footer word that can be done now, those of the focused place first; a click runs them. Without
    space for all, those of the place are dropped from the end: never Esc, nor where letters go.

    Replaces Textual's Footer, which makes a widget for every key, again with every change of the focus.
    """

    def __init__(self, keymap: Keymap) -> None:
        super().__init__(id="hints")
        self._keymap = keymap
        self._own: list[tuple[Content, str]] = []
        self._always: list[tuple[Content, str]] = []

    def show_for(self, places: Sequence[Where], word_of: Callable[[Action], str], typing: str) -> None:
        """Shows the actions of the focused place and of its page; `typing`: what happens to letters."""
        listed = [
            (action, action.call("screen" if place == places[-1] else "focused"))
            for place in places
            for action in self._keymap.actions_of(place)
        ]
        shown = [(action, self._hint(action, word), call) for action, call in listed if (word := word_of(action))]
        self._own = [(hint, call) for action, hint, call in shown if not action.key.startswith("escape")]
        back = [(hint, call) for action, hint, call in shown if action.key.startswith("escape")]
        is_typed = places[0] in WHERE_TEXT_IS_TYPED
        rule = [] if is_typed else [(Content.assemble(("type", "bold $accent"), f" to {typing}"), "")]
        everywhere = [
            (self._hint(action, word), action.call("app"))
            for action in reversed(self._keymap.actions_of("app"))
            if (word := word_of(action)) and not (is_typed and action.handler == UNDO)
        ]
        self._always = [*back[:1], *rule, *everywhere]
        self._show()

    def _hint(self, action: Action, word: str) -> Content:
        return Content.assemble((short_key(action.key), "bold $accent"), f" {word}")

    def on_resize(self) -> None:
        self._show()

    def _show(self) -> None:
        own = list(self._own)
        while own and self.size.width and _width([*own, *self._always]) > self.content_size.width:
            own.pop()
        self.show_parts([*own, *self._always], " " * _GAP)

    async def choose_part(self, name: str) -> None:
        await self.run_action(name)


def _width(hints: Sequence[tuple[Content, str]]) -> int:
    return sum(hint.cell_length + _GAP for hint, _ in hints) - _GAP
