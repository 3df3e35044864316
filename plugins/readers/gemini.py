"""What a person asked Gemini, as Google's Takeout has it among "My Activity", in JSON or, as it comes unasked, HTML.

There is one activity for each prompt, the newest first, and nothing that says which belong together: those with no long
pause between them are a conversation. Other products have activities of the same form; those are left out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from html import unescape
from typing import Any

from memory.nouns import Document, Turn
from memory.time.dates import full_dates
from plugins.readers import MIB, sign
from plugins.readers.html import convert
from plugins.readers.messages import clip, shorten, time_of

PAUSE = timedelta(minutes=30)
MAX_CELL = 8 * MIB  # characters of one activity of a page

_PRODUCT = re.compile(r"\b(?:Gemini|Bard)\b")
_ASKED = re.compile(r"(?:Prompted|Asked|Said|Branched|Answered)(?: with| Gemini| Bard)?:?[\s\u00a0]+")
_NOT_SAID = re.compile(
    "(?:Created|Used|Added|Gave|Selected|Shared|Deleted|Viewed|Visited|Searched|Edited|Pinned|Renamed|Exported|Updated"
    "|Listened)[\\s\u00a0]"
)
_ATTACHED = re.compile(r"\s*Attached \d+ files?\.?(?:\s*[-•] .*)?\s*$", re.DOTALL)
_CELL = '<div class="outer-cell'
_HEADER = re.compile(r'mdl-typography--title">(.*?)<', re.DOTALL)
_BODY = re.compile(r'mdl-typography--body-1">(.*)', re.DOTALL)
_END = '<div class="content-cell'  # of the body: the next one
_BREAK = re.compile(r"<br ?/?>|(?=<p\b)")
_ZONE = re.compile(r"(?:GMT|UTC)([+-]\d{1,2})(?::?(\d\d))?\s*$|\b([A-Z]{2,5})\s*$")
_ZONES = {  # hours from UTC, of names that are not used twice
    "UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "MEZ": 1, "MESZ": 2, "EET": 2, "EEST": 3,
    "MSK": 3, "EST": -5, "EDT": -4, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "AKST": -9, "AKDT": -8,
    "HST": -10, "BRT": -3, "ART": -3, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Activity:
    prompt: str
    answer: str  # "" where the export has none
    at: datetime | None


def is_activity(value: Any) -> bool:
    """Whether it has the shape of one, of whatever product."""
    return isinstance(value, Mapping) and {"header", "title", "time", "products"} <= value.keys()


def is_page(text: str) -> bool:
    """Whether it is a page of activities of Gemini, or its beginning with at least one."""
    return _CELL in text and any(_PRODUCT.search(header) for header in _HEADER.findall(text))


def read_activities(items: Iterable[Any]) -> Iterator[Document]:
    """The conversations in a list of activities, the newest first."""
    return _join(_from_json(item) for item in items)


def read_page(pieces: Iterable[str]) -> Iterator[Document]:
    """The conversations in a page of activities, which comes in pieces."""
    return _join(map(_from_html, _cells(pieces)))


def _join(activities: Iterable[_Activity | None]) -> Iterator[Document]:
    talk: list[_Activity] = []
    for activity in activities:
        if activity is None:
            continue
        if talk and not _is_near(activity.at, talk[-1].at):
            yield _conversation(talk)
            talk = []
        talk.append(activity)
    if talk:
        yield _conversation(talk)


def _is_near(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and other is not None and abs(one - other) <= PAUSE


def _conversation(newest_first: list[_Activity]) -> Document:
    turns: list[Turn] = []
    oldest_first = newest_first[::-1]
    for activity in sorted(oldest_first, key=lambda one: one.at.timestamp() if one.at else 0):
        turns.append(Turn("user", clip(activity.prompt), activity.at))
        if activity.answer:
            turns.append(Turn("assistant", clip(activity.answer), activity.at))
    title, at = shorten(turns[0].text), turns[0].at
    id = at.astimezone(UTC).isoformat(timespec="milliseconds") if at else title
    return sign(Document(id, turns=tuple(turns), title=title, conversation=title, at=at))


def _from_json(value: Any) -> _Activity | None:
    """None for what is no prompt: of other products, of what was clicked."""
    if not is_activity(value):
        return None
    products = value["products"] if isinstance(value["products"], list) else []
    if not any(_PRODUCT.search(str(name)) for name in (value["header"], *products)):
        return None
    items = value.get("safeHtmlItem")
    answers = [one.get("html") for one in items if isinstance(one, Mapping)] if isinstance(items, list) else []
    answer = "\n\n".join(_text(html) for html in answers if isinstance(html, str))
    return _activity(str(value["title"]), answer, time_of(value["time"]))


def _activity(title: str, answer: str, at: datetime | None) -> _Activity | None:
    """In a language that is not known here the words before the prompt stay; without an answer it is left out then."""
    asked = _ASKED.match(title)
    if _NOT_SAID.match(title) or not (asked or answer):
        return None
    prompt = _ATTACHED.sub("", title[asked.end() :] if asked else title).strip()
    return _Activity(prompt, answer.strip(), at) if prompt else None


def _cells(pieces: Iterable[str]) -> Iterator[str]:
    """What stands between the beginnings of two cells."""
    held = ""
    for piece in pieces:
        *whole, held = (held + piece).split(_CELL)
        yield from whole
        held = held if len(held) <= MAX_CELL else ""
    yield held


def _from_html(cell: str) -> _Activity | None:
    header, body = _HEADER.search(cell), _BODY.search(cell)
    if header is None or body is None or not _PRODUCT.search(header[1]):
        return None
    lines = _BREAK.split(body[1].partition(_END)[0])
    for number, line in enumerate(lines[1:], 1):
        if "<" not in line and (at := _moment(unescape(line).strip())) is not None:
            prompt = "\n".join(_text(one) for one in lines[:number])
            return _activity(prompt, _text("<br>".join(lines[number + 1 :])), at)
    return None


def _moment(line: str) -> datetime | None:
    """ "Mar 4, 2026, 10:05:06 AM CET"; in the zone of this machine if its own is not known."""
    found = next(full_dates(line), None)
    if found is None or found[0].start or ":" not in line:
        return None
    zone = _ZONE.search(line)
    if zone is None:
        return found[1]
    if zone[3] is not None:
        hours = _ZONES.get(zone[3])
        return found[1] if hours is None else found[1].replace(tzinfo=timezone(timedelta(hours=hours)))
    minutes = int(zone[2] or 0) * (-1 if zone[1].startswith("-") else 1)
    return found[1].replace(tzinfo=timezone(timedelta(hours=int(zone[1]), minutes=minutes)))


def _text(html: str) -> str:
    return convert(html).text.strip()
