"""The line at the top: which session, and how the memory is."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from daemon import wire
from daemon.terminal import display_safe
from tui.widgets.plain import Plain
from tui.wording import count, short_path

_LABEL = 24


class StatusBar(Horizontal):
    """session on the left; notes, passages, what is being read, and what is wrong on the right."""

    def __init__(self) -> None:
        super().__init__(id="status-bar")
        self._status: wire.Status | None = None
        self._progress: wire.Progress | None = None
        self._down = "connecting"
        self._title = Plain(id="session-title")
        self._memory = Plain(self._state(), id="memory-state")

    def compose(self) -> ComposeResult:
        yield Plain("palimpsest", id="app-name")
        yield self._title
        yield self._memory

    def set_title(self, title: str) -> None:
        """The session's title; empty for a new one."""
        self._title.update(display_safe(title, line=True))

    def set_status(self, status: wire.Status) -> None:
        """The daemon answers, and this is how it stands."""
        self._status, self._down = status, ""
        self._show()

    def set_progress(self, progress: wire.Progress) -> None:
        """Documents are being read; a progress that is done is over."""
        self._progress = progress if progress.done < progress.total else None
        self._show()

    def set_down(self, word: str) -> None:
        """The daemon does not answer; `word` is what is done about it."""
        self._down, self._progress = word, None
        self._show()

    def _show(self) -> None:
        self._memory.update(self._state())

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
        what = f"has lost {count(warned.gone, 'file')}" if warned.gone else "is missing"
        warning = f"! {display_safe(short_path(warned.path), line=True)} {what}"
        return Content("  ").join([Content.styled(warning, "$text-warning"), *parts])
