"""Chats that messengers export as text: a line for each message, with its day, minute and writer.

12/04/2026, 18:03 - Anna: text              WhatsApp on Android
[12.04.26, 18:03:11] Anna: text             WhatsApp on an iPhone, Signal's exporters
2026. 4. 12. 오후 6:03, Anna : text          the same in Korean; 2026/4/12 下午6:03 - Anna: text in Chinese
[18:03, 12/04/2026] Anna: text              copied out of WhatsApp
12-4-2026 at 18-03-11 - Anna: text          Element
"""

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from memory.nouns import Turn
from memory.time.dates import with_local_zone

LEAST = 2  # messages of a chat
MOST = 0.5  # minimum share of the filled lines that begin a message

_SPACE = "[ \u00a0\u202f]"
_MARK = "[\u200e\u200f]?"  # marks of the writing direction
_DAY = (
    rf"(?P<a>\d{{1,4}})(?P<mark>{_MARK}[./-]|\.{_SPACE}|年|년{_SPACE})(?P<b>\d{{1,2}})(?:(?P=mark)|月|월{_SPACE})"
    rf"(?P<c>\d{{4}}|\d{{1,2}})(?:\.(?=[ ,])|日|일|{_SPACE}г\.)?"
)
_HALF = {  # half of the day, by its name without dots and spaces
    "am": 0, "pm": 12, "a": 0, "p": 12, "上午": 0, "下午": 12, "오전": 0, "오후": 12, "午前": 0, "午後": 12,
    "ص": 0, "م": 12, "πμ": 0, "μμ": 12, "ap": 0, "ip": 12, "fm": 0, "em": 12, "de": 0, "du": 12, "öö": 0, "ös": 12,
}  # fmt: skip
_AFTER = "|".join(sorted((rf"{half[0]}\.?{_SPACE}?{half[1]}\.?" for half in _HALF if len(half) == 2), reverse=True))
_BEFORE = "上午|下午|오전|오후|午前|午後"
_CLOCK = (
    rf"(?:(?P<before>{_BEFORE}){_SPACE}?)?(?P<h>\d{{1,2}})(?P<colon>[:.-])(?P<min>\d\d)(?:(?P=colon)(?P<s>\d\d))?"
    rf"(?:{_SPACE}?(?P<after>{_AFTER}|ص|م))?"
)
_BETWEEN = rf"[,،]?{_SPACE}(?:(?:at|à|às|alle|um|kl\.|klo|в|la|o){_SPACE})?"  # between day and minute
_HIDDEN = "[\u200e\u200f\u202a\ufeff]{0,3}"
_SAID = r"(?:(?P<speaker>[^:\n]{1,60}): ?(?P<text>.*)|(?P<system>.*))$"
_DAY_FIRST = re.compile(
    rf"{_HIDDEN}(?P<open>\[)?{_DAY}{_BETWEEN}{_CLOCK}(?(open)\] |(?(before)(?: - |, )| [-–] )){_HIDDEN}{_SAID}",
    re.IGNORECASE,
)
_CLOCK_FIRST = re.compile(rf"{_HIDDEN}(?P<open>\[)?{_CLOCK}, {_DAY}(?(open)\] | [-–] ){_HIDDEN}{_SAID}", re.IGNORECASE)
_OMITTED = re.compile(
    rf"{_HIDDEN}(?:<[^<>]{{3,80}}>|(?:image|video|audio|sticker|gif|document|contact card) omitted"
    r"|[^\n]{1,80}\.\w{3,4} \([^()]{3,40}\))$",
    re.IGNORECASE,
)
_DELETED = re.compile(  # placeholder of a deleted message, or of one that Android could not write
    "null|this message was deleted|you deleted this message|diese nachricht wurde gelöscht"
    "|du hast diese nachricht gelöscht|se eliminó este mensaje|eliminaste este mensaje|ce message a été supprimé"
    "|vous avez supprimé ce message|questo messaggio è stato eliminato|hai eliminato questo messaggio"
    "|mensagem apagada|você apagou esta mensagem|dit bericht is verwijderd",
    re.IGNORECASE,
)
_EDITED = re.compile(  # after a message; on Android without a hidden mark
    r"\s*<[^<>\n]{3,60} (?:edited|bearbeitet|editó|modifié|modificato|editada|bewerkt)\.?>$", re.IGNORECASE
)
_BUDDHIST_YEARS = 543  # Thai years count from 543 BC
_NOTE = re.compile("\u200e<[^<>\n]{3,80}>\\s*")  # a note of an iPhone: an attachment, an edit
_LEVELS = frozenset("debug info notice warn warning error critical fatal trace".split())  # "speakers" of a log file


