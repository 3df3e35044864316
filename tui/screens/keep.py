"""Asks whether to read a folder once or to watch it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button

from daemon import wire
from daemon.client import DaemonDownError, DaemonError
from daemon.terminal import size
from tui.link import Link
from tui.screens.dialog import Dialog
from tui.widgets.plain import Plain
from tui.wording import count, short_path

Kept = Literal["watch", "once"]
MANY = 500  # files


class KeepScreen(Dialog[Kept | None]):
    """Shows the size of a folder, and asks whether to watch it; None if cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss('watch')", "Keep watching"),
        Binding("n", "dismiss('once')", "Read once"),
        Binding("escape", "dismiss(None)", "Cancel"),
    ]
    AUTO_FOCUS = "#watch"

    def __init__(self, link: Link, path: Path, counted: wire.Counted) -> None:
        super().__init__()
        self._link = link
        self._path = path
        self._counted = counted

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -small"):
            yield Plain(f"Keep watching {short_path(str(self._path))}?", classes="dialog-title")
            yield Plain(describe_count(self._counted), id="counted")
            yield Plain("A watched folder is read now and whenever it changes.", classes="dialog-hint")
            with Horizontal(classes="buttons"):
                yield Button("Yes, watch it (y)", id="watch", compact=True)
                yield Button("No, read it once (n)", id="once", compact=True)

    def on_mount(self) -> None:
        if is_much(self._counted):
            self._estimate()

    @work
    async def _estimate(self) -> None:
        line = self.query_one("#counted", Plain)
        text = line.text
        line.update(f"{text} Counting its files…")
        try:
            estimate = await self._link.call(lambda client: client.estimate([self._path]))
        except (DaemonError, DaemonDownError):
            line.update(text)  # the error is shown when reading begins
        else:
            line.update(f"{count(estimate.files, 'file')} would be read: {describe_estimate(estimate)}")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss("watch" if event.button.id == "watch" else "once")


def describe_count(counted: wire.Counted) -> str:
    """`86 files would be read, 1.2 MB.`"""
    more = "" if counted.complete else "More than "
    if not counted.files:
        return "It has no readable files yet."
    return f"{more}{count(counted.files, 'file')} would be read, {size(counted.bytes)}."


def is_much(counted: wire.Counted) -> bool:
    """Whether to show a folder's content and the cost of a model before reading it."""
    return counted.files > MANY or not counted.complete


def describe_estimate(estimate: wire.Estimate) -> str:
    """A folder's content, and what a model would take to read it."""
    skipped = f"; {estimate.skipped:,} cannot be read" if estimate.skipped else ""
    text = f"{size(estimate.bytes)}, about {estimate.words:,} words in {count(estimate.episodes, 'passage')}{skipped}."
    if not estimate.model:
        return f"{text}\nNo language model would read it."
    place = "on this machine" if estimate.is_local else "elsewhere"
    if estimate.minutes is None:
        duration = "an unknown time"
    else:
        duration = f"about {max(1, round(estimate.minutes)):,} minutes" if estimate.minutes < 120 else (
            f"about {estimate.minutes / 60:,.0f} hours"
        )  # fmt: skip
    return (
        f"{text}\n{estimate.model}, {place}, would need {duration} and {estimate.tokens:,} tokens, in the background."
    )
