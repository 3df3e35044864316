"""A real daemon for tests and benchmarks, with everything in a folder of its own."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from daemon.client import starting
from daemon.client.client import Client
from daemon.config.settings import Settings, render
from daemon.paths import Paths


@dataclass
class RunningDaemon:
    """A daemon process with a separate home. `start`, `stop` and `kill` may be called as often as needed."""

    paths: Paths
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def client(self) -> Client:
        return Client(self.paths)

    def start(self) -> RunningDaemon:
        """Starts the process and returns when it answers. AssertionError with its words if it does not."""
        self.process = self.spawn()
        deadline = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(Exception):
                self.client.hello()
                return self
            time.sleep(0.02)
        raise AssertionError(f"the daemon did not start:\n{self.paths.output.read_text('utf-8', 'replace')}")

    def spawn(self) -> subprocess.Popen[bytes]:
        """Another process of the same home, which may find that one is there."""
        return starting.spawn(self.paths, self.environment)

    def stop(self) -> int:
        """Tells it to stop; returns the exit code."""
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(60)

    def kill(self) -> None:
        """kill -9."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(60)


@contextlib.contextmanager
def run_daemon(home: Path, settings: Settings | None = None, **environment: str) -> Iterator[RunningDaemon]:
    """A running daemon whose everything is in `home`, which may be new; it is ended at the end, whatever happens."""
    daemon = RunningDaemon(Paths.in_folder(home), environment)
    home.mkdir(parents=True, exist_ok=True)
    daemon.paths.config.write_text(render(settings or Settings()), "utf-8")
    daemon.start()
    try:
        yield daemon
    finally:
        with contextlib.suppress(Exception):  # a daemon that a client started in this home
            daemon.client.stop()
        if daemon.process and daemon.process.poll() is None:
            daemon.kill()
