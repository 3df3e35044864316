"""When: the time a question speaks of, by rule.

A base ("March 2024", "last spring", "3 May") is found first; what stands before it narrows it ("early", "the end of",
"the week before") and says which side of it is meant ("since", "before", "as of"). Nothing is guessed: 3/4/2024 is no
time here, nor is one of two times that have nothing to do with each other. Seasons are those of the north.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from typing import Literal

from memory.text.unicode import ascii_digits
from memory.text.words import LETTER
from memory.time import vocabulary as words
from memory.time.dates import month_names
from memory.time.spans import Span, day_span, month_span, part_of_span, shift, shift_years, unit_span


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """The time a question speaks of.

    `as_of`: the world as it stood at the end of the span, just before `until`. `range`: what happened from `since` on
    and before `until`; either may be open. `now`: today. `words` are those of the question that say so.
    """

    kind: Literal["as_of", "range", "now"]
    since: datetime | None
    until: datetime | None
    words: str


@dataclass(frozen=True, slots=True)
class _Base:
    """A time by itself, named by the characters `start` to `end`.

    `unit` is how precise it is. `weak`: only a time if a word before it says so ("in March", "since 2020"). `month`: a
    month that may take its year from another one ("between March and May 2024").
    """

    start: int
    end: int
    span: Span
    unit: str = "day"
    weak: bool = False
    month: int | None = None


def resolve_time(question: str, now: datetime, zone: tzinfo | None = None) -> TimeExpression | None:
    """The time `question` speaks of, seen from `now`; None if it speaks of none, of several, or unclearly.

    Days are those of `zone`, by default of this machine. A question that asks for a time ("When did ...") has one only
    if it says "as of".
    """
    text = ascii_digits(question).lower()
    if text.isascii() and not _DIGIT.search(text) and words.CUES.isdisjoint(_WORD.findall(text)):  # as most questions
        return None
    if len(text) != len(question):  # a few letters are longer in lower case
        text = ascii_digits(question)
    try:
        found = _Reader(text, question, now.astimezone(zone).replace(tzinfo=None)).read()
        return found and replace(found, since=_aware(found.since, zone), until=_aware(found.until, zone))
    except (ValueError, OverflowError):  # 31 February; the ends of time
        return None


def asks_time(question: str) -> bool:
    """Whether a question asks when something was, how long or how often."""
    return _ASKS_TIME.search(question.lower()) is not None


def is_state(question: str) -> bool:
    """Whether a question asks how things stood ("where did I live") rather than what happened."""
    said = _WORD.findall(question.lower())
    if not words.EVENTS.isdisjoint(said):
        return False
    if "did" not in said:
        return True
    behind = said[said.index("did") + 1 :]
    return words.DID.isdisjoint(behind) and not words.STATES.isdisjoint(behind)


def apply_signal(
    side: str, span: Span, rest: str, words: str, now: datetime, zone: tzinfo | None
) -> TimeExpression | None:
    """What a question means by one side of a span ("before", "since", "in" ...); `rest` is the question without it,
    `words` are those that name it. `span` and `now` are local times of `zone`."""
    found = _meant(side, span, rest, words, now)
    return found and replace(found, since=_aware(found.since, zone), until=_aware(found.until, zone))


def _meant(side: str, span: Span, rest: str, words: str, now: datetime) -> TimeExpression | None:
    first, after = span
    state = is_state(rest)
    if side in ("since", "after"):  # how things have stood since then may have been told before
        return None if state else TimeExpression("range", first if side == "since" else after, None, words)
    kind: Literal["as_of", "range"] = "as_of" if side == "as_of" or (state and first <= now) else "range"
    if side in ("before", "until", "till"):
        return TimeExpression(kind, None, first if side == "before" else after, words)
    return TimeExpression(kind, first, after, words)


def _aware(local: datetime | None, zone: tzinfo | None) -> datetime | None:
    if local is None:
        return None
    return local.astimezone() if zone is None else local.replace(tzinfo=zone)


class _Reader:
    """Reads one question: `text` in lower case, `said` as it is, `now` in local time."""

    def __init__(self, text: str, said: str, now: datetime) -> None:
        self.text = text
        self.said = said
        self.now = now
        self.today = now.replace(hour=0, minute=0, second=0, microsecond=0)
        self.looks_ahead = _AHEAD.search(text) is not None

    def read(self) -> TimeExpression | None:
        asks_time = _ASKS_TIME.search(self.text) is not None
        bases = self._bases()
        if len(bases) == 2 and (between := self._between(*bases)) is not None:
            return None if asks_time else between
        bases = [base for base in bases if not base.weak or self._named(base)]
        if len(bases) > 1:
            return None
        if not bases:
            said = None if asks_time else _NOW.search(self.text)
            return said and TimeExpression("now", None, None, said[0])
        base = self._narrowed(bases[0])
        side, start = self._side(base.start)
        if asks_time and side != "as_of":
            return None
        return self._meant(base, side, start)

    def _meant(self, base: _Base, side: str, start: int) -> TimeExpression | None:
        """The base, seen from the side that the words before it name."""
        rest = self.text[:start] + self.text[base.end :]
        return _meant(side, base.span, rest, self.said[start : base.end], self.now)

    # What stands before a base -------------------------------------------------------------------

    def _side(self, start: int) -> tuple[str, int]:
        """Which side of the time that begins at `start` is meant, and where the words begin that say so."""
        for side, pattern in _SIDES:
            if (match := pattern.search(self.text, 0, start)) is not None:
                return side, match.start()
        return "", start

    def _named(self, base: _Base) -> bool:
        """Whether words before a year, a month or a weekday make it a time; a year may also end the question."""
        if self._narrowed(base) is not base or self._side(base.start)[0]:
            return True
        return base.unit == "year" and not self.text[base.end :].strip(" ?.!")

    def _narrowed(self, base: _Base) -> _Base:
        """The base with what narrows it: "early", "the end of", "the week before", "two days after"."""
        for which, pattern in _PARTS if base.unit not in ("day", "span") else ():
            if (match := pattern.search(self.text, 0, base.start)) is not None:
                return _Base(match.start(), base.end, part_of_span(base.span, base.unit, which))
        match = _BESIDE.search(self.text, 0, base.start)
        return base if match is None else _Base(match.start(), base.end, _beside(base.span, match))

    def _between(self, one: _Base, two: _Base) -> TimeExpression | None:
        """What lies between two times, if the question says "between" or "from" them."""
        opened = _BETWEEN.search(self.text, 0, one.start)
        if opened is None or not _AND.fullmatch(self.text, one.end, two.start):
            return None
        first, after = one.span[0], two.span[1]
        if one.weak and one.month and two.month and not two.weak:  # "between March and May 2024"
            first, _ = month_span(two.span[0].year - (one.month > two.month), one.month)
        return TimeExpression("range", first, after, self.said[opened.start() : two.end]) if first < after else None

    # Bases ----------------------------------------------------------------------------------------

    def _bases(self) -> list[_Base]:
        """The times in the question, in order of their place; where two share characters, the longer one."""
        found: list[_Base] = []
        taken: list[tuple[int, int]] = []
        said = frozenset(_WORD.findall(self.text))
        has_digit = _DIGIT.search(self.text) is not None
        for needed, pattern, meaning in _BASES:
            if not has_digit if needed is None else (self.text.isascii() and needed.isdisjoint(said)):
                continue
            for match in pattern.finditer(self.text):
                start, end = match.span()
                if any(a < end and start < b for a, b in taken):
                    continue
                try:
                    base = meaning(self, match)
                except KeyError:  # it holds a word that is none of time
                    continue
                taken.append((start, end))  # what is no time after all is not read in another way either
                if base is not None:
                    found.append(base)
        return sorted(found, key=lambda base: base.start)

    def full_date(self, match: re.Match[str]) -> _Base:
        month = MONTHS[match["mon"]] if match["mon"] else int(match["m"])
        return _Base(*match.span(), day_span(datetime(int(match["y"]), month, int(match["d"]))))

    def slashed_date(self, match: re.Match[str]) -> _Base | None:
        one, two, year = int(match["d"]), int(match["m"]), int(match["y"])
        if one <= 12 and two <= 12 and one != two:
            return None  # half of the readers would be wrong about it
        month, number = (one, two) if two > 12 else (two, one)
        return _Base(*match.span(), day_span(datetime(year, month, number)))

    def date_without_year(self, match: re.Match[str]) -> _Base:
        """The last such day, or in a question that looks ahead the next one."""
        step = 1 if self.looks_ahead else -1
        first = datetime(self.now.year, LONG_MONTHS[match["mon"]], int(match["d"]))
        if (first - self.today) * step < timedelta(0):
            first = shift_years(first, step)
        return _Base(*match.span(), day_span(first))

    def month_of_year(self, match: re.Match[str]) -> _Base:
        month = MONTHS[match["mon"]] if match["mon"] else int(match["m"])
        return _Base(*match.span(), month_span(int(match["y"]), month), "month", month=month)

    def half_of_month(self, match: re.Match[str]) -> _Base:
        first, after = month_span(int(match["y"]), MONTHS[match["mon"]])
        middle = first + timedelta(days=15)
        return _Base(*match.span(), (first, middle) if words.ORDINALS[match["nth"]] == 1 else (middle, after))

    def part_of_year(self, match: re.Match[str]) -> _Base | None:
        length = 6 if match["half"] else 3
        last = length * (int(match["q"]) if match["q"] else words.ORDINALS[match["nth"]])
        return _Base(*match.span(), month_span(int(match["y"]), last - length + 1, length)) if last <= 12 else None

    def year(self, match: re.Match[str]) -> _Base:
        return _Base(*match.span(), month_span(int(match["y"]), 1, 12), "year", weak=True)

    def month_of_any_year(self, match: re.Match[str]) -> _Base:
        month = LONG_MONTHS[match["mon"]]
        return self._again(match, lambda year: month_span(year, month), "month", month)

    def season(self, match: re.Match[str]) -> _Base | None:
        month = words.SEASONS[match["season"]]
        if not match["y"]:
            return self._again(match, lambda year: month_span(year, month, 3), "season")
        if month == 12 and not match["y2"]:
            return None  # the winter that begins or the one that ends in that year
        return _Base(*match.span(), month_span(int(match["y"]), month, 3), "season")

    def feast(self, match: re.Match[str]) -> _Base:
        first, days = ((12, 24), 3) if re.fullmatch(words.CHRISTMAS, match["feast"]) else ((12, 31), 2)

        def of(year: int) -> Span:
            return datetime(year, *first), datetime(year, *first) + timedelta(days=days)

        if match["y"]:
            return _Base(*match.span(), of(int(match["y"])))
        return replace(self._again(match, of, "day"), weak=False)

    def _again(self, match: re.Match[str], of: Callable[[int], Span], unit: str, month: int | None = None) -> _Base:
        """What comes every year: the one that "last", "this" or "next" means, else the latest that has begun."""
        years = [of(self.now.year + step) for step in range(-2, 3)]
        if match["last"]:
            span = max(span for span in years if span[1] <= self.now)
        elif match["next"] or (self.looks_ahead and not match["this"]):
            span = min(span for span in years if span[0] > self.now)
        elif match["this"]:
            span = of(self.now.year)
        else:
            span = max(span for span in years if span[0] <= self.now)
        return _Base(*match.span(), span, unit, not (match["last"] or match["next"] or match["this"]), month)

    def day_word(self, match: re.Match[str]) -> _Base:
        return _Base(*match.span(), day_span(self.today + timedelta(days=words.DAY_WORDS[match["day"]])))

    def ago(self, match: re.Match[str]) -> _Base:
        """The day, month or year so many back; for weeks that day and three to either side."""
        unit = words.UNITS[match["unit"]]
        then = shift(self.today, unit, -_number(match["n"]))
        if unit == "day":
            return _Base(*match.span(), day_span(then))
        if unit in ("week", "weekend"):
            return _Base(*match.span(), (then - timedelta(days=3), then + timedelta(days=4)), "week")
        return _Base(*match.span(), unit_span(then, unit), unit)

    def last_units(self, match: re.Match[str]) -> _Base:
        """ "in the last two weeks": up to today."""
        first = shift(self.today, words.UNITS[match["unit"]], -_number(match["n"]))
        return _Base(*match.span(), (first, self.today + timedelta(days=1)), "span")

    def unit(self, match: re.Match[str]) -> _Base | None:
        unit = words.UNITS[match["unit"]]
        if unit == "day":
            return None  # "the next day" of a story
        step = -1 if match["last"] else 1 if match["next"] else 0
        return _Base(*match.span(), unit_span(shift(self.today, unit, step), unit), unit)

    def weekday(self, match: re.Match[str]) -> _Base | None:
        back = (self.today.weekday() - words.WEEKDAYS[match["weekday"]]) % 7
        if match["next"]:
            days = 7 - back
        elif match["last"]:
            days = -(back or 7)
        elif words.PAST.isdisjoint(_WORD.findall(self.text)):
            return None
        else:
            days = -back
        return _Base(
            *match.span(), day_span(self.today + timedelta(days=days)), weak=not (match["last"] or match["next"])
        )


def _beside(span: Span, match: re.Match[str]) -> Span:
    """The week, the Sunday, the two days before or after a span."""
    earlier = match["side"] in _EARLIER
    edge = span[0] if earlier else span[1]
    word = match["word"]
    if word in words.WEEKDAYS or words.UNITS[word] == "weekend":
        weekday = words.WEEKDAYS.get(word, 5)
        days = -((edge.weekday() - weekday - 1) % 7 + 1) if earlier else (weekday - edge.weekday()) % 7
        first = edge + timedelta(days=days)
        return first, first + timedelta(days=1 if word in words.WEEKDAYS else 2)
    unit = words.UNITS[word]
    if not match["n"]:
        one, two = edge, shift(edge, unit, -1 if earlier else 1)
        return (two, one) if earlier else (one, two)
    middle = shift(edge, unit, -_number(match["n"]) if earlier else _number(match["n"]))
    slack = timedelta(days={"day": 0, "week": 3, "month": 15}.get(unit, 180))
    return middle - slack, middle + slack + timedelta(days=1)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else words.NUMBERS[text]


MONTHS = month_names()
LONG_MONTHS = {  # those whose name alone is one
    name: month for name, month in MONTHS.items() if len(name) > 4 or name in words.SHORT_MONTHS
}

_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"\w+")

# Patterns -------------------------------------------------------------------------------------


def _any(alternatives: Iterable[str]) -> str:
    return "|".join(sorted(alternatives, key=len, reverse=True))


_MONTHS, _UNITS = frozenset(LONG_MONTHS), frozenset(words.UNITS)
_SEASONS, _WEEKDAYS = frozenset(words.SEASONS), frozenset(words.WEEKDAYS)

# Words that are looked up in the tables: patterns that hold all of them would take 0.1 s to compile.
_LONG_MON = rf"(?P<mon>{LETTER}{{3,12}})(?!\w)"
_MON = rf"{_LONG_MON}\.?"
_Y = r"(?P<y>(?:19|20)\d\d)"
_YEAR = _Y + r"(?![\d%/]|[.,]\d|-\d)"
_DAY = r"(?<![\d.:/])(?<!\d-)(?P<d>\d{1,2})(?:st|nd|rd|th|er|\.|º|ª)?"
_OF = r"(?:,?\s+(?:of |in |de |del |van |im jahr )?)"
_N = r"(?P<n>\d{1,3}|[^\W\d_]{1,7})"
_UNIT = r"(?P<unit>[^\W\d_]{2,12})(?!\w)"
_NTH = rf"(?P<nth>{_any(words.ORDINALS)})"
_WHICH = rf"(?:(?P<last>{words.LAST})|(?P<next>{words.NEXT})|(?P<this>{words.THIS}))\s+"
_THE = rf"(?:(?:{words.ARTICLE})\s+)*"
_BESIDE_DATE = rf"(?!\s+(?:{words.BEFORE}|{words.AFTER})\s+{_THE}(?:\d|[^\W\d_]{{3,12}}\s+\d))"

# What is read in one way is not read in another, so the longer ones come first. Each is looked for only where one of
# the words it needs stands, or (None) a digit.
_Meaning = Callable[[_Reader, re.Match[str]], _Base | None]
_BASES: tuple[tuple[frozenset[str] | None, re.Pattern[str], _Meaning], ...] = tuple(
    (needed, re.compile(pattern), meaning)
    for needed, meaning, pattern in (
        (None, _Reader.full_date,
         rf"(?<![\d.-]){_Y}(?P<dash>[-/.])(?P<m>\d{{1,2}})(?P=dash)(?P<d>\d{{1,2}})(?![\d/-])(?P<mon>)"),
        (None, _Reader.full_date,
         rf"{_Y}\s?[年년]\s?(?P<m>\d{{1,2}})\s?[月월]\s?(?P<d>\d{{1,2}})\s?[日号號일](?P<mon>)"),
        (None, _Reader.full_date, rf"(?<![\d.])(?P<d>\d{{1,2}})\.\s?(?P<m>\d{{1,2}})\.\s?{_Y}(?!\d)(?P<mon>)"),
        (None, _Reader.slashed_date,
         rf"(?<![\d/-])(?P<d>\d{{1,2}})(?P<dash>[/-])(?P<m>\d{{1,2}})(?P=dash){_Y}(?![\d/])"),
        (None, _Reader.half_of_month, rf"(?<!\w){_NTH} half of {_MON}\s+{_YEAR}"),
        (None, _Reader.full_date, rf"{_DAY}[\s-]*(?:of |de |di )?{_MON}(?:{_OF}|\s*){_YEAR}"),
        (None, _Reader.full_date, rf"(?<!\w){_MON}\s*(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+{_YEAR}"),
        (None, _Reader.month_of_year, rf"(?<!\w){_MON}{_OF}{_YEAR}"),
        (None, _Reader.month_of_year,
         rf"(?<![\d.-]){_Y}(?:-|\s?[年년]\s?)(?P<m>0?[1-9]|1[0-2])(?:\s?[月월]|(?![\d-]))(?P<mon>)"),
        (None, _Reader.part_of_year,
         rf"(?<!\w)(?:q(?P<q>[1-4])|{_NTH} (?:(?P<half>half|hälfte|helft)|quarter|quartal|kwartaal|trimestre))\s+"
         rf"(?:of |van |de )?{_YEAR}"),
        (None, _Reader.date_without_year, rf"{_DAY}\s*(?:of |de )?{_LONG_MON}(?!\w)"),
        (None, _Reader.date_without_year, rf"(?<!\w){_LONG_MON}\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\w:])"),
        (_SEASONS, _Reader.season,
         rf"(?<!\w)(?:{_WHICH})?(?P<season>{_any(words.SEASONS)})(?!\w)"
         rf"(?:{_OF}{_Y}(?:\s?[/-]\s?(?P<y2>(?:\d\d)?\d\d))?(?!\d))?"),
        (words.FEAST_TOKENS, _Reader.feast,
         rf"(?<!\w)(?:{_WHICH})?(?P<feast>{words.CHRISTMAS}|{words.NEW_YEAR})(?!\w)(?:{_OF}{_YEAR})?"),
        (_UNITS, _Reader.ago, rf"(?<!\w){_N}\s+{_UNIT}\s+(?:ago|geleden)(?!\w)"),
        (_UNITS, _Reader.ago, rf"(?<!\w)(?:vor|il y a|hace)\s+{_N}\s+{_UNIT}"),
        (_UNITS, _Reader.last_units, rf"(?<!\w)(?:{words.LAST})\s+{_N}\s+{_UNIT}"),
        (_UNITS, _Reader.last_units,
         rf"(?<!\w)(?:les |los |las )?{_N}\s+(?:derniers|dernières|últimos|últimas)\s+{_UNIT}"),
        (_UNITS, _Reader.unit, rf"(?<!\w){_WHICH}{_UNIT}{_BESIDE_DATE}"),
        (_UNITS, _Reader.unit,
         rf"(?<!\w)(?:la |le |l['’]|el ){_UNIT}\s+(?:(?P<last>derni[eè]re?|passée?|pasad[oa])"
         r"|(?P<next>prochaine?|próxim[oa]|que viene))(?!\w)"),
        (_WEEKDAYS, _Reader.weekday,
         rf"(?<!\w)(?:{_WHICH})?(?P<weekday>{_any(words.WEEKDAYS)})(?!\w){_BESIDE_DATE}"),
        (_MONTHS, _Reader.month_of_any_year, rf"(?<!\w)(?:{_WHICH})?{_LONG_MON}(?!\w)"),
        (words.DAY_TOKENS, _Reader.day_word, rf"(?<!\w)(?P<day>{_any(words.DAY_WORDS)})(?!\w)"),
        (None, _Reader.year, rf"(?<![\w$€£.,/#])(?<!\d-){_YEAR}(?!\w)"),
    )
)  # fmt: skip
_PARTS = tuple(
    (which, re.compile(rf"(?<!\w)(?:{said})[\s-]+(?:(?:{words.ARTICLE}|year|month|jahres|monats)\s+)*\Z"))
    for which, said in words.PARTS.items()
)
_BESIDE = re.compile(
    rf"(?<!\w)(?:(?:last|the|die|de|der|den|am|la|le|el)\s+)*(?:(?P<n>\d{{1,3}}|{_any(words.NUMBERS)})\s+)?"
    rf"(?P<word>{_any([*words.UNITS, *words.WEEKDAYS])})"
    rf"\s+(?P<side>{words.BEFORE}|{words.AFTER})\s+{_THE}\Z"
)
_EARLIER = frozenset(words.BEFORE.split("|"))
_SIDES = tuple(
    (side, re.compile(rf"(?<!\w)(?:{said})\s+{_THE}(?:(?:{_any(words.WEEKDAYS)}),?\s+(?:the\s+)?)?\Z"))
    for side, said in words.SIDES.items()
)
_BETWEEN = re.compile(rf"(?<!\w)(?:{words.BETWEEN})\s+{_THE}\Z")
_AND = re.compile(rf"\s*(?:{words.AND})\s*{_THE}")
_NOW = re.compile(rf"(?<!\w)(?:{words.NOW})(?!\w)")
_ASKS_TIME = re.compile(words.ASKS_TIME)
_AHEAD = re.compile(words.AHEAD)
