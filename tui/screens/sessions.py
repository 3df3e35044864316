"""The list of sessions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from daemon import wire
from daemon.client import Client, DaemonDownError, DaemonError
from daemon.terminal import display_safe
from tui.actions import bindings_of
from tui.link import Link
from tui.screens.confirm import ConfirmScreen
from tui.screens.dialog import Dialog
from tui.screens.rename import RenameScreen
from tui.widgets.plain import Plain
from tui.wording import count, when

NEW: Final = 0  # instead of a session's id


class SessionsScreen(Dialog[int | None]):
    """Choose a session (its id is the result), begin a NEW one, rename or delete one; None if it is closed."""

    BINDINGS = bindings_of("sessions")
    AUTO_FOCUS = "OptionList"

    def __init__(self, link: Link, sessions: tuple[wire.Conversation, ...], now: datetime) -> None:
        super().__init__()
        self._link = link
        self._sessions = sessions
        self._now = now

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Plain("Sessions", classes="dialog-title")
            yield OptionList(markup=False, compact=True)
            yield Plain("No session is kept yet. Ask something first.", id="no-sessions")
            yield Plain("Enter resumes · n new · r rename · d delete · Esc closes", classes="dialog-hint")

    def on_mount(self) -> None:
        self._show(0)

    @property
    def _highlighted(self) -> wire.Conversation | None:
        index = self.query_one(OptionList).highlighted
        return None if index is None else self._sessions[index]

    def _show(self, highlighted: int) -> None:
        options = self.query_one(OptionList)
        options.set_options(Option(_entry(session, self._now)) for session in self._sessions)
        options.display = bool(self._sessions)
        self.query_one("#no-sessions").display = not self._sessions
        if self._sessions:
            options.highlighted = min(highlighted, len(self._sessions) - 1)

    @on(OptionList.OptionSelected)
    def action_resume(self) -> None:
        if self._highlighted is not None:
            self.dismiss(self._highlighted.id)

    def action_new(self) -> None:
        self.dismiss(NEW)

    def action_close(self) -> None:
        self.dismiss(None)

    @work
    async def action_rename(self) -> None:
        session = self._highlighted
        if session is None:
            return
        title = await self.app.push_screen_wait(RenameScreen(session.title))
        if title:
            await self._change(lambda client: client.rename_conversation(session.id, title))

    @work
    async def action_delete(self) -> None:
        session = self._highlighted
        if session is None:
            return
        question = f"Delete “{session.title or 'Untitled'}” with its {count(session.messages, 'message')}?"
        if await self.app.push_screen_wait(ConfirmScreen(question, "The memory keeps what it knows.")):
            await self._change(lambda client: client.delete_conversation(session.id))

    async def _change(self, change: Callable[[Client], object]) -> None:
        highlighted = self.query_one(OptionList).highlighted or 0
        try:
            await self._link.call(change)
            self._sessions = await self._link.sessions()
        except (DaemonError, DaemonDownError) as error:
            self.notify(display_safe(str(error)), severity="error", markup=False)
        else:
            self._show(highlighted)


def _entry(session: wire.Conversation, now: datetime) -> Content:
    title = display_safe(session.title, line=True) or "Untitled"
    facts = f"{when(session.updated, now)} · {count(session.messages, 'message')}"
    return Content.assemble(title, (f"\n{facts}", "$foreground-muted"))
