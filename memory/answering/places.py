"""Places: where in its passage a sentence stands, which often says what it is about.

"code 4471" says nothing without the heading above it, "30 min | Rudge" nothing without the head of its table, and the
second sentence of an item is about what its first one names. A passage's text is cut into lines, each with what stands
above it; a sentence is read with as much of its own line as fits, its unit.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from memory.text.languages import word_numbers
from memory.text.words import EVENT_RECURS, EVENT_TIME, LINK, TASK_DAYS, TASK_STATES, count_words, show_links, words
from memory.time.dates import find_dates

MAX_UNIT_WORDS = 30  # of a sentence with what stands beside it in its line
FEW_WORDS = 6  # of a sentence of prose that is read with those behind it too
MAX_EVENT_WORDS = 60  # of an event of a calendar, which is told whole
MAX_DATE_WORDS = 6  # of a line that is nothing but a date
MAX_GREETING_WORDS, MAX_NAME_WORDS = 5, 3  # of a line that greets, and of a name below it

Span = tuple[int, int]
PlaceKind = Literal["text", "heading", "row", "event", "task", "filing"]

_MARKS = re.compile(
    r"(?P<indent>[ \t>]*)(?:(?P<heading>#{1,6})[ \t]+|(?P<bullet>[-*+•–]|\d{1,3}[.)])[ \t]+)?(?:\[.\] )?"
)
_WORD = re.compile(r"[^\W_]")
_RULE = re.compile(r"[|:\-=+_* \t]+$")
_TURN = re.compile(r"([^\W\d_][^\s:]{0,30}(?: [^\s:]{1,30}){0,3}):[ \t]")
_TASK = re.compile(rf"(?:{TASK_STATES}):? ")  # how a headline of an outline begins
_PLANNED = re.compile(rf"\s*(?:{TASK_DAYS}): ?[<\[]")  # below it, when it is to be done
_PLANNED_DATE = re.compile(r"[<\[](\d{4}-\d\d-\d\d)(?: [^\W\d_]+\.?)?([^>\]]*)[>\]]")
_HEADER = re.compile(r"(from|to|cc|bcc|subject|date|title|tags?|aliases|created|updated|category|id): ", re.IGNORECASE)
_NEXT_FIELD = re.compile(r"; \w[\w ]{0,20}: ")  # of a record in one line, whose first may be named like one of a head


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a passage from `start` to `end`, an event with all its lines, the headline of a task with those that
    plan it. `above`: the headings over it, the items it is nested in and the line with a colon that leads to it,
    outermost first. `head`: the cells of its table's head, which is a heading itself.
    `speaker`: whose turn of a chat it is of; `is_item`: it begins one of a list. What only files or names, a mail's
    head, a date, links, is `filing`."""

    kind: PlaceKind
    start: int
    end: int
    above: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    speaker: str = ""
    is_item: bool = False


NOWHERE = Place("text", 0, 0)


@lru_cache(maxsize=2048)
def find_places(text: str) -> tuple[Place, ...]:
    """The lines of a passage that hold anything, in order. Linear in the length of the text."""
    places: list[Place] = []
    path: list[tuple[int, str]] = []  # headings, by level
    items: list[tuple[int, str]] = []  # the items that may have others in them, by indentation
    leading, speaker, blank = "", "", True
    head: tuple[str, ...] = ()
    in_table = False
    start = 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        end = start + len(line)
        marks = _MARKS.match(line)
        assert marks is not None  # every part of it is optional
        said = line[marks.end() :].strip()
        following = lines[number + 1] if number + 1 < len(lines) else ""
        is_row = said.startswith("|")
        if not said or _RULE.fullmatch(said):
            blank = blank or not said
        elif marks["heading"]:
            level = len(marks["heading"])
            path = [one for one in path if one[0] < level]
            kind: PlaceKind = "event" if EVENT_TIME.match(following) else "task" if _TASK.match(said) else "heading"
            places.append(Place(kind, start, end, tuple(title for _, title in path)))
            path.append((level, show_links(said)))
            items, leading, head = [], "", ()
        elif places and (places[-1].kind == "event" or (places[-1].kind == "task" and _PLANNED.match(line))):
            last = places[-1]
            places[-1] = Place(last.kind, last.start, end, last.above)
        else:
            indent = len(marks["indent"].expandtabs(4)) if marks["bullet"] else -1
            if marks["bullet"]:
                items = [one for one in items if one[0] < indent]
            else:
                items = []
                leading = "" if blank else leading
            is_head = is_row and not (in_table and not blank) and _is_head(said, following)
            if is_row and not (in_table and not blank):
                head = read_cells(said) if is_head else ()
            turn = _TURN.match(said)
            speaker = turn[1] if turn else speaker if not blank else ""
            above = (*(title for _, title in path), *((leading,) if leading else ()), *(item for _, item in items))
            kind = "heading" if is_head else "row" if is_row else "filing" if _is_filing(said, following) else "text"
            heads = head if kind == "row" else ()
            places.append(Place(kind, start, end, above, heads, speaker, is_item=bool(marks["bullet"])))
            if marks["bullet"]:
                items.append((indent, show_links(said)))
            elif said.endswith(":"):
                leading = said[:-1]
        in_table = is_row or (in_table and bool(said) and _RULE.fullmatch(said) is not None)
        blank = not said
        start = end + 1
    return tuple(places)


