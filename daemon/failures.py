"""Errors for clients: a stable code, a sentence and a remedy. Never SQL, never a traceback."""

from __future__ import annotations

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
)

STATUS = {
    "bad_input": 422,
    "too_large": 413,
    "late": 408,
    "not_found": 404,
    "not_allowed": 405,
    "conflict": 409,
    "forbidden": 403,
    "no_session": 401,
    "not_available": 501,
    "busy": 503,
    "stopping": 503,
    "store": 500,
    "moved": 500,
    "damaged": 500,
    "full": 507,
    "internal": 500,
}


class ConflictError(PalimpsestError):
    """It cannot be done as things are now."""


def failure(error: BaseException) -> wire.Failed:
    """The error as the wire has it."""
    match error:
        case CancelledError():
            return wire.Failed("stopping", "The daemon is stopping.", "Try again in a moment.")
        case NotFoundError():
            return wire.Failed("not_found", _describe_error(error))
        case InvalidInputError():
            return wire.Failed("bad_input", _describe_error(error))
        case OverflowError():
            return wire.Failed("bad_input", "A number in the request is too large.")
        case NotAvailableError() | ModelError():
            return wire.Failed("not_available", _describe_error(error))
        case ConflictError():
            return wire.Failed("conflict", _describe_error(error))
        case StoreBusyError():
            return wire.Failed("busy", _describe_error(error))
        case StoreMovedError():
            return wire.Failed("moved", _describe_error(error))
        case StoreDamagedError():
            return wire.Failed("damaged", _describe_error(error))
        case StoreFullError():
            return wire.Failed("full", _describe_error(error))
        case StoreError():
            return wire.Failed("store", _describe_error(error))
        case PalimpsestError():
            return wire.Failed("internal", _describe_error(error))
        case OSError(filename=str(place)):
            return wire.Failed("store", f"{place} cannot be used: {error.strerror or error}.")
        case _:
            return wire.Failed(
                "internal", f"Something went wrong inside ({type(error).__name__}).", "See daemon.log, and tell us."
            )


def _describe_error(error: BaseException) -> str:
    # A LookupError shows its message in quotes.
    return str(error.args[0]) if error.args else str(error)
