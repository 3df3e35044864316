"""The lines above the prompt: news, limits and attachments, waiting questions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from daemon import wire
from daemon.terminal import display_safe
from tui.actions import Where, bindings_of
from tui.changes import news
from tui.inquiry import Inquiry
from tui.keys import Keymap, short_key
from tui.widgets.plain import Options, Plain


class News(Plain):
    """The newest unread change; a click shows it."""

    def __init__(self, keymap: Keymap) -> None:
        super().__init__(id="news")
        self._key = short_key(keymap.keys_of("open_page('review')"))
        self.display = False

    def show(self, changed: Collection[wire.Revision], folders: Iterable[str]) -> None:
        """Shows the last change, its former value, and the number of others; hidden without any."""
        self.display = bool(changed)
        if changed:
            newest = max(changed, key=lambda revision: revision.id)
            more = f", and {len(changed) - 1:,} more" if len(changed) > 1 else ""
            self.update(
                Content.assemble(
                    ("± ", "bold $accent"),
                    display_safe(f"{news(newest, folders)}{more}", line=True),
                    "  ",
                    (self._key, "bold $accent"),
                    (" shows it", "$foreground-muted"),
                )
            )

    async def on_click(self) -> None:
        await self.run_action("app.open_page('review')")


MAX_LABEL = 32  # characters
REMOVE = "×"


class Chip(Plain):
    """A limit or attachment; a click removes it."""

    def __init__(self, index: int, label: str, kind: str) -> None:
        text = display_safe(label, line=True)
        text = text if len(text) <= MAX_LABEL else text[: MAX_LABEL - 1] + "…"
        super().__init__(f"{text} {REMOVE}", classes=f"chip -{kind}")
        self._index = index

    def on_click(self) -> None:
        self.post_message(Chips.Removed(self._index))


class Chips(Horizontal):
    """The line above the prompt, if there are any."""

    @dataclass
    class Removed(Message):
        """A person removed the chip at this index."""

        index: int

    def __init__(self) -> None:
        super().__init__(id="chips")
        self.display = False
        self._shown: list[tuple[str, str]] = []

    def compose(self) -> ComposeResult:
        for index, (label, kind) in enumerate(self._shown):
            yield Chip(index, label, kind)

    def show(self, chips: Sequence[tuple[str, str]]) -> None:
        """Shows chips, each with its label and its kind."""
        self._shown = list(chips)
        self.display = bool(chips)
        self.refresh(recompose=True)

    @property
    def labels(self) -> list[str]:
        return [label for label, _ in self._shown]


class Waiting(Options):
    """Waiting questions above the prompt, in order."""

    PLACES: ClassVar[tuple[Where, ...]] = ("queue",)
    BINDINGS = bindings_of("queue")

    @dataclass
    class Removed(Message):
        """A person removes the question at this index from the queue; with `edit`, to change it."""

        index: int
        edit: bool

    def __init__(self) -> None:
        super().__init__(id="waiting", markup=False, compact=True)
        self.display = False

    def show(self, inquiries: Sequence[Inquiry]) -> None:
        """Shows the questions; the highlight stays."""
        highlighted = self.highlighted or 0
        self.set_options(Option(_entry(number, inquiry)) for number, inquiry in enumerate(inquiries, 1))
        self.display = bool(inquiries)
        if inquiries:
            self.highlighted = min(highlighted, len(inquiries) - 1)

    def action_edit(self) -> None:
        if self.highlighted is not None:
            self.post_message(self.Removed(self.highlighted, edit=True))

    def action_drop(self) -> None:
        if self.highlighted is not None:
            self.post_message(self.Removed(self.highlighted, edit=False))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Removed(event.option_index, edit=True))


def _entry(number: int, inquiry: Inquiry) -> Content:
    words = display_safe(inquiry.words.partition("\n")[0], line=True)
    below = display_safe(inquiry.below, line=True)
    return Content.assemble(
        (f"{number} waiting  ", "$foreground-muted"), words, (f"  {below}" if below else "", "$foreground-muted")
    )
