"""Home, the content of an empty session: news, suggested questions, plans and earlier sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import PurePath
from typing import ClassVar, Literal, NamedTuple

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets.option_list import Option

from daemon import wire
from daemon.terminal import count, display_safe
from tui.actions import Where, bindings_of
from tui.memory import rows as browse
from tui.memory.rows import make_note_row, make_object_target
from tui.widgets.plain import Options, Plain
from tui.wording import describe_before, news, when

Deed = Literal["ask", "resume", "review", "open", "read", "look", "folder", "examples", "model", "owner", "extra"]

MUTED = "$foreground-muted"
DAY_WIDTH = 9
CONVERSATIONS, CHANGES, PLANS = 4, 3, 6  # rows of each

EMPTY = (
    ("owner", "Say who you are", 'Name, home, family and work: then "my phone" is yours.'),
    ("folder", "Choose a folder", "Your notes, documents and mails: read and watched."),
    ("examples", "Try the examples", "The notes of a lighthouse keeper's museum."),
    ("model", "Connect a model", "Ollama on this machine, or a key. Optional."),
    ("folder", "Import chats", "An exported file of ChatGPT, Claude, WhatsApp, Slack, Telegram, ..."),
)


class Row(NamedTuple):
    """One or two lines to choose; `deed` is done with `value`."""

    text: Content
    deed: Deed
    value: object = None


def begin_rows(offers: Mapping[str, str]) -> list[Row]:
    """Returns the ways to start with an empty memory; `offers`: benefit and command of missing search models."""
    extras = [("extra", "Better search", offer.partition("\n")[0], extra) for extra, offer in offers.items()]
    return [
        Row(Content.assemble((title, "bold $accent"), "\n", (sentence, MUTED)), deed, value)  # type: ignore[arg-type]
        for deed, title, sentence, value in (*((*row, None) for row in EMPTY), *extras)
    ]


def conversation_rows(sessions: Iterable[wire.Conversation], now: datetime) -> list[Row]:
    """Returns the last sessions; of several with one title the newest."""
    newest: dict[str, wire.Conversation] = {}
    for chat in sessions:
        newest.setdefault(chat.title, chat)
    return [
        Row(
            Content.assemble(_line(chat.title or "Untitled"), (f"  {when(chat.updated, now)}", MUTED)),
            "resume",
            chat.id,
        )
        for chat in list(newest.values())[:CONVERSATIONS]
    ]


def news_rows(home: wire.Home, folders: Iterable[str], now: datetime) -> list[Row]:
    """Returns waiting reviews, changes, and new notes since the person's last visit."""
    rows = []
    if home.review is not None:
        verb = "waits" if home.review_total == 1 else "wait"
        waits = f"{count(home.review_total, 'change')} {verb} for your review"
        rows.append(
            Row(
                Content.assemble((waits, "$text-warning"), "\n", (_clean(news(home.review, folders)), MUTED)),
                "review",
                home.review,
            )
        )
    for item in home.changed[:CHANGES]:
        if home.review is None or item.id != home.review.id:
            rows.append(Row(_describe_change(item, now), "review", item))
    if more := home.changed_total - len(home.changed[:CHANGES]):
        rows.append(Row(Content.styled(f"and {count(more, 'more change')}", MUTED), "review"))
    if home.read:
        names = ", ".join(item.title for item in home.read[:2])
        rest = "" if home.read_total <= 2 else " and others"
        text = Content.assemble(f"{count(home.read_total, 'note')} read", "\n", (_clean(f"{names}{rest}"), MUTED))
        rows.append(Row(text, "read", home.read))
    return rows


def _describe_change(revision: wire.Revision, now: datetime) -> Content:
    former = "no longer true" if revision.relation == "negates" else f"was {describe_before(revision)}"
    fact = revision.old if revision.relation == "negates" else revision.new
    return Content.assemble(_line(fact.statement), "\n", (_clean(f"{former} · {when(revision.at, now)}"), MUTED))


def _look_row(row: browse.Row) -> Row:
    detail = f"  {row.detail}" if row.detail else ""
    return Row(Content.assemble(_line(row.text), (_clean(detail), MUTED)), "look", row.target)


def planned_rows(home: wire.Home, now: datetime) -> Iterator[Row]:
    """Yields due and planned entries, with the days in a column."""
    for entry in home.planned[:PLANS]:
        day = date.fromisoformat(entry.day)
        label = Content.styled(
            entry.name_day(now.date()).ljust(DAY_WIDTH), "$text-warning" if day < now.date() else MUTED
        )
        overdue = "overdue: " if day < now.date() else ""
        text = " ".join(filter(None, (entry.time.partition(" to ")[0], f"{overdue}{entry.text}")))
        yield Row(Content.assemble(label, " ", _line(text)), "open", entry)
    if more := home.planned_total - len(home.planned[:PLANS]):
        yield Row(Content.styled(f"{'':{DAY_WIDTH}} and {more:,} more", MUTED), "ask", "What is planned this week?")


