"""The context of a command: paths, connection to the daemon, output format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast

import click

from daemon import wire
from daemon.cli import output
from daemon.client.client import Client, DaemonDownError
from daemon.client.starting import connect, explain_failure
from daemon.paths import Paths, use_address

if TYPE_CHECKING:
    from daemon.cli.offline import Offline

T = TypeVar("T")
End = TypeVar("End")

# of a daemon that does not run: it was not to be started; a newer version wrote the memory; config.toml is wrong
WITHOUT_OFFLINE = {None, 4, 78}


@dataclass
class Session:
    """One run of `pal`. With `start` the daemon is started if it does not run."""

    start: bool = True
    as_json: bool = False

    def show(self, value: T, text: str | Callable[[T], object]) -> None:
        """Prints a value as JSON if requested, else as `text`, or as `text` prints it."""
        if self.shows_json(value):
            return
        if isinstance(text, str):
            output.print_text(text)
        else:
            text(value)

    def show_rows(
        self, value: object, rows: Iterable[Sequence[str]], nothing: str = "", right: Sequence[int] = ()
    ) -> bool:
        """Prints a value as JSON if requested, else rows in columns, or that there is `nothing`; returns whether rows
        were printed."""
        if self.shows_json(value):
            return False
        cells = list(rows)
        output.print_table(cells, right=right)
        if nothing and not cells:
            output.say(nothing)
        return bool(cells)

    def follow(self, events: Iterable[wire.Event], end: type[End], label: str, text: Callable[[End], object]) -> End:
        """Prints every event as JSON if requested, else a bar and the last one as `text` prints it; returns the last
        one, of type `end`."""
        if not self.as_json:
            text(done := output.follow_progress(events, end, label))
            return done
        for event in events:
            output.print_json(event)
        return cast(End, event)

    def shows_json(self, value: object) -> bool:
        """Prints a value if JSON was requested; returns whether it was."""
        if self.as_json:
            output.print_json(value)
        return self.as_json

    @cached_property
    def paths(self) -> Paths:
        return use_address(Paths.from_environment())

    @cached_property
    def client(self) -> Client:
        """Connects on first use. DaemonDownError."""
        speaks = self.paths.at or (self.start and not self.paths.memory.exists())
        return connect(self.paths, start=self.start, say=output.say if speaks else lambda message: None)

    @cached_property
    def reader(self) -> Client:
        """Returns a client for reading: of the daemon or, if it cannot start, of this process, with a message.
        DaemonDownError."""
        try:
            return self.client
        except DaemonDownError as error:
            if self.paths.trace_of_lost and not self.paths.at:
                raise type(error)(explain_failure(error), error.code) from error
            if error.code in WITHOUT_OFFLINE:
                raise
            return self._read_offline(error)

    def _read_offline(self, error: DaemonDownError) -> Offline:
        from daemon.cli.offline import Offline
        from memory.errors import StoreError

        try:
            offline = Offline(self.paths)
        except StoreError as trouble:
            raise type(error)(str(trouble), error.code) from error
        click.get_current_context().call_on_close(offline.close)
        notice = "The daemon cannot start, so this is read without it, and nothing is kept."
        output.say(f"{notice} {explain_failure(error)}")
        return offline


pass_session = click.make_pass_decorator(Session, ensure=True)
