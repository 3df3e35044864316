"""Facts that stand in tables: each row's header by each column's, and what changed along a series of dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise

from memory.facts.extraction import ExtractedRelation
from memory.facts.rules import phrases
from memory.facts.rules.fields import NO_VALUE, VALUE_WORDS
from memory.facts.rules.passages import Line, Passage

_RULE = re.compile(r"[\s|:\-–]+$")
_TOTALS = frozenset("total sum average avg mean min max subtotal all other others".split())
_CELL = re.compile(r"(?P<column>[^:;\n]{1,60}): (?P<value>[^;\n]{0,120})(?:; |$)")
_DATE = re.compile(r"(?P<y>(?:19|20)\d\d)-(?P<m>\d\d)(?:-(?P<d>\d\d))?")
_ROWS = 3  # at least, of a series


def of_tables(passage: Passage, dated: str) -> Iterator[ExtractedRelation]:
    """What the tables of a passage tell; `dated` is how precisely its title is dated."""
    text = passage.text
    rows: list[tuple[Line, list[tuple[int, int]]]] = []
    for line in passage.lines:
        if not line.told or text[line.start] != "|":
            continue
        if rows and text.count("\n", rows[-1][0].end, line.start) > 1:  # another table
            yield from _table(text, rows, dated)
            rows = []
        rows.append((line, _cells(text, line)))
    if rows:
        yield from _table(text, rows, dated)


def _cells(text: str, line: Line) -> list[tuple[int, int]]:
    cells, start = [], line.start + 1
    end = line.end - 1 if text[line.end - 1] == "|" else line.end
    while start <= end:
        stop = text.find("|", start, end)
        stop = end if stop < 0 else stop
        cells.append(phrases.trimmed(text, start, stop))
        start = stop + 1
    return cells


def _table(text: str, rows: list[tuple[Line, list[tuple[int, int]]]], dated: str) -> Iterator[ExtractedRelation]:
    """Row header × column header. Only a table with a header, whose first column names each row once."""
    if len(rows) < 3 or not _RULE.match(text, rows[1][0].start, rows[1][0].end):
        return
    header = [phrases.clean(text[a:b]) for a, b in rows[0][1]]
    body = [cells for _, cells in rows[2:] if len(cells) == len(header)]
    names = [phrases.clean(text[a:b]) for a, b in (cells[0] for cells in body)]
    if len(header) < 2 or len({*names}) < len(names) or any(phrases.kind(name) != "word" for name in names):
        return
    for name, cells in zip(names, body, strict=True):
        for column, (start, end) in zip(header[1:], cells[1:], strict=True):
            value = phrases.clean(text[start:end])
            if name.lower() in _TOTALS or not (name and column and value):
                continue
            if len(value.split()) > VALUE_WORDS or NO_VALUE.match(value):
                continue
            yield ExtractedRelation(
                subject=name,
                predicate=column,
                object=value,
                start=start,
                end=end,
                cardinality="unknown" if dated == "day" or "," in value else "one",
            )


def of_series(passage: Passage, about: str, at: datetime | None) -> Iterator[ExtractedRelation]:
    """What changed along rows of "month: 2024-05; price: 30; seats: 12", each with its date first.

    Only of numbers that stay the same from most rows to the next: those are how things stand, others what happened.
    """
    rows = [row for line in passage.lines if (row := _row(passage.text, line.start, line.end)) is not None]
    if len(rows) < _ROWS or not about or any(one[0] >= two[0] for one, two in pairwise(rows)):
        return
    for column in rows[0][1]:
        cells = [(date, *row[column]) for date, row in rows if column in row]
        values = [passage.text[start:end] for _, start, end in cells]
        changes = sum(one != two for one, two in pairwise(values))
        if len(cells) < _ROWS or 2 * changes >= len(cells) or any(phrases.kind(value) != "number" for value in values):
            continue
        for place, (date, start, end) in enumerate(cells):
            before = values[place - 1] if place else None
            if values[place] != before:
                yield ExtractedRelation(
                    subject=about,
                    predicate=column.replace("_", " "),
                    object=values[place],
                    start=start,
                    end=end,
                    valid_from=date.replace(tzinfo=at.tzinfo) if at else None,
                    replaces=before,
                    cardinality="one",
                )


def _row(text: str, start: int, end: int) -> tuple[datetime, dict[str, tuple[int, int]]] | None:
    """The date of a row and the places of its other values, by column; None if it is no row of a series."""
    cells = list(_CELL.finditer(text, start, end))
    date = _DATE.fullmatch(cells[0]["value"].strip()) if cells else None
    if date is None or len(cells) < 2:
        return None
    try:
        first = datetime(int(date["y"]), int(date["m"]), int(date["d"] or 1))
    except ValueError:
        return None
    values = {cell["column"].strip(): phrases.trimmed(text, *cell.span("value")) for cell in cells[1:]}
    return first, {column: span for column, span in values.items() if span[0] < span[1]}