def turns_of(text: str, month: datetime | None = None) -> tuple[Turn, ...]:
    """Returns the messages of a chat, or () for another text or ambiguous dates. `month`, from the file name, can
    decide between day and month. Messages of the messenger ("Anna left") and missing pictures are omitted."""
    lines = text.split("\n")
    filled = [line for line in lines if line.strip()]
    head_of = next((form for form in (_DAY_FIRST, _CLOCK_FIRST) if filled and form.match(filled[0])), None)
    if head_of is None:
        return ()
    heads = [(number, head) for number, line in enumerate(lines) if (head := head_of.match(line)) is not None]
    spoken = [head["speaker"].strip().casefold() for _, head in heads if head["speaker"]]
    if len(spoken) < LEAST or len(heads) < MOST * len(filled) or not _LEVELS.isdisjoint(spoken):
        return ()
    times = _find_times([head for _, head in heads], month)
    if times is None:
        return ()
    ends = [*(number for number, _ in heads[1:]), len(lines)]
    turns = []
    for (number, head), at, end in zip(heads, times, ends, strict=True):
        if head["speaker"] is None:
            continue
        message = _read_message(head, lines[number + 1 : end])
        if message:
            turns.append(Turn(head["speaker"].strip(), message, at))
    return tuple(turns)


def _read_message(head: re.Match[str], others: Sequence[str]) -> str:
    """Returns the text of a message. An iPhone marks its own notes with a hidden character."""
    first = _NOTE.sub("", head["text"])
    is_own = bool(head["open"]) and first.startswith("\u200e")
    message = _EDITED.sub("", "\n".join([*([] if is_own else [first]), *others]).strip())
    return "" if _OMITTED.match(message) or _DELETED.fullmatch(message.rstrip(".")) else message


def _find_times(heads: Sequence[re.Match[str]], month: datetime | None) -> list[datetime] | None:
    """Returns the time of each message, or None if the order of day and month stays ambiguous.

    Of two possible orders, the one that sorts all messages, or puts all of them into `month`, if only one does. Days
    with dots are day first."""
    by_order = {order: times for order in ("dmy", "mdy") if (times := _parse_times(heads, order)) is not None}
    if len(by_order) < 2 or by_order["dmy"] == by_order["mdy"] or all(head["mark"].startswith(".") for head in heads):
        return next(iter(by_order.values()), None)
    in_order = [times for times in by_order.values() if all(a <= b for a, b in pairwise(times))]
    named = f"{month:%Y-%m}" if month else ""
    in_named_month = [times for times in in_order if all(f"{at:%Y-%m}" == named for at in times)]
    return next((candidates[0] for candidates in (in_order, in_named_month) if len(candidates) == 1), None)


def _parse_times(heads: Sequence[re.Match[str]], order: str) -> list[datetime] | None:
    try:
        return [_parse_time(head, order) for head in heads]
    except (ValueError, OverflowError):
        return None


def _parse_time(head: re.Match[str], order: str) -> datetime:
    """Raises ValueError for an invalid date or time."""
    first, second, third = int(head["a"]), int(head["b"]), int(head["c"])
    if len(head["a"]) > 2:
        year, month, day = first, second, third
    else:
        day, month = (first, second) if order == "dmy" else (second, first)
        year = third if len(head["c"]) > 2 else 2000 + third
    if year >= _BUDDHIST_YEARS + 1970:
        year -= _BUDDHIST_YEARS
    hour = int(head["h"])
    half = re.sub(rf"[.]|{_SPACE}", "", head["before"] or head["after"] or "").casefold()
    if half:
        hour = hour % 12 + _HALF[half]
    return with_local_zone(datetime(year, month, day, hour, int(head["min"]), int(head["s"] or 0)))
