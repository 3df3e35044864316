"""The line at the top: the pages, the current one, and the state of the memory."""

from __future__ import annotations

from pathlib import PurePath

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from daemon import wire
from daemon.terminal import display_safe
from tui.pages import TABS
from tui.widgets.plain import Plain
from tui.wording import count

_LABEL = 24
_GAP = 2


class Rail(Horizontal):
    """The tabs on the left; notes, passages, reading progress and problems on the right."""

    def __init__(self, page: str) -> None:
        super().__init__(id="rail")
        self._status: wire.Status | None = None
        self._progress: wire.Progress | None = None
        self._down = "connecting"
        self._tabs = TabLine(page)
        self._memory = Plain(self._state(), id="memory-state")

    def compose(self) -> ComposeResult:
        yield Plain("palimpsest", id="app-name")
        yield self._tabs
        yield self._memory

    def set_status(self, status: wire.Status) -> None:
        """Shows the state of a running daemon."""
        self._status, self._down = status, ""
        self._tabs.set_badge("review", status.review)
        self._tabs.set_badge("folders", status.failed_total + status.skipped_total)
        self._show()

    def set_progress(self, progress: wire.Progress) -> None:
        """Documents are being read; a progress that is done is over."""
        self._progress = progress if progress.done < progress.total else None
        self._show()

    def set_down(self, word: str) -> None:
        """Shows that the daemon is down; `word` is what is done about it."""
        self._down, self._progress = word, None
        self._show()

    def _show(self) -> None:
        self._memory.update(self._state(), layout=False)  # it has what is left of the line

    def _state(self) -> Content:
        if self._down or self._status is None:
            return Content.styled(f"○ {self._down}", "$text-warning")
        parts = [Content(f"{count(self._status.sources, 'note')} · {count(self._status.episodes, 'passage')}")]
        if self._progress is not None:
            label = display_safe(self._progress.label.rpartition("/")[2], line=True)[:_LABEL]
            parts.insert(0, Content(f"reading {self._progress.done:,}/{self._progress.total:,} {label}".rstrip()))
        elif self._status.queue:
            parts.insert(0, Content(f"{self._status.queue:,} to read"))
        warned = next((folder for folder in self._status.folders if folder.state == "missing" or folder.gone), None)
        if warned is None:
            return Content.assemble(("● ", "$success"), Content("  ").join(parts))
        problem = f"has lost {count(warned.gone, 'file')}" if warned.gone else "is missing"
        warning = f"! {display_safe(PurePath(warned.path).name or warned.path, line=True)} {problem}"
        return Content("  ").join([Content.styled(warning, "$text-warning"), *parts])


class TabLine(Plain):
    """The tabs in one widget, with how much waits on each; a click opens a page."""

    def __init__(self, page: str) -> None:
        super().__init__(id="tabs")
        self._page = page
        self._badges: dict[str, int] = {}
        self._targets: list[tuple[range, str]] = []
        self._show()

    def set_badge(self, page: str, number: int) -> None:
        """Shows the number of waiting things on a page."""
        if self._badges.get(page, 0) != number:
            self._badges[page] = number
            self._show()

    def _show(self) -> None:
        text, self._targets = Content(), []
        for place, tab in enumerate(TABS, 1):
            here = tab.name == self._page
            words = Content.assemble(
                (f"{place} ", "$accent" if here else "$foreground-muted"),
                (tab.title, "bold $accent underline" if here else "$foreground-muted"),
            )
            if badge := self._badges.get(tab.name):
                words += Content.styled(f" {badge}", "bold $text-warning")
            self._targets.append((range(len(text), len(text) + len(words)), tab.name))
            text += words + " " * _GAP
        self.update(text)

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        for span, page in self._targets:
            if offset is not None and offset.x in span:
                await self.run_action(f"app.open_page({page!r})")
