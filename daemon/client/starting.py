"""Connects to the daemon, starting it in the background if needed, and explains why it did not start."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from daemon import wire
from daemon.client.client import Client, DaemonDownError, DaemonError
from daemon.paths import Paths, private_folder

if TYPE_CHECKING:
    import subprocess


COULD_NOT_START = "The daemon could not start: "  # begins what one that could not says last
CANNOT_WRITE = 75  # the exit code where the home of a daemon cannot be written
WAIT_SECONDS = 60.0  # a start takes one second of CPU: 20 on a machine with twenty busy processes
NEW_MEMORY = "There was no memory in {}, so a new one begins there."


def connect(paths: Paths, start: bool = True, say: Callable[[str], None] = lambda message: None) -> Client:
    """Returns a client of the running daemon. With `start`, a missing one is started, and one of an older protocol
    replaced; `say` receives a sentence about it. DaemonDownError (with the end of the log, if the daemon died);
    DaemonError if the running daemon is newer than this client."""
    if paths.at:
        from daemon.client.remote import connect_remote

        return connect_remote(paths, start, say)
    client = Client(paths)
    try:
        hello = client.hello()
    except DaemonDownError:
        if not start:
            raise
        begins = not paths.memory.exists() and not paths.trace_of_lost
        say(NEW_MEMORY.format(paths.data) if begins else "Starting the memory in the background.")
        _start(client, say)
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
        _start(client, say)
    return client


def explain_failure(error: DaemonDownError) -> str:
    """Explains in a sentence why a daemon could not start, by its last output."""
    return str(error).rpartition(COULD_NOT_START)[2].splitlines()[-1]


def _start(client: Client, say: Callable[[str], None]) -> None:
    """Starts a daemon and waits until one answers. Several clients may do so at once: the lock admits one daemon."""
    from daemon.lock import ALREADY_RUNNING, is_held

    if _start_service(client, say):
        return
    output_bytes = _measure_output(client.paths)
    process = _spawn(client.paths)
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        try:
            if client.hello().pid != process.pid:  # another client's daemon: this one must not begin when that ends
                process.terminate()
                process.wait()
            return
        except DaemonDownError:
            code = process.poll()
        if code == ALREADY_RUNNING and not is_held(client.paths.lock):
            process = _spawn(client.paths)  # the other one was just about to end
        elif code not in (None, ALREADY_RUNNING):
            _, known, reason = (tail := _read_tail(client.paths, output_bytes)).rpartition(COULD_NOT_START)
            why = f"{known}{reason}" if known else f"The daemon could not start (exit code {code}).\n{tail}"
            raise DaemonDownError(why, code)
        time.sleep(0.02)
    raise DaemonDownError(
        f"The daemon has not answered for {WAIT_SECONDS:.0f} s.\n{_read_tail(client.paths, output_bytes)}"
    )


def _start_service(client: Client, say: Callable[[str], None]) -> bool:
    """Starts the daemon through its installed service, so that no second one runs; returns whether there is one."""
    from daemon.service import find_installed, start_service  # 10 ms, which only a start should pay

    service = find_installed(client.paths)
    if service is None:
        return False
    deadline, problem = time.monotonic() + WAIT_SECONDS, "it does not answer"
    for failure in start_service(service):
        with contextlib.suppress(DaemonDownError):
            client.hello()
            return True
        if failure or time.monotonic() > deadline:
            problem = failure or problem
            break
        time.sleep(0.1)
    say(f"The installed service does not start, so the daemon runs without it ({problem}).")
    return False


def _spawn(paths: Paths) -> subprocess.Popen[bytes]:
    try:
        return spawn(paths)
    except OSError as error:
        why = error.strerror or str(error)
        raise DaemonDownError(
            f"{COULD_NOT_START}{error.filename or paths.data} cannot be written ({why}). Make it writable, or "
            "choose another folder with PALIMPSEST_HOME.",
            CANNOT_WRITE,
        ) from error


def spawn(paths: Paths, environment: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Starts a daemon process that outlives this one and its terminal; it exits if another one runs."""
    import subprocess  # 10 ms, which only a start should pay

    private_folder(paths.logs)
    fresh = os.O_TRUNC if paths.output.exists() and paths.output.stat().st_size > 1 << 20 else 0
    output = os.open(paths.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND | fresh, 0o600)
    try:
        return subprocess.Popen(
            # -P: a folder called `daemon` in the working directory is not ours
            [sys.executable, "-P", "-m", "daemon", "run"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=os.environ | paths.environment() | dict(environment or {}),
            cwd=private_folder(paths.data),
            start_new_session=True,
        )
    finally:
        os.close(output)


def _measure_output(paths: Paths) -> int:
    """Returns the size of earlier daemons' output."""
    try:
        return paths.output.stat().st_size
    except OSError:
        return 0


def _read_tail(paths: Paths, since: int) -> str:
    """Returns the last lines of the latest daemon's output."""
    for path, begin in ((paths.output, since), (paths.log, 0)):
        with contextlib.suppress(OSError):
            whole = path.read_bytes()
            fresh = whole[begin:] if len(whole) >= begin else whole  # the log restarts when it has grown long
            if output := fresh.decode("utf-8", "replace").strip():
                return "\n".join([f"The end of {path}:", *output.splitlines()[-12:]])
    return f"Nothing is in {paths.log}."
