"""Places: the position of a sentence in its passage, which often names its topic.

"code 4471" is unclear without the heading above it, "30 min | Rudge" without its table's head, and the second sentence
of an item continues the topic of the first. A passage's text is divided into lines, each with what is above it. A
sentence is read with as much of its line as fits: its unit."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from memory.text.languages import word_numbers
from memory.text.words import EVENT_RECURS, EVENT_TIME, LINK, TASK_DAYS, TASK_STATES, count_words, show_links, words
from memory.time.dates import find_dates

MAX_UNIT_WORDS = 30
FEW_WORDS = 6  # of a sentence of prose whose unit includes the sentences after it; of a line with only a date
MAX_NAME_WORDS = 3  # of a name below a greeting

Span = tuple[int, int]
PlaceKind = Literal["text", "heading", "row", "event", "task", "filing"]

_MARKS = re.compile(
    r"(?P<indent>[ \t>]*)(?:(?P<heading>#{1,6})[ \t]+|(?P<bullet>[-*+•–]|\d{1,3}[.)])[ \t]+)?"
    r"(?:\[(?P<box>.)\] +|(?P<sign>[☐⬜☑☒✅])\ufe0f?[ \t]*)?"
)
_RULE = re.compile(r"[|:\-=+_* \t]+$")
_TURN = re.compile(r"([^\W\d_][^\s:]{0,30}(?: [^\s:]{1,30}){0,3}):[ \t]")
_PLANNED = re.compile(rf"\s*(?:{TASK_DAYS}): ?[<\[]")  # begins a line below it with a day
_ANY_LINE = re.compile("")
_PLANNED_DATE = re.compile(r"[<\[](\d{4}-\d\d-\d\d)(?: [^\W\d_]+\.?)?([^>\]]*)[>\]]")
_HEADER = re.compile(r"(from|to|cc|bcc|subject|date|title|tags?|aliases|created|updated|category|id): ", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a passage from `start` to `end`; an entry of a calendar with all its lines, a task's heading with the
    lines that plan it. `above`: the headings, line with a colon and items that lead to it, outermost first; `level` of
    these are items. `head`: the cells of its table's head, which is a heading itself. `speaker`: of its turn in a chat.
    `filing`: a mail's head, a date, links, tags. `text`: its words without marks; `box`: its box, "x" of "[x]";
    `block`: the number of its list, table or paragraph."""

    kind: PlaceKind
    start: int
    end: int
    above: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    speaker: str = ""
    is_item: bool = False
    text: str = ""
    box: str = ""
    block: int = 0
    level: int = 0


NOWHERE = Place("text", 0, 0)


@lru_cache(maxsize=2048)
def find_places(text: str) -> tuple[Place, ...]:
    """Returns the lines of a passage that contain words, in order. Linear in the length of the text."""
    reader, start = _PlaceReader(), 0
    lines = text.split("\n")
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        reader.read(line, following, start)
        start += len(line) + 1
    return tuple(reader.places)


class _PlaceReader:
    """The places of the lines read so far, with the headings, items and table that the next line may belong to."""

    def __init__(self) -> None:
        self.places: list[Place] = []
        self._headings: list[tuple[int, str]] = []  # by level
        self._items: list[tuple[int, str]] = []  # that may contain others, by indentation
        self._head: tuple[str, ...] = ()  # the cells of a table's head
        self._lead = ""  # a line that ends with a colon
        self._continues: re.Pattern[str] | None = None  # which lines belong to the last place
        self._is_after_blank, self._in_table = True, False
        self._block = 1

    def read(self, line: str, following: str, start: int) -> None:
        """Adds a line that begins at character `start` of the passage."""
        marks = _MARKS.match(line)
        assert marks is not None  # every part of it is optional
        text, end = line[marks.end() :].strip(), start + len(line)
        is_rule = bool(text) and _RULE.fullmatch(text) is not None
        if text and not is_rule:
            if marks["heading"]:
                self._add_heading(len(marks["heading"]), text, following, (start, end))
            elif self._continues is not None and self._continues.match(line):
                self.places[-1] = replace(self.places[-1], end=end)
            else:
                self._add_line(marks, text, following, (start, end))
        self._in_table = text.startswith("|") or (self._in_table and is_rule)
        self._is_after_blank = not text

    def _add_heading(self, level: int, text: str, following: str, span: Span) -> None:
        self._headings = [heading for heading in self._headings if heading[0] < level]
        is_event, is_due = EVENT_TIME.match(following), re.match(r"Due: \d{4}-\d\d-\d\d", following)
        is_task = re.match(rf"(?:{TASK_STATES}):? ", text)
        self._continues = _ANY_LINE if is_event or is_due else _PLANNED if is_task else None
        kind: PlaceKind = "event" if is_event else "task" if is_due or is_task else "heading"
        self.places.append(Place(kind, *span, tuple(title for _, title in self._headings), text=text))
        self._headings.append((level, show_links(text)))
        self._items, self._lead, self._head = [], "", ()
        self._block += 1

    def _add_line(self, marks: re.Match[str], text: str, following: str, span: Span) -> None:
        is_item, is_row = bool(marks["bullet"] or marks["sign"]), text.startswith("|")
        indent = len(marks["indent"].expandtabs(4))
        goes_on = not is_item and bool(indent) and bool(self._items)  # an item's next line
        self._items = [item for item in self._items if item[0] < indent]
        begins_table = is_row and (self._is_after_blank or not self._in_table)
        is_head = begins_table and _is_head(text, following)
        if begins_table:
            self._head = read_cells(text) if is_head else ()
        self._block += begins_table or not (is_item or is_row or goes_on)
        turn = _TURN.match(text)
        self._lead = "" if self._is_after_blank and not is_item else self._lead
        leads = [self._lead] if self._lead else []
        above = (*(title for _, title in self._headings), *leads, *(item for _, item in self._items))
        kind: PlaceKind = "heading" if is_head else "row" if is_row else "text"
        kind = "filing" if kind == "text" and _is_filing(text, following) else kind
        heads, box = self._head if kind == "row" else (), str(marks["box"] or marks["sign"] or "")
        level = len(self._items)
        speaker = turn[1] if turn else ""
        self.places.append(Place(kind, *span, above, heads, speaker, is_item, text, box, self._block, level))
        self._continues = None
        if is_item:
            self._items.append((indent, show_links(text)))
        elif text.endswith((":", ":**")):
            self._lead = text.strip("*_ ").rstrip(":*_ ")


