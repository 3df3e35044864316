"""From when on a statement holds, by the words of its sentence: "from 1 November", "since March", "as of next month".

Only what the sentence itself introduces as a beginning counts, or a day on which a change is said to have happened. A
date without a year is the one nearest to when it was written, behind "since" the last one. Nothing is guessed: without
such words the answer is None. A line of a log, which begins with its day, is from then.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from memory.time.dates import month_names

_MONTH = "|".join(
    sorted((re.escape(name) for name in month_names() if name.isascii() and len(name) > 2), key=len, reverse=True)
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NEAR = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
_DATE = (
    r"(?P<y>\d{4})-(?P<m>\d\d)(?:-(?P<d>\d\d))?"
    rf"|(?:(?:{'|'.join(_DAYS)}),? )?(?:the )?(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\.? (?:of )?(?P<m2>{_MONTH})\.?"
    r"(?:,? (?P<y2>\d{4}))?"
    rf"|(?P<m3>{_MONTH})\.?(?: (?P<d3>\d{{1,2}})(?:st|nd|rd|th)?(?!\d))?(?:,? (?P<y3>\d{{4}}))?"
    r"|(?:(?P<which>last|next|this|the coming|coming) )(?P<unit>week|month|quarter|year|"
    rf"{'|'.join(_DAYS)})"
    rf"|(?P<weekday>{'|'.join(_DAYS)})"
    r"|(?P<near>today|tonight|yesterday|tomorrow)"
    r"|the (?P<d4>\d{1,2})(?:st|nd|rd|th)(?! [a-z])"
    r"|(?P<y4>(?:19|20)\d\d)(?![\d:/-])"
)
_FROM = re.compile(
    r"\b(?P<side>from|since|as of|as from|starting(?: on| from| in)?|effective(?: from| on| as of)?|"
    rf"beginning(?: on| in)?|on or after|per|ab|seit|vanaf|sinds)[ :]+(?:{_DATE})(?![\w-])",
    re.IGNORECASE,
)
_ON = re.compile(rf"\b(?P<side>on|in|last|this)? ?(?:{_DATE})(?![\w-])", re.IGNORECASE)
_LOGGED = re.compile(rf"\W{{0,4}}(?P<side>)(?:{_DATE})(?<=\d\d\d\d-\d\d-\d\d)(?=\*{{0,2}}:| [–—-]+ )")
_CUE = re.compile(
    rf"\b(?:\d{{4}}|today|tonight|yesterday|tomorrow|last|next|this|coming|\d{{1,2}}(?:st|nd|rd|th)|{'|'.join(_DAYS)}|{_MONTH})\b",
    re.IGNORECASE,
)


def valid_from(sentence: str, at: datetime | None, happened: bool = False) -> datetime | None:
    """When what `sentence`, written at `at`, says began to hold; at midnight where it was written.

    `happened`: it tells of a change, so that also "on Friday" and "in May" are its time.
    """
    if at is None or _CUE.search(sentence) is None:
        return None
    match = _FROM.search(sentence) or _LOGGED.match(sentence)
    if match is None and happened:
        match = next((m for m in _ON.finditer(sentence) if m["side"] or m["near"] or m["which"]), None)
    if match is None:
        return None
    try:
        return _resolved(match, at.replace(hour=0, minute=0, second=0, microsecond=0))
    except (ValueError, OverflowError):  # 31 February; the ends of time
        return None


def _resolved(match: re.Match[str], today: datetime) -> datetime | None:
    side = (match["side"] or "").lower()
    if match["near"]:
        return today + timedelta(days=_NEAR[match["near"].lower()])
    if match["unit"]:
        return _unit(match["which"].lower(), match["unit"].lower(), today)
    if match["weekday"]:
        day = _DAYS.index(match["weekday"].lower())
        if side in ("from", "as of", "starting", "effective") or side.startswith(("starting", "effective")):
            return today + timedelta(days=(day - today.weekday()) % 7)
        return today - timedelta(days=(today.weekday() - day) % 7)
    if match["d4"]:
        this = today.replace(day=int(match["d4"]))
        if this <= today or side in ("from", "as of"):
            return this
        return (this.replace(day=1) - timedelta(days=1)).replace(day=int(match["d4"]))
    if match["y4"]:
        return today.replace(year=int(match["y4"]), month=1, day=1)
    named = match["m2"] or match["m3"]
    month = month_names()[named.lower()] if named else int(match["m"])
    year = match["y"] or match["y2"] or match["y3"]
    number = match["d"] or match["d2"] or match["d3"]
    day = int(number) if number else 1
    if year:
        return today.replace(year=int(year), month=month, day=day)
    if named and not number and not side and named.lower() in ("may", "mar", "march"):  # may be a verb
        return None
    years = [today.replace(year=today.year + step, month=month, day=day) for step in (-1, 0, 1)]
    if side.startswith("since"):
        years = [then for then in years if then <= today]
    return min(years, key=lambda then: abs(then - today))


def _unit(which: str, unit: str, today: datetime) -> datetime | None:
    step = {"last": -1, "this": 0}.get(which, 1)
    if unit in _DAYS:
        day = _DAYS.index(unit)
        back = (today.weekday() - day) % 7
        if step < 0:
            return today - timedelta(days=back or 7)
        return today + timedelta(days=(-back) % 7 or (7 if step else 0))
    if unit == "week":
        return today - timedelta(days=today.weekday()) + timedelta(days=7 * step)
    length = {"month": 1, "quarter": 3, "year": 12}[unit]
    month = today.month - 1 - (today.month - 1) % length + step * length
    return today.replace(year=today.year + month // 12, month=month % 12 + 1, day=1)
