"""Time in the store: whole milliseconds since 1970 (docs/times.md). Elsewhere times are aware datetimes.

The time at which the memory learned something is an instant in UTC. The time at which a text was written, a statement
is valid or an event takes place is "wall time", as local clocks showed it: 20 November stays that day in any zone."""

import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import overload

from memory.errors import InvalidInputError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = (  # the limits of datetime in UTC; in other zones an hour of the year 1 or 9999 may be outside
    (end.replace(tzinfo=UTC) - EPOCH) // timedelta(milliseconds=1) for end in (datetime.min, datetime.max)
)


@overload
def to_ms(when: datetime) -> int: ...
@overload
def to_ms(when: None) -> None: ...
def to_ms(when: datetime | None) -> int | None:
    """Returns milliseconds UTC, rounded down; within the years 1 to 9999. InvalidInputError without a zone."""
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
    """Returns the datetime in this machine's time zone; None stays None."""
    if ms is None:
        return None
    moment = EPOCH + timedelta(milliseconds=ms)
    try:
        return moment.astimezone()
    except (ValueError, OverflowError, OSError):  # at the ends of time
        return moment


@overload
def to_wall(when: datetime) -> int: ...
@overload
def to_wall(when: None) -> None: ...
def to_wall(when: datetime | None) -> int | None:
    """Returns the wall time in the zone of `when`, as if it were UTC. UTC is converted to the local zone. Without a
    time zone it raises InvalidInputError."""
    if when is None:
        return None
    to_ms(when)
    if when.tzinfo is UTC:
        with suppress(ValueError, OverflowError, OSError):  # at the ends of time
            when = when.astimezone()
    return to_ms(when.replace(tzinfo=UTC))


@overload
def from_wall(ms: int) -> datetime: ...
@overload
def from_wall(ms: None) -> None: ...
def from_wall(ms: int | None) -> datetime | None:
    """Returns the datetime that shows this wall time in this machine's zone; None stays None."""
    if ms is None:
        return None
    wall = EPOCH + timedelta(milliseconds=ms)
    try:
        return wall.replace(tzinfo=wall.replace(tzinfo=None).astimezone().tzinfo)
    except (ValueError, OverflowError, OSError):  # at the ends of time
        return wall


def wall_of(ms: int) -> int:
    """Returns the local wall time of an instant."""
    return to_wall(from_ms(ms))


def now_ms() -> int:
    """Returns the current time."""
    return time.time_ns() // 1_000_000
