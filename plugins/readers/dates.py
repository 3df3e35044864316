"""When a file is from: dates in headers, in running text and in names.

Only what a person wrote as a date counts, and nothing is guessed: 3/4/2024 is no date here, because half of the
readers would be wrong about it. A time without a zone is the machine's local time, a day is its midnight.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from email.utils import parsedate_to_datetime
from pathlib import Path

from memory.time.months import month_names, month_of

OPENING_LINES = 3  # lines with text that may carry the date of the whole
_LINE_CHARS = 300  # of each of them
_VALUE_CHARS = 100  # a longer value is prose, not a date
_YEARS = range(1900, 2100)

_MON = "(?P<mon>" + "|".join(sorted(month_names(), key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?P<y>(?:19|20)\d\d|['’]\d\d)(?!\d)"
_DAY = r"(?<!\d)(?P<d>\d{1,2})"
_TIME = (
    r"(?:(?P<sep>T|,?\s+(?:at\s+|um\s+|om\s+)?)(?P<h>\d{1,2}):(?P<min>\d\d)(?::(?P<s>\d\d)(?:[.,]\d{1,9})?)?(?!\d)"
    r"(?:\s?(?P<ap>[ap])\.?m\b\.?)?(?P<z>\s?Z\b|\s?UTC\b|\s?GMT\b|\s?[+-]\d\d:?\d\d(?!\d))?)?"
)
_I = re.IGNORECASE
_PROSE = tuple(
    re.compile(pattern + _TIME, _I)
    for pattern in (
        r"(?<![\d.])(?P<y>(?:19|20)\d\d)(?P<dash>[-/._])(?P<m>\d{1,2})(?P=dash)(?P<d>\d{1,2})(?!\.?\d)",
        rf"{_DAY}(?:st|nd|rd|th|er|\.|º|ª)?[\s-]*(?:of\s+|de\s+|di\s+)?{_MON},?(?:\s+de\s+|\s+del\s+|[\s-]*){_YEAR}",
        rf"(?<!\w){_MON}\s*(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+{_YEAR}",
        r"(?<![\d.])(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.\s?(?P<y>(?:19|20)\d\d)(?!\.?\d)",
        r"(?<![\d.])(?P<d>\d\d)\.(?P<m>\d\d)\.(?P<y>\d\d)(?![\d.])",
        r"(?<![\d/])(?P<d>\d{1,2})(?P<slash>[/-])(?P<m>\d{1,2})(?P=slash)(?P<y>(?:19|20)\d\d)(?![\d/])",
    )
)
_COMPACT = re.compile(r"(?<!\d)(?P<y>(?:19|20)\d\d)(?P<m>\d\d)(?P<d>\d\d)(?!\d)" + _TIME, _I)
_STAMP = re.compile(r"(?<!\d)(\d{8})[T_-]?(\d\d)(\d\d)(\d\d)?(Z?)(?!\d)")
_WEEK = re.compile(r"(?<!\d)((?:19|20)\d\d)-?W(\d\d)(?:-([1-7]))?(?!\d)", _I)
_MONTH = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_. ]?(0[1-9]|1[0-2])(?![\d])")
_WITHOUT_YEAR = (
    re.compile(rf"{_DAY}(?:st|nd|rd|th|\.)?\s+(?:of\s+)?{_MON}(?!\w)", _I),
    re.compile(rf"(?<!\w){_MON}\s*(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:])", _I),
)
_BARE_YEAR = re.compile(r"(?<![\w$€£.,/-])((?:19|20)\d\d)(?![\w%/]|[.,]\d)")
_LABEL = re.compile(
    r"^\W*(?:date|datum|dato|fecha|data|created|written|updated|published|saved|clipped|last (?:edited|updated|"
    r"touched|modified|changed)|stand)\b[^:\d\n]{0,24}:?\s*\W*",
    _I,
)
_WEEKDAY = (
    r"(?:mon|tue|wed|thu|fri|sat|sun|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag|mo|di|mi|do|fr|sa|so"
    r"|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche"
    r"|lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo)\w{0,6}\.?,?\s+(?:the\s+|den\s+|le\s+)?"
)
# A date behind one of these is told of ("switched off on 31 March 1994", "birthday: 17 May 1991"), not the date of the
# text.
_TOLD = re.compile(
    r"\b(?:on|since|until|till?|by|from|before|after|of|to|in|for|and|or|was|is|am|seit|bis|vom|ab|zum|op|sinds|tot|vanaf"
    rf"|van|le|du|depuis|el|dal|den|od|do)\s+(?:the\s+)?(?:{_WEEKDAY})?$"
    r"|\b(?:born|died|built|founded|geboren|geb|né|née|nato|nata|urodzon[ya])\b"
    r"|\b(?:birthday|birth|geburtstag|geburtsdatum|deadline|due|frist|fällig|valid|gültig|renewed|expir(?:es|ed|y|ing)"
    r"|läuft ab|ends?|endet|starts?|begins?|beginnt|moved|verjaardag|compleanno)\b",
    _I,
)
_WRAPPED = 60  # a line at least this long goes on in the next one
_START = re.compile(rf"(?! )[\s#*_>\[(-]*(?:{_WEEKDAY})?[*_]*", _I)
# What a later line calls itself.
_ADDED = r"(?:edit|update|addendum|nachtrag|aktualisierung)\b(?:\s+(?:from|of|on|vom))?[\s:(\[]*"
_BEGIN = re.compile(rf"[*_\[(<]*(?:{_ADDED})?(?:{_WEEKDAY})?[*_]*", _I)
_DAY_NAME = re.compile(
    r"[\s,(]*(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun|mon|diens|donners|frei|sams|sonn)(?:day|tag)?\b"
    r"|[\s,(]*(?:mo|di|mi|do|fr|sa|so|mittwoch)\b",
    _I,
)
_LIKE_A_DATE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}(?!\d)")


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    at: datetime


def parse_date(text: str) -> datetime | None:
    """The date that a header or a property holds, or None.

    Takes ISO 8601 (also week dates, months and basic format), mail dates, and the day written out in English and
    nine more languages, with or without a time: "2024-03-05", "5 March 2024", "March 5, 2024 at 2:30 pm", "05.03.2024".
    """
    value = text.strip().strip("<>[]\"'")
    if not value or len(value) > _VALUE_CHARS:
        return None
    found = _iso(value) or _mail(value) or _stamp(value)
    if found is not None:
        return found
    if (first := next(_dates(value, compact=True), None)) is not None:
        return first.at
    if (week := _WEEK.fullmatch(value)) is not None:
        return _week(week)
    if (month := _MONTH.fullmatch(value)) is not None:
        return _local(int(month[1]), int(month[2]), 1)
    return None


def event_date(path: Path, title: str, text: str) -> datetime | None:
    """The date of a text whose header has none: what its opening lines and its name say; None if they do not.

    A date that stands as one (after "Date:", in a heading, at the start of a line) comes before the file's name, the
    name before a date inside a line, and a day without a year, completed by the only year near it, last. A date that
    a sentence only tells of ("closed on 3 May 1994") does not count.
    """
    opening = [title[:_LINE_CHARS], *_opening(text)]
    return (
        _standing(opening)
        or _in_name(path)
        or next((found.at for line in opening for found in _dates(line) if not _told(line, found.start)), None)
        or _completed(path, opening)
        or _in_folders(path)
    )


def leading_date(text: str) -> tuple[datetime | None, str] | None:
    """The full date that a text begins with, behind "Update", a weekday and marks at most, and what stands behind it;
    None if it begins with none. The date is None where it looks like one, and nobody can say which."""
    begin = _BEGIN.match(text)
    start = begin.end() if begin else 0
    for pattern in _PROSE:
        if (match := pattern.match(text, start)) is not None and (at := _of(match)) is not None:
            day = _DAY_NAME.match(text, match.end())
            return at, text[day.end() if day else match.end() :]
    unclear = _LIKE_A_DATE.match(text, start)
    return (None, text[unclear.end() :]) if unclear else None


def trailing_date(text: str) -> tuple[datetime, str] | None:
    """The full date that a text ends with, and what stands before it; None if it ends with none, or is one."""
    for match in (match for pattern in _PROSE for match in pattern.finditer(text)):
        before = text[: match.start()].strip(" \t,:–—-([")
        if before and holds_no_word(text[match.end() :]) and (at := _of(match)) is not None:
            return at, before
    return None


def labelled_date(line: str) -> datetime | None:
    """The date of a line that says nothing else, behind a label: "Date: 5 March 2024"."""
    label = _LABEL.match(line)
    found = leading_date(line[label.end() :]) if label else None
    return found[0] if found and holds_no_word(found[1]) else None


def holds_no_word(behind: str) -> bool:
    """Whether nothing is said behind a date."""
    return re.search(r"\w", behind) is None


def with_local_zone(moment: datetime) -> datetime:
    """`moment` with a zone: the machine's, if it has none. Raises ValueError or OverflowError at the ends of time."""
    return moment if moment.tzinfo is not None else moment.astimezone()


