"""Marks in a text: code fences, with an example or a program and no statement between them; and those of a task: box,
days, repetition, as Obsidian (Tasks, Kanban, Dataview), todo.txt and org write them. A repetition extends to the next
mark or the end of the line."""

import re
from functools import lru_cache
from typing import Literal

State = Literal["", "open", "done", "cancelled"]

_DAY = r"\d{4}-\d\d-\d\d"
_DATED = {
    "📅": "due", "📆": "due", "🗓": "due", "⏳": "scheduled", "⌛": "scheduled", "🛫": "start", "✅": "closed",
    "❌": "cancelled", "➕": "created",
}  # fmt: skip
_SIGNS = "".join(_DATED) + "🔁🆔⛔🏁🔺⏫🔼🔽⏬"
_FIELD = r"[\[(](?P<key>[^\W\d_][\w -]{0,40}):: ?(?P<value>(?:\[\[[^\[\]\n]{1,120}\]\]|[^\[\]()\n]){1,160})[\])]"
_MARK = re.compile(
    rf"\s*(?:(?P<sign>[{''.join(_DATED)}])\ufe0f?\s*(?P<day>{_DAY})?"
    rf"|🔁\ufe0f?[ \t]*(?P<rule>(?:(?![{_SIGNS}]|[\[(][^\W\d_][\w -]{{0,40}}::|[ \t]#\w)[^\n]){{0,160}})"
    rf"|[🆔⛔🏁]\ufe0f? ?[\w,-]{{1,40}}|[🔺⏫🔼🔽⏬]\ufe0f?|{_FIELD}"
    rf"|@\{{(?P<card>{_DAY})[^{{}}\n]*\}}|@\[\[(?P<linked>{_DAY})\]\]|@@\{{[^{{}}\n]{{1,20}}\}}"
    rf"|(?<!\S)(?P<name>due|scheduled|start|t|rec|id):(?P<said>\s?{_DAY}|[^\s:]\S*)"
    rf"|(?P<plan>SCHEDULED|DEADLINE|CLOSED): ?[<\[](?P<planned>{_DAY})(?P<rest>[^>\]\n]*)[>\]])"
)
_KEYS = {"rec": "repeats", "repeat": "repeats", "t": "start"}
_NOT_PLANNED = frozenset(("start", "closed", "cancelled", "created", "completion", "done"))
_REPEATER = re.compile(r"[.+]?\+\d+[hdwmy]")  # of org
PLACEHOLDER = re.compile(r"\{\{[^{}\n]*\}\}|<%[^\n]*?%>")  # of a template


def read_state(box: str) -> State:
    """Returns the state of a box by its sign, `x` in `[x]`; "" for a letter or a number."""
    if box in "xX☑☒✅":
        return "done"
    return "cancelled" if box in "-~" else "" if box.isalnum() or box in "\"'“”" else "open"


def read_marks(text: str) -> list[tuple[str, str]]:
    """Returns the marks of a task: ("due", "2026-11-30"), ("repeats", "every week on Monday"), and fields."""
    return [fact for mark in _MARK.finditer(text) for fact in _read(mark)]


def drop_marks(text: str) -> str:
    """Returns the text without marks."""
    return _MARK.sub("", text)


def drop_other_days(text: str) -> str:
    """Returns the text without the days on which a task was created or done or may start."""
    return _MARK.sub(lambda mark: "" if any(key in _NOT_PLANNED for key, _ in _read(mark)) else mark[0], text)


def _read(mark: re.Match[str]) -> list[tuple[str, str]]:
    if mark["day"]:
        return [(_DATED[mark["sign"]], mark["day"])]
    if rule := (mark["rule"] or "").strip():
        return [("repeats", rule)]
    if mark["key"]:
        key = mark["key"].strip()
        return [(_KEYS.get(key.casefold(), key), mark["value"].strip())]
    if day := mark["card"] or mark["linked"]:
        return [("due", day)]
    if mark["name"]:
        return [] if mark["name"] == "id" else [(_KEYS.get(mark["name"], mark["name"]), mark["said"].strip())]
    if not mark["plan"]:
        return []
    again = _REPEATER.search(mark["rest"])
    return [(mark["plan"].lower(), mark["planned"]), *([("repeats", again[0])] if again else [])]


FENCE = re.compile(r"[ \t]*+(?:```|~~~)")


@lru_cache(maxsize=256)
def blank_fences(text: str) -> str:
    """Returns the text with spaces in place of fenced blocks; no character moves."""
    if "```" not in text and "~~~" not in text:
        return text
    lines, is_fenced = [], False
    for line in text.split("\n"):
        is_fence = FENCE.match(line) is not None
        lines.append(" " * len(line) if is_fence or is_fenced else line)
        is_fenced ^= is_fence
    return "\n".join(lines)
