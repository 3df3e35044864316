"""Attributes an episode's lines and sentences to speakers, without code, quotations and a machine's answers.

An assistant's words are not the person's knowledge: they may be an answer of this very memory, and would return as a
new fact. Spans lie in the text, in order. Every pattern is tried once a line and cannot backtrack further than its
line's marks, so the work is linear in the length of the text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from memory.facts.extraction import OWNER
from memory.text.languages import alternatives
from memory.text.markup import FENCE
from memory.text.sentences import sentences

Span = tuple[int, int]

MACHINE_SPEAKERS = frozenset(
    "assistant memory palimpsest ai bot chatbot system tool function model chatgpt gpt copilot gemini llm".split()
)
# In a text without a speaker; the others may be keys, as in "Memory: 16 GB".
_TRANSCRIPT_MACHINES = MACHINE_SPEAKERS - {"memory", "function", "chatbot", "llm"} | {"claude"}
_KNOWN_PEOPLE = frozenset("user human me you owner".split())  # who need no introduction
# Who is nothing but a speaker: "Owner: me" and "Model: Corolla" may be fields of a note.
_CHATTING_PEOPLE, _CHATTING_MACHINES = _KNOWN_PEOPLE - {"owner"}, _TRANSCRIPT_MACHINES - {"system", "tool", "model"}
_OWNERS = frozenset("user me human owner i".split())

_LABEL = re.compile(r"^([^\n:]{1,60}):[*_]{0,2} ", re.MULTILINE)
_MARKS = re.compile(
    r"[ \t]*+(?P<quote>(?:>[ \t]?)++)?+(?P<heading>#{1,6}[ \t]++)?+"
    r"(?P<bullet>(?:[-*+•–](?=\s)|\d{1,3}[.)](?=\s))[ \t]*+)?+"
    r"(?P<box>(?:\[(?:[xX]|[^\w\[\]\n])\][ \t]|[☐⬜☑☒])[ \t]*+)?+"
)
_TURN = re.compile(r"([^\W\d_][^\s:]{0,30}+(?: [^\s:]{1,30}+){0,3}+):[ \t]")
_QUOTED_MAIL = re.compile(r"(?:On .{4,120} wrote:|-{3,}+ ?(?:Original Message|Forwarded message).{0,20})\s*+$")
_HEADER = re.compile(r"[A-Z][\w-]{1,40}:(?: |$)")


@dataclass(frozen=True, slots=True)
class Line:
    """A line's words, without its marks. `box`: the mark in its checkbox. `own`: `speaker` says it in their own name,
    so it is not code, quotation or a machine's answer. `turn`: it belongs to a chat. `chapter`, `section`: the last
    heading of the first level above it, and of a lower level under that."""

    start: int
    end: int
    speaker: str
    heading: int = 0
    bullet: bool = False
    box: str = ""
    own: bool = True
    section: str = ""
    turn: bool = False
    chapter: str = ""
    is_indented: bool = False


@dataclass(frozen=True, slots=True)
class PassageText:
    """An episode's text in parts: `lines` with words; `sentences` of prose that a speaker says in their own name, each
    with its line."""

    text: str
    lines: tuple[Line, ...]
    sentences: tuple[tuple[int, int, Line], ...]


def passage(
    text: str,
    speaker: str | None,
    properties: Mapping[str, Any],
    first: bool,
    chat: bool = False,
    spans: Sequence[Span] | None = None,
) -> PassageText:
    """Splits the text, at `spans` if its sentences are known. `speaker` is "I", by default the owner. In a `chat` the
    speaker of a turn is, and with a machine the person who asks; in a text by another person no turn is the owner's.
    `first`: the text may begin with front matter or a mail's headers."""
    begin = _body_start(text, properties) if first else 0
    lines = tuple(_lines(text, begin, speaker or OWNER, chat, foreign=bool(speaker) and not chat))
    return PassageText(text, lines, tuple(_sentences(text, lines, sentences(text) if spans is None else spans)))


def is_chat(text: str) -> bool:
    """Whether a text consists of turns of a person and a machine: its first line names the speaker, or lines of both
    do."""
    opening = _TURN.match(text)
    if opening is not None and _role(opening[1]):
        return True
    labels = {label[1].strip("*_ ").casefold() for label in _LABEL.finditer(text)}
    return not labels.isdisjoint(_CHATTING_PEOPLE) and not labels.isdisjoint(_CHATTING_MACHINES)


def is_machine(speaker: str) -> bool:
    """Whether a speaker's name belongs to a machine."""
    return " ".join(speaker.split()).casefold() in MACHINE_SPEAKERS