def _is_head(row: str, following: str) -> bool:
    """Whether the first row of a table is its head: a rule follows, or it has no digit and the next row has one."""
    if _RULE.fullmatch(following.strip()) and "-" in following:
        return True
    return following.lstrip().startswith("|") and not re.search(r"\d", row) and bool(re.search(r"\d", following))


def read_cells(row: str) -> tuple[str, ...]:
    """Returns the cells of a table's row."""
    return tuple(cell.strip() for cell in row.strip().strip("|").split("|"))


def _is_filing(line: str, following: str) -> bool:
    """Whether a line only files the text near it (a mail's head, links, tags, a date), or greets: "Dear Ana,", "Best
    wishes,"."""
    if line.endswith(",") and count_words(line) < FEW_WORDS and count_words(following) <= MAX_NAME_WORDS:
        return True
    if _HEADER.match(line):
        return not re.search(r"; \w[\w ]{0,20}: ", line)  # a record in one line may begin with "Title"
    rest = re.sub(r"(?<!\S)#[^\W\d][\w/-]*", " ", LINK.sub(" ", line))
    return (rest != line and len(words(rest)) < 3) or _is_date(line)


def _is_date(line: str) -> bool:
    """Whether a line contains a date and hardly anything else."""
    if count_words(line) > FEW_WORDS or not any(map(str.isdigit, line)):
        return False
    dates = list(find_dates(line, short_years=True))
    for date in reversed(dates):
        line = f"{line[: date.start]} {line[date.end :]}"
    rest = [word for word in words(line) if word not in word_numbers("time", "weekdays")]
    # A word of three letters says little, two characters of a script without spaces may say everything.
    return bool(dates) and len(rest) <= 2 and all(len(word) <= 3 and word.isascii() for word in rest)


def _find_line(starts: Sequence[int], offset: int) -> int:
    """Returns the number of the line that contains a character of the passage; there must be a line."""
    return max(0, bisect_right(starts, offset) - 1)


def find_units(text: str, spans: Sequence[Span]) -> list[tuple[Span, Place]]:
    """Returns, for the span of each sentence of a passage, the span of its unit and its place. A unit is the sentence
    with those before it in its line as far as they fit; also those after it if it is short or in an item, a row or a
    turn."""
    places = find_places(text)
    starts = [place.start for place in places]
    lines = [(_find_line(starts, start), _find_line(starts, max(start, end - 1))) for start, end in spans]
    joined = [  # to the next sentence: in one line, and no hidden words between them
        line[1] == following[0] and not any(map(str.isalnum, text[span[1] : next_span[0]]))
        for (line, following), (span, next_span) in zip(pairwise(lines), pairwise(spans), strict=True)
    ]
    sizes = [0 if EVENT_RECURS.match(text, start) else count_words(text[start:end]) for start, end in spans]
    units: list[tuple[Span, Place]] = []
    for number in range(len(spans)):
        place = places[lines[number][0]]
        is_terse = place.kind != "text" or place.is_item or bool(place.speaker) or sizes[number] < FEW_WORDS
        room = MAX_UNIT_WORDS * (2 if place.kind == "event" else 1)
        first, last = _extend_unit(number, joined, sizes, room, is_terse)
        units.append(((spans[first][0], spans[last][1]), place))
    return units


def _extend_unit(
    number: int, joined: Sequence[bool], sizes: Sequence[int], room: int, is_terse: bool
) -> tuple[int, int]:
    """Returns the first and last sentence of the unit of a sentence, at most `room` words."""
    first = last = number
    room -= sizes[number]
    while first and joined[first - 1] and sizes[first - 1] <= room:
        first -= 1
        room -= sizes[first]
    while is_terse and last < len(joined) and joined[last] and sizes[last + 1] <= room:
        last += 1
        room -= sizes[last]
    return first, last


def show_unit(quote: str, place: Place, again: str = "") -> str:
    """Returns a unit's text for an answer. `again`: the next time of a recurring event (`show_next`)."""
    if place.text.startswith("|"):
        return show_row([show_links(cell) for cell in read_cells(quote)], place.head)
    if place.kind in ("event", "task"):
        quote = _PLANNED_DATE.sub(r"\1\2", EVENT_RECURS.sub("", quote))
        quote = re.sub(rf"{EVENT_TIME.pattern}.*", lambda _: again, quote) if again else quote
        return "; ".join(show_links(line).rstrip(";") for line in quote.split("\n") if line.strip())
    return show_links(quote)


def show_row(cells: Sequence[str], head: Sequence[str]) -> str:
    """Returns a row of a table as a line: each cell after its column's name if `head` has one per cell, else the first
    cell as the name of the others."""
    cells = [re.sub(r"\*\*|__", "", cell) for cell in cells]
    if len(head) == len(cells):
        named = (f"{name}: {cell}" if name else cell for name, cell in zip(head, cells, strict=True) if cell)
        return "; ".join(named)
    return ": ".join(filter(None, (cells[0], ", ".join(filter(None, cells[1:])))))
