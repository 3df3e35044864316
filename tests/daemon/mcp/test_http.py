"""Agents that come to `pal mcp --http`, with the SDK's own client; and who must not come in."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from daemon.cli.config import write_setting
from daemon.mcp.http import MAX_CONNECTIONS, listen
from daemon.mcp.tokens import Tokens
from daemon.testing import RunningDaemon
from tests.daemon.mcp.conftest import PAL, call

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@dataclass
class Served:
    """`pal mcp --http` at an address, with the tokens of two agents."""

    url: str
    tokens: dict[str, str]
    process: subprocess.Popen[str]

    def headers(self, name: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[name]}"}

    def post(self, name: str = "wide", body: object = INITIALIZE, **headers: str) -> httpx.Response:
        return httpx.post(self.url, json=body, headers=ACCEPT | self.headers(name) | headers, timeout=60)


@pytest.fixture(scope="module")
def served(daemon: RunningDaemon, home: Path) -> Iterator[Served]:
    store = Tokens(daemon.paths.data / "mcp-tokens.json")
    tokens = {name: store.issue(name) for name in ("wide", "narrow")}
    write_setting(daemon.paths.config, "mcp.clients.wide.everything", "true")
    write_setting(daemon.paths.config, "mcp.clients.wide.write", "true")
    write_setting(daemon.paths.config, "mcp.clients.narrow.folders", json.dumps([str(home / "work")]))
    process = subprocess.Popen(
        [sys.executable, "-c", PAL, "mcp", "--http", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | daemon.paths.environment(),
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    found = re.search(r"http://127\.0\.0\.1:\d+/mcp", line)
    assert found, line
    try:
        yield Served(found[0], tokens, process)
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130


@asynccontextmanager
async def connected(served: Served, name: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=served.headers(name), timeout=60) as http,
        Client(streamable_http_client(served.url, http_client=http)) as client,
    ):
        yield client


async def test_a_token_tells_who_it_is_and_what_it_may(served: Served, home: Path) -> None:
    async with connected(served, "wide") as wide, connected(served, "narrow") as narrow:
        assert (await call(wide, "remember", text="The crane of the harbour is broken."))["source"].startswith(
            "note:agent/wide/"
        )
        found = await call(wide, "search", query="the ferry made me sick", k=50)
        assert any("diary" in one["source"] for one in found["passages"])
        found = await call(narrow, "search", query="the ferry made me sick", k=50)
        assert {one["source"].startswith(f"{home / 'work'}/") for one in found["passages"]} == {True}
        assert "remember" not in {tool.name for tool in (await narrow.list_tools()).tools}
        assert "may only read" in await call(narrow, "remember", text="The crane is whole.")


async def test_what_config_says_counts_while_it_runs(served: Served, daemon: RunningDaemon) -> None:
    tokens = Tokens(daemon.paths.data / "mcp-tokens.json")
    served.tokens["late"] = tokens.issue("late")
    async with connected(served, "late") as client:
        assert "Nothing of this memory is shared" in await call(client, "search", query="ferry")
        write_setting(daemon.paths.config, "mcp.clients.late.everything", "true")
        for _ in range(50):
            answer = await call(client, "search", query="ferry")
            if isinstance(answer, dict):
                break
            await anyio.sleep(0.1)
        assert answer["passages"]
    assert tokens.revoke("late")
    assert served.post("late").status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Bearer"}, 401),
        ({"Authorization": "Basic dTpw"}, 401),
        ({"Host": "memory.example:80"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Origin": "https://memory.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_who_has_no_token_or_is_a_page_stays_out(served: Served, headers: dict[str, str], status: int) -> None:
    refused = served.post(**headers)
    assert refused.status_code == status and "mcp-session-id" not in refused.headers


def test_another_path_and_too_much_are_refused(served: Served) -> None:
    assert httpx.get(served.url.replace("/mcp", "/"), headers=served.headers("wide")).status_code == 404
    assert served.post(body={"x": "y" * (2 << 20)}).status_code == 413
    assert httpx.post(served.url, headers=ACCEPT).status_code == 401


def test_connections_that_bring_nothing_keep_nobody_out(served: Served) -> None:
    port = int(served.url.split(":")[2].split("/")[0])
    with contextlib.ExitStack() as stack:
        for _ in range(MAX_CONNECTIONS + 10):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), 5))
        assert served.post().status_code == 200


def test_nobody_goes_on_with_the_session_of_another(served: Served) -> None:
    session = served.post("wide").headers["mcp-session-id"]
    body = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    headers = {"Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-06-18"}
    assert served.post("wide", {"jsonrpc": "2.0", "method": "notifications/initialized"}, **headers).status_code == 202
    assert served.post("wide", body, **headers).status_code == 200
    assert served.post("narrow", body, **headers).status_code == 404
    assert httpx.delete(served.url, headers=served.headers("wide") | headers).status_code == 200
    assert served.post("wide", body, **headers).status_code == 404


def test_it_listens_on_this_machine_alone(served: Served) -> None:
    port = int(served.url.split(":")[2].split("/")[0])
    hosts = {one[4][0] for one in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET)} - {"127.0.0.1"}
    for host in (*hosts, "127.0.0.2"):
        with pytest.raises(OSError):
            socket.create_connection((host, port), 1)


async def test_what_is_answered_is_sent_at_once() -> None:
    waits = anyio.Event()
    delays = True

    async def see(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal delays
        delays = not writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        writer.close()
        waits.set()

    with listen(0) as sock:
        async with await asyncio.start_server(see, sock=sock):
            socket.create_connection(sock.getsockname()).close()
            await waits.wait()
    assert not delays


def test_only_a_hash_of_a_token_is_kept_and_only_its_owner_reads_that(served: Served, daemon: RunningDaemon) -> None:
    file = daemon.paths.data / "mcp-tokens.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert not any(token in file.read_text("utf-8") for token in served.tokens.values())
    log = (daemon.paths.logs / "mcp.log").read_text("utf-8")
    assert not any(token in log for token in served.tokens.values())


def test_a_port_that_is_taken_is_said(served: Served, daemon: RunningDaemon) -> None:
    port = served.url.split(":")[2].split("/")[0]
    ended = subprocess.run(
        [sys.executable, "-c", PAL, "mcp", "--http", "--port", port],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | daemon.paths.environment(),
    )
    assert ended.returncode == 1 and f"port {port}" in ended.stderr and "Traceback" not in ended.stderr
