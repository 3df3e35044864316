"""What of an episode's text is told by whom: its lines and sentences without code, quotations and others' words.

Invariant: spans lie in the text, in order. Every pattern here is tried once a line and cannot backtrack further than
its line's marks, so the work grows with the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory.facts.extraction import OWNER
from memory.text.sentences import sentences

Span = tuple[int, int]

_OWNERS = frozenset("user me human owner i".split())
_MACHINES = frozenset("assistant ai bot system model chatgpt gpt claude gemini copilot tool palimpsest".split())

_MARKS = re.compile(
    r"[ \t]*+(?P<quote>(?:>[ \t]?)++)?+(?P<heading>#{1,6}[ \t]++)?+"
    r"(?P<bullet>(?:[-*+•–](?=\s)|\d{1,3}[.)](?=\s))[ \t]*+)?+(?P<box>\[[ xX/~-]\][ \t]++)?+"
)
_FENCE = re.compile(r"[ \t]*+(?:```|~~~)")
_TURN = re.compile(r"([^\W\d_][^\s:]{0,30}+(?: [^\s:]{1,30}+){0,3}+):[ \t]")
_QUOTED_MAIL = re.compile(r"(?:On .{4,120} wrote:|-{3,}+ ?(?:Original Message|Forwarded message).{0,20})\s*+$")
_HEADER = re.compile(r"[A-Z][\w-]{1,40}:(?: |$)")


@dataclass(frozen=True, slots=True)
class Line:
    """A line's words, without its marks. `box` is what stands in its checkbox. `told`: whether its writer says it in
    their own name, which nobody does in code, in a quotation and in what a machine answered. `turn`: of a chat."""

    start: int
    end: int
    teller: str
    heading: int = 0
    bullet: bool = False
    box: str = ""
    told: bool = True
    section: str = ""
    turn: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """An episode's text, cut. `lines` hold words; `cut` are the sentences of those lines that somebody tells."""

    text: str
    lines: tuple[Line, ...]
    cut: tuple[tuple[int, int, Line], ...] = field(default=())


def passage(
    text: str,
    speaker: str | None,
    properties: Mapping[str, Any],
    first: bool,
    chat: bool = False,
    spans: Sequence[Span] | None = None,
) -> Passage:
    """Cuts the text, at `spans` if its sentences are known.

    `speaker` is who "I" is; without one it is the owner. In a `chat` it is whose turn it is, and with a machine the
    person who asks.
    """
    lines = tuple(_lines(text, speaker or OWNER, properties, first, chat))
    return Passage(text, lines, tuple(_sentences(text, lines, sentences(text) if spans is None else spans)))


def _lines(text: str, teller: str, properties: Mapping[str, Any], first: bool, chat: bool) -> Iterator[Line]:
    fenced = False
    skipping = ""  # what the lines before the text proper are: "front" matter or mail "head"
    if first and text.startswith("---\n"):
        skipping = "front"
    elif first and "from" in properties and text.startswith("From:"):
        skipping = "head"
    roles = is_chat(text)
    turns = chat or roles
    told, section, after = True, "", -1
    while after < len(text):
        start = after + 1
        after = text.find("\n", start)
        if after < 0:
            after = len(text)
        if skipping == "front":
            skipping = "" if start and text[start:after].strip() in ("---", "...") else "front"
            continue
        if skipping == "head":
            if _HEADER.match(text, start, after):
                continue
            skipping = ""
        if _FENCE.match(text, start, after):
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
            told = role != "machine"
            teller = turn[1] if not role else OWNER
            words, section = turn.end(), ""
        heading = len(marks["heading"].strip()) if marks["heading"] else 0
        if heading:
            section = text[words:end].strip("# ") if heading > 1 else ""
        box = marks["box"][1:2] if marks["box"] else ""
        is_told = told and not fenced and not marks["quote"]
        yield Line(words, end, teller, heading, marks["bullet"] is not None, box, is_told, section, turns)


def is_chat(text: str) -> bool:
    """Whether a text holds the turns of a person and a machine: its first line says whose it is."""
    opening = _TURN.match(text)
    return opening is not None and bool(_role(opening[1]))


def _role(name: str) -> str:
    lower = name.lower()
    return "owner" if lower in _OWNERS else "machine" if lower in _MACHINES else ""


def _sentences(text: str, lines: tuple[Line, ...], spans: Sequence[Span]) -> Iterator[tuple[int, int, Line]]:
    """The sentences that somebody tells in prose: no headings, no rows of tables. A sentence begins where its line's
    words do, behind a speaker's name."""
    place = 0
    for start, end in spans:
        while place < len(lines) and lines[place].end <= start:
            place += 1
        if place == len(lines):
            return
        line = lines[place]
        if line.heading or not line.told or text[line.start] == "|" or (start < line.start and end <= line.start):
            continue
        yield max(start, line.start), end, line
