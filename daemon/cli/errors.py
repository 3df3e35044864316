"""Exit codes and error messages.

0    done
1    failed
2    the command or its input is invalid
3    the daemon is not running, cannot start, or is already running
4    nothing was found, or the memory has no answer; a newer Palimpsest wrote the memory
5    no line answers the question plainly; the closest lines are shown (pal ask)
74   the memory's file is damaged or missing
75   its disk is full, or the file cannot be written
78   config.toml is invalid
130  Ctrl-C; the daemon continues its work
"""

from __future__ import annotations

from typing import IO, Any

import click

from daemon import wire
from daemon.cli import output
from daemon.client.client import DaemonDownError, DaemonError
from daemon.failures import failure
from daemon.terminal import display_safe
from memory.errors import InvalidInputError, NotFoundError, PalimpsestError, StoreError

HOW_TO_READ = "Read a folder once: pal add ~/notes. Keep it read: pal watch add ~/notes"
NOTHING_READ = f"Nothing has been read yet. {HOW_TO_READ}"
_EXIT_CODES = {"bad_input": 2, "too_large": 2, "not_found": 4, "moved": 74, "damaged": 74, "full": 75, "store": 75}

_START_CODES = {4, 74, 75, 78}  # of a daemon that could not start; `pal` exits with the same


def to_click_exception(error: Exception, as_json: bool) -> click.ClickException | None:
    """The message for `error`; None for an unexpected error, and for click's own."""
    match error:
        case DaemonError():
            return Refused(error.failed, as_json)
        case DaemonDownError():
            return DaemonState(str(error), error.code)
        case StoreError() | NotFoundError() | InvalidInputError():  # where the daemon did not do it
            return Refused(failure(error), as_json)
        case PalimpsestError():
            return BadSettings(display_safe(str(error)))
        case PermissionError():
            return click.ClickException(display_safe(f"No permission: {error.filename or error}", line=True))
    return None


class DaemonState(click.ClickException):
    """The daemon is not running, or already runs."""

    exit_code = 3

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        if code is not None and code in _START_CODES:
            self.exit_code = code  # type: ignore[misc]  # click declares one code per class

    def format_message(self) -> str:
        return display_safe(self.message)


class BadSettings(click.ClickException):
    """config.toml is invalid."""

    exit_code = 78


ONLY_CLOSE = 5  # the exit code where nothing answers, but some lines come close


class NothingFound(click.ClickException):
    """Nothing was found. This is not an error, so the message does not begin with "Error"."""

    exit_code = 4

    def show(self, file: IO[Any] | None = None) -> None:
        output.say(self.message)


class Refused(click.ClickException):
    """The daemon could not do it; says what happened and what to do."""

    def __init__(self, failed: wire.Failed, as_json: bool) -> None:
        super().__init__(f"{failed.message} {failed.remedy}".strip())
        self.exit_code = _EXIT_CODES.get(failed.code, 1)  # type: ignore[misc]  # click declares one code per class
        self.failed = failed
        self.as_json = as_json

    def format_message(self) -> str:
        return display_safe(self.message)

    def show(self, file: IO[Any] | None = None) -> None:
        if self.as_json:
            output.print_json(self.failed)
        else:
            super().show(file)
