"""Entries: the items of lists, the rows of tables, tasks and calendar entries of a passage, each under its heads.

They are read from the passage's lines as these are shown, so that each is a quote: lists with marks, short lines and
commas behind a label, tables, rows of `column: value`, outlines with TODO, sections that begin with their time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from memory.text.fences import blank_fences
from memory.text.task_marks import PLACEHOLDER, State, read_state
from memory.text.words import TASK_DAYS, TASK_STATES

Kind = Literal["item", "row", "task", "event", "part"]
KINDS: tuple[Kind, ...] = ("item", "row", "task", "event", "part")

LEAST_PLAIN_LINES, MAX_PLAIN_CHARS = 3, 48  # of short lines that are a list without marks
LEAST_COMMAS = 2  # behind a label, for a list
MAX_HEAD_CHARS = 80  # of a line above a list

_HEADING = re.compile(r"(?P<marks>#{1,6})\s+(?P<said>.*?\S)\s*#*")
_ITEM = re.compile(
    r"(?P<indent>[ \t]*)(?:(?:[-*+•–]|\d{1,3}[.)])[ \t]+|(?=[☐⬜☑☒]))"
    r"(?:\[(?P<box>[xX]|[^\w\[\]\n])\][ \t]+|(?P<sign>[☐⬜☑☒✅])\ufe0f?[ \t]*)?(?P<said>\S.*)"
)
_KEYWORD = re.compile(rf"(?P<word>{TASK_STATES}):?\s+(?P<said>\S.*)")
_BEGINNING = re.compile(
    rf"#{{1,6}}\s|[ \t]*(?:[-*+•–]|\d{{1,3}}[.)])[ \t]|x \d{{4}}-|\([A-Z]\) |[☐⬜☑☒]|(?:{TASK_STATES}):?\s"
)
_TODO_TXT = re.compile(r"(?:(?P<done>x) \d{4}-\d\d-\d\d|\([A-Z]\)) (?:\d{4}-\d\d-\d\d )?(?P<said>\S.*)")  # todo.txt
_TODO_MARK = re.compile(r"\s[+@][\w/-]+")  # its project, its context
_PLANNED = re.compile(rf"\s*(?:{TASK_DAYS}):")
_BEGINS = re.compile(r"(?P<label>When|Due): \d{4}-\d\d-\d\d")
_STATUS = re.compile(r"Status: (?P<word>[A-Z-]+)")
_ROW = re.compile(r"\s*\|.*\|\s*")
_RULE = re.compile(r"[|\s:+-]+")
_FIELDS = re.compile(r"(?P<first>[^:;|]{1,40}): [^;]+(?:; [^:;|]{1,40}: [^;]+)+")
_LABELLED = re.compile(r"[*_]*(?P<label>[^\W\d_][^:,.;]{0,40}?)[*_]*: (?P<said>[^:;]+)")
_STATES: dict[str, State] = {
    "done": "done", "completed": "done", "cancelled": "cancelled", "canceled": "cancelled",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """The characters `start` to `end` of a passage. `shown`: its words without marks. `heads`: the headings above it,
    the outermost first, then what stands right above its list; `block`: which of the passage's lists it is in, and
    `level` how far in. `state` is that of a task, or "cancelled" of an event; a "part" is one of several in a line."""

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

    def entry(self, said: str, heads: tuple[str, ...], block: int, last: _Line, **more: object) -> Entry:
        """An entry from this line to the `last` one."""
        indent = len(self.text) - len(self.text.lstrip())
        end = last.start + len(last.text)
        return Entry(self.start + indent, end, " ".join(said.split()), heads, block, **more)  # type: ignore[arg-type]


def read_entries(text: str) -> list[Entry]:
    """The entries of a passage, in order: none of examples in code fences, and no task of a template."""
    lines: list[_Line] = []
    start = 0
    for line in blank_fences(text).split("\n"):
        lines.append(_Line(start, line.rstrip()))
        start += len(line) + 1
    return [one for one in _entries(lines) if not (one.state and PLACEHOLDER.search(text, one.start, one.end))]


def _entries(lines: Sequence[_Line]) -> Iterator[Entry]:
    path: list[tuple[int, str]] = []  # the headings that are open, with their levels
    above, place = "", 0
    while place < len(lines):
        line = lines[place]
        heads = tuple(said for _, said in path)
        if heading := _HEADING.fullmatch(line.text):
            level, said, above = len(heading["marks"]), heading["said"], ""
            path = [one for one in path if one[0] < level]
            heads = tuple(said for _, said in path)
            if keyword := _KEYWORD.fullmatch(said):
                last = _run(lines, place + 1, lambda one: _PLANNED.match(one) is not None) - 1
                state = _STATES.get(keyword["word"].lower(), "open")
                yield line.entry(keyword["said"], heads, 0, lines[last], kind="task", state=state)
                said, place = keyword["said"], last
            elif place + 1 < len(lines) and (begins := _BEGINS.match(lines[place + 1].text)):
                last = _run(lines, place + 1, lambda one: bool(one.strip()) and not _HEADING.fullmatch(one)) - 1
                status = next(filter(None, (_STATUS.fullmatch(one.text) for one in lines[place : last + 1])), None)
                is_task = begins["label"] == "Due"
                state = _STATES.get(status["word"].lower(), "open") if status else "open"
                state = state if is_task or state == "cancelled" else ""
                yield line.entry(said, heads, 0, lines[last], kind="task" if is_task else "event", state=state)
                place = last
            path.append((level, said))
            place += 1
        elif not line.text.strip():
            place += 1
        else:
            behind, found = _block(lines, place, (*heads, above) if above else heads)
            yield from found
            alone = behind == place + 1 and not found and len(line.text) <= MAX_HEAD_CHARS
            last_line = lines[behind - 1].text.strip()
            above = last_line.strip("*_ ").rstrip(":*_ ") if alone or last_line.endswith((":", ":**")) else ""
            place = behind


def _run(lines: Sequence[_Line], place: int, belongs: Callable[[str], bool]) -> int:
    """The first place from `place` on whose line does not belong."""
    while place < len(lines) and belongs(lines[place].text):
        place += 1
    return place


def _block(lines: Sequence[_Line], place: int, heads: tuple[str, ...]) -> tuple[int, list[Entry]]:
    """The entries of the block that begins there, and the first place behind it."""
    block, text = place + 1, lines[place].text
    if keyword := _KEYWORD.fullmatch(text.strip()):
        state = _STATES.get(keyword["word"].lower(), "open")
        return place + 1, [lines[place].entry(keyword["said"], heads, 0, lines[place], kind="task", state=state)]
    if task := _TODO_TXT.fullmatch(text):
        state = "done" if task["done"] else "open"
        bare = _TODO_MARK.sub("", task["said"])
        return place + 1, [lines[place].entry(bare, heads, 0, lines[place], kind="task", state=state)]
    if _ITEM.fullmatch(text):
        return _list(lines, place, heads)
    if _ROW.fullmatch(text):
        behind = _run(lines, place, lambda one: _ROW.fullmatch(one) is not None)
        rows = [one for one in lines[place:behind] if not _RULE.fullmatch(one.text)]
        has_head = behind > place + 1 and _RULE.fullmatch(lines[place + 1].text) is not None
        said = [" | ".join(cell.strip() for cell in one.text.strip().strip("|").split("|")) for one in rows]
        heads = (*heads, said[0]) if has_head and said else heads
        pairs = [*zip(rows, said, strict=True)][has_head:]
        return behind, [row.entry(cells, heads, block, row, kind="row") for row, cells in pairs]
    if fields := _FIELDS.fullmatch(text):
        behind = _run(lines, place, lambda one: one.startswith(f"{fields['first']}: "))
        rows = [*lines[place:behind]]
        columns = " | ".join(part.partition(": ")[0] for part in text.split("; "))
        return behind, [row.entry(row.text, (*heads, columns), block, row, kind="row") for row in rows]
    behind = _run(lines, place + 1, lambda one: bool(one.strip()) and not _BEGINNING.match(one))
    plain = lines[place:behind]
    if heads and len(plain) >= LEAST_PLAIN_LINES and all(_is_short(one.text) for one in plain):
        return behind, [one.entry(one.text, heads, block, one) for one in plain]
    labelled = _LABELLED.fullmatch(text.strip())
    if labelled and labelled["said"].count(",") >= LEAST_COMMAS:
        parts = re.split(r",\s+(?:(?:and|und|or|oder)\s+)?|\s+(?:and|und)\s+", labelled["said"].rstrip("."))
        heads = (*heads, labelled["label"])
        return place + 1, [
            lines[place].entry(one, heads, block, lines[place], kind="part") for one in parts if one.strip()
        ]
    return (behind if not labelled else place + 1), []


def _is_short(line: str) -> bool:
    """Whether a line may be an item without a mark: no sentence, and no label."""
    return len(line) <= MAX_PLAIN_CHARS and line.strip()[-1] not in ".!?,;:" and ": " not in line


def _list(lines: Sequence[_Line], place: int, heads: tuple[str, ...]) -> tuple[int, list[Entry]]:
    """The items of a list with marks; what is indented below one, or goes on, belongs to it."""
    block, found = place + 1, list[Entry]()
    parents: list[tuple[int, str]] = []
    while place < len(lines):
        item = _ITEM.fullmatch(lines[place].text)
        if item is None:
            nearest = _run(lines, place, lambda one: not one.strip())
            goes_on = nearest < len(lines) and _ITEM.fullmatch(lines[nearest].text) and nearest - place == 1
            if not goes_on:
                break
            place = nearest
            continue
        indent = len(item["indent"].expandtabs(4))
        parents = [one for one in parents if one[0] < indent]
        behind = _run(lines, place + 1, lambda one: one[:2] in ("  ", "\t") and not _ITEM.fullmatch(one))
        said = " ".join([item["said"], *(one.text.strip() for one in lines[place + 1 : behind])])
        keyword = _KEYWORD.fullmatch(said)
        state: State = ""
        if box := item["box"] or item["sign"]:
            state = read_state(box)
        elif keyword:
            state = _STATES.get(keyword["word"].lower(), "open")
        above = (*heads, *(one for _, one in parents))
        kind: Kind = "task" if state else "item"
        last = lines[behind - 1]
        found.append(lines[place].entry(said, above, block, last, kind=kind, state=state, level=len(parents)))
        parents.append((indent, said))
        place = behind
    return place, found