def _opening(text: str) -> list[str]:
    """The first lines that hold something. One that goes on with a long line before it begins with a space."""
    lines: list[str] = []
    before = ""
    for line in text[: 20 * _LINE_CHARS].split("\n"):
        if line.strip():
            goes_on = len(before) >= _WRAPPED and not before.startswith("#")
            lines.append((" " if goes_on else "") + line[:_LINE_CHARS].strip())
        before = line
        if len(lines) == OPENING_LINES:
            break
    return lines


def _standing(lines: list[str]) -> datetime | None:
    for line in lines[1:]:
        if (label := _LABEL.match(line)) is not None and (found := next(_dates(line[label.end() :]), None)):
            return found.at
    for number, line in enumerate(lines):
        start = _START.match(line)
        limit = len(line) if number == 0 or line.startswith("#") else start.end() if start else -1
        if (found := next(_dates(line), None)) is not None and found.start <= limit:
            return found.at
    return None


def _told(line: str, start: int) -> bool:
    return line[:start].isspace() or _TOLD.search(line[:start]) is not None


def _in_name(path: Path) -> datetime | None:
    stem = path.stem
    if (stamp := _STAMP.search(stem)) is not None and (at := _stamp(stamp[0])) is not None:
        return at
    if (found := next(_dates(stem, compact=True), None)) is not None:
        return found.at
    if (week := _WEEK.search(stem)) is not None:
        return _week(week)
    if (month := _MONTH.search(stem)) is not None:
        return _local(int(month[1]), int(month[2]), 1)
    return None


