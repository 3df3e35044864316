"""Tasks, and fields within a line: checkboxes, todo.txt, outlines, the marks of tasks, `[key:: value]`."""

import re
from collections.abc import Iterator

from memory.facts.extraction import ExtractedRelation
from memory.facts.rules import phrases
from memory.facts.rules.passages import Line, PassageText
from memory.text.markup import PLACEHOLDER, drop_marks, read_marks, read_state
from memory.text.words import TASK_DAYS, TASK_STATES

MAX_TASK_CHARS, MAX_ITEM_CHARS = 120, 80

HEADLINE = re.compile(rf"(?:#{{1,6}} )?(?P<word>{TASK_STATES}):? (?P<task>\S.*)")  # outlines
PLANNED = re.compile(rf"\s*(?P<key>{TASK_DAYS}): ?[<\[](?P<date>\d{{4}}-\d\d-\d\d)")
_STATES = {"DONE": "done", "CANCELLED": "dropped", "CANCELED": "dropped", "cancelled": "dropped"}  # others are open
_DONE = re.compile(r"x \d{4}-\d\d-\d\d (?:\d{4}-\d\d-\d\d )?(?P<task>\S.*)")
_OPEN = re.compile(r"\([A-Z]\) (?:\d{4}-\d\d-\d\d )?(?P<task>\S.*)")
_LABELS = re.compile(r"\s[+@][\w/-]+|^(?:#[\w/-]+\s+)+|(?:\s+#[\w/-]+)+\s*$")  # project, context, tags


def task_facts(passage: PassageText) -> Iterator[ExtractedRelation]:
    """Yields the states of the tasks of a passage, and their planned days."""
    text, headline = passage.text, ""
    for line in passage.lines:
        if not line.own or PLACEHOLDER.search(text, line.start, line.end):
            continue
        if headline and PLANNED.match(text, line.start, line.end):
            for key, value in read_marks(text[line.start : line.end]):
                yield _make_relation(headline, key, value, line.start, line.end)
            continue
        headline = ""
        start, state = _read_state(text, line)
        task = _strip_marks(text[start : line.end])
        if state and 0 < len(task) <= MAX_TASK_CHARS:
            headline = task
            for key, value in (("status", state), *read_marks(text[start : line.end])):
                yield _make_relation(task, key, phrases.clean(value), start, line.end)


def _read_state(text: str, line: Line) -> tuple[int, str]:
    """Returns the start of a task's words, and its state; "" if the line is no task."""
    if line.heading:
        match = HEADLINE.match(text, line.start, line.end)
        return (match.start("task"), _STATES.get(match["word"], "open")) if match else (line.start, "")
    if line.box:
        state = read_state(line.box)
        return line.start, _STATES.get(state, state)
    for pattern, state in ((_DONE, "done"), (_OPEN, "open")) if not line.is_indented else ():
        if match := pattern.match(text, line.start, line.end):
            return match.start("task"), state
    return line.start, ""


def inline_facts(passage: PassageText, topic: str) -> Iterator[ExtractedRelation]:
    """Yields the fields within the lines of a passage about `topic`. Fields in an item of a list belong to the item."""
    for line in passage.lines:
        if line.own and not line.box and passage.text.find(":: ", line.start, line.end) >= 0:
            yield from _read_line(passage.text, line, topic)


def _read_line(text: str, line: Line, topic: str) -> Iterator[ExtractedRelation]:
    words = text[line.start : line.end]
    item = _strip_marks(words) if line.bullet else ""
    subject = item if 0 < len(item) <= MAX_ITEM_CHARS else "" if item else topic
    for key, text in read_marks(words) if subject and not PLACEHOLDER.search(words) else ():
        if value := phrases.clean(text):
            yield _make_relation(subject, key, value, line.start, line.end)


def _strip_marks(words: str) -> str:
    return phrases.clean(_LABELS.sub("", drop_marks(words)))


def _make_relation(subject: str, predicate: str, value: str, start: int, end: int) -> ExtractedRelation:
    return ExtractedRelation(
        subject=subject, predicate=predicate, object=value, start=start, end=end, by_place=True, single=True
    )
