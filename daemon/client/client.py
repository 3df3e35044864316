"""The client of the daemon: blocking, standard library only, cheap to import.

`daemon.client.starting.connect(Paths.from_environment())` returns a `Client`, starting the daemon in the background if
none answers. Each request has its own connection (`daemon.client.connection`), so a client may be used from several
threads.
"""

from __future__ import annotations

import json
import time
from typing import Any

from daemon.calls import Call
from daemon.calls.process import DaemonCalls
from daemon.client.connection import DaemonDownError as DaemonDownError
from daemon.client.connection import DaemonError as DaemonError
from daemon.client.connection import Lines as Lines
from daemon.client.connection import Stream as Stream
from daemon.client.connection import send
from daemon.paths import Paths

QUICK = 30.0  # seconds without a byte after which a daemon that answers from memory is given up
STOP_SECONDS = 20.0  # in which a daemon ends
SLOW = 600.0  # the same, for what works through the whole memory


class Client(DaemonCalls):
    """Makes the daemon's calls over its socket. Every method may raise DaemonError and DaemonDownError."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths

    def stop(self) -> None:
        """Stops the daemon and waits for its end. DaemonDownError if it has not ended after STOP_SECONDS."""
        super().stop()
        from daemon.lock import is_held

        deadline = time.monotonic() + STOP_SECONDS
        while is_held(self.paths.lock):
            if time.monotonic() > deadline:
                raise DaemonDownError(
                    f"The daemon is still busy after {STOP_SECONDS:.0f} s. Look into {self.paths.log}."
                )
            time.sleep(0.02)

    def make(self, call: Call, arguments: dict[str, Any]) -> Any:
        path, body = call.write_request(arguments)
        timeout = None if call.is_stream else SLOW if call.slow else QUICK
        response = send(self.paths, call.method, path, body, timeout)
        if call.types["return"] is Lines:
            return Lines(response)
        if call.is_stream:
            return Stream(response, call.ends)
        with response:
            try:
                return call.read_reply(json.loads(response.read()))
            except (OSError, ValueError) as error:
                raise DaemonDownError(f"The daemon ended while it answered ({error}). Try again.") from error
