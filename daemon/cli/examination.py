"""What `pal doctor` looks at, also where no daemon answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from daemon import examination
from daemon.cli.session import WITHOUT_OFFLINE
from daemon.client import DaemonDownError, DaemonError
from daemon.examination import Look, look_at
from daemon.starting import explain_failure

if TYPE_CHECKING:
    from daemon.cli.session import Session


def examine(session: Session) -> Iterator[Look]:
    """Every look; where the daemon cannot start, or has lost its file, those that can be made without."""
    try:
        client = session.client
        client.status()
    except DaemonError as error:
        yield Look("file", str(error))
        return
    except DaemonDownError as error:
        if error.code is None:
            raise
        yield Look("daemon", f"The daemon cannot start: {explain_failure(error)}")
        if error.code not in WITHOUT_OFFLINE:
            yield from look_at("file", _check_offline(session))
        return
    yield from examination.examine(client, session.paths.config)


def _check_offline(session: Session) -> Iterator[str]:
    try:
        yield from session.reader.check().problems
    except DaemonDownError as error:  # nor can it be read
        yield str(error)
