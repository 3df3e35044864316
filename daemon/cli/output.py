"""What commands print, and how they exit. stdout is data, stderr is narration; text from files is never obeyed by the
terminal.

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

import json
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from typing import IO, Any, TypeVar

import click

from daemon import wire
from daemon.client.client import DaemonDownError, DaemonError
from daemon.paths import name_received
from daemon.terminal import display_safe, escape_unsafe
from memory.errors import InvalidInputError, NotFoundError, PalimpsestError, StoreError

HOW_TO_READ = "Read a folder once: pal add ~/notes. Keep it read: pal watch add ~/notes"
NOTHING_READ = f"Nothing has been read yet. {HOW_TO_READ}"
NOT_RUNNING, BAD_SETTINGS = 3, 78
_START_CODES = {4, 74, 75, BAD_SETTINGS}  # of a daemon that could not start; `pal` exits with the same
BAR_TEXT, BAR_NAME = 23, 16  # columns beside a progress bar: of frame, percent and time; of a name at least
ONLY_CLOSE = 5  # the exit code where nothing answers, but some lines come close
End = TypeVar("End")


def print_json(value: Any) -> None:
    """Prints one JSON document on one line of stdout, in ASCII if that is not UTF-8. Events carry their `type`."""
    data = wire.encode_event(value) if isinstance(value, wire.Event) else wire.encode(value)
    is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    click.echo(escape_unsafe(json.dumps(data, ensure_ascii=not is_utf8)))


def say(text: str | None = "") -> None:
    """Prints a trusted sentence on stderr; on a terminal its lines break between words."""
    if text is None:
        return
    click.echo(fill_said(display_safe(text)), err=True)


def fill_said(text: str) -> str:
    """Wraps the lines of a text for stderr, if that is a terminal; indented ones are tables and commands to copy, and
    are left to it."""
    if not sys.stderr.isatty():
        return text
    return "\n".join(line if line.startswith(" ") else _fill(line) for line in text.split("\n"))


def fill_text(text: str) -> str:
    """Wraps the lines of a text for stdout, if that is a terminal, each below its own beginning."""
    return "\n".join(map(_fill, text.split("\n"))) if sys.stdout.isatty() else text


def _fill(line: str) -> str:
    """Wraps a line between words for the terminal; a longer word stays whole, to be copied."""
    if len(line) <= (width := find_width()):
        return line
    import textwrap  # takes 5 ms

    indent = " " * (len(line) - len(line.lstrip(" -")))
    return textwrap.fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def find_width() -> int:
    """Returns the columns of the terminal; 80 without one."""
    import shutil  # takes 5 ms

    return shutil.get_terminal_size().columns


def confirm(question: str, to: str, otherwise: str) -> None:
    """Asks before something that cannot be undone: `to` do what; exits with 1, printing `otherwise`, if the person
    declines. click's UsageError without a terminal."""
    if not sys.stdin.isatty():
        raise click.UsageError(f"Cannot ask for confirmation here. Add --yes to {to} without being asked.")
    if not click.confirm(question, err=True):
        say(otherwise)
        sys.exit(1)


def print_text(text: str, *, nl: bool = True) -> None:
    """Prints text from files on stdout."""
    click.echo(fill_text(display_safe(text)), nl=nl)


def style_text(text: str, **style: Any) -> str:
    """Returns `text` made safe, and in colour if stdout is a terminal that wants it."""
    return paint(display_safe(text, line=True), **style)


def paint(safe: str, **style: Any) -> str:
    """Returns safe text in colour if stdout is a terminal that wants it."""
    return click.style(safe, **style) if use_colour() else safe


def print_dim(text: str) -> None:
    """Prints a less important line: a place, a reason."""
    click.echo(paint(fill_text(display_safe(text, line=True)), dim=True))


def print_bold(text: str) -> None:
    """Prints a heading."""
    click.echo(style_text(text, bold=True))


def link_text(text: str, link: str | None) -> str:
    """Returns safe `text` as a terminal link to a trusted address, if stdout is a terminal with colours."""
    return f"\x1b]8;;{link}\x1b\\{text}\x1b]8;;\x1b\\" if link and use_colour() else text


def use_colour() -> bool:
    """Whether stdout is a terminal and plain text was not requested (NO_COLOR, TERM=dumb)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def print_table(rows: Iterable[Sequence[str]], *, right: Sequence[int] = (), spare: Sequence[int] = ()) -> None:
    """Prints rows in columns two spaces apart; the columns named in `right` are right-aligned, the last is never
    padded. On a terminal that is too narrow those in `spare` are left out, the first one first."""
    cells = [[display_safe(cell, line=True) for cell in row] for row in rows]
    if not cells:
        return
    widths = dict(enumerate(max(len(cell) for cell in column) for column in zip(*cells, strict=True)))
    for index in spare:
        if sys.stdout.isatty() and sum(widths.values()) + 2 * len(widths) - 2 > find_width():
            del widths[index]
    for row in cells:
        columns = [
            row[index].rjust(width) if index in right else row[index].ljust(width) for index, width in widths.items()
        ]
        click.echo("  ".join(columns).rstrip())


def say_rest(shown: int, total: int, how: str) -> None:
    """Prints how many of all rows are shown, and how to see others, if there are more."""
    if shown < total:
        say(f"{shown:,} of {total:,} are shown; {how}.")


def format_day(at: datetime | None) -> str:
    """Formats the day of a passage's time; "" without one."""
    return at.date().isoformat() if at else ""


