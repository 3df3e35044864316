"""The questions before anything is read: who the owner is, which folder, and whether to watch it."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, Literal

from rich.style import Style
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, DirectoryTree, Input
from textual.widgets._directory_tree import DirEntry
from textual.widgets.tree import TreeNode

from daemon import wire
from daemon.client.client import DaemonDownError, DaemonError
from daemon.setup import QUESTIONS, read_answer
from daemon.terminal import count, display_safe, size
from tui.completion import complete_path
from tui.dialogs.dialog import Dialog
from tui.link import Link
from tui.widgets.plain import Plain
from tui.wording import is_file, is_folder, short_path

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

    def __init__(self, path: Path, counted: wire.Counted) -> None:
        super().__init__()
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

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss("watch" if event.button.id == "watch" else "once")


def describe_count(counted: wire.Counted) -> str:
    """`86 files would be read, 1.2 MB.`"""
    more = "" if counted.complete else "More than "
    if not counted.files:
        return "It has no readable files yet."
    return f"{more}{count(counted.files, 'file')} would be read, {size(counted.bytes)}."


def is_much(counted: wire.Counted) -> bool:
    """Whether to ask before the files are read."""
    return counted.files > MANY or not counted.complete


HINT = "Enter selects · Tab completes · ↓ into the tree · Esc"
PAUSE_SECONDS = 0.3  # before it is counted what a path holds: a person may be typing on
READ = (
    "Chats are read as text with a line for each message, as WhatsApp and others export them, and as JSON:\n"
    'a title and its messages, each with "role", "content" and "time". Anything else in a file is reported and skipped.'
)


class Tree(DirectoryTree):
    """A directory tree without hidden entries; names are plain text."""

    ICON_NODE = ICON_NODE_EXPANDED = ""
    ICON_FILE = ""

    def __init__(self, path: Path, files: bool) -> None:
        self._files = files
        super().__init__(path)
        self.guide_depth = 2

    def show(self, path: Path) -> None:
        if Path(self.path) != path:
            self.path = path

    def filter_paths(self, paths: Iterable[Path]) -> Iterable[Path]:
        return [path for path in paths if not path.name.startswith(".") and (self._files or is_folder(path))]

    def render_label(self, node: TreeNode[DirEntry], base_style: Style, style: Style) -> Text:
        is_root = node.parent is None
        name = short_path(str(Path(self.path).absolute())) if is_root else str(node.label)
        label = Text(display_safe(name, line=True), style)
        return label.append("/") if node.allow_expand else label


class PathScreen(Dialog[Path | None]):
    """Asks for a folder, or with `files` also a file; None if cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel"),
        Binding("tab", "complete", "Complete", show=False),
    ]
    AUTO_FOCUS = "Input"

    def __init__(self, link: Link, *, files: bool = False, start: Path | None = None) -> None:
        super().__init__()
        self._link = link
        self._files = files
        self._start = start or Path.home()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Plain("Import chats" if self._files else "Choose a folder", classes="dialog-title")
            yield Plain(READ if self._files else "Its files are counted before anything is read.")
            yield Input(f"{short_path(str(self._start))}/", compact=True, id="path", select_on_focus=False)
            yield Tree(self._start, self._files)
            yield Plain(" ", id="counted")
            yield Plain(HINT, classes="dialog-hint")

    @property
    def path(self) -> Path:
        typed = self._typed_text
        home = os.path.expanduser(typed)  # noqa: PTH111  keeps the `~name` of an unknown user
        return Path(home) if typed else self._start

    @property
    def _typed_text(self) -> str:
        """Returns the field from its last `//` or `/~` on: a person may type a new path after the old one."""
        return re.sub(r"^.*/(?=[/~])", "", self.query_one(Input).value.strip().strip("'\""))

    def on_key(self, event: object) -> None:
        if getattr(event, "key", "") == "down" and self.query_one(Input).has_focus:
            self.query_one(Tree).focus()

    def action_complete(self) -> None:
        """Completes the typed path, as a shell does; in the tree, returns to the field."""
        field = self.query_one(Input)
        if not field.has_focus:
            field.focus()
        elif (completed := complete_path(self._typed_text)) != field.value:
            field.value = completed
            field.cursor_position = len(completed)

    @on(Input.Changed)
    def _typed(self) -> None:
        if self.query_one(Input).has_focus:
            folder = self.path if is_folder(self.path) else self.path.parent
            if is_folder(folder):
                self.query_one(Tree).show(folder)
        self._count(self.path)

    @on(DirectoryTree.DirectorySelected)
    @on(DirectoryTree.FileSelected)
    def _selected(self, event: DirectoryTree.DirectorySelected | DirectoryTree.FileSelected) -> None:
        field = self.query_one(Input)
        if self.path == event.path:
            self._take()
        else:
            field.value = short_path(str(event.path))

    @on(Input.Submitted)
    def _take(self) -> None:
        self.workers.cancel_node(self)  # a late count would overwrite this message
        path = self.path
        if is_folder(path) or (self._files and is_file(path)):
            self.dismiss(path.absolute())
        else:
            self.query_one("#counted", Plain).update(f"There is no {'file or ' if self._files else ''}folder {path}.")

    @work(exclusive=True)
    async def _count(self, path: Path) -> None:
        line = self.query_one("#counted", Plain)  # before the pause, in which the screen may be closed
        await asyncio.sleep(PAUSE_SECONDS)
        if path == self._start or not await asyncio.to_thread(lambda: is_folder(path) or is_file(path)):
            line.update(" ")
            return
        line.update("counting…")
        try:
            line.update(describe_count(await self._link.call(lambda client: client.count([path]))))
        except (DaemonError, DaemonDownError) as error:
            line.update(str(error))


class IntroductionScreen(Dialog[dict[str, str] | None]):
    """Asks all questions; returns the statements, key to value, or None if cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel")]
    AUTO_FOCUS = "Input"

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Plain("About you", classes="dialog-title")
            for question in QUESTIONS:
                yield Plain(question.text)
                yield Input(placeholder=question.hint, compact=True, id=question.key)
            yield Plain("Enter goes on, and saves at the end · empty fields are skipped · Esc", classes="dialog-hint")

    @on(Input.Submitted)
    def _go_on(self, message: Input.Submitted) -> None:
        message.stop()
        if message.input.id != QUESTIONS[-1].key:
            self.focus_next()
            return
        statements: dict[str, str] = {}
        for field in self.query(Input):
            statements |= read_answer(str(field.id), field.value)
        self.dismiss(statements)
