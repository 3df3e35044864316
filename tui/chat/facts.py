"""Commands on facts and notes: remember, look up, forget, undo; and statements in a question."""

from __future__ import annotations

from pathlib import Path

from daemon import wire
from daemon.terminal import ABOUT_STATEMENTS, count, describe_forgotten, describe_statement, title_of
from tui.chat.limits import LimitTopic
from tui.chat.topic import ChatPage, Topic, background
from tui.dialogs.dialog import ConfirmScreen
from tui.memory.rows import make_object_target
from tui.session import Limit
from tui.widgets.below import News
from tui.wording import short_path

FOR_GOOD = "This cannot be undone: its text, its facts and its traces in questions are erased."
FILE_STAYS = "The file stays on the disk, and is not read again."
NOT_ASKED_AGAIN = "Not saved, and not asked again. /remember TEXT saves one; `pal config set chat.remember yes` all."


class StatementTopic(Topic):
    """Reports statements that the daemon saves, and asks for permission once."""

    async def receive(self, statement: wire.SavedStatement) -> None:
        """Handles a statement in the running question."""
        if not statement.source:
            self._offer_to_keep(statement)
            return
        self.note_saved(statement)
        if statement.besides:
            await self.page.tell(f"{describe_statement(statement)} /undo takes it back.")

    @background("telling")
    async def _offer_to_keep(self, statement: wire.SavedStatement) -> None:
        question = f"Save your statement as “{' '.join(statement.text.split())}”?"
        is_wanted = await self.page.app.push_screen_wait(
            ConfirmScreen(question, f"{ABOUT_STATEMENTS} You are asked once.", "Yes, always", "No, never")
        )
        if is_wanted is None:
            await self.page.tell("Not saved this time. /remember saves it.")
            return
        session = self.page.conversation.session.conversation
        with self.page.tell_failures():
            await self.link.call(lambda client: client.set_telling("yes" if is_wanted else "no"))
            if not is_wanted:
                await self.page.tell(NOT_ASKED_AGAIN)
                return
            saved = await self.link.call(lambda client: client.tell(statement.text, session.id if session else None))
            self.note_saved(saved)
            await self.page.tell(f"{describe_statement(saved)} /undo takes it back.")

    def note_saved(self, statement: wire.SavedStatement) -> None:
        """Makes /undo forget the statement."""
        words = " ".join(statement.text.split())
        self.shared.note_done(
            lambda client: client.forget(source=statement.source),
            f"Forgotten: “{words}”",
            lambda: self._drop_news(statement),
        )

    def _drop_news(self, statement: wire.SavedStatement) -> None:
        """Removes the announcements of its changes."""
        for change in statement.changes:
            self.shared.news.pop(change.id, None)
        self.page.query_one(News).show(self.shared.news.values(), self.page.folders)


class FactTopic(Topic):
    """/facts, /remember, /forget"""

    def __init__(self, page: ChatPage, limits: LimitTopic, statements: StatementTopic) -> None:
        super().__init__(page)
        self._limits, self._statements = limits, statements

    async def action_show_facts(self, name: str) -> None:
        self.shared.look_at = make_object_target(name)
        await self.page.run_action("app.open_page('memory')")

    @background()
    async def action_remember(self, words: str = "") -> None:
        pasted = self._limits.take_pasted()
        text = "\n\n".join(filter(None, (words, pasted)))
        if not text:
            await self.page.tell("There is nothing to remember. Write it: /remember TEXT", "warning")
            return
        if not pasted and "\n" not in text:
            session = self.page.conversation.session.conversation
            with self.page.tell_failures():
                statement = await self.link.call(lambda client: client.tell(text, session.id if session else None))
                self._statements.note_saved(statement)
                await self.page.tell(f"{describe_statement(statement)} /undo takes it back.")
            return
        uri = f"note:chat-{self.shared.now():%Y%m%d-%H%M%S-%f}"
        with self.page.tell_failures():
            try:
                note = await self.link.call(lambda client: client.remember(text, source=uri))
            except Exception:
                self._limits.attach(pasted)
                raise
            title = title_of(text)
            self.shared.note_done(lambda client: client.forget(source=uri), f"Forgotten: “{title}”")
            report = f"Remembered as a note, {count(note.added + note.kept, 'passage')}. /undo takes it back."
            if pasted:
                self._limits.add(Limit("note", uri, title))
                report += " Questions are limited to it until you remove the limit above the prompt."
            await self.page.tell(report)

    @background()
    async def action_forget(self, typed: str) -> None:
        note = None
        with self.page.tell_failures():
            note = await self._limits.find_note(typed)
        if note is None:
            return
        place = short_path(note.uri, self.page.folders)
        label = f"“{note.title}” ({place})" if note.title and note.title != place else place
        comfort = f"{FOR_GOOD} {FILE_STAYS}" if Path(note.uri).is_absolute() else FOR_GOOD
        question = f"Forget everything read from {label}?"
        if await self.page.app.push_screen_wait(ConfirmScreen(question, comfort, "Yes, forget")):
            with self.page.tell_failures():
                gone = await self.link.call(lambda client: client.forget(source=note.uri))
                await self.page.tell("\n".join(describe_forgotten(gone, short_path)))
                self.link.refresh_status()
        else:
            await self.page.tell("Nothing was forgotten.")
