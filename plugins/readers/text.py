"""Plain text, and chats that messengers export as such: a line for each message, with its day, minute and writer.

12/04/2026, 18:03 - Anna: text              WhatsApp on Android
[12.04.26, 18:03:11] Anna: text             WhatsApp on an iPhone, Signal's exporters
"""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from memory.nouns import Document, Turn
from memory.time.dates import with_local_zone
from plugins.hookspecs import hookimpl
from plugins.readers import MIB, Reader
from plugins.readers.decode import text_of

LEAST = 2  # messages of a chat
MOST = 0.5  # share of the lines that hold anything which must be messages; the others go on with one

_DAY = r"(?P<a>\d{1,4})(?P<mark>[./-])(?P<b>\d{1,2})(?P=mark)(?P<c>\d{4}|\d{1,2})"
_CLOCK = r"(?P<h>\d{1,2})[:.](?P<min>\d\d)(?:[:.](?P<s>\d\d))?(?:[ \u00a0\u202f]?(?P<half>[ap])\.?[ \u00a0]?m\.?)?"
_HIDDEN = "[\u200e\u200f\u202a\ufeff]{0,3}"
_HEAD = re.compile(
    rf"{_HIDDEN}(?P<open>\[)?{_DAY},? {_CLOCK}(?(open)\] | [-–] ){_HIDDEN}"
    r"(?:(?P<speaker>[^:\n]{1,60}): ?(?P<text>.*)|(?P<system>.*))$",
    re.IGNORECASE,
)
_NOTHING_SAID = re.compile(
    rf"{_HIDDEN}(?:<[^<>]{{3,80}}>|(?:image|video|audio|sticker|gif|document|contact card) omitted"
    r"|[^\n]{1,80}\.\w{3,4} \([^()]{3,40}\))$",
    re.IGNORECASE,
)
_LEVELS = frozenset("debug info notice warn warning error critical fatal trace".split())  # who "speaks" in a log


def read(path: Path, data: bytes) -> list[Document]:
    text = text_of(data)
    turns = turns_of(text)
    if turns:
        return [Document(uri="", turns=turns, at=turns[0].at)]
    return [Document(uri="", text=text)]


def turns_of(text: str) -> tuple[Turn, ...]:
    """The messages; none if it is no such chat, or nobody can tell its days from its months. What the messenger itself
    says ("Anna left") and pictures that are not there are left out."""
    lines = text.split("\n")
    filled = [line for line in lines if line.strip()]
    if not filled or _HEAD.match(filled[0]) is None:
        return ()
    heads = [(number, head) for number, line in enumerate(lines) if (head := _HEAD.match(line)) is not None]
    spoken = [head["speaker"].strip().casefold() for _, head in heads if head["speaker"]]
    if len(spoken) < LEAST or len(heads) < MOST * len(filled) or not _LEVELS.isdisjoint(spoken):
        return ()
    times = _times([head for _, head in heads])
    if times is None:
        return ()
    ends = [*(number for number, _ in heads[1:]), len(lines)]
    turns = []
    for (number, head), at, end in zip(heads, times, ends, strict=True):
        if head["speaker"] is None:
            continue
        said = "\n".join([head["text"], *lines[number + 1 : end]]).strip()
        if said and not _NOTHING_SAID.match(said):
            turns.append(Turn(head["speaker"].strip(), said, at))
    return tuple(turns)


def _times(heads: Sequence[re.Match[str]]) -> list[datetime] | None:
    """When each message was written, with the day before the month or behind it, as all of them allow; of two orders
    that are possible the one in which no message is older than the one before it, if that holds for one only. Days with
    dots have the day first. None if it stays open."""
    read = {order: found for order in ("dmy", "mdy") if (found := _read(heads, order)) is not None}
    if len(read) == 2 and read["dmy"] != read["mdy"]:
        in_order = [order for order, times in read.items() if all(a <= b for a, b in pairwise(times))]
        dotted = all(head["mark"] == "." for head in heads)
        if len(in_order) != 1 and not dotted:
            return None
        return read["dmy" if dotted else in_order[0]]
    return next(iter(read.values()), None)


def _read(heads: Sequence[re.Match[str]], order: str) -> list[datetime] | None:
    try:
        return [_moment(head, order) for head in heads]
    except (ValueError, OverflowError):
        return None


def _moment(head: re.Match[str], order: str) -> datetime:
    """Raises ValueError if there is no such day or minute."""
    first, second, third = int(head["a"]), int(head["b"]), int(head["c"])
    if len(head["a"]) > 2:
        year, month, day = first, second, third
    else:
        day, month = (first, second) if order == "dmy" else (second, first)
        year = third if len(head["c"]) > 2 else 2000 + third
    hour = int(head["h"])
    if head["half"]:
        hour = hour % 12 + (12 if head["half"] in "pP" else 0)
    return with_local_zone(datetime(year, month, day, hour, int(head["min"]), int(head["s"] or 0)))


@hookimpl
def register_readers(register: Callable[[Reader], None]) -> None:
    suffixes = (".txt", ".text", ".log", ".rst", ".adoc", ".asciidoc")
    text = "Plain text, and chats as WhatsApp exports them"
    register(Reader("text", suffixes, text, read, dates_parts=True, version=4))
    unnamed = "Plain text in a file without a suffix, as README or TODO"
    register(Reader("unnamed", ("",), unnamed, read, MIB, dates_parts=True, version=4))
