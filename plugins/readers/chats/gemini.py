"""Prompts to Gemini in "My Activity" of Google Takeout, in JSON or in HTML, the default.

The export has one activity per prompt, newest first, without conversations: prompts without a long pause between them
form one. Activities of other products are skipped."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from html import unescape
from typing import Any

from memory.nouns import Document, Turn
from memory.time.dates import full_dates
from plugins.readers import MIB, sign
from plugins.readers.chats.messages import clip, shorten, time_of
from plugins.readers.common.html import convert

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
_END = '<div class="content-cell'  # the element after the body
_BREAK = re.compile(r"<br ?/?>|(?=<p\b)")
_ZONE = re.compile(r"(?:GMT|UTC)([+-]\d{1,2})(?::?(\d\d))?\s*$|\b([A-Z]{2,5})\s*$")
_ZONES = {  # hours from UTC, of unambiguous names
    "UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "MEZ": 1, "MESZ": 2, "EET": 2, "EEST": 3,
    "MSK": 3, "EST": -5, "EDT": -4, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "AKST": -9, "AKDT": -8,
    "HST": -10, "BRT": -3, "ART": -3, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Activity:
    prompt: str
    answer: str  # "" if the export has no answer
    at: datetime | None


def is_activity(value: Any) -> bool:
    """Whether a JSON value has the shape of an activity, of any product."""
    return isinstance(value, Mapping) and {"header", "title", "time", "products"} <= value.keys()


def is_page(text: str) -> bool:
    """Whether a text is a page of Gemini activities, or its start with at least one."""
    return _CELL in text and any(_PRODUCT.search(header) for header in _HEADER.findall(text))


def read_activities(items: Iterable[Any]) -> Iterator[Document]:
    """The conversations in a list of activities, newest first."""
    return _join_conversations(_parse_json(item) for item in items)


def read_page(pieces: Iterable[str]) -> Iterator[Document]:
    """The conversations in a page of activities, read in pieces."""
    return _join_conversations(map(_parse_html, _split_cells(pieces)))


def _join_conversations(activities: Iterable[_Activity | None]) -> Iterator[Document]:
    talk: list[_Activity] = []
    for activity in activities:
        if activity is None:
            continue
        if talk and not _is_near(activity.at, talk[-1].at):
            yield _make_conversation(talk)
            talk = []
        talk.append(activity)
    if talk:
        yield _make_conversation(talk)


def _is_near(first: datetime | None, second: datetime | None) -> bool:
    return first is not None and second is not None and abs(first - second) <= PAUSE


def _make_conversation(newest_first: list[_Activity]) -> Document:
    turns: list[Turn] = []
    oldest_first = newest_first[::-1]
    for activity in sorted(oldest_first, key=lambda entry: entry.at.timestamp() if entry.at else 0):
        turns.append(Turn("user", clip(activity.prompt), activity.at))
        if activity.answer:
            turns.append(Turn("assistant", clip(activity.answer), activity.at))
    title, at = shorten(turns[0].text), turns[0].at
    id = at.astimezone(UTC).isoformat(timespec="milliseconds") if at else title
    return sign(Document(id, turns=tuple(turns), title=title, conversation=title, at=at))


def _parse_json(value: Any) -> _Activity | None:
    """The activity in a JSON value; None for other products and for clicks."""
    if not is_activity(value):
        return None
    products = value["products"] if isinstance(value["products"], list) else []
    if not any(_PRODUCT.search(str(name)) for name in (value["header"], *products)):
        return None
    items = value.get("safeHtmlItem")
    answers = [item.get("html") for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []
    answer = "\n\n".join(_extract_text(html) for html in answers if isinstance(html, str))
    return _make_activity(str(value["title"]), answer, time_of(value["time"]))


def _make_activity(title: str, answer: str, at: datetime | None) -> _Activity | None:
    """The activity of a prompt. In an unknown language the words before the prompt stay, and a prompt without an answer
    is skipped."""
    asked = _ASKED.match(title)
    if _NOT_SAID.match(title) or not (asked or answer):
        return None
    prompt = _ATTACHED.sub("", title[asked.end() :] if asked else title).strip()
    return _Activity(prompt, answer.strip(), at) if prompt else None


def _split_cells(pieces: Iterable[str]) -> Iterator[str]:
    """The texts between the starts of two cells."""
    rest = ""
    for piece in pieces:
        *whole, rest = (rest + piece).split(_CELL)
        yield from whole
        rest = rest if len(rest) <= MAX_CELL else ""
    yield rest


def _parse_html(cell: str) -> _Activity | None:
    header, body = _HEADER.search(cell), _BODY.search(cell)
    if header is None or body is None or not _PRODUCT.search(header[1]):
        return None
    lines = _BREAK.split(body[1].partition(_END)[0])
    for number, line in enumerate(lines[1:], 1):
        if "<" not in line and (at := _parse_time(unescape(line).strip())) is not None:
            prompt = "\n".join(_extract_text(part) for part in lines[:number])
            return _make_activity(prompt, _extract_text("<br>".join(lines[number + 1 :])), at)
    return None


def _parse_time(line: str) -> datetime | None:
    """ "Mar 4, 2026, 10:05:06 AM CET"; local time if its zone is unknown."""
    day = next(full_dates(line), None)
    if day is None or day[0].start or ":" not in line:
        return None
    zone = _ZONE.search(line)
    if zone is None:
        return day[1]
    if zone[3] is not None:
        hours = _ZONES.get(zone[3])
        return day[1] if hours is None else day[1].replace(tzinfo=timezone(timedelta(hours=hours)))
    minutes = int(zone[2] or 0) * (-1 if zone[1].startswith("-") else 1)
    return day[1].replace(tzinfo=timezone(timedelta(hours=int(zone[1]), minutes=minutes)))


def _extract_text(html: str) -> str:
    return convert(html).text.strip()
