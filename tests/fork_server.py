"""Daemons out of one process that has imported everything once: a test waits for a fork, not for an interpreter.

What comes of it is a daemon like any other: a process of its own, with its own lock, socket, threads, log and death.
Only the imports were done before. `python -m tests.fork_server SOCKET` is the process that forks; it has one thread,
opens no memory, and ends when the test process does.
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
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from daemon.paths import Paths, private_folder
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


class ForkedDaemon:
    """A forked process, with that part of `subprocess.Popen` which a daemon needs."""

    def __init__(self, arguments: list[str], environment: Mapping[str, str], folder: Path, output: int) -> None:
        self.args = arguments
        self.returncode: int | None = None
        self._server = socket.socket(socket.AF_UNIX)
        self._server.connect(_start_server())
        request = {"arguments": arguments, "environment": dict(environment), "folder": str(folder)}
        socket.send_fds(self._server, [json.dumps(request).encode() + b"\n"], [output])
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


def spawn(paths: Paths, environment: Mapping[str, str] | None = None) -> ForkedDaemon:
    """What `daemon.client.starting.spawn` does, by a fork."""
    private_folder(paths.logs)
    whole = os.environ | paths.environment() | dict(environment or {})
    with paths.output.open("ab") as output:
        return ForkedDaemon(["daemon", "run"], whole, private_folder(paths.data), output.fileno())


@functools.cache
def _start_server() -> str:
    """Starts the process that forks, with the first daemon of a test process; returns its address."""
    folder = Path(tempfile.mkdtemp(prefix="palimpsest-"))
    server = subprocess.Popen(
        [sys.executable, "-P", "-m", "tests.fork_server", str(folder / "socket")],
        stdin=subprocess.PIPE,  # whose end tells it that the tests have ended
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},  # each daemon is told its own
    )
    assert server.stdin is not None and server.stdout is not None
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(server.wait)
    atexit.register(server.stdin.close)
    assert server.stdout.readline() == b"ready\n", "the process that forks daemons did not start"
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
        message, (output,), _, _ = socket.recv_fds(client, MAX_REQUEST_BYTES, 1)
        while not message.endswith(b"\n"):
            message += client.recv(MAX_REQUEST_BYTES)
        if pid := os.fork():
            os.close(output)
            self._children[pid] = client
            with contextlib.suppress(OSError):  # a test that was broken off meanwhile
                client.sendall(NUMBER.pack(pid))
            return
        selector.close()
        signal.set_wakeup_fd(-1)
        for end in (self._listener, self._wake, self._ending, client, *self._children.values()):
            end.close()
        _become(json.loads(message), output)


def _become(request: dict[str, Any], output: int) -> None:
    """Runs a module in this fork as a new interpreter would. Does not return."""
    code = 1
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(source, target)
        os.close(nothing)
        os.close(output)
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
    gc.collect()
    gc.freeze()


def _modules() -> Iterator[str]:
    for package in PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if not module.name.startswith("daemon.cli") and not module.name.endswith("__main__"):
                yield module.name


if __name__ == "__main__":
    server = _ForkServer(sys.argv[1])
    _import_all()
    server.serve()
