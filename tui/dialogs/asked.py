"""All earlier questions, filtered while typing."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from daemon import wire
from daemon.client.client import Client, DaemonDownError, DaemonError
from daemon.terminal import display_safe
from tui.dialogs.dialog import Dialog
from tui.link import Link
from tui.widgets.plain import Options, Plain
from tui.wording import when

PAGE = 500  # questions asked for at once
SHOWN = 100  # more are found by typing more


class AskedScreen(Dialog[str | None]):
    """Returns an earlier question, or None. Newest first, each once."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close"),
        Binding("down,ctrl+r", "move(1)", "Older"),
        Binding("up", "move(-1)", "Newer"),
    ]
    AUTO_FOCUS = "Input"

    def __init__(self, link: Link, now: datetime) -> None:
        super().__init__()
        self._link = link
        self._now = now
        self._asked: dict[str, wire.Asked] = {}  # by question, the newest first
        self._fitting: list[wire.Asked] = []
        self._is_loading = True

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Plain("Questions you asked", classes="dialog-title")
            yield Input(placeholder="Type to search", compact=True)
            yield Options(markup=False, compact=True)
            yield Plain("", id="asked-none")
            yield Plain("Enter puts it into the prompt · ↑↓ select · Esc closes", classes="dialog-hint")

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        self._show()
        self._load()

    @work
    async def _load(self) -> None:
        offset, total = 0, 1
        try:
            while offset < total:
                reply = await self._link.call(partial(_list_traces, offset))
                for question in reply.traces:
                    self._asked.setdefault(question.question, question)
                offset, total = offset + PAGE, reply.total
                self._is_loading = offset < total
                self._show()
        except (DaemonError, DaemonDownError) as error:
            self._is_loading = False
            self._show()
            self.notify(display_safe(str(error)), severity="error", markup=False)

    @on(Input.Changed)
    def _show(self) -> None:
        words = self.query_one(Input).value.casefold().split()
        matches = [item for item in self._asked.values() if all(word in item.question.casefold() for word in words)]
        self._fitting = matches[:SHOWN]
        options = self.query_one(OptionList)
        options.set_options(Option(_entry(item, self._now)) for item in self._fitting)
        options.display = bool(self._fitting)
        if self._fitting:
            options.highlighted = 0
        none = self.query_one("#asked-none", Plain)
        none.display = not self._fitting
        none.update("Looking…" if self._is_loading else "No question has these words." if words else "Nothing yet.")

    def action_move(self, step: int) -> None:
        options = self.query_one(OptionList)
        if step > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _choose(self, message: Input.Submitted | OptionList.OptionSelected) -> None:
        message.stop()
        highlighted = self.query_one(OptionList).highlighted
        if highlighted is not None and self._fitting:
            self.dismiss(self._fitting[highlighted].question)


def _list_traces(offset: int, client: Client) -> wire.TracesReply:
    return client.traces(PAGE, offset)


def _entry(asked: wire.Asked, now: datetime) -> Content:
    question = display_safe(asked.question.partition("\n")[0], line=True)
    details = when(asked.at, now) + (" · no answer" if asked.no_answer else "")
    return Content.assemble(question, (f"  {details}", "$foreground-muted"))