def name(uri: str, title: str) -> str:
    """Returns a source's name: its path, relative if below the working folder; the title of a chat or a note."""
    return uri.removeprefix(f"{Path.cwd()}{os.sep}") if uri.startswith(os.sep) and "#" not in uri else title or uri


def locate(uri: str, line: int | None, *words: str | None) -> str:
    """Returns `path:line` or `path, page 3`, relative if below the working folder. A chat or a nameless note has no
    place: returns its `words`."""
    if line is None or uri.startswith("note:"):
        return ", ".join(word for word in words if word) or uri
    return wire.name_place(name_received(uri.removeprefix(f"{Path.cwd()}{os.sep}")), line)


def follow_progress(events: Iterable[wire.Event], end: type[End], label: str) -> End:
    """Shows a bar on a terminal; returns the final event of type `end`. DaemonDownError if it never comes."""
    begin = "\n" if sys.stderr.isatty() else ""
    with progress_bar(label) as bar:
        for event in events:
            match event:
                case wire.Progress():
                    bar.length = max(event.total, event.done, 1)
                    bar.update(event.done - bar.pos, display_safe(Path(event.label).name, line=True))
                case wire.Skipped():
                    say(f"{begin}Skipped {event.uri}: {event.reason}")
                case wire.Notice():
                    say(f"{begin}{event.text}")
                case end():
                    return event
    raise DaemonDownError("The daemon ended while it worked. Nothing is lost; run it again.")


def progress_bar(label: str, hidden: bool = False) -> AbstractContextManager[Any]:
    """Returns click's progress bar on stderr, hidden without a terminal, whose length is set later."""
    label, width = display_safe(label, line=True), find_width()
    bar = max(4, min(36, width - len(label) - BAR_TEXT - BAR_NAME))
    room = max(0, width - len(label) - bar - BAR_TEXT)  # a line that wraps would not be drawn over
    return click.progressbar(
        length=0, label=label, file=sys.stderr, hidden=hidden or not sys.stderr.isatty(), width=bar,
        item_show_func=lambda item: item and item[:room],
    )  # fmt: skip


class Clock:
    """The current activity with its seconds: the last line of stderr on a terminal, erased before others."""

    def __init__(self) -> None:
        self._is_drawn = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._doing, self._began = "", 0.0
        self._lock, self._closed = Lock(), Event()

    def show(self, doing: str) -> None:
        """Shows the activity; the first call starts the clock."""
        if not self._is_drawn:
            return
        if not self._began:
            self._began = monotonic()
            Thread(target=self._tick, daemon=True).start()
        self._doing = doing
        self._draw()

    def hide(self) -> None:
        with self._lock:
            if self._doing:
                click.echo("\r\x1b[K", err=True, nl=False)
            self._doing = ""

    def close(self) -> None:
        self._closed.set()
        self.hide()

    def _draw(self) -> None:
        with self._lock:
            if self._doing:
                click.echo(f"\r\x1b[K{self._doing} {monotonic() - self._began:.0f} s", err=True, nl=False)

    def _tick(self) -> None:
        while not self._closed.wait(1.0):
            self._draw()


def can_draw() -> bool:
    """Whether stderr is a terminal whose cursor can be moved."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def to_click_exception(error: Exception, as_json: bool) -> click.ClickException | None:
    """Returns the message for `error`; None for unexpected errors, and for click's own."""
    from daemon.failures import failure  # these only where something went wrong
    from daemon.lock import AlreadyRunningError

    match error:
        case DaemonError():
            return Refused(error.failed, as_json)
        case DaemonDownError():
            return Failure(str(error), error.code if error.code in _START_CODES else NOT_RUNNING)
        case StoreError() | NotFoundError() | InvalidInputError():  # where the daemon did not do it
            return Refused(failure(error), as_json)
        case PalimpsestError():
            return Failure(str(error), BAD_SETTINGS)
        case AlreadyRunningError():
            return click.ClickException("The daemon has the memory open. Stop it first: pal daemon stop")
        case PermissionError():
            return click.ClickException(display_safe(f"No permission: {error.filename or error}", line=True))
    return None


class Failure(click.ClickException):
    """An error with its exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.exit_code = code  # type: ignore[misc]  # click declares one code per class

    def format_message(self) -> str:
        return display_safe(self.message)


class NothingFound(click.ClickException):
    """The result is empty. This is not an error, so the message does not begin with "Error"."""

    exit_code = 4

    def show(self, file: IO[Any] | None = None) -> None:
        say(self.message)


class Refused(Failure):
    """The daemon's error; says what happened and what to do."""

    def __init__(self, failed: wire.Failed, as_json: bool) -> None:
        from daemon.failures import CODES

        super().__init__(f"{failed.message} {failed.remedy}".strip(), CODES.get(failed.code, (500, 1))[1])
        self.failed = failed
        self.as_json = as_json

    def show(self, file: IO[Any] | None = None) -> None:
        if self.as_json:
            print_json(self.failed)
        else:
            super().show(file)
