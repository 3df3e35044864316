"""Unprompted messages of the chat: a fact has just changed, and the answers based on it."""

from __future__ import annotations

from textual.timer import Timer

from daemon import wire
from daemon.client.client import DaemonDownError, DaemonError
from tui.chat.topic import Topic, background
from tui.page import Page
from tui.widgets.below import News

SETTLE_SECONDS = 0.5  # after a change, before answers are looked at: changes come in crowds


class NotificationTopic(Topic):
    """The line of news above the prompt, and the marks under answers that do not hold any more."""

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self._settling: Timer | None = None

    def receive(self, event: wire.Event) -> None:
        """Something happened in the daemon."""
        match event:
            case wire.FactChanged():
                self.show_news()
                self._check_soon()
            case wire.SourceChanged():
                self._check_soon()

    def show_news(self) -> None:
        self.page.query_one(News).show(self.shared.news.values(), self.folders)

    def _check_soon(self) -> None:
        if self._settling is None and any(answer.citations for answer in self.conversation.transcript.answers):
            self._settling = self.page.set_timer(SETTLE_SECONDS, self._check_answers)

    @background("changes")
    async def _check_answers(self) -> None:
        """Asks which answers are based on changed facts; the daemon knows it for stored ones."""
        self._settling = None
        session = self.conversation.session.conversation
        if session is None:
            return
        try:
            session_messages = await self.link.call(lambda client: client.conversation(session.id))
        except (DaemonError, DaemonDownError):
            return  # the session was deleted elsewhere, or the rail says that the daemon is gone
        changes = {
            message.trace_id: message.changes for message in session_messages.messages if message.trace_id is not None
        }
        for answer in self.conversation.transcript.answers:
            if answer.trace_id in changes and answer.ready.is_set():
                await answer.show_changes(changes[answer.trace_id])
