"""The session on screen and the others: listing, resuming and starting them."""

from __future__ import annotations

from collections.abc import Sequence

from daemon import wire
from tui.chat.topic import Topic, background
from tui.dialogs.dialog import MAX_NAME, AskScreen


class SessionTopic(Topic):
    """/sessions, /new, /last, /rename"""

    _last: wire.Conversation | None = None  # the session before this one

    def offer_last(self, sessions: Sequence[wire.Conversation]) -> None:
        """Sets the session that /last resumes."""
        self._last = next(iter(sessions), None)

    @background()
    async def action_show_sessions(self, words: str = "") -> None:
        from tui.dialogs.sessions import NEW, SessionsScreen  # not before it is wanted

        with self.page.tell_failures():
            sessions = await self.link.sessions()
            screen = SessionsScreen(self.link, sessions, self.shared.now(), words)
            chosen = await self.page.app.push_screen_wait(screen)
            if chosen is not None and chosen[0] == NEW:
                await self.action_new_session()
            elif chosen is not None:
                await self.resume(*chosen)
            elif (current := self.page.conversation.session.conversation) is not None:
                stored = await self.link.call(lambda client: client.conversations())  # renamed or deleted, perhaps
                renamed = next((session for session in stored if session.id == current.id), None)
                if renamed is None:
                    await self.action_new_session()
                else:
                    self.page.conversation.rename(renamed)

    def action_resume_last(self) -> None:
        if self._last is not None:
            self.resume_session(self._last.id)

    @background()
    async def action_rename_session(self, title: str = "") -> None:
        session = self.page.conversation.session.conversation
        if session is None:
            await self.page.tell("There is no session yet. Ask something first.", "warning")
            return
        ask = AskScreen("Rename", value=session.title, hint="Enter saves the name · Esc cancels", max_length=MAX_NAME)
        name: str | None = title or await self.page.app.push_screen_wait(ask)
        if name:
            with self.page.tell_failures():
                self.page.conversation.rename(
                    await self.link.call(lambda client: client.rename_conversation(session.id, name))
                )

    @background()
    async def resume_session(self, id: int) -> None:
        with self.page.tell_failures():
            await self.resume(id)

    async def resume(self, id: int, message_id: int | None = None) -> None:
        """Shows a stored session, at a message if one is given. Raises the client's errors."""
        session = await self.link.call(lambda client: client.conversation(id))
        self.page.evidence.clear()
        await self.page.conversation.resume(session, message_id)
        self._last = None
        self.page.prompt.focus()

    async def action_new_session(self) -> None:
        await self.page.conversation.begin()
        self.page.evidence.clear()
        self.page.add_class("-fresh")
