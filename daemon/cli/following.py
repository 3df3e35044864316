"""Following long work of the daemon: a bar on a terminal, a line for each event with JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TypeVar

import click

from daemon import wire
from daemon.cli import output
from daemon.client import DaemonDownError

End = TypeVar("End")


def follow_progress(events: Iterable[wire.Event], end: type[End], label: str, as_json: bool) -> End:
    """The event of type `end`, with which the work is over. DaemonDownError if it never comes."""
    show_bar = not as_json and sys.stderr.isatty()
    with click.progressbar(length=0, label=label, file=sys.stderr, hidden=not show_bar) as bar:
        for event in events:
            if as_json:
                output.print_json(event)
            match event:
                case wire.Progress():
                    bar.length = max(event.total, event.done)
                    bar.update(event.done - bar.pos)
                case end():
                    return event
    raise DaemonDownError("The daemon went away while it worked. Nothing is lost; do it again.")
