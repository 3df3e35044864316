"""The rows of Home: news, suggested questions, plans and earlier sessions, each with its action."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from textual.content import Content

from daemon import wire
from daemon.terminal import display_safe, statement
from tui import browse
from tui.browse import make_note_row, make_object_target
from tui.changes import describe_before, news
from tui.wording import count, when

Deed = Literal["ask", "resume", "review", "open", "read", "look", "folder", "examples", "model", "import", "owner"]

MUTED = "$foreground-muted"
DAY_WIDTH = 9
CONVERSATIONS, CHANGES, PLANS = 4, 3, 6  # rows of each

EMPTY = (
    ("owner", "Say who you are", 'Name, home, family and work: then "my phone" is yours.'),
    ("folder", "Choose a folder", "Your notes, documents and mails: read and watched."),
    ("examples", "Try the examples", "The notes of a lighthouse keeper's museum."),
    ("model", "Connect a model", "Ollama on this machine, or a key. Optional."),
    ("import", "Import chats", "ChatGPT, Claude, Gemini, WhatsApp, Slack, Signal, Telegram, ..."),
)


@dataclass(frozen=True)
class Row:
    """One line to choose, or two; `deed` is done with `value`."""

    text: Content
    deed: Deed
    value: object = None


def begin_rows() -> list[Row]:
    """How to begin with an empty memory."""
    return [
        Row(Content.assemble((title, "bold $accent"), "\n", (sentence, MUTED)), deed)  # type: ignore[arg-type]
        for deed, title, sentence in EMPTY
    ]


def question_rows(questions: Iterable[str]) -> list[Row]:
    return [Row(_line(question), "ask", question) for question in questions]


def conversation_rows(sessions: Iterable[wire.Conversation], now: datetime) -> list[Row]:
    return [
        Row(
            Content.assemble(_line(chat.title or "Untitled"), (f"  {when(chat.updated, now)}", MUTED)),
            "resume",
            chat.id,
        )
        for chat in list(sessions)[:CONVERSATIONS]
    ]


def news_rows(home: wire.Home, folders: Iterable[str], now: datetime) -> list[Row]:
    """Reviews that wait, changes, and new notes since the person's last visit."""
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
    return Content.assemble(_line(statement(fact)), "\n", (_clean(f"{former} · {when(revision.at, now)}"), MUTED))


def note_rows(notes: Iterable[wire.ListedSource], now: datetime) -> list[Row]:
    return [_look_row(make_note_row(note, now)) for note in notes]


def name_rows(names: Iterable[str]) -> list[Row]:
    return [_look_row(browse.Row(name, target=make_object_target(name))) for name in names]


def _look_row(row: browse.Row) -> Row:
    detail = f"  {row.detail}" if row.detail else ""
    return Row(Content.assemble(_line(row.text), (_clean(detail), MUTED)), "look", row.target)


def news_title(home: wire.Home, now: datetime) -> str:
    return f"Since {when(home.since, now)}" if home.since else "New"


def planned_rows(home: wire.Home, now: datetime) -> Iterator[Row]:
    """What is due or planned, with the days in a column."""
    for entry in home.planned[:PLANS]:
        day = date.fromisoformat(entry.day)
        label = Content.styled(
            day_name(day, now.date()).ljust(DAY_WIDTH), "$text-warning" if day < now.date() else MUTED
        )
        overdue = "overdue: " if day < now.date() else ""
        text = " ".join(filter(None, (entry.time.partition(" to ")[0], f"{overdue}{entry.text}")))
        yield Row(Content.assemble(label, " ", _line(text)), "open", entry)
    if more := home.planned_total - len(home.planned[:PLANS]):
        yield Row(Content.styled(f"{'':{DAY_WIDTH}} and {more:,} more", MUTED), "ask", "What is planned this week?")


def day_name(day: date, today: date) -> str:
    """`today`, `tomorrow`, `Wednesday`, `20 Nov`."""
    days = (day - today).days
    if 0 <= days < 7:
        return ("today", "tomorrow")[days] if days < 2 else f"{day:%A}"
    return f"{day.day} {day:%b}"


def _clean(text: str) -> str:
    return display_safe(text, line=True)


def _line(text: str) -> Content:
    return Content(_clean(text))
