"""The session on screen and the others: listed, resumed, begun."""

from __future__ import annotations

from textual import work

from daemon import wire
from tui.commands.part import Part
from tui.screens.sessions import NEW, SessionsScreen
from tui.shared import Shared
from tui.widgets.welcome import Welcome


class SessionCommands(Part):
    """/sessions, /new, /last"""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self._last: wire.Conversation | None = None  # the session before this one

    @work
    async def _offer_last(self) -> None:
        with self.tell_failures():
            self._last = next(iter(await self.link.sessions()), None)
            self._welcome()

    @work
    async def action_show_sessions(self) -> None:
        with self.tell_failures():
            sessions = await self.link.sessions()
            chosen = await self.app.push_screen_wait(SessionsScreen(self.link, sessions, self.shared.now()))
            if chosen == NEW:
                await self.action_new_session()
            elif chosen is not None:
                await self._resume(chosen)
            elif (current := self.conversation.session.conversation) is not None:
                kept = await self.link.call(lambda client: client.conversations())  # renamed or deleted, perhaps
                found = next((session for session in kept if session.id == current.id), None)
                if found is None:
                    await self.action_new_session()
                else:
                    self.conversation.rename(found)

    @work
    async def action_resume_last(self) -> None:
        with self.tell_failures():
            if self._last is not None:
                await self._resume(self._last.id)

    async def _resume(self, id: int) -> None:
        kept = await self.link.call(lambda client: client.conversation(id))
        self.evidence.clear()
        await self.conversation.resume(kept)
        self._last = None
        self.prompt.focus()

    async def action_new_session(self) -> None:
        await self.conversation.begin()
        self.evidence.clear()
        self.add_class("-fresh")
        self._offer_last()

    def _welcome(self) -> None:
        if self.shared.status is not None:
            for welcome in self.query(Welcome):
                welcome.show(self.shared.status, self._last, self.shared.now())
