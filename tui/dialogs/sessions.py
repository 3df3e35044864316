"""The sessions, and a search in all of them."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from daemon import wire
from daemon.client.client import DaemonDownError, DaemonError
from daemon.terminal import count, display_safe
from tui.actions import bindings_of
from tui.dialogs.dialog import ConfirmScreen, Dialog
from tui.link import Link
from tui.widgets.plain import Options, Plain
from tui.wording import when

NEW: Final = 0  # instead of a session's id
NONE_KEPT = "There is no session yet. Ask something first."
NONE_FOUND = "No session contains these words."
SEARCH = "Search questions and answers of all sessions"
HINT = "Enter opens · Ctrl+N new · Del deletes · Esc closes"


Choice = tuple[int, int | None]
"""A session by its id, or a NEW one; after a search with the matching message."""


class SessionsScreen(Dialog[Choice | None]):
    """Asks for a session or a NEW one; None if closed. `words` are searched in all sessions."""

    BINDINGS = bindings_of("sessions")
    AUTO_FOCUS = "OptionList"
    TAKES_LETTERS = True

    def __init__(self, link: Link, sessions: tuple[wire.Conversation, ...], now: datetime, words: str) -> None:
        super().__init__()
        self._link = link
        self._sessions = sessions  # those that are listed
        self._matches: dict[int, wire.ConversationMatch] = {}  # what was found in them, while words are looked for
        self._now = now
        self._words = words

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -full"):
            yield Plain("Sessions", classes="dialog-title")
            yield Input(self._words, placeholder=SEARCH, compact=True, select_on_focus=False)
            yield Options(markup=False, compact=True)
            yield Plain(NONE_KEPT, id="no-sessions")
            yield Plain(HINT, classes="dialog-hint")

    def on_mount(self) -> None:
        self._show(0)

    @property
    def _highlighted(self) -> wire.Conversation | None:
        index = self.query_one(OptionList).highlighted
        return self._sessions[index] if index is not None and index < len(self._sessions) else None

    def _show(self, highlighted: int) -> None:
        options = self.query_one(OptionList)
        entries = [_entry(session, self._now, self._matches.get(session.id)) for session in self._sessions]
        options.set_options(Option(entry) for entry in entries)
        options.display = bool(self._sessions)
        nothing = self.query_one("#no-sessions", Plain)
        nothing.display = not self._sessions
        nothing.update(NONE_FOUND if self._words else NONE_KEPT)
        if self._sessions:
            options.highlighted = min(highlighted, len(self._sessions) - 1)

    # Searching ------------------------------------------------------------------------------------

    async def type(self, character: str) -> None:
        search = self.query_one(Input)
        search.focus()
        search.insert_text_at_cursor(character)

    @on(Input.Changed)
    @work(exclusive=True, group="search")
    async def _search(self) -> None:
        await self._list(0)

    @on(Input.Submitted)
    @work(exclusive=True, group="search")
    async def _open_first(self) -> None:
        await self._list(0)  # the words may have been typed this moment
        self.action_resume()

    async def _list(self, highlighted: int) -> None:
        words = self._words = self.query_one(Input).value.strip()
        try:
            if words:
                matches = await self._link.call(lambda client: client.search_conversations(words))
                self._matches = {match.conversation.id: match for match in matches}
                self._sessions = tuple(match.conversation for match in matches)
            else:
                self._matches, self._sessions = {}, await self._link.sessions()
        except (DaemonError, DaemonDownError) as error:
            self._tell(error)
        else:
            self._show(highlighted)

    # What can be done -----------------------------------------------------------------------------

    @on(OptionList.OptionSelected)
    def action_resume(self) -> None:
        if self._highlighted is not None:
            match = self._matches.get(self._highlighted.id)
            self.dismiss((self._highlighted.id, match.message_id if match else None))

    def action_new(self) -> None:
        self.dismiss((NEW, None))

    def action_close(self) -> None:
        search = self.query_one(Input)
        if search.has_focus or search.value:
            search.clear()
            self.query_one(OptionList).focus()
        else:
            self.dismiss(None)

    @work
    async def action_delete(self) -> None:
        session = self._highlighted
        if session is None:
            return
        question = f"Delete “{session.title or 'Untitled'}” with its {_count_questions(session)}?"
        if await self.app.push_screen_wait(ConfirmScreen(question, "The memory itself is not changed.")):
            try:
                await self._link.call(lambda client: client.delete_conversation(session.id))
            except (DaemonError, DaemonDownError) as error:
                self._tell(error)
            else:
                await self._list(self.query_one(OptionList).highlighted or 0)

    def _tell(self, error: Exception) -> None:
        self.notify(display_safe(str(error)), severity="error", markup=False)


def _count_questions(session: wire.Conversation) -> str:
    return count((session.messages + 1) // 2, "question")  # each with its answer


def _entry(session: wire.Conversation, now: datetime, match: wire.ConversationMatch | None) -> Content:
    title = display_safe(session.title, line=True) or "Untitled"
    facts = f"{when(session.updated, now)} · {_count_questions(session)}"
    lines: list[str | tuple[str, str]] = [title, (f"\n{facts}", "$foreground-muted")]
    if match is not None and match.messages > 1:
        lines.append((f" · {match.messages:,} of their messages have it", "$foreground-muted"))
    if match is not None and match.quote:
        who = "You" if match.role == "user" else "Memory"
        lines.append((f"\n{who}: {display_safe(match.quote, line=True)}", "$foreground-muted"))
    return Content.assemble(*lines)
