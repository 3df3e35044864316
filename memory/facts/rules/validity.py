"""The valid time of a field's value, as its line states it: "640 a month since March", "Elm Street until 3 May, Oak
Lane since"."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from memory.facts.rules.phrases import Span, trim
from memory.time.dates import with_local_zone
from memory.time.expressions import narrow, signal
from memory.time.timex import Tense, find_timexes, fold, is_relative, may_name_time

_SEPARATOR = re.compile(r"[,;]\s+|\s[–—-]\s|\s?[()]\s?")
_BEGINS: tuple[tuple[str, Tense], ...] = (("begun", "past"), ("begin", ""), ("begin", "present"))
_ENDS: tuple[tuple[str, Tense], ...] = (("end", ""),)


class ValidValue(NamedTuple):
    """A value at [start, end) of a text, with the begin and end of its validity; None if not stated."""

    start: int
    end: int
    valid_from: datetime | None = None
    valid_to: datetime | None = None


class _Part(NamedTuple):
    """A part of a line between commas: the span of its words without its time, and that time. `is_open`: it ends with a
    word such as "since", and begins at the end of the part before it."""

    start: int
    end: int
    valid_from: datetime | None
    valid_to: datetime | None
    is_open: bool


def read_values(text: str, start: int, end: int, written: datetime | None) -> list[ValidValue]:
    """Returns the values of a line's [start, end). If each part states its valid time, each is a value. If only one
    does, the value is the whole without that time. A line that cannot be split so is one value, without times."""
    whole = ValidValue(*trim(text, start, end))
    if written is None or not may_name_time(fold(text[start:end])):
        return [whole]
    try:
        parts = [_read_part(text, *span, written) for span in _split(text, start, end)]
    except (ValueError, OverflowError):  # 31 February; the ends of time
        return [whole]
    timed = [part for part in parts if part.valid_from or part.valid_to or part.is_open]
    if len(timed) == len(parts) > 1 and all(part.start < part.end for part in parts):
        values = []
        before: datetime | None = None
        for part in parts:
            values.append(ValidValue(part.start, part.end, before if part.is_open else part.valid_from, part.valid_to))
            before = part.valid_to
        return values
    if len(timed) == 1 and timed[0] in (parts[0], parts[-1]) and not timed[0].is_open:
        part = timed[0]
        others = [other for other in parts if other is not part]
        if part.start < part.end and others:  # the time belongs to some of the words only
            return [whole]
        first = part.start if not others else others[0].start
        last = part.end if not others else others[-1].end
        return [ValidValue(first, last, part.valid_from, part.valid_to)]
    return [whole]


def read_begin(sentence: str, written: datetime | None) -> datetime | None:
    """Returns the stated begin of a sentence: "since March", "from 1 May", "on Friday"; None without one."""
    words = fold(sentence)
    if written is None or not may_name_time(words):
        return None
    try:
        for kind, tense in (*_BEGINS, ("on", ""), ("on", "past")):
            before = signal(kind)[1]
            for timex in find_timexes(words, written.replace(tzinfo=None), tense, short_names=True):
                base = narrow(words, timex)
                if before.search(words, 0, base.start) or (kind == "on" and is_relative(words, base)):
                    return with_local_zone(base.span[0])
    except (ValueError, OverflowError):  # 31 February; the ends of time
        pass
    return None


def _split(text: str, start: int, end: int) -> Iterator[Span]:
    for mark in _SEPARATOR.finditer(text, start, end):
        if text[start : mark.start()].strip():
            yield start, mark.start()
        start = mark.end()
    if text[start:end].strip():
        yield start, end


def _read_part(text: str, start: int, end: int, written: datetime) -> _Part:
    words = fold(text[start:end])
    for is_end, looks in ((True, _ENDS), (False, _BEGINS)):
        for kind, tense in looks:
            anywhere, before = signal(kind)
            if (bare := anywhere.search(words)) is None:
                continue
            if kind == "begun" and not words[bare.end() :].strip():
                return _Part(*trim(text, start, start + bare.start()), None, None, True)
            for timex in find_timexes(words, written.replace(tzinfo=None), tense, short_names=True):
                base = narrow(words, timex)
                introduced = before.search(words, 0, base.start)
                if introduced is None:
                    continue
                rest = (start, start + introduced.start()), (start + base.end, end)
                spans = [trim(text, *span) for span in rest]
                kept = [span for span in spans if span[0] < span[1]]
                if len(kept) > 1:  # words on both sides: no part of it is the value alone
                    continue
                last = base.unit == "day" and is_end  # "until 3 May" includes that day
                day = with_local_zone(base.span[1 if last else 0])
                span = kept[0] if kept else (start, start)
                return _Part(*span, None if is_end else day, day if is_end else None, False)
    return _Part(*trim(text, start, end), None, None, False)
