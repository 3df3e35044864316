"""Daemons and reading processes out of two processes that have imported all they need: a test waits for a fork, not for
an interpreter.

What comes of it is a process like any other, with its own lock, socket, threads, log, limits and death. Only the
imports were done before. `python -m tests.fork_server SOCKET daemon` is the process that forks daemons, with `reading`
the one that forks reading processes, which has no more in memory than these; each has one thread, opens no memory, and
ends when the test process does.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from daemon.paths import Paths, private_folder
from daemon.reading import process as reading
from tests import fail_points

ROOT = Path(__file__).parents[1]
PACKAGES = ["memory", "plugins", "daemon"]
LATE_IMPORTS = """
    anyio._backends._asyncio apscheduler.schedulers.background apscheduler.triggers.cron apscheduler.triggers.interval
    httpcore pysqlite3.dbapi2 safetensors.numpy sqlite_vec
    tokenizers.implementations tomllib uvicorn.lifespan.off uvicorn.protocols.http.h11_impl watchdog.observers
""".split()  # what a daemon imports only when it comes to it, where that takes long
NUMBER = struct.Struct("!i")  # a process id, then an exit code
MAX_REQUEST_BYTES = 1 << 20
ENVIRONMENTS = {"daemon": {}, "reading": {"MALLOC_ARENA_MAX": "1"}}  # as `daemon.reading.process.spawn` sets it
spawn_cold_reader = reading.spawn


class Forked:
    """A forked process, with that part of `subprocess.Popen` which a daemon and its readers need."""

    def __init__(
        self, server: str, arguments: list[str], environment: Mapping[str, str], folder: Path, stdin: int, output: int
    ) -> None:
        self.args = arguments
        self.returncode: int | None = None
        self._server = socket.socket(socket.AF_UNIX)
        self._server.connect(server)
        request = {"arguments": arguments, "environment": dict(environment), "folder": str(folder)}
        if arguments[0] == "daemon" and reading.spawn is not spawn_cold_reader:
            request["readers"] = _start_server("reading")
        socket.send_fds(self._server, [json.dumps(request).encode() + b"\n"], [stdin, output])
        self.pid = NUMBER.unpack(self._server.recv(NUMBER.size))[0]

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._server.settimeout(timeout)
            try:
                self.returncode = NUMBER.unpack(self._server.recv(NUMBER.size))[0]
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
            self._server.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it ended in between, as subprocess passes over, too
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def spawn(paths: Paths, environment: Mapping[str, str] | None = None) -> Forked:
    """What `daemon.client.starting.spawn` does, by a fork."""
    private_folder(paths.logs)
    whole = os.environ | paths.environment() | dict(environment or {})
    with paths.output.open("ab") as output, Path(os.devnull).open("rb") as nothing:
        folder = private_folder(paths.data)
        return Forked(_start_server("daemon"), ["daemon", "run"], whole, folder, nothing.fileno(), output.fileno())


def spawn_reader(connection: socket.socket, left_out: Sequence[str], server: str = "") -> Any:
    """What `daemon.reading.process.spawn` does, by a fork."""
    environment = {name: os.environ[name] for name in reading.KEPT_VARIABLES if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    with Path(os.devnull).open("r+b") as nothing:
        return Forked(
            server or _start_server("reading"),
            ["daemon.reading.child", *left_out],
            environment,
            Path.cwd(),
            connection.fileno(),
            nothing.fileno(),
        )


def share_servers() -> None:
    """Starts both processes that fork, for all test processes that this one starts."""
    for kind in ENVIRONMENTS:
        os.environ[f"FORKS_{kind}"] = _start_server(kind)


@functools.cache
def _start_server(kind: str) -> str:
    """Starts the process that forks, with the first such process of a test process; returns its address."""
    if address := os.environ.get(f"FORKS_{kind}"):
        return address
    folder = Path(tempfile.mkdtemp(prefix="palimpsest-"))
    server = subprocess.Popen(
        [sys.executable, "-P", "-m", "tests.fork_server", str(folder / "socket"), kind],
        stdin=subprocess.PIPE,  # whose end tells it that the tests have ended
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"} | ENVIRONMENTS[kind],
    )
    assert server.stdin is not None and server.stdout is not None
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(server.wait)
    atexit.register(server.stdin.close)
    assert server.stdout.readline() == b"ready\n", f"the process that forks for {kind} did not start"
    return str(folder / "socket")


class _ForkServer:
    """The process that forks. Its clients wait on their connections: a process id comes, and later an exit code."""

    def __init__(self, address: str) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(address)
        self._listener.listen(16)
        self._children: dict[int, socket.socket] = {}
        self._wake, ending = socket.socketpair()
        self._ending = ending
        for end in (self._wake, ending):
            end.setblocking(False)
        signal.set_wakeup_fd(ending.fileno())
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests

    def serve(self) -> None:
        with selectors.DefaultSelector() as selector:
            for ready in (self._listener, self._wake, sys.stdin.buffer):
                selector.register(ready, selectors.EVENT_READ)
            print("ready", flush=True)
            while sys.stdin.buffer not in (ready := [key.fileobj for key, _ in selector.select()]):
                if self._wake in ready:
                    self._wake.recv(4096)
                    self._reap()
                if self._listener in ready:
                    self._fork(selector)

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                with self._children.pop(ended[0]) as client, contextlib.suppress(OSError):
                    client.sendall(NUMBER.pack(os.waitstatus_to_exitcode(ended[1])))

    def _fork(self, selector: selectors.BaseSelector) -> None:
        client, _ = self._listener.accept()
        message, ends, _, _ = socket.recv_fds(client, MAX_REQUEST_BYTES, 2)
        while not message.endswith(b"\n"):
            message += client.recv(MAX_REQUEST_BYTES)
        if pid := os.fork():
            for end in ends:
                os.close(end)
            self._children[pid] = client
            return
        os.setsid()
        with contextlib.suppress(OSError):  # a test that was broken off meanwhile
            client.sendall(NUMBER.pack(os.getpid()))  # now it is a group that can be killed
        selector.close()
        signal.set_wakeup_fd(-1)
        for end in (self._listener, self._wake, self._ending, client, *self._children.values()):
            end.close()
        _become(json.loads(message), *ends)


def _become(request: dict[str, Any], stdin: int, output: int) -> None:
    """Runs a module in this fork as a new interpreter would. Does not return."""
    code = 1
    try:
        for source, target in ((stdin, 0), (output, 1), (output, 2)):
            os.dup2(source, target)
        os.close(stdin)
        os.close(output)
        if readers := request.get("readers"):
            reading.spawn = functools.partial(spawn_reader, server=readers)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        time.tzset()
        path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        sys.path[:0] = [entry for entry in path if entry and entry not in sys.path]
        sys.argv = ["-m", *request["arguments"][1:]]
        if where := os.environ.get(fail_points.VARIABLE):
            fail_points.install(where)
        gc.unfreeze()
        runpy.run_module(request["arguments"][0], run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _import_all() -> None:
    """Imports all that a daemon imports sooner or later, and loads the embedder that most of them use."""
    for name in _modules():
        importlib.import_module(name)
    for name in LATE_IMPORTS:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    importlib.import_module("plugins.embedders.static").load_model()


def _import_reading() -> None:
    """Imports what a reading process has imported when it waits for its first file."""
    importlib.import_module("daemon.reading.child")
    assert importlib.import_module("plugins.manager").load().readers


def _modules() -> Iterator[str]:
    for package in PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if not module.name.startswith("daemon.cli") and not module.name.endswith("__main__"):
                yield module.name


if __name__ == "__main__":
    server = _ForkServer(sys.argv[1])
    {"daemon": _import_all, "reading": _import_reading}[sys.argv[2]]()
    gc.collect()
    gc.freeze()
    server.serve()
