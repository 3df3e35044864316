"""A folder is to be read: once, or kept up with."""

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
    """Says how much there is, and asks whether to keep up with it; None if the person thought better of it."""

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
            yield Plain("Watched, it is read now and whenever something in it changes.", classes="dialog-hint")
            with Horizontal(classes="buttons"):
                yield Button("Yes, watch it (y)", id="watch", compact=True)
                yield Button("No, read it once (n)", id="once", compact=True)

    def on_mount(self) -> None:
        if is_much(self._counted):
            self._estimate()

    @work
    async def _estimate(self) -> None:
        line = self.query_one("#counted", Plain)
        said = line.text
        line.update(f"{said} Looking at what is in it…")
        try:
            known = await self._link.call(lambda client: client.estimate([self._path]))
        except (DaemonError, DaemonDownError):
            line.update(said)  # whoever goes on is told why
        else:
            line.update(f"{count(known.files, 'file')} would be read: {describe_estimate(known)}")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss("watch" if event.button.id == "watch" else "once")


def describe_count(counted: wire.Counted) -> str:
    """`86 files would be read, 1.2 MB.`"""
    more = "" if counted.complete else "More than "
    if not counted.files:
        return "Nothing in it can be read yet."
    return f"{more}{count(counted.files, 'file')} would be read, {size(counted.bytes)}."


def is_much(counted: wire.Counted) -> bool:
    """Whether it is to be said what is in it, and what a model would take to read it, before it is read."""
    return counted.files > MANY or not counted.complete


def describe_estimate(known: wire.Estimate) -> str:
    """What is in a folder, and what a model would take to read it."""
    skipped = f"; {known.skipped:,} cannot be read" if known.skipped else ""
    text = f"{size(known.bytes)}, about {known.words:,} words in {count(known.episodes, 'passage')}{skipped}."
    if not known.model:
        return f"{text}\nAll of it can be asked for. No language model would read it."
    where = "on this machine" if known.is_local else "elsewhere"
    if known.minutes is None:
        took = "for a time that nobody has measured"
    else:
        took = f"for about {max(1, round(known.minutes)):,} minutes" if known.minutes < 120 else (
            f"for about {known.minutes / 60:,.0f} hours"
        )  # fmt: skip
    return f"{text}\n{known.model}, {where}, would read it {took} and {known.tokens:,} tokens, in the background."
