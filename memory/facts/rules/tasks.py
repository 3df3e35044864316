"""Tasks, and fields within a line: checkboxes, todo.txt, outlines, the signs of Obsidian Tasks, `[key:: value]`."""

import re
from collections.abc import Iterator

from memory.facts.extraction import ExtractedRelation
from memory.facts.rules import phrases
from memory.facts.rules.passages import Line, Passage
from memory.text.words import TASK_DAYS, TASK_STATES

MAX_TASK_CHARS, MAX_ITEM_CHARS = 120, 80

HEADLINE = re.compile(rf"(?:#{{1,6}} )?(?P<word>{TASK_STATES}):? (?P<task>\S.*)")  # outlines
PLANNED = re.compile(rf"\s*(?P<key>{TASK_DAYS}): ?[<\[](?P<date>\d{{4}}-\d\d-\d\d)")
_STATES = {"DONE": "done", "CANCELLED": "dropped", "CANCELED": "dropped"}  # the others are open
_DONE = re.compile(r"x \d{4}-\d\d-\d\d (?:\d{4}-\d\d-\d\d )?(?P<task>\S.*)")
_OPEN = re.compile(r"\([A-Z]\) (?:\d{4}-\d\d-\d\d )?(?P<task>\S.*)")
_MARK = re.compile(r"\s(?:[+@][\w/-]+|\b(?:due|t|rec|id):[^\s:]\S*)")
_DUE = re.compile(r"\bdue:(?P<date>\d{4}-\d\d-\d\d)")
_SIGNS = {"📅": "due", "⏳": "scheduled", "🛫": "start", "✅": "closed", "❌": "cancelled", "➕": "created"}
_SIGN = re.compile(
    rf"\s*(?:(?P<sign>[{''.join(_SIGNS)}])\ufe0f? ?(?P<date>\d{{4}}-\d\d-\d\d)"
    r"|🔁\ufe0f? ?(?P<rule>[a-z][a-z\d ,]{0,60})|[🆔⛔🏁]\ufe0f? ?[\w,]{1,40}|[🔺⏫🔼🔽⏬]\ufe0f?)"
)
_TAGS = re.compile(r"^(?:#[\w/-]+\s+)+|(?:\s+#[\w/-]+)+\s*$")
_INLINE = re.compile(  # of Dataview
    r"\s*[\[(](?P<key>[^\W\d_][\w -]{0,40}):: ?"
    r"(?P<value>(?:\[\[[^\[\]\n]{1,120}\]\]|[^\[\]()\n]){1,160})[\])]"
)


def task_facts(passage: Passage) -> Iterator[ExtractedRelation]:
    """The states of the tasks of a passage, and when they are planned."""
    text, headline = passage.text, ""
    for line in passage.lines:
        if not line.own:
            continue
        start, state = line.start, ""
        if (planned := PLANNED.match(text, line.start, line.end)) is not None and headline:
            yield _make_relation(headline, planned["key"].lower(), planned["date"], planned.start("key"), line.end)
            continue
        headline = ""
        if line.heading:
            match = HEADLINE.match(text, line.start, line.end)
            if match is not None:
                start, state = match.start("task"), _STATES.get(match["word"], "open")
        elif line.box:
            state = "done" if line.box in "xX" else "dropped" if line.box in "~-" else "open"
        elif (match := _DONE.match(text, line.start, line.end)) is not None:
            start, state = match.start("task"), "done"
        elif (match := _OPEN.match(text, line.start, line.end)) is not None:
            start, state = match.start("task"), "open"
        if not state:
            continue
        task = _strip_marks(text[start : line.end])
        if 0 < len(task) <= MAX_TASK_CHARS:
            yield _make_relation(task, "status", state, start, line.end)
            headline = task
            for predicate, value in _find_plans(text, start, line.end):
                yield _make_relation(task, predicate, value, start, line.end)


def _find_plans(text: str, start: int, end: int) -> Iterator[tuple[str, str]]:
    """What a task says of when it is to be done, and in fields."""
    if due := _DUE.search(text, start, end):
        yield "due", due["date"]
    for sign in _SIGN.finditer(text, start, end):
        if sign["date"]:
            yield _SIGNS[sign["sign"]], sign["date"]
        elif sign["rule"]:
            yield "repeats", sign["rule"].strip()
    for field in _INLINE.finditer(text, start, end):
        yield field["key"].strip(), phrases.clean(field["value"])


def inline_facts(passage: Passage, topic: str) -> Iterator[ExtractedRelation]:
    """The fields within the lines of a passage about `topic`. Those of an item of a list are the item's."""
    for line in passage.lines:
        if line.own and not line.box:
            yield from _read_line(passage.text, line, topic)


def _read_line(text: str, line: Line, topic: str) -> Iterator[ExtractedRelation]:
    if text.find(":: ", line.start, line.end) < 0:
        return
    item = _strip_marks(text[line.start : line.end]) if line.bullet else ""
    subject = item if 0 < len(item) <= MAX_ITEM_CHARS else "" if item else topic
    if not subject:
        return
    for field in _INLINE.finditer(text, line.start, line.end):
        if value := phrases.clean(field["value"]):
            yield _make_relation(subject, field["key"].strip(), value, *field.span())


def _strip_marks(said: str) -> str:
    return phrases.clean(_TAGS.sub("", _MARK.sub("", _INLINE.sub("", _SIGN.sub("", said)))))


def _make_relation(subject: str, predicate: str, value: str, start: int, end: int) -> ExtractedRelation:
    return ExtractedRelation(
        subject=subject, predicate=predicate, object=value, start=start, end=end, by_place=True, single=True
    )
