"""What one program may take of the daemon, so that others are still served: half requests, idle connections, numbers,
sizes; and whose a connection is."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.types import Message, Receive, Scope, Send

from daemon import wire
from daemon.api.routing import LISTENERS, Gate
from daemon.client.client import DaemonError
from tests.daemon.conftest import QUICK, listening
from tests.running import RunningDaemon, run_daemon

HALF_A_HEAD = b"POST /recall HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n"
HALF_A_BODY = HALF_A_HEAD + b"Content-Type: application/json\r\n\r\n{"
HELLO = b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"
IMPATIENT = replace(QUICK, daemon=replace(QUICK.daemon, request_s=3.0))


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """A daemon that may open 256 files, as on macOS, and gives nobody more than three seconds for a request."""
    with run_daemon(tmp_path_factory.mktemp("narrow") / "home", IMPATIENT) as daemon:
        assert daemon.process is not None
        if sys.platform == "linux":
            resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE, (256, 256))
        yield daemon


@contextlib.contextmanager
def connections(daemon: RunningDaemon, count: int, sent: bytes) -> Iterator[list[socket.socket]]:
    """So many connections that have sent this and no more."""
    with contextlib.ExitStack() as closing:
        opened = []
        for _ in range(count):
            one = closing.enter_context(socket.socket(socket.AF_UNIX))
            one.settimeout(60)
            one.connect(str(daemon.paths.socket))
            with contextlib.suppress(OSError):  # it had to make room already
                one.sendall(sent)
            opened.append(one)
        yield opened


def said(one: socket.socket) -> bytes:
    """All that a connection is told until it is closed from the other side."""
    text = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := one.recv(65536):
            text += piece
    return text


def test_who_sends_half_a_request_keeps_nobody_out_and_is_not_waited_for(narrow: RunningDaemon) -> None:
    """Nothing, half a head, half a body, half of a second request behind a whole one, and a body drop by drop."""
    with (
        connections(narrow, 20, HALF_A_BODY) as bodies,
        connections(narrow, 10, HALF_A_HEAD) as heads,
        connections(narrow, 10, b"") as idle,
        connections(narrow, 1, HELLO + HALF_A_BODY) as [second],
        connections(narrow, 1, HALF_A_BODY) as [drip],
    ):
        assert narrow.client.status().process.pid == narrow.client.hello().pid
        for _ in range(1200):
            if select.select([drip], [], [], 0.05)[0]:
                break
            drip.sendall(b" ")
        for one in (*bodies, *heads, *idle, second, drip):
            text = said(one)
            assert b"HTTP/1.1 408 " in text and b'"late"' in text
            assert text.count(b"HTTP/1.1 200 ") == (one is second)
        assert narrow.client.recall("ferry").hits == ()


@pytest.mark.parametrize("sent", [b"", HALF_A_BODY], ids=["idle", "half a body"])
def test_more_connections_than_descriptors(narrow: RunningDaemon, sent: bytes) -> None:
    before = narrow.paths.log.stat().st_size
    with connections(narrow, 400, sent):
        for _ in range(20):
            narrow.client.remember("The ferry leaves at nine.", source="ferry")
        assert narrow.client.status().stats.sources == 1
    assert narrow.paths.log.stat().st_size - before < 20_000
    assert "out of system resource" not in narrow.paths.log.read_text()


def test_who_listens_counts_apart(narrow: RunningDaemon) -> None:
    """As many chats as there may be; the one too many is refused at once."""
    with contextlib.ExitStack() as closing:
        for _ in range(LISTENERS):
            closing.enter_context(listening(narrow.client))
        with pytest.raises(DaemonError) as caught:
            narrow.client.activity()
        assert caught.value.failed.code == "busy"
        assert narrow.client.status().process.pid == narrow.client.hello().pid


@pytest.mark.parametrize(
    ("request_", "status", "code"),
    [
        (b"GET /hello HTTP/1.1\r\nHost: x\r\nX: " + b"a" * (1 << 20) + b"\r\n\r\n", 422, "bad_input"),
        (b"GET /hello HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 17_000 + b"\r\nConnection: close\r\n\r\n", 413, "too_large"),
        (b"GET /hello HTTP/1.1\r\nHost: x\r\n" + b"".join(b"X%d: a\r\n" % n for n in range(9000)), 422, "bad_input"),
        (b"GET /hello?" + b"a" * (1 << 20) + b" HTTP/1.1\r\nHost: x\r\n\r\n", 422, "bad_input"),
        (
            b"POST /remember HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000000\r\nConnection: close\r\n\r\n{",
            413,
            "too_large",
        ),
        (bytes(range(256)) * 16, 422, "bad_input"),
    ],
    ids=["a long header", "a longer one", "many headers", "a long url", "a large body", "no HTTP"],
)
def test_sizes(narrow: RunningDaemon, request_: bytes, status: int, code: str) -> None:
    with connections(narrow, 1, request_) as [one]:
        text = said(one)
    assert text.startswith(b"HTTP/1.1 %d " % status) and code.encode() in text.splitlines()[-1]


async def test_the_gate_counts_whole_requests_and_lets_the_first_word_through() -> None:
    released, begun = asyncio.Event(), 0

    async def work(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal begun
        begun += 1
        if scope["path"] == "/ask":
            await released.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    gate = Gate(work, 2)

    async def statuses(path: str) -> list[int]:
        got: list[int] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                got.append(message["status"])

        await gate({"type": "http", "method": "POST", "path": path, "headers": []}, receive, send)
        return got

    working = [asyncio.create_task(statuses("/ask")) for _ in range(2)]
    while begun < 2:
        await asyncio.sleep(0)
    assert [await statuses(path) for path in ("/ask", "/status", "/hello", "/stop")] == [[503], [503], [200], [200]]
    released.set()
    assert [await one for one in working] == [[200], [200]]
    assert await statuses("/ask") == [200]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user, too")
def test_another_user_is_not_let_in_though_the_socket_is_open_to_all(tmp_path: Path) -> None:
    ask = """
import os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
sock = socket.socket(socket.AF_UNIX)
sock.settimeout(60)
sock.connect(sys.argv[1])
try:
    sock.sendall(b"GET /status HTTP/1.0\\r\\n\\r\\n")
    print(len(sock.recv(65536)))
except ConnectionError:
    print(0)
"""
    # below /tmp, for nobody else can walk to where tests are
    home = Path("/tmp") / f"palimpsest-peer-{os.getpid()}"
    with run_daemon(home, QUICK) as daemon:
        try:
            daemon.paths.socket.chmod(0o666)
            asked, deadline = 0, time.monotonic() + 60
            while asked < 3:
                for place in (home, daemon.paths.runtime):
                    place.chmod(0o755)
                got = subprocess.run(
                    [sys.executable, "-P", "-c", ask, str(daemon.paths.socket)], capture_output=True, text=True
                )
                if "PermissionError" in got.stderr and time.monotonic() < deadline:
                    continue  # the daemon makes its folders private while it begins
                assert (got.stdout.strip(), got.stderr) == ("0", "")
                asked += 1
            assert daemon.client.hello().protocol == wire.PROTOCOL
            assert daemon.paths.log.read_text().count("refused user 65534") == 1
        finally:
            daemon.stop()
            subprocess.run(["rm", "-rf", str(home)], check=True)
