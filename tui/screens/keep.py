"""A folder is to be read: once, or kept up with."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button

from daemon import wire
from daemon.terminal import size
from tui.screens.dialog import Dialog
from tui.widgets.plain import Plain
from tui.wording import count, short_path

Kept = Literal["watch", "once"]


class KeepScreen(Dialog[Kept | None]):
    """Says how much there is, and asks whether to keep up with it; None if the person thought better of it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss('watch')", "Keep watching"),
        Binding("n", "dismiss('once')", "Read once"),
        Binding("escape", "dismiss(None)", "Cancel"),
    ]
    AUTO_FOCUS = "#watch"

    def __init__(self, path: Path, counted: wire.Counted) -> None:
        super().__init__()
        self._path = path
        self._counted = counted

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -small"):
            yield Plain(f"Keep watching {short_path(str(self._path))}?", classes="dialog-title")
            yield Plain(describe_count(self._counted))
            yield Plain("Watched, it is read now and whenever something in it changes.", classes="dialog-hint")
            with Horizontal(classes="buttons"):
                yield Button("Yes, watch it (y)", id="watch", compact=True)
                yield Button("No, read it once (n)", id="once", compact=True)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss("watch" if event.button.id == "watch" else "once")


def describe_count(counted: wire.Counted) -> str:
    """`86 files would be read, 1.2 MB.`"""
    more = "" if counted.complete else "More than "
    if not counted.files:
        return "Nothing in it can be read yet."
    return f"{more}{count(counted.files, 'file')} would be read, {size(counted.bytes)}."
