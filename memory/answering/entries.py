"""Entries: the items of lists, table rows, tasks and calendar entries of a passage, each under its headings.

Each is a quote of the passage's lines: lists with marks, tables, rows of `column:
value`, outlines with TODO, sections that begin with their time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from memory.answering.places import read_cells
from memory.text.fences import blank_fences
from memory.text.task_marks import PLACEHOLDER, State, read_state
from memory.text.words import TASK_DAYS, TASK_STATES

Kind = Literal["item", "row", "task", "event"]
KINDS: tuple[Kind, ...] = ("item", "row", "task", "event")

MAX_HEAD_CHARS = 80  # of a line above a list

_HEADING = re.compile(r"(?P<marks>#{1,6})\s+(?P<words>.*?\S)\s*#*")
_ITEM = re.compile(
    r"(?P<indent>[ \t]*)(?:(?:[-*+•–]|\d{1,3}[.)])[ \t]+|(?=[☐⬜☑☒]))"
    r"(?:\[(?P<box>[xX]|[^\w\[\]\n])\][ \t]+|(?P<sign>[☐⬜☑☒✅])\ufe0f?[ \t]*)?(?P<words>\S.*)"
)
_KEYWORD = re.compile(rf"(?P<word>{TASK_STATES}):?\s+(?P<words>\S.*)")
_BEGINNING = re.compile(
    rf"#{{1,6}}\s|[ \t]*(?:[-*+•–]|\d{{1,3}}[.)])[ \t]|x \d{{4}}-|\([A-Z]\) |[☐⬜☑☒]|(?:{TASK_STATES}):?\s"
)
_TODO_TXT = re.compile(r"(?:(?P<done>x) \d{4}-\d\d-\d\d|\([A-Z]\)) (?:\d{4}-\d\d-\d\d )?(?P<words>\S.*)")  # todo.txt
_TODO_MARK = re.compile(r"\s[+@][\w/-]+")  # its project, its context
_PLANNED = re.compile(rf"\s*(?:{TASK_DAYS}):")
_BEGINS = re.compile(r"(?P<label>When|Due): \d{4}-\d\d-\d\d")
_STATUS = re.compile(r"Status: (?P<word>[A-Z-]+)")
_ROW = re.compile(r"\s*\|.*\|\s*")
_RULE = re.compile(r"[|\s:+-]+")
_FIELDS = re.compile(r"(?P<first>[^:;|]{1,40}): [^;]+(?:; [^:;|]{1,40}: [^;]+)+")
_STATES: dict[str, State] = {
    "done": "done", "completed": "done", "cancelled": "cancelled", "canceled": "cancelled",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a passage from character `start` to `end`. `shown`: its words without marks. `heads`: the headings
    above it, the outermost first, then the line above its list. `block`: the number of its list in the passage, `level`
    its depth there. `state`: of a task, or "cancelled" of an event."""

    start: int
    end: int
    shown: str
    heads: tuple[str, ...]
    block: int
    kind: Kind = "item"
    state: State = ""
    level: int = 0


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: str

    def make_entry(self, words: str, heads: tuple[str, ...], block: int, last: _Line, **more: object) -> Entry:
        """An entry from this line to the `last` one."""
        indent = len(self.text) - len(self.text.lstrip())
        end = last.start + len(last.text)
        return Entry(self.start + indent, end, " ".join(words.split()), heads, block, **more)  # type: ignore[arg-type]


def read_entries(text: str) -> list[Entry]:
    """The entries of a passage, in order, without those in code fences and the tasks of templates."""
    lines: list[_Line] = []
    start = 0
    for line in blank_fences(text).split("\n"):
        lines.append(_Line(start, line.rstrip()))
        start += len(line) + 1
    entries = _read_lines(lines)
    return [entry for entry in entries if not (entry.state and PLACEHOLDER.search(text, entry.start, entry.end))]


def _read_lines(lines: Sequence[_Line]) -> Iterator[Entry]:
    headings: list[tuple[int, str]] = []  # the open headings with their levels
    above, place = "", 0
    while place < len(lines):
        text = lines[place].text
        if heading := _HEADING.fullmatch(text):
            level, above = len(heading["marks"]), ""
            headings = [other for other in headings if other[0] < level]
            heads = tuple(title for _, title in headings)
            title, place, entries = _read_heading(lines, place, heading["words"], heads)
            headings.append((level, title))
            yield from entries
        elif not text.strip():
            place += 1
        else:
            heads = (*(title for _, title in headings), *((above,) if above else ()))
            end, entries = _read_block(lines, place, heads)
            yield from entries
            is_alone = end == place + 1 and not entries and len(text) <= MAX_HEAD_CHARS
            last_line = lines[end - 1].text.strip()
            above = last_line.strip("*_ ").rstrip(":*_ ") if is_alone or last_line.endswith((":", ":**")) else ""
            place = end


