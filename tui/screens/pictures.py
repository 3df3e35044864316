"""The pictures of a note, drawn one at a time."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from daemon.terminal import display_safe
from tui.pictures import PictureError, draw_picture, find_picture, open_in_viewer
from tui.screens.dialog import Dialog
from tui.widgets.plain import Plain
from tui.wording import short_path

WIDTH, HEIGHT = 0.94, 0.9  # of the terminal, that a dialog has at most
FRAME_COLUMNS, FRAME_ROWS = 6, 9  # of it that are not the picture
NO_COLOURS = "This terminal has too few colours to draw it with."


class Drawn(Widget):
    """A drawn picture, in its own size."""

    DEFAULT_CSS = "Drawn { width: auto; height: auto; }"

    def __init__(self) -> None:
        super().__init__()
        self._strips: list[Strip] = []

    def show(self, strips: list[Strip]) -> None:
        """Shows another picture, or none."""
        self._strips = strips
        self.refresh(layout=True)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return max((strip.cell_length for strip in self._strips), default=0)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._strips)

    def render_line(self, y: int) -> Strip:
        return self._strips[y] if y < len(self._strips) else Strip.blank(self.size.width)


class PicturesScreen(Dialog[None]):
    """Shows the pictures, or why one cannot be shown."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,i,q", "dismiss(None)", "Back"),
        Binding("right,down,space", "show(1)", "Next"),
        Binding("left,up", "show(-1)", "Previous"),
        Binding("o,enter", "open", "Open"),
    ]

    def __init__(self, names: tuple[str, ...], uri: str, folders: tuple[str, ...]) -> None:
        super().__init__()
        self._names = names
        self._uri = uri
        self._folders = folders
        self._at = 0
        self._path: Path | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -picture"):
            yield Plain(classes="dialog-title")
            yield Drawn()
            yield Plain(id="where")
            more = "← → previous, next · " if len(self._names) > 1 else ""
            yield Plain(f"{more}o opens it in your viewer · Esc", classes="dialog-hint")

    def on_resize(self) -> None:
        self._show()

    def action_show(self, step: int) -> None:
        self._at = (self._at + step) % len(self._names)
        self._show()

    @work(exclusive=True)
    async def _show(self) -> None:
        name = self._names[self._at]
        number = f"  {self._at + 1} of {len(self._names)}" if len(self._names) > 1 else ""
        self.query_one(".dialog-title", Plain).update(f"{display_safe(Path(name).name, line=True)}{number}")
        self._path, strips, caption = None, list[Strip](), ""
        try:
            self._path = await asyncio.to_thread(find_picture, name, self._uri, self._folders)
            caption = short_path(str(self._path))
            if self.app.no_color or self.app.console.color_system not in ("256", "truecolor"):
                raise PictureError(NO_COLOURS)
            colour = self.query_one(".dialog").styles.background
            columns = max(1, int(self.app.size.width * WIDTH) - FRAME_COLUMNS)
            rows = max(1, int(self.app.size.height * HEIGHT) - FRAME_ROWS)
            strips = await asyncio.to_thread(draw_picture, self._path, columns, rows, colour.rgb)
        except PictureError as error:
            caption = f"{caption}\n{error}" if caption else f"{name}\n{error}"
        self.query_one(Drawn).show(strips)
        self.query_one("#where", Plain).update(caption)

    def action_open(self) -> None:
        if self._path is None:
            return
        try:
            open_in_viewer(self._path)
        except PictureError as error:
            self.notify(str(error), severity="warning", markup=False)
