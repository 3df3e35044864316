"""Turns: how they become text, which of them belong together, and what in that text a machine wrote.

What an assistant says is not what the person knows: it may have been answered from this very memory, and would come
back as a fact of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from memory.nouns import Turn

MACHINES = frozenset(
    "assistant memory palimpsest ai bot chatbot system tool function model chatgpt gpt copilot gemini llm".split()
)
PEOPLE = frozenset({"user", "human", "me", "you", "owner"})

_LABEL = re.compile(r"^([^\n:]{1,60}): ", re.MULTILINE)


def by_machine(text: str, speaker: str | None = None) -> list[tuple[int, int]]:
    """The spans [start, end) of a chat's text that a machine said; `speaker`: of all of it, if it has one.

    A turn begins in a line "Speaker: ...", but so may a line within one. The first label of a text is a speaker's, and
    so are the labels above the first turn of a machine; from there on only these, and those everybody knows, end it.
    """
    if speaker is not None and is_machine(speaker):
        return [(0, len(text))]
    spans: list[tuple[int, int]] = []
    people = set(PEOPLE)
    begun: int | None = None
    for label in _LABEL.finditer(text):
        name = label[1].strip().casefold()
        if is_machine(name):
            begun = label.start() if begun is None else begun
        elif begun is None:
            people.add(name)
        elif name in people:
            spans.append((begun, label.start()))
            begun = None
    if begun is not None:
        spans.append((begun, len(text)))
    return spans


def is_machine(speaker: str) -> bool:
    """Whether somebody called that is none."""
    return " ".join(speaker.split()).casefold() in MACHINES


def said(turn: Turn) -> str:
    """The turn as a line: "Speaker: words"."""
    speaker = " ".join(turn.speaker.split())
    return f"{speaker}: {turn.text.strip()}" if speaker else turn.text.strip()


def sessions(turns: Iterable[Turn], pause: timedelta) -> Iterator[list[Turn]]:
    """Turns between which there is no long pause and no midnight, as their clocks show it."""
    session: list[Turn] = []
    last: datetime | None = None
    for turn in turns:
        if session and turn.at and last and (abs(turn.at - last) > pause or turn.at.date() != last.date()):
            yield session
            session = []
        session.append(turn)
        last = turn.at or last
    if session:
        yield session
