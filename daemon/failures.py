"""Errors for clients: a stable code, a sentence and a remedy. Never SQL, never a traceback."""

from __future__ import annotations

import logging
import traceback
from concurrent.futures import CancelledError

from daemon import wire
from memory.errors import (
    InvalidInputError,
    ModelError,
    NotAvailableError,
    NotFoundError,
    PalimpsestError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreMovedError,
    StoreNewerError,
)

CODES = {  # code -> the status of HTTP, and the exit code of `pal` and of a daemon that cannot start
    "bad_input": (422, 2),
    "too_large": (413, 2),
    "late": (408, 1),  # it did not all come
    "not_found": (404, 4),
    "not_allowed": (405, 1),
    "conflict": (409, 1),
    "forbidden": (403, 1),
    "no_session": (401, 1),  # of the page in the browser
    "not_available": (501, 1),
    "busy": (503, 1),
    "stopping": (503, 1),
    "store": (500, 75),  # the memory's file
    "newer": (500, 4),  # a newer version wrote it
    "moved": (500, 74),
    "damaged": (500, 74),
    "full": (507, 75),
    "internal": (500, 1),
}


class ConflictError(PalimpsestError):
    """The current state does not allow the request."""


# An error has the code of the first of these kinds that it is of.
KINDS: dict[type[BaseException], str] = {
    NotFoundError: "not_found",
    InvalidInputError: "bad_input",
    NotAvailableError: "not_available",
    ModelError: "not_available",
    ConflictError: "conflict",
    StoreBusyError: "busy",
    StoreMovedError: "moved",
    StoreDamagedError: "damaged",
    StoreFullError: "full",
    StoreNewerError: "newer",
    StoreError: "store",
    PalimpsestError: "internal",
}


def log_unexpected(log: logging.Logger, what: str, *values: object, error: BaseException) -> None:
    """Logs where an error came from, without its message: that may quote a question or a note."""
    trace = "".join(traceback.format_tb(error.__traceback__))
    log.error(f"{what}: %s\n%s", *values, type(error).__name__, trace)


def failure(error: BaseException) -> wire.Failed:
    """Returns the error as its wire type."""
    for kind, code in KINDS.items():
        if isinstance(error, kind):
            # the first argument, for a LookupError shows its message in quotes
            return wire.Failed(code, str(error.args[0]) if error.args else str(error))
    match error:
        case CancelledError():
            return wire.Failed("stopping", "The daemon is stopping.", "Try again in a moment.")
        case OverflowError():
            return wire.Failed("bad_input", "A number in the request is too large.")
        case OSError(filename=str(place)):
            return wire.Failed("store", f"{place} cannot be used: {error.strerror or error}.")
    name = type(error).__name__
    return wire.Failed("internal", f"Something went wrong inside ({name}).", "See daemon.log, and tell us.")
