"""The daemon from start to end: start, serve, drain, stop.

Heavy modules are imported after the lock is acquired, so that a second daemon exits within a
tenth of a second.

    exit codes: 0 stopped   1 it could not start   3 another one runs   4 a newer Palimpsest wrote the memory
    74 the memory is damaged, gone or out of reach   75 its disk is full   78 config.toml is wrong
    130 interrupted while it started
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

from daemon.client.starting import COULD_NOT_START
from daemon.config.settings import Settings, SettingsError, describe_ignored, load
from daemon.lock import ALREADY_RUNNING, AlreadyRunningError, hold, limit_arenas, set_limits
from daemon.paths import SERVES, OwnFile, Paths, private_folder
from daemon.process.logs import configure
from memory.errors import PalimpsestError, StoreError, StoreMovedError

log = logging.getLogger("daemon")

NO_FILE, BAD_SETTINGS = 74, 78
INTERRUPTED = 130
YOUNG_OBJECTS = 20_000  # after which garbage is looked for: with 700, Python's own, that is an eighth of reading a note
BREATH_SECONDS = 0.5  # between serving and looking at folders: who started the daemon has a question
DRAIN_SECONDS = 10.0  # for the unit that is being written
NOT_WATCHED = "An error keeps all folders from being watched; see: pal daemon log. To try again: pal daemon restart"
STOP_SECONDS = 15.0  # after which the process ends, whatever it is doing


def run() -> int:
    """Runs a daemon in this process until it is stopped; returns the exit code."""
    paths = Paths.from_environment()
    os.umask(0o077)
    set_limits()
    limit_arenas()
    try:
        settings = load(paths.config)
        private_folder(paths.data)
        refuse_network(paths.data, settings)
        with hold(paths.lock):
            configure(paths.log, settings.daemon.log_level, console=sys.stderr.isatty())
            if ignored := describe_ignored(paths.config):
                log.warning(ignored)
            refuse_lost_memory(paths)
            daemon = Daemon(paths, settings)
            daemon.start()
            try:
                asyncio.run(daemon.serve())
            finally:
                daemon.stop()
            return daemon.exit_code
    except SettingsError as error:
        print(f"{COULD_NOT_START}{error}", file=sys.stderr)
        return BAD_SETTINGS
    except AlreadyRunningError as error:
        print(error, file=sys.stderr)
        return ALREADY_RUNNING
    except KeyboardInterrupt:  # before it serves; from then on the daemon has its own handler
        return INTERRUPTED
    except (PalimpsestError, OSError) as error:
        from daemon.failures import CODES, failure

        log.error("%s%s", COULD_NOT_START, error)
        with contextlib.suppress(OSError):  # what is full may be the disk that takes these words
            print(f"{COULD_NOT_START}{error}", file=sys.stderr, flush=True)
        return CODES[failure(error).code][1] if isinstance(error, StoreError) else 1


def refuse_network(folder: Path, settings: Settings) -> None:
    """Raises StoreError if the memory would be on a network drive and the settings do not allow it."""
    from daemon.watch.roots import network_of

    kind = "" if settings.disk.network else network_of(folder.resolve())
    if kind:
        raise StoreError(
            f"{folder} lies on a network drive ({kind}), where a memory is easily damaged. Choose a folder of this "
            "machine with PALIMPSEST_HOME, or take the risk: pal config set disk.network true"
        )


def refuse_lost_memory(paths: Paths) -> None:
    """Raises StoreMovedError if there was a memory that is missing: a new one would hide the loss."""
    if trace := paths.trace_of_lost:
        raise StoreMovedError(
            f"{paths.memory} is missing, but {trace} shows that there was one. Restore a backup: pal restore. To begin "
            f"a new memory, move {trace} away."
        )


class Daemon:
    """A running daemon, which owns the lock."""

    def __init__(self, paths: Paths, settings: Settings) -> None:
        self.paths = paths
        self.settings = settings
        self.exit_code = 0
        self._address: OwnFile | None = None
        self._stopping = threading.Event()

    def start(self) -> None:
        """Opens the memory and wires its services. Does not listen yet."""
        # One thread for numpy's products: a question is too small to share, and threads that wait for a busy core
        # made it four times slower.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        gc.disable()  # until it serves: nothing that the imports make is garbage, and looking for it takes 0.1 s
        from daemon.api.services import Services
        from daemon.process.page import Page

        self.page = Page(self.paths, self.settings)
        self.services = Services(
            self.paths, self.settings, self.page.open, self.page.close, self.stop_soon, self._give_up
        )

    async def serve(self) -> None:
        from daemon.api import build
        from daemon.api.routing import IN_FLIGHT, Gate
        from daemon.process.server import Server, listen, wake_by_signals, watch_loop

        self._loop = asyncio.get_running_loop()
        self._stop_asked = asyncio.Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, self._handle_signal)
        listener, self._address = listen(self.paths)
        app = build(self.services)
        self.page.serve(app)
        self.gate = Gate(app, IN_FLIGHT)
        server = Server(self.gate, self.settings.daemon, self.begin, self._wait_for_stop, self.drain)
        watching = asyncio.create_task(watch_loop(self.paths.stacks))
        with wake_by_signals():
            await server.serve(sockets=[listener])
            watching.cancel()
            await self.page.close()

    async def _wait_for_stop(self) -> None:
        await self._stop_asked.wait()
        self.page.close_soon()

    def begin(self) -> None:
        """Starts answering requests, and the background work in a thread."""
        gc.freeze()
        gc.set_threshold(YOUNG_OBJECTS, 10, 10)
        gc.enable()
        log.info("process %d%s%s", os.getpid(), SERVES, self.paths.memory)
        self._beginning = threading.Thread(target=self._begin, name="begin", daemon=True)
        self._beginning.start()

    def _begin(self) -> None:
        try:
            if not self._stopping.wait(BREATH_SECONDS):
                self.services.begin(self._stopping.wait)
        except Exception as error:
            if not self._stopping.is_set():
                log.exception("folders are not watched: %s", type(error).__name__)
                self.services.safe_mode = NOT_WATCHED

    def stop_soon(self) -> None:
        """Requests a stop. Thread-safe."""
        if not self._stopping.is_set():
            self._stopping.set()
            deadline = threading.Timer(STOP_SECONDS, os._exit, [1])
            deadline.daemon = True
            deadline.start()
            self._loop.call_soon_threadsafe(self._stop_asked.set)

    def _give_up(self) -> None:
        """Ends the daemon because the memory is gone."""
        self.exit_code = NO_FILE
        self.stop_soon()

    def _handle_signal(self, number: int, frame: FrameType | None) -> None:
        """Stops in order at the first signal, at once at the second: all acknowledged writes are on the disk."""
        if self._stopping.is_set():
            os._exit(128 + number)
        self.stop_soon()

    def drain(self) -> None:
        """Stops accepting work, finishes the current write, ends the streams."""
        log.info("stopping")
        self.gate.stopping = True
        self._beginning.join(DRAIN_SECONDS)
        self.services.drain(DRAIN_SECONDS)

    def stop(self) -> None:
        """Closes the memory and removes the daemon's address."""
        self.services.close()
        if self._address:
            self._address.remove()
        log.info("stopped")
