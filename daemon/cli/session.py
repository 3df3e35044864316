"""What a command has at hand: the paths, the connection to the daemon, whether JSON was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from daemon.client import Client
    from daemon.paths import Paths


@dataclass
class Session:
    """One run of `pal`. With `start` the daemon is started when it is not there."""

    start: bool = True
    as_json: bool = False

    @cached_property
    def paths(self) -> Paths:
        from daemon.paths import Paths

        return Paths.from_environment()

    @cached_property
    def client(self) -> Client:
        """The connection, made when it is first needed. Raises DaemonDownError."""
        from daemon.cli import output
        from daemon.starting import connect

        begins = self.start and not self.paths.memory.exists()
        return connect(self.paths, start=self.start, say=output.say if begins else lambda message: None)


pass_session = click.make_pass_decorator(Session, ensure=True)