def _is_head(row: str, following: str) -> bool:
    """Whether the first row of a table is its head: a rule stands under it, or it holds no digit and the next does."""
    if _RULE.fullmatch(following.strip()) and "-" in following:
        return True
    return following.lstrip().startswith("|") and not re.search(r"\d", row) and bool(re.search(r"\d", following))


def read_cells(row: str) -> tuple[str, ...]:
    """The cells of a table's row."""
    return tuple(cell.strip() for cell in row.strip().strip("|").split("|"))


def _is_filing(line: str, following: str) -> bool:
    """Whether a line only files what stands around it: a line of a mail's head, links, a date; or only greets: "Dear
    Ana," alone, "Best wishes," over a name."""
    if line.endswith(",") and count_words(line) <= MAX_GREETING_WORDS and count_words(following) <= MAX_NAME_WORDS:
        return True
    if _HEADER.match(line):
        return not _NEXT_FIELD.search(line)
    rest = LINK.sub(" ", line)
    if rest != line and sum(1 for _ in words(rest)) < 3:
        return True
    if count_words(line) > MAX_DATE_WORDS or not any(character.isdigit() for character in line):
        return False
    found = list(find_dates(line, short_years=True))
    for one in reversed(found):
        line = f"{line[: one.start]} {line[one.end :]}"
    left = [word for word in words(line) if word not in word_numbers("time", "weekdays")]
    # A word of three letters says little, a pair of signs of a script without spaces may say all.
    return bool(found) and len(left) <= 2 and all(len(word) <= 3 and word.isascii() for word in left)


def place_at(places: Sequence[Place], offset: int) -> int:
    """The number of the line in which a character of the passage stands; there must be one."""
    return max(0, bisect_right(places, offset, key=lambda place: place.start) - 1)


def find_units(text: str, spans: Sequence[Span]) -> list[tuple[Span, Place]]:
    """For each sentence of a passage, by its span, the span of the unit that it is read in, and its place: the
    sentences before it in its line as far as there is room, then those behind it if it is short or of an item, a row or
    a turn; of an event all of it."""
    places = find_places(text)
    numbers = [(place_at(places, start), place_at(places, max(start, end - 1))) for start, end in spans]
    joined = [  # in one line, with nothing between them that may not be shown
        numbers[place][1] == numbers[place + 1][0] and not _WORD.search(text, spans[place][1], spans[place + 1][0])
        for place in range(len(spans) - 1)
    ]
    sizes = [0 if EVENT_RECURS.match(text, start) else count_words(text[start:end]) for start, end in spans]
    units: list[tuple[Span, Place]] = []
    for place in range(len(spans)):
        mine = places[numbers[place][0]]
        first = last = place
        room = (MAX_EVENT_WORDS if mine.kind == "event" else MAX_UNIT_WORDS) - sizes[place]
        while first and joined[first - 1] and sizes[first - 1] <= room:
            first -= 1
            room -= sizes[first]
        is_terse = mine.kind != "text" or mine.is_item or bool(mine.speaker) or sizes[place] < FEW_WORDS
        while is_terse and last + 1 < len(spans) and joined[last] and sizes[last + 1] <= room:
            last += 1
            room -= sizes[last]
        units.append(((spans[first][0], spans[last][1]), mine))
    return units


def show_unit(quote: str, place: Place, again: str = "") -> str:
    """A unit's words as they are shown: the cells of a row with their table's head, the lines of an event apart.
    `again`: when an event that comes again is next (`show_next`)."""
    if place.kind == "row":
        return show_row([show_links(cell) for cell in read_cells(quote)], place.head)
    if place.kind in ("event", "task"):
        quote = _PLANNED_DATE.sub(r"\1\2", EVENT_RECURS.sub("", quote))
        quote = re.sub(rf"{EVENT_TIME.pattern}.*", lambda _: again, quote) if again else quote
        return "; ".join(show_links(line).rstrip(";") for line in quote.split("\n") if line.strip())
    return show_links(quote)


def show_row(cells: Sequence[str], head: Sequence[str]) -> str:
    """A row of a table as a line: its first cell, and behind it the others with what stands in the `head` over them."""
    named = len(head) == len(cells)
    cells = [re.sub(r"\*\*|__", "", cell) for cell in cells]
    rest = [f"{head[place]} {cell}" if named else cell for place, cell in enumerate(cells) if place and cell]
    return ": ".join(filter(None, (cells[0], ("; " if named else ", ").join(rest))))
