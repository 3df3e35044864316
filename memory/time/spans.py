"""Calendar spans as (first moment, end), end exclusive, in local time without zones."""

from datetime import datetime, timedelta

Span = tuple[datetime, datetime]


def day_span(first: datetime) -> Span:
    """The day that begins at `first`."""
    return first, first + timedelta(days=1)


def month_span(year: int, month: int, count: int = 1) -> Span:
    """`count` months from the first of `month`, which may be outside 1 to 12."""

    def first(number: int) -> datetime:
        return datetime(year + (number - 1) // 12, (number - 1) % 12 + 1, 1)

    return first(month), first(month + count)


def shift(moment: datetime, unit: str, count: int) -> datetime:
    """`moment` plus `count` units; the last day of a month that is too short."""
    if unit in ("day", "week", "weekend"):
        return moment + timedelta(days=count * (1 if unit == "day" else 7))
    first, after = month_span(moment.year, moment.month + count * {"month": 1, "quarter": 3, "year": 12}[unit])
    return min(first + timedelta(days=moment.day - 1), after - timedelta(days=1))


def unit_span(moment: datetime, unit: str) -> Span:
    """The calendar unit around the day `moment`; weeks begin on Monday."""
    monday = moment - timedelta(days=moment.weekday())
    if unit == "week":
        return monday, monday + timedelta(days=7)
    if unit == "weekend":
        return monday + timedelta(days=5), monday + timedelta(days=7)
    if unit == "month":
        return month_span(moment.year, moment.month)
    if unit == "quarter":
        return month_span(moment.year, moment.month - (moment.month - 1) % 3, 3)
    return month_span(moment.year, 1, 12)


def part_of_span(span: Span, unit: str, which: str) -> Span:
    """The "early", "start", "mid", "late" or "end" of a span. Of a month or week: ten days. Of a season: a month. Of a
    year: three months if early or late, one at the start or end, four in the middle."""
    first, after = span
    if unit not in ("season", "quarter", "year"):
        third = (after - first) / 3 if unit != "month" else timedelta(days=10)
        if which in ("early", "start"):
            return first, first + third
        return (first + third, first + 2 * third) if which == "mid" else (first + 2 * third, after)
    if which == "mid":
        aside = 4 if unit == "year" else 1
        return shift(first, "month", aside), shift(after, "month", -aside)
    length = 3 if unit == "year" and which in ("early", "late") else 1
    if which in ("early", "start"):
        return first, shift(first, "month", length)
    return shift(after, "month", -length), after
