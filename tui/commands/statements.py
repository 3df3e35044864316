"""Statements in a person's question: those that were saved, and whether to save them."""

from __future__ import annotations

from textual import on, work

from daemon import wire
from daemon.terminal import TELLING, describe_told
from tui.commands.part import Part
from tui.screens.confirm import ConfirmScreen
from tui.widgets.conversation import Conversation
from tui.widgets.news import News

HOW = "To change that: pal config set chat.remember yes"


class StatementCommands(Part):
    """The daemon saves statements; this reports them, and asks for permission once."""

    @on(Conversation.StatementSaved)
    async def _told(self, message: Conversation.StatementSaved) -> None:
        statement = message.told
        if not statement.source:
            self._offer_to_keep(statement)
            return
        self.note_told(statement)
        if statement.besides:
            await self.conversation.say(f"{describe_told(statement)} /undo takes it back.")

    @work(exclusive=True, group="telling")
    async def _offer_to_keep(self, statement: wire.Told) -> None:
        question = f"Save what you told me, as “{' '.join(statement.text.split())}”?"
        is_wanted = await self.app.push_screen_wait(
            ConfirmScreen(question, f"{TELLING} You are asked once.", "Yes, keep")
        )
        session = self.conversation.session.conversation
        with self.tell_failures():
            await self.link.call(lambda client: client.set_telling("yes" if is_wanted else "no"))
            if not is_wanted:
                await self.conversation.say(f"Not kept. {HOW}")
                return
            saved = await self.link.call(lambda client: client.tell(statement.text, session.id if session else None))
            self.note_told(saved)
            await self.conversation.say(f"{describe_told(saved)} /undo takes it back.")

    def note_told(self, statement: wire.Told) -> None:
        """Makes /undo forget the statement."""
        words = " ".join(statement.text.split())
        self.shared.note_done(
            lambda client: client.forget(source=statement.source),
            f"Forgotten: “{words}”",
            lambda: self._drop_news(statement),
        )

    def _drop_news(self, statement: wire.Told) -> None:
        """Removes the announcements of its changes."""
        for change in statement.changes:
            self.shared.news.pop(change.id, None)
        self.query_one(News).show(self.shared.news.values(), self.folders)
