"""The lines above the prompt: news, limits and attachments, waiting questions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import ClassVar

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from daemon import wire
from daemon.terminal import display_safe
from tui.actions import Where, bindings_of
from tui.keys import Keymap, short_key
from tui.session import Inquiry
from tui.widgets.plain import Options, Parts, Plain
from tui.wording import news


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


class Chips(Parts):
    """The limits and attachments above the prompt, if there are any; a click removes one."""

    def __init__(self) -> None:
        super().__init__(id="chips")
        self.display = False
        self.labels: list[str] = []

    def show(self, chips: Sequence[tuple[str, str]]) -> None:
        """Shows limits and attachments, each with its label and its kind."""
        self.labels = [label for label, _ in chips]
        self.display = bool(chips)
        self.show_parts(((_chip(label, kind), str(index)) for index, (label, kind) in enumerate(chips)), "  ")

    async def choose_part(self, name: str) -> None:
        await self.run_action(f"screen.remove_limit({name})")


def _chip(label: str, kind: str) -> Content:
    text = display_safe(label, line=True)
    text = text if len(text) <= MAX_LABEL else text[: MAX_LABEL - 1] + "…"
    return Content.styled(f" {text} {REMOVE} ", "$text-warning on $panel" if kind == "day" else "on $panel")


class Waiting(Options):
    """Waiting questions above the prompt, in order."""

    PLACES: ClassVar[tuple[Where, ...]] = ("queue",)
    BINDINGS = bindings_of("queue")

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

    async def _take(self, edit: bool) -> None:
        if self.highlighted is not None:
            await self.run_action(f"screen.take_waiting({self.highlighted}, {edit})")

    async def action_edit(self) -> None:
        await self._take(True)

    async def action_drop(self) -> None:
        await self._take(False)

    async def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        await self._take(True)


def _entry(number: int, inquiry: Inquiry) -> Content:
    words = display_safe(inquiry.words.partition("\n")[0], line=True)
    below = display_safe(inquiry.below, line=True)
    return Content.assemble(
        (f"{number} waiting  ", "$foreground-muted"), words, (f"  {below}" if below else "", "$foreground-muted")
    )
