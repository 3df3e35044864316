"""A client of the daemon, which is started in the background if it does not run. What it last said, if it does not come
up."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from daemon import wire
from daemon.client import Client, DaemonDownError, DaemonError
from daemon.lock import ALREADY_RUNNING, is_held
from daemon.paths import Paths, private_folder

if TYPE_CHECKING:
    import subprocess


def connect(
    paths: Paths, start: bool = True, wait: float = 20.0, say: Callable[[str], None] = lambda message: None
) -> Client:
    """A client of the running daemon. With `start`, one that is not there is started, and one of an older protocol is
    replaced; `say` gets a sentence about it. Raises DaemonDownError (with the end of the log, if the daemon died) and
    DaemonError if the running daemon is newer than this client.
    """
    client = Client(paths)
    try:
        hello = client.hello()
    except DaemonDownError:
        if not start:
            raise
        say("Starting the memory in the background.")
        _start(client, wait)
        return client
    if hello.protocol > wire.PROTOCOL:
        raise DaemonError(
            wire.Failed(
                "protocol", f"A newer Palimpsest ({hello.version}) is running.", "Use its `pal`, or upgrade this one."
            )
        )
    if hello.protocol < wire.PROTOCOL:
        if not start:
            raise DaemonDownError("The running daemon is of an older version. Restart it with `pal daemon stop`.")
        say(f"The running daemon is of an older version ({hello.version}); it is being restarted.")
        client.stop()
        _start(client, wait)
    return client


def _start(client: Client, wait: float) -> None:
    """Starts a daemon and returns when one answers. Several clients may do so at once: the lock lets one live."""
    process = spawn(client.paths)
    deadline = time.monotonic() + wait
    while time.monotonic() < deadline:
        try:
            client.hello()
            return
        except DaemonDownError:
            code = process.poll()
        if code == ALREADY_RUNNING and not is_held(client.paths.lock):
            process = spawn(client.paths)  # the other one was just about to end
        elif code not in (None, ALREADY_RUNNING):
            raise DaemonDownError(f"The daemon could not start (exit code {code}).\n{_tail(client.paths)}")
        time.sleep(0.02)
    raise DaemonDownError(f"The daemon has not answered for {wait:.0f} s.\n{_tail(client.paths)}")


def spawn(paths: Paths, environment: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """A new daemon process, which outlives this one and its terminal; it may find that another one runs."""
    import subprocess  # 10 ms, which only a start should pay

    private_folder(paths.logs)
    fresh = os.O_TRUNC if paths.output.exists() and paths.output.stat().st_size > 1 << 20 else 0
    output = os.open(paths.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND | fresh, 0o600)
    try:
        return subprocess.Popen(
            # -P: a folder called `daemon` where the user happens to stand is not ours
            [sys.executable, "-P", "-m", "daemon", "run"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=os.environ | paths.environment() | dict(environment or {}),
            cwd=private_folder(paths.data),
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # what Windows has instead
        )
    finally:
        os.close(output)


def _tail(paths: Paths, lines: int = 12) -> str:
    """The end of what the daemon last said."""
    for path in (paths.output, paths.log):
        with contextlib.suppress(OSError):
            if said := path.read_text("utf-8", "replace").strip():
                return "\n".join([f"The end of {path}:", *said.splitlines()[-lines:]])
    return f"It left no word in {paths.log}."