def _in_folders(path: Path) -> datetime | None:
    """2024/03/05.md and 2024/03-05 standup.md."""
    found = re.search(r"(?:^|\D)((?:19|20)\d\d)[-_/](\d\d)[-_/](\d\d)(?!\d)[^/]*$", path.with_suffix("").as_posix())
    return _local(int(found[1]), int(found[2]), int(found[3])) if found else None


def _completed(path: Path, opening: list[str]) -> datetime | None:
    years = {int(year) for place in (path.stem, *opening) for year in _BARE_YEAR.findall(place.replace("_", " "))}
    if not years:
        years = {int(part) for part in path.parts if _BARE_YEAR.fullmatch(part)}
    if len(years) != 1:
        return None
    year = years.pop()
    for line in opening:
        for match in sorted((m for pattern in _WITHOUT_YEAR for m in pattern.finditer(line)), key=re.Match.start):
            month = month_of(match["mon"])
            at = _local(year, month, int(match["d"])) if month else None
            if at is not None and not _told(line, match.start()):
                return at
    return None


def _dates(text: str, compact: bool = False) -> Iterator[_Found]:
    """The dates in `text`, in order of appearance; `compact` also takes 20240305."""
    patterns = (*_PROSE, _COMPACT) if compact else _PROSE
    matches = sorted((m for pattern in patterns for m in pattern.finditer(text)), key=lambda m: (m.start(), -m.end()))
    for match in matches:
        at = _of(match)
        if at is not None:
            yield _Found(match.start(), at)


def _of(match: re.Match[str]) -> datetime | None:
    part = match.groupdict()
    year = int(part["y"].strip("'’"))
    if year < 100:
        year += 2000 if year < 70 else 1900
    day = int(part["d"])
    month = month_of(part["mon"]) if part.get("mon") else int(part["m"])
    if month is None:
        return None
    if part.get("slash"):
        if month <= 12 and day <= 12 and month != day:
            return None
        if month > 12:
            day, month = month, day
    at = _local(year, month, day)
    if at is None or part["h"] is None:
        return at
    hour = int(part["h"])
    if part["ap"]:
        hour = hour % 12 + (12 if part["ap"] in "pP" else 0)
    try:
        clock = time(hour, int(part["min"]), int(part["s"] or 0))
    except ValueError:
        return at
    zone = part["z"]
    # "10:15-11:00" after a plain date is a span of time; an offset is set off, or the whole is ISO 8601.
    span = zone is not None and zone[0] in "+-" and part["s"] is None and part["sep"] not in ("T", "t")
    moment = datetime.combine(at.date(), clock)
    offset = None if zone is None or span else _offset(zone.strip())
    return _aware(moment) if offset is None else moment.replace(tzinfo=offset)


def _offset(zone: str) -> timezone | None:
    if zone.upper() in ("Z", "UTC", "GMT"):
        return UTC
    minutes = int(zone[1:3]) * 60 + int(zone[-2:])
    if minutes >= 24 * 60:
        return None
    return timezone(timedelta(minutes=-minutes if zone[0] == "-" else minutes))


def _iso(value: str) -> datetime | None:
    if not value[:4].isdecimal() or len(value) < 8 or " " in value:
        return None
    try:
        return _aware(datetime.fromisoformat(value))
    except ValueError:
        return None


def _mail(value: str) -> datetime | None:
    if ":" not in value or value[:1].isdecimal() is value[:1].isalpha():
        return None
    try:
        return _aware(parsedate_to_datetime(value))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _stamp(value: str) -> datetime | None:
    """20240305T143000Z, 20240305_1430: the basic format of ISO 8601 and of cameras, scanners and calendars."""
    match = _STAMP.fullmatch(value)
    if match is None:
        return None
    day, hour, minute, second, zulu = match.groups()
    try:
        moment = datetime(int(day[:4]), int(day[4:6]), int(day[6:]), int(hour), int(minute), int(second or 0))
    except ValueError:
        return None
    return _aware(moment.replace(tzinfo=UTC) if zulu else moment)


def _week(match: re.Match[str]) -> datetime | None:
    try:
        day = date.fromisocalendar(int(match[1]), int(match[2]), int(match[3] or 1))
    except ValueError:
        return None
    return _local(day.year, day.month, day.day)


def _local(year: int, month: int, day: int) -> datetime | None:
    try:
        return _aware(datetime(year, month, day))
    except ValueError:
        return None


def _aware(moment: datetime) -> datetime | None:
    if moment.year not in _YEARS:
        return None
    try:
        return with_local_zone(moment)
    except (ValueError, OverflowError):
        return None
