"""What the chat says by itself: that a fact has just changed."""

from __future__ import annotations

from daemon import wire
from tui.commands.part import Part
from tui.messages import Activity
from tui.widgets.news import News


class NoticingCommands(Part):
    """The line of news above the prompt."""

    def daemon_acted(self, message: Activity) -> None:
        super().daemon_acted(message)
        if isinstance(message.event, wire.FactChanged):
            self._show_news()

    def on_screen_resume(self) -> None:
        self._show_news()

    def _show_news(self) -> None:
        self.query_one(News).show(self.shared.news.values(), self.folders)