def _read_heading(
    lines: Sequence[_Line], place: int, words: str, heads: tuple[str, ...]
) -> tuple[str, int, list[Entry]]:
    """The title of a heading, the number of the next line, and the heading's entry if it is a task or an event."""
    line = lines[place]
    if keyword := _KEYWORD.fullmatch(words):
        end = _find_end(lines, place + 1, lambda text: _PLANNED.match(text) is not None)
        state = _STATES.get(keyword["word"].lower(), "open")
        words = keyword["words"]
        return words, end, [line.make_entry(words, heads, 0, lines[end - 1], kind="task", state=state)]
    begins = _BEGINS.match(lines[place + 1].text) if place + 1 < len(lines) else None
    if begins is None:
        return words, place + 1, []
    end = _find_end(lines, place + 1, lambda text: bool(text.strip()) and not _HEADING.fullmatch(text))
    status = next(filter(None, (_STATUS.fullmatch(other.text) for other in lines[place:end])), None)
    state = _STATES.get(status["word"].lower(), "open") if status else "open"
    kind: Kind = "task" if begins["label"] == "Due" else "event"
    state = state if kind == "task" or state == "cancelled" else ""
    return words, end, [line.make_entry(words, heads, 0, lines[end - 1], kind=kind, state=state)]


def _find_end(lines: Sequence[_Line], place: int, belongs: Callable[[str], bool]) -> int:
    """The number of the first line from `place` on that does not belong."""
    while place < len(lines) and belongs(lines[place].text):
        place += 1
    return place


def _read_block(lines: Sequence[_Line], place: int, heads: tuple[str, ...]) -> tuple[int, list[Entry]]:
    """The number of the line after the block that begins at `place`, and the block's entries."""
    line, block = lines[place], place + 1
    if task := _read_task(line, heads):
        return place + 1, [task]
    if _ITEM.fullmatch(line.text):
        return _read_list(lines, place, heads)
    if _ROW.fullmatch(line.text):
        return _read_table(lines, place, heads)
    if fields := _FIELDS.fullmatch(line.text):
        end = _find_end(lines, place, lambda text: text.startswith(f"{fields['first']}: "))
        columns = " | ".join(part.partition(": ")[0] for part in line.text.split("; "))
        return end, [row.make_entry(row.text, (*heads, columns), block, row, kind="row") for row in lines[place:end]]
    end = _find_end(lines, place + 1, lambda text: bool(text.strip()) and not _BEGINNING.match(text))
    return end, []


def _read_task(line: _Line, heads: tuple[str, ...]) -> Entry | None:
    """The task that a line states by a keyword or in todo.txt."""
    if keyword := _KEYWORD.fullmatch(line.text.strip()):
        state = _STATES.get(keyword["word"].lower(), "open")
        return line.make_entry(keyword["words"], heads, 0, line, kind="task", state=state)
    if task := _TODO_TXT.fullmatch(line.text):
        words, state = _TODO_MARK.sub("", task["words"]), "done" if task["done"] else "open"
        return line.make_entry(words, heads, 0, line, kind="task", state=state)
    return None


def _read_table(lines: Sequence[_Line], place: int, heads: tuple[str, ...]) -> tuple[int, list[Entry]]:
    block, end = place + 1, _find_end(lines, place, lambda text: _ROW.fullmatch(text) is not None)
    rows = [(row, " | ".join(read_cells(row.text))) for row in lines[place:end] if not _RULE.fullmatch(row.text)]
    if rows and end > place + 1 and _RULE.fullmatch(lines[place + 1].text):
        heads, rows = (*heads, rows[0][1]), rows[1:]
    return end, [row.make_entry(cells, heads, block, row, kind="row") for row, cells in rows]


def _read_list(lines: Sequence[_Line], place: int, heads: tuple[str, ...]) -> tuple[int, list[Entry]]:
    """The number of the line after a list with marks, and its items, each with the indented lines below it."""
    block, entries = place + 1, list[Entry]()
    parents: list[tuple[int, str]] = []
    while place < len(lines):
        item = _ITEM.fullmatch(lines[place].text)
        if item is None:
            if lines[place].text.strip() or place + 1 == len(lines) or not _ITEM.fullmatch(lines[place + 1].text):
                break
            place += 1  # one empty line does not end a list
            continue
        indent = len(item["indent"].expandtabs(4))
        parents = [parent for parent in parents if parent[0] < indent]
        end = _find_end(lines, place + 1, lambda text: text[:2] in ("  ", "\t") and not _ITEM.fullmatch(text))
        words = " ".join([item["words"], *(line.text.strip() for line in lines[place + 1 : end])])
        keyword = _KEYWORD.fullmatch(words)
        state: State = ""
        if box := item["box"] or item["sign"]:
            state = read_state(box)
        elif keyword:
            state = _STATES.get(keyword["word"].lower(), "open")
        above = (*heads, *(parent for _, parent in parents))
        kind: Kind = "task" if state else "item"
        level, last = len(parents), lines[end - 1]
        entries.append(lines[place].make_entry(words, above, block, last, kind=kind, state=state, level=level))
        parents.append((indent, words))
        place = end
    return place, entries
