"""Entries: list items, table rows, tasks and calendar entries of a passage, their days, and their form in an answer.

Each is a quote of the passage's lines: lists with marks, tables, rows of `column: value`, outlines with TODO, sections
that begin with their time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Literal

from memory.answering.places import Place, find_places, read_cells, show_row
from memory.nouns import Episode
from memory.text.markup import PLACEHOLDER, State, blank_fences, drop_marks, drop_other_days, read_marks, read_state
from memory.text.words import TASK_STATES, show_links
from memory.time.recurrence import MAX_AHEAD_DAYS, Recurrence, list_event_days, move_day, read_recurrence
from memory.time.timestamps import to_wall

Kind = Literal["item", "row", "task", "event"]
KINDS: tuple[Kind, ...] = ("item", "row", "task", "event")
NO_DAYS: frozenset[date] = frozenset()

_KEYWORD = re.compile(rf"(?P<word>{TASK_STATES}):?\s+(?P<words>\S.*)")
_TODO_TXT = re.compile(r"(?:(?P<done>x) \d{4}-\d\d-\d\d|\([A-Z]\)) (?:\d{4}-\d\d-\d\d )?(?P<words>\S.*)")  # todo.txt
_STATES: dict[str, State] = {
    "done": "done", "completed": "done", "cancelled": "cancelled", "canceled": "cancelled",
}  # fmt: skip
_DAY = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)(?:[T ]?(?:[A-Z][a-z]{2} )?(\d\d:\d\d))?")
_NO_DAY = re.compile(r"(?m:^Not on: .*)|^(?:x(?: \d{4}-\d\d-\d\d)?|\([A-Z]\)) \d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class Entry:
    """An entry of a passage from character `start` to `end`. `text`: its words without marks. `heads`: the headings,
    line and items above it, and the columns of its table, the outermost first. `block`: the number of its list in the
    passage, `level` its depth there. `state`: of a task, or "cancelled" of an event. `elsewhere`: days of its series
    that another file describes."""

    episode: Episode
    start: int
    end: int
    text: str
    heads: tuple[str, ...] = ()
    block: int = 0
    kind: Kind = "item"
    state: State = ""
    level: int = 0
    elsewhere: frozenset[date] = NO_DAYS

    @property
    def quote(self) -> str:
        """The words of the passage."""
        return self.episode.text[self.start : self.end]

    @cached_property
    def again(self) -> Recurrence | None:
        """Returns the recurrence of an event, or None."""
        return read_recurrence(self.quote) if self.kind == "event" else None

    @cached_property
    def marks(self) -> dict[str, str]:
        """Returns the marks of a task, the first of each kind."""
        return dict(reversed(read_marks(self.quote))) if self.kind == "task" else {}

    @property
    def due(self) -> tuple[date, str] | None:
        """Returns the day on which a task is due, with the time of day ""; None if its marks name no day ("next
        week")."""
        with suppress(ValueError):
            return date.fromisoformat(self._stated_due.strip("[]")), ""
        return None

    @property
    def _stated_due(self) -> str:
        return self.marks.get("due") or self.marks.get("deadline") or ""

    def days_within(self, since: date, until: date) -> dict[date, str]:
        """Returns its days from `since` on and before `until`, each with its time of day or ""."""
        if self.kind == "event":
            return list_event_days(self.quote, since, until, self.elsewhere)
        return {day: at for day, at in self.days().items() if since <= day < until}

    def next_day(self, today: date) -> tuple[date, str] | None:
        """Returns its first day that is not before `today`, with its time of day or ""."""
        ahead = move_day(today, MAX_AHEAD_DAYS)
        return min(self.days_within(today, date.max if self.again is None else ahead).items(), default=None)

    def days(self) -> dict[date, str]:
        """Returns the days that it names, each with its time of day or "", except those of creation, start and
        completion."""
        if self.again is not None:
            return dict.fromkeys(sorted({self.again.first.date(), *self.again.listed} - self.again.left_out), "")
        if self.kind == "event":
            return list_event_days(self.quote, date.min, date.max)
        days: dict[date, str] = {}
        for year, month, day, at in _DAY.findall(_NO_DAY.sub("", drop_other_days(self.quote))):
            with suppress(ValueError):
                days.setdefault(date(int(year), int(month), int(day)), at)
        return days

    def show(self, day: date | None = None, time: str = "") -> str:
        """Returns its text for an answer; with `day` (and `time`) as the entry of that day."""
        bare = self._show_cells(day) if self.quote.lstrip().startswith("|") else self.text
        words = " ".join(_drop_marks(bare).split()) or bare
        words = re.sub(r"\*\*|__", "", show_links(words))
        if day is not None:
            return self._show_day(words, day, time)
        if self.kind != "task":
            return words
        due = self._stated_due or next((day.isoformat() for day in self.days()), "")
        rule = self.marks.get("repeats", "")
        plans = [f"due {due}" if due and due not in words else "", f"repeats {rule}" if rule else ""]
        return f"{words} ({', '.join(filter(None, plans))})" if any(plans) else words

    def _show_day(self, words: str, day: date, time: str) -> str:
        at = " ".join(filter(None, (day.isoformat(), time)))
        details = [] if self.kind == "item" else re.findall(r"(?:When|Due|Where|Who): (.+)", self.quote)
        bare = (" ".join(_DAY.sub("", detail).replace("(all day)", "").split()) for detail in details)
        rest = [re.sub(r"^to(?! \d) ?" if time else r"^to\b ?", "", detail) for detail in bare]
        if details and not time and (span := re.search(r"\d\d:\d\d(?: to \d\d:\d\d)?", details[0])):
            rest[0] = span[0]
        elif details:
            at, rest[0] = f"{at} {rest[0]}".strip(), ""
        return f"{at}: {', '.join(filter(None, (words, *rest)))}"

    def show_recurring(self, day: date, time: str = "") -> str:
        """Returns its text as the entry of a day, with its recurrence."""
        often = self.again.describe() if self.again else ""
        return ", ".join(filter(None, (self.show(day, time), often)))

    def _show_cells(self, day: date | None) -> str:
        """Returns a row of a table without the cell of its `day`; with its column names if it has more than two
        columns."""
        cells = read_cells(self.quote)
        head = self.heads[-1].split(" | ") if self.heads else []
        kept = [column for column, cell in enumerate(cells) if not column or day is None or cell != day.isoformat()]
        is_named = len(head) == len(cells) > 2
        return show_row([cells[column] for column in kept], [head[column] for column in kept] if is_named else ())

    def key(self) -> str:
        """Returns a key shared by equal entries: their words without days, and the days of an event."""
        words = " ".join(_DAY.sub("", _drop_marks(self.text)).casefold().split())
        rules = self.again.rules if self.again else ""
        return f"{words} {sorted(self.days())} {rules}" if self.kind == "event" else words


def _drop_marks(words: str) -> str:
    return drop_marks(re.sub(r"\s*#task(?![\w/-])", "", words))


def read_entries(episode: Episode, elsewhere: frozenset[date] = NO_DAYS) -> list[Entry]:
    """Returns the entries of a passage, in order, without those in code fences and the tasks of templates."""
    entries: list[Entry] = []
    for place in find_places(blank_fences(episode.text)):
        last = entries[-1] if entries else None
        if last and last.block == place.block > 0 and not place.is_item and last.kind != "row":  # an item's next line
            entries[-1] = replace(last, end=place.end, text=f"{last.text} {place.text}")
        elif (entry := _read_entry(episode, place)) is not None:
            entries.append(replace(entry, text=" ".join(entry.text.split()), elsewhere=elsewhere))
    return [entry for entry in entries if not (entry.state and PLACEHOLDER.search(entry.quote))]


def _read_entry(episode: Episode, place: Place) -> Entry | None:
    line = episode.text[place.start : place.end]
    entry = Entry(episode, place.end - len(line.lstrip()), place.end, place.text, place.above)
    keyword = _KEYWORD.fullmatch(place.text)
    if keyword:
        entry = replace(entry, text=keyword["words"], state=_STATES.get(keyword["word"].lower(), "open"))
    if place.kind == "row":
        columns = (" | ".join(place.head),) if place.head else ()
        words = " | ".join(read_cells(place.text))
        return replace(entry, kind="row", text=words, heads=(*place.above, *columns), block=place.block)
    if place.is_item:
        state = read_state(place.box) if place.box else entry.state
        return replace(entry, kind="task" if state else "item", state=state, block=place.block, level=place.level)
    if place.kind in ("event", "task") and not keyword:  # of a calendar
        status = re.search(r"(?m)^Status: ([A-Z-]+)$", line)
        state = _STATES.get(status[1].lower(), "open") if status else "open"
        is_event = place.kind == "event"
        return replace(entry, kind=place.kind, state="" if is_event and state != "cancelled" else state)
    if keyword and place.kind != "heading":
        return replace(entry, kind="task")
    if task := _TODO_TXT.fullmatch(place.text):
        words = re.sub(r"\s[+@][\w/-]+", "", task["words"])  # without its project and context
        return replace(entry, kind="task", text=words, state="done" if task["done"] else "open")
    if re.fullmatch(r"[^:;|]{1,40}: [^;]+(?:; [^:;|]{1,40}: [^;]+)+", place.text):
        columns = (" | ".join(part.partition(": ")[0] for part in place.text.split("; ")),)
        return replace(entry, kind="row", heads=(*place.above, *columns))
    return None


def keep_newest(entries: Iterable[Entry]) -> list[Entry]:
    """Keeps, of equal entries, only the one of the newest passage."""
    newest: dict[str, Entry] = {}
    for entry in entries:
        other = newest.setdefault(entry.key(), entry)
        if (to_wall(entry.episode.at) or 0) > (to_wall(other.episode.at) or 0):
            newest[entry.key()] = entry
    return list(newest.values())
