"""Time as the store keeps it: whole milliseconds since 1970 in UTC. Outside the store it is an aware datetime, in the
time zone of this machine: its days are those that people write."""

import time
from datetime import UTC, datetime, timedelta
from typing import overload

from memory.errors import InvalidInputError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = (  # what a datetime can say in UTC; an hour of the year 1 or 9999 may lie outside elsewhere
    (end.replace(tzinfo=UTC) - EPOCH) // timedelta(milliseconds=1) for end in (datetime.min, datetime.max)
)


@overload
def to_ms(when: datetime) -> int: ...
@overload
def to_ms(when: None) -> None: ...
def to_ms(when: datetime | None) -> int | None:
    """Milliseconds UTC, rounded down; within the years 1 to 9999. Without a time zone it raises InvalidInputError."""
    if when is None:
        return None
    if when.utcoffset() is None:
        raise InvalidInputError(f"{when.isoformat()} has no time zone; give one, for example {when.isoformat()}+00:00")
    return min(max((when - EPOCH) // timedelta(milliseconds=1), _FIRST), _LAST)


@overload
def from_ms(ms: int) -> datetime: ...
@overload
def from_ms(ms: None) -> None: ...
def from_ms(ms: int | None) -> datetime | None:
    """The datetime in this machine's time zone; None stays None."""
    if ms is None:
        return None
    moment = EPOCH + timedelta(milliseconds=ms)
    try:
        return moment.astimezone()
    except (ValueError, OverflowError, OSError):  # at the ends of time
        return moment


def now_ms() -> int:
    """The clock's time."""
    return time.time_ns() // 1_000_000