def machine_spans(text: str, speaker: str | None = None) -> list[Span]:
    """Returns the spans [start, end) of a chat's text by a machine; `speaker`: of the whole text, if it has one. A turn
    begins in a line "Speaker: ...", but so may a line within one. The first label of a text is a speaker's, and so are
    the labels above the first turn of a machine; from there on only these and well-known labels end a turn."""
    if speaker is not None and is_machine(speaker):
        return [(0, len(text))]
    spans: list[Span] = []
    people = set(_KNOWN_PEOPLE)
    begun: int | None = None
    for label in _LABEL.finditer(text):
        name = label[1].strip("*_ ").casefold()
        if is_machine(name) or (speaker is None and _role(name) == "machine"):
            begun = label.start() if begun is None else begun
        elif begun is None:
            people.add(name)
        elif name in people:
            spans.append((begun, label.start()))
            begun = None
    if begun is not None:
        spans.append((begun, len(text)))
    return spans


def read_lines(text: str) -> Iterator[Line]:
    """Yields the lines with words of a whole note."""
    return _lines(text, _body_start(text, {}), OWNER, False)


def order_spans(text: str) -> list[Span]:
    """Returns the spans [start, end) with orders to a program that reads the text, each from the sentence with the
    order to the end of its list item or paragraph: an attacker may have written them, and they are no facts about the
    owner."""
    orders = [*_orders().finditer(text)]
    inside = sentences(text) if orders else []
    spans = []
    for order in orders:
        start = next((begin for begin, end in inside if begin <= order.end() <= end), order.start())
        line = _MARKS.match(text, text.rfind("\n", 0, order.end()) + 1)
        end = text.find("\n" if line is not None and line["bullet"] else "\n\n", order.end())
        spans.append((start, len(text) if end < 0 else end))
    return spans


@cache
def _orders() -> re.Pattern[str]:
    return re.compile(alternatives("facts", "orders", "text"), re.IGNORECASE | re.MULTILINE)


def _line_spans(text: str, start: int) -> Iterator[Span]:
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 1


def _body_start(text: str, properties: Mapping[str, Any]) -> int:
    """Returns the start of the body, after front matter or a mail's headers."""
    if text.startswith("---\n"):
        for start, end in _line_spans(text, 4):
            if text[start:end].strip() in ("---", "..."):
                return end + 1
        return len(text) + 1
    if "from" in properties and _HEADER.match(text):
        return next((start for start, end in _line_spans(text, 0) if not _HEADER.match(text, start, end)), len(text))
    return 0


def _lines(text: str, begin: int, speaker: str, chat: bool, foreign: bool = False) -> Iterator[Line]:
    """Yields the lines with words from `begin` on; a quoted mail ends the text. In a `foreign` text no line is the
    owner's."""
    roles = is_chat(text)
    turns = chat or roles
    fenced, own, section, chapter = False, True, "", ""
    for start, after in _line_spans(text, begin):
        if FENCE.match(text, start, after):
            fenced = not fenced
            continue
        marks = _MARKS.match(text, start, after)
        assert marks is not None  # every part of it is optional
        words, end = marks.end(), start + len(text[start:after].rstrip())
        if words >= end:
            continue
        if _QUOTED_MAIL.match(text, words, after):
            return
        turn = _TURN.match(text, start, after) if turns else None
        role = _role(turn[1]) if turn else ""
        if turn and (role or (not roles and turn[1][0].isupper())):
            own = role != "machine" and not (foreign and role)
            speaker = OWNER if role else turn[1]
            words, section = turn.end(), ""
        heading = 0 if fenced else len((marks["heading"] or "").strip())
        if heading:
            title = text[words:end].strip("# ")
            chapter, section = (chapter, title) if heading > 1 else (title, "")
        box = (marks["box"] or "").removeprefix("[")[:1]
        says = own and not fenced and not marks["quote"]
        bullet, indented = marks["bullet"] is not None, text[start].isspace()
        yield Line(words, end, speaker, heading, bullet, box, says, section, turns, chapter, indented)


def _role(name: str) -> str:
    lower = name.lower()
    return "owner" if lower in _OWNERS else "machine" if lower in _TRANSCRIPT_MACHINES else ""


def _sentences(text: str, lines: tuple[Line, ...], spans: Sequence[Span]) -> Iterator[tuple[int, int, Line]]:
    """Yields the sentences of prose, without headings and rows of tables. A sentence begins with its line's words,
    after a speaker's name."""
    place = 0
    for start, end in spans:
        while place < len(lines) and lines[place].end <= start:
            place += 1
        if place == len(lines):
            return
        line = lines[place]
        if line.heading or not line.own or text[line.start] == "|" or (start < line.start and end <= line.start):
            continue
        yield max(start, line.start), end, line
