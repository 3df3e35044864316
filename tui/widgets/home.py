"""Home, the content of an empty session: news, suggested questions, plans, earlier sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from daemon import wire
from daemon.terminal import display_safe
from tui import home as rows
from tui.actions import Where, bindings_of
from tui.home import Row
from tui.widgets.option_list import Options
from tui.widgets.plain import Plain
from tui.wording import count


@dataclass
class Known:
    """The content of Home, which arrives in pieces, quick ones first."""

    status: wire.Status | None = None
    home: wire.Home | None = None
    sessions: tuple[wire.Conversation, ...] = ()
    suggested: wire.SuggestionsReply | None = None
    statements: int = 0  # sources of statements made in the chat


class HomeList(Options):
    """One frame of Home. At its ends the arrows move to the next frame; typed text goes to the prompt."""

    PLACE: ClassVar[Where] = "home"
    BINDINGS = bindings_of(PLACE)

    @dataclass
    class Selected(Message):
        """A person chose a row."""

        row: Row

    @dataclass
    class Exited(Message):
        """A person leaves a list: -1 to the one before, 1 to the next, 0 to the prompt."""

        home_list: HomeList
        step: int

    def __init__(self, id: str) -> None:
        super().__init__(id=id, classes="pane", markup=False, compact=True)
        self.rows: Sequence[Row] = ()
        self.display = False

    def show(self, title: str, rows: Sequence[Row]) -> None:
        """Lists the rows; an empty list is hidden."""
        self.border_title = Content(display_safe(title, line=True))
        self.display = bool(rows)
        if [row.text for row in rows] != [row.text for row in self.rows]:
            highlighted = self.highlighted
            self.set_options(Option(row.text) for row in rows)
            self.highlighted = min(highlighted or 0, len(rows) - 1) if rows and self.has_focus else None
        self.rows = rows

    def on_focus(self) -> None:
        if self.highlighted is None and self.rows:
            self.highlighted = 0

    def on_blur(self) -> None:
        self.highlighted = None

    def action_go(self, step: int) -> None:
        target = (self.highlighted or 0) + step
        if 0 <= target < len(self.rows):
            self.highlighted = target
        else:
            self.post_message(self.Exited(self, step))

    def action_go_list(self, step: int) -> None:
        self.post_message(self.Exited(self, step))

    @on(OptionList.OptionSelected)
    def _selected(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        self.post_message(self.Selected(self.rows[message.option_index]))

    class Typed(Message):
        """A person began to type: the text is for the prompt."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    async def _on_key(self, event: events.Key) -> None:
        if event.is_printable and event.character and event.character != " ":
            event.stop()
            event.prevent_default()
            self.post_message(self.Typed(event.character))


class Home(Container):
    """The frames of Home, in two columns if they fit."""

    BEGIN, NEWS, QUESTIONS = "home-begin", "home-news", "home-questions"
    PLANS, SESSIONS, NOTES, NAMES = "home-plans", "home-sessions", "home-notes", "home-names"
    IDS = (BEGIN, NEWS, QUESTIONS, PLANS, SESSIONS, NOTES, NAMES)

    def __init__(self) -> None:
        super().__init__(id="home")
        self._line = Plain("Opening your memory…", id="home-line")
        self._lists = {id: HomeList(id) for id in self.IDS}

    class Opened(Message):
        """Home is mounted, and needs its content."""

    def on_mount(self) -> None:
        self.post_message(self.Opened())

    def compose(self) -> ComposeResult:
        yield self._line

    @property
    def begins(self) -> bool:
        """Whether it offers ways to begin: the memory is empty."""
        return self._lists[self.BEGIN].display

    @property
    def lists(self) -> list[HomeList]:
        return [each for each in self._lists.values() if each.display]

    def show(self, content: Known, folders: Sequence[str], now: datetime) -> None:
        """Shows the known content."""
        status = content.status
        if status is None:
            return
        line = _headline(status)
        if status.preparing:
            line = Content.assemble(line, "\n", (display_safe(status.preparing, line=True), rows.MUTED))
        self._line.update(line)
        if not self.query(HomeList):  # the chat is there before they are
            self.mount(*self._lists.values())
        begins = status.sources <= content.statements and not status.folders and not status.queue
        self._list(self.BEGIN, "How to begin", rows.begin_rows() if begins else [])
        home, suggested = content.home or wire.Home(), content.suggested or wire.SuggestionsReply()
        self._list(self.NEWS, rows.news_title(home, now), rows.news_rows(home, folders, now))
        self._list(self.QUESTIONS, "Worth asking", rows.question_rows(suggested.questions))
        self._list(self.PLANS, "Next days", list(rows.planned_rows(home, now)))
        self._list(self.SESSIONS, "Last sessions", rows.conversation_rows(content.sessions, now))
        self._list(self.NOTES, "Read last", rows.note_rows(suggested.notes, now))
        self._list(self.NAMES, "Mentioned most", rows.name_rows(suggested.names))

    def show_down(self, reason: str) -> None:
        self._line.update(reason)

    def focus_list(self, last: bool = True) -> bool:
        """Focuses the last list, which is next to the prompt, or the first one; returns whether there is one."""
        lists = self.lists
        if lists:
            chosen = lists[-1 if last else 0]
            chosen.focus()
            chosen.highlighted = len(chosen.rows) - 1 if last else 0
        return bool(lists)

    @on(HomeList.Exited)
    def _go_on(self, message: HomeList.Exited) -> None:
        lists = self.lists
        place = lists.index(message.home_list) + message.step if message.home_list in lists else -1
        if message.step and 0 <= place < len(lists):
            message.stop()
            lists[place].focus()
            lists[place].highlighted = 0 if message.step > 0 else len(lists[place].rows) - 1
        elif message.step < 0:
            message.stop()

    def _list(self, id: str, title: str, rows: Sequence[Row]) -> None:
        self._lists[id].show(title, rows)


def _headline(status: wire.Status) -> Content:
    if status.sources:
        watched = ", ".join(PurePath(folder.path).name or folder.path for folder in status.folders)
        holds = f"It holds {count(status.sources, 'note')} and {count(status.episodes, 'passage')}"
        more = f"↑ goes to the lists. {holds}{', and watches ' + display_safe(watched, line=True) if watched else ''}."
        return Content.assemble(("Ask your memory.", "bold"), (f" {more}", rows.MUTED))
    if status.folders or status.queue:
        return Content.assemble(
            ("Your memory is being built.", "bold"),
            (" You can ask already; answers get better as it grows.", rows.MUTED),
        )
    return Content.assemble(
        ("Your memory is empty.", "bold"), (" Nothing leaves this machine without your permission.", rows.MUTED)
    )
