"""Valid time of a statement: from when on it holds, by the words of its sentence: "from 1 November", "since March".

Only what the sentence itself introduces as a beginning counts, or a day on which a change is said to have happened. A
date without a year is the one nearest to when it was written, behind "since" the last one. Nothing is guessed: without
such words the answer is None. A line of a log, which begins with its day, is from then.
"""

from __future__ import annotations

import re
from datetime import datetime

from memory.time.dates import date_at
from memory.time.timex import Tense, find_timexes, fold, is_relative, may_name_time, narrow, signal

_LOGGED = re.compile(r"\W{0,4}(?=\d{4}-\d\d-\d\d(?:\*{0,2}:| [–—-]+ ))")


def valid_from(sentence: str, at: datetime | None, happened: bool = False) -> datetime | None:
    """When what `sentence`, written at `at`, says began to hold; at midnight where it was written.

    `happened`: it reports a change, so that also "on Friday" and "in May" are its time.
    """
    text = fold(sentence)
    if at is None or not may_name_time(text):
        return None
    looks: list[tuple[str, Tense]] = [("begun", "past"), ("begin", ""), ("begin", "present")]
    try:
        first = _first(text, at, looks)
        if first is None and (logged := _LOGGED.match(text)) is not None and (day := date_at(text, logged.end())):
            first = datetime(day.year or 0, day.month or 0, day.day or 0)
        if first is None and happened:
            first = _first(text, at, [("on", ""), ("on", "past")])
    except (ValueError, OverflowError):  # 31 February; the ends of time
        return None
    return first and first.replace(tzinfo=at.tzinfo)


def _first(text: str, at: datetime, looks: list[tuple[str, Tense]]) -> datetime | None:
    """The begin of the first time behind a signal, with the tense in which what comes again is meant there."""
    for kind, tense in looks:
        anywhere, right_behind = signal(kind)
        if anywhere.search(text) is None:
            continue
        for base in find_timexes(text, at.replace(tzinfo=None), tense, short_names=True):
            base = narrow(text, base)
            if right_behind.search(text, 0, base.start) or (kind == "on" and is_relative(text, base)):
                return base.span[0]
    return None
