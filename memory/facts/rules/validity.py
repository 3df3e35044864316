"""The valid time of a value or a sentence, as its words state it: "640 a month since March", "735 until 3 May"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from memory.facts.rules.phrases import trim
from memory.time.dates import with_local_zone
from memory.time.expressions import narrow, signal
from memory.time.timex import Tense, Timex, find_timexes, fold, is_relative, may_name_time

_Looks = Iterable[tuple[str, Tense]]
_BEGINS: _Looks = (("begun", "past"), ("begin", ""), ("begin", "present"))


class ValidValue(NamedTuple):
    """A value at [start, end) of a text, with the begin and end of its validity; None if not stated."""

    start: int
    end: int
    valid_from: datetime | None = None
    valid_to: datetime | None = None


def read_value(text: str, start: int, end: int, written: datetime | None) -> ValidValue:
    """Returns the value of a line's [start, end), without the time at its end."""
    words = fold(text[start:end])
    for kind, begin, base in _find_times(words, written, (("end", ""), *_BEGINS)):
        value = trim(text, start, start + begin)
        if value[0] < value[1] and not any(map(str.isalnum, words[base.end :])):
            if kind != "end":
                return ValidValue(*value, valid_from=with_local_zone(base.span[0]))
            last = base.span[1 if base.unit == "day" else 0]  # "until 3 May" includes that day
            return ValidValue(*value, valid_to=with_local_zone(last))
    return ValidValue(*trim(text, start, end))


def read_begin(sentence: str, written: datetime | None) -> datetime | None:
    """Returns the stated begin of a sentence: "since March", "from 1 May", "on Friday"; None without one."""
    words = fold(sentence)
    times = _find_times(words, written, (*_BEGINS, ("on", ""), ("on", "past")))
    return next((with_local_zone(base.span[0]) for *_, base in times), None)


def _find_times(words: str, written: datetime | None, looks: _Looks) -> Iterator[tuple[str, int, Timex]]:
    """Yields (kind of the signal word, its start, time) of the times in folded words that have such a word before them,
    or are "on" a day without one: "last Friday"."""
    if written is None or not may_name_time(words):
        return
    try:
        for kind, tense in looks:
            before = signal(kind)[1]
            for timex in find_timexes(words, written.replace(tzinfo=None), tense, short_names=True):
                base = narrow(words, timex)
                if introduced := before.search(words, 0, base.start):
                    yield kind, introduced.start(), base
                elif kind == "on" and is_relative(words, base):
                    yield kind, base.start, base
    except (ValueError, OverflowError):  # 31 February; the ends of time
        return
