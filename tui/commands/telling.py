"""What a person tells in a question of theirs: what was kept of it, and whether such is to be kept."""

from __future__ import annotations

from textual import on, work

from daemon import wire
from daemon.terminal import TELLING, describe_told
from tui.commands.part import Part
from tui.screens.confirm import ConfirmScreen
from tui.widgets.conversation import Conversation
from tui.widgets.news import News

HOW = "To change that: pal config set chat.remember yes"


class TellingCommands(Part):
    """It is kept by the daemon; here it is said, and asked for once."""

    @on(Conversation.Told)
    async def _told(self, message: Conversation.Told) -> None:
        told = message.told
        if not told.source:
            self._offer_to_keep(told)
            return
        self.note_told(told)
        if told.besides:
            await self.conversation.say(f"{describe_told(told)} /undo takes it back.")

    @work(exclusive=True, group="telling")
    async def _offer_to_keep(self, told: wire.Told) -> None:
        question = f"Keep what you tell here, as “{' '.join(told.text.split())}”?"
        wanted = await self.app.push_screen_wait(ConfirmScreen(question, f"{TELLING} It is asked once.", "Yes, keep"))
        session = self.conversation.session.conversation
        with self.tell_failures():
            await self.link.call(lambda client: client.set_telling("yes" if wanted else "no"))
            if not wanted:
                await self.conversation.say(f"Not kept. {HOW}")
                return
            kept = await self.link.call(lambda client: client.tell(told.text, session.id if session else None))
            self.note_told(kept)
            await self.conversation.say(f"{describe_told(kept)} /undo takes it back.")

    def note_told(self, told: wire.Told) -> None:
        """So that /undo forgets it."""
        words = " ".join(told.text.split())
        self.shared.note_done(
            lambda client: client.forget(source=told.source),
            f"Not kept any more: “{words}”",
            lambda: self._drop_news(told),
        )

    def _drop_news(self, told: wire.Told) -> None:
        """What it changed is as it was."""
        for change in told.changes:
            self.shared.news.pop(change.id, None)
        self.query_one(News).show(self.shared.news.values(), self.folders)