def _clean(text: str) -> str:
    return display_safe(text, line=True)


def _line(text: str) -> Content:
    return Content(_clean(text))


@dataclass
class Known:
    """The content of Home, which arrives in pieces, quick ones first."""

    status: wire.Status | None = None
    home: wire.Home | None = None
    sessions: tuple[wire.Conversation, ...] = ()
    suggested: wire.SuggestionsReply | None = None
    offers: Mapping[str, str] = field(default_factory=dict)  # extras that are missing
    statements: int = 0  # sources of statements made in the chat


class HomeList(Options):
    """One frame of Home. At its ends the arrows move to the next frame."""

    PLACES: ClassVar[tuple[Where, ...]] = ("home",)
    BINDINGS = bindings_of("home")

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

    def action_cursor_down(self) -> None:
        self._go(1)

    def action_cursor_up(self) -> None:
        self._go(-1)

    def _go(self, step: int) -> None:
        target = (self.highlighted or 0) + step
        if 0 <= target < len(self.rows):
            self.highlighted = target
        else:
            self.action_go_list(step)

    def action_go_list(self, step: int) -> None:
        self.query_ancestor(Home).leave(self, step)


class Home(Container):
    """The frames of Home, in two columns if they fit."""

    BEGIN, NEWS, QUESTIONS = "home-begin", "home-news", "home-questions"
    PLANS, SESSIONS, NOTES, NAMES = "home-plans", "home-sessions", "home-notes", "home-names"
    IDS = (BEGIN, NEWS, QUESTIONS, PLANS, SESSIONS, NOTES, NAMES)

    def __init__(self) -> None:
        super().__init__(id="home")
        self._line = Plain("Opening your memory…", id="home-line")
        self._lists: dict[str, HomeList] = {}  # made when there is something to show: seven lists take 12 ms

    async def on_mount(self) -> None:
        await self.run_action("screen.refill_home")

    def compose(self) -> ComposeResult:
        yield self._line

    @property
    def begins(self) -> bool:
        """Whether it offers ways to start, because the memory is empty."""
        return self.BEGIN in self._lists and self._lists[self.BEGIN].display

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
            line = Content.assemble(line, "\n", (display_safe(status.preparing, line=True), MUTED))
        self._line.update(line)
        if not self._lists:
            self._lists = {id: HomeList(id) for id in self.IDS}
            self.mount(*self._lists.values())
        begins = status.stats.sources <= content.statements and not status.files.folders and not status.files.queue
        lists = self._lists
        lists[self.BEGIN].show("How to begin", begin_rows(content.offers) if begins else [])
        home, suggested = content.home or wire.Home(), content.suggested or wire.SuggestionsReply()
        title = f"Since {when(home.since, now)}" if home.since else "New"
        lists[self.NEWS].show(title, news_rows(home, folders, now))
        questions = [Row(_line(question), "ask", question) for question in suggested.questions]
        lists[self.QUESTIONS].show("Worth asking", questions)
        lists[self.PLANS].show("Next days", list(planned_rows(home, now)))
        lists[self.SESSIONS].show("Last sessions", conversation_rows(content.sessions, now))
        lists[self.NOTES].show("Newest notes", [_look_row(make_note_row(note, now)) for note in suggested.notes])
        names = [browse.Row(name, target=make_object_target(name)) for name in suggested.names]
        lists[self.NAMES].show("Mentioned most", list(map(_look_row, names)))

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

    def leave(self, left: HomeList, step: int) -> None:
        """Goes from a list to the one before (-1) or the next (1); from the last to the prompt."""
        lists = self.lists
        place = lists.index(left) + step if left in lists else -1
        if 0 <= place < len(lists):
            lists[place].focus()
            lists[place].highlighted = 0 if step > 0 else len(lists[place].rows) - 1
        elif step > 0:
            self.call_next(self.run_action, "screen.focus_prompt")


def _headline(status: wire.Status) -> Content:
    if status.stats.sources:
        watched = ", ".join(PurePath(folder.path).name or folder.path for folder in status.files.folders)
        more = f"↑ goes to the lists.{' It watches ' + display_safe(watched, line=True) + '.' if watched else ''}"
        return Content.assemble(("Ask your memory.", "bold"), (f" {more}", MUTED))
    if status.files.folders or status.files.queue:
        return Content.assemble(
            ("Your memory is being built.", "bold"),
            (" You can ask already; answers get better as it grows.", MUTED),
        )
    return Content.assemble(
        ("Your memory is empty.", "bold"), (" Nothing leaves this machine without your permission.", MUTED)
    )
