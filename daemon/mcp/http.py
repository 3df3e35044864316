"""Agents over HTTP: the streamable transport of the Model Context Protocol, on this machine alone.

who comes in    Host is this address and port, nothing that a browser sends for a page, and a token: it tells which
                agent it is. Each has a server and sessions of its own, so nobody can go on with another's.
what it brings  at most MAX_REQUEST_BYTES; at most MAX_SESSIONS sessions at once, which end when nobody uses them
"""

from __future__ import annotations

import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Callable

import anyio
import uvicorn
from anyio.abc import TaskGroup, TaskStatus
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount
from starlette.types import Receive, Scope, Send

from daemon.mcp.agent import Agent
from daemon.mcp.server import AgentServer
from daemon.mcp.tokens import Tokens
from daemon.process.connections import limit_connections, open_tcp

PATH = "/mcp"
HOST = "127.0.0.1"  # never another one
MAX_REQUEST_BYTES = 1 << 20
MAX_SESSIONS = 32  # of one agent
IDLE_SECONDS = 30 * 60
MAX_CONNECTIONS = 64  # beyond them the one that has waited longest without a request makes room
REQUEST_SECONDS = 10.0  # within which a request must be whole
HEAD_BYTES = 16 << 10
STOP_SECONDS = 2  # for calls that are being answered

log = logging.getLogger(__name__)


def listen(port: int) -> socket.socket:
    """The socket that agents come to; port 0 is any that is free. OSError where it is taken."""
    sock = open_tcp()
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((HOST, port))
        sock.listen()  # who comes before the server is up waits
    except OSError:
        sock.close()
        raise
    return sock


def serve(sock: socket.socket, make_agent: Callable[[str], Agent], tokens: Tokens) -> None:
    """Serves agents at a socket until the process is told to stop. `make_agent` is asked once for each name."""
    config = uvicorn.Config(
        build(sock.getsockname()[1], make_agent, tokens),
        http=limit_connections(MAX_CONNECTIONS, REQUEST_SECONDS),
        h11_max_incomplete_event_size=HEAD_BYTES,
        ws="none",
        log_config=None,
        access_log=False,
        date_header=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    uvicorn.Server(config).run([sock])


def build(port: int, make_agent: Callable[[str], Agent], tokens: Tokens) -> Starlette:
    """The application that listens at that port."""
    sessions = Sessions(port, make_agent)

    @contextlib.asynccontextmanager
    async def live(_: Starlette) -> AsyncIterator[None]:
        async with sessions.run():
            yield

    return Starlette(routes=[Mount("/", Gate(port, tokens, sessions))], lifespan=live)


class Gate:
    """Lets requests in, each to the server of the agent whose token it brings."""

    def __init__(self, port: int, tokens: Tokens, sessions: Sessions) -> None:
        self._hosts = allowed_hosts(port)
        self._tokens = tokens
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # a web socket: nothing here speaks it
            return
        headers = Headers(scope=scope)
        problem = self._look(headers, scope["path"])
        name = None if problem else await anyio.to_thread.run_sync(self._find, headers)
        if problem is None and name is None:
            problem = _refusal(401, "A token is needed: pal mcp token NAME", {"WWW-Authenticate": "Bearer"})
        if problem is not None:
            log.info("refused a request (%d)", problem.status_code)
            await problem(scope, receive, send)
            return
        assert name is not None
        await (await self._sessions.find(name)).handle_request(scope, receive, send)

    def _look(self, headers: Headers, path: str) -> Response | None:
        """A page in a browser can reach a port in another page's name: it sends its origin, or another host."""
        if len(headers.getlist("host")) != 1 or headers["host"] not in self._hosts:
            return _refusal(421, "This is no host of that name.")
        if "origin" in headers or headers.get("sec-fetch-site", "none") != "none":
            return _refusal(403, "Pages have no access to a memory.")
        return None if path.rstrip("/") == PATH else _refusal(404, f"Agents come to {PATH}.")

    def _find(self, headers: Headers) -> str | None:
        given = headers.getlist("authorization")
        kind, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        return self._tokens.find(token.strip()) if kind.lower() == "bearer" and token.strip() else None


class Sessions:
    """The sessions of all agents; an agent's server is made when it first comes."""

    def __init__(self, port: int, make_agent: Callable[[str], Agent]) -> None:
        self._security = TransportSecuritySettings(allowed_hosts=allowed_hosts(port), allowed_origins=[])
        self._make_agent = make_agent
        self._managers: dict[str, StreamableHTTPSessionManager] = {}
        self._making = anyio.Lock()
        self._tasks: TaskGroup | None = None

    @contextlib.asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """As long as this is open agents are served."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    async def find(self, name: str) -> StreamableHTTPSessionManager:
        """The sessions of one agent."""
        async with self._making:
            if name not in self._managers:
                assert self._tasks is not None
                self._managers[name] = await self._tasks.start(self._serve, name)
            return self._managers[name]

    async def _serve(self, name: str, *, task_status: TaskStatus[StreamableHTTPSessionManager]) -> None:
        server = AgentServer(self._make_agent(name))
        server.streamable_http_app(
            streamable_http_path=PATH,
            json_response=True,  # nothing is told before a call is answered
            max_request_body_size=MAX_REQUEST_BYTES,
            session_idle_timeout=IDLE_SECONDS,
            max_sessions=MAX_SESSIONS,
            transport_security=self._security,
        )
        async with server.session_manager.run():
            task_status.started(server.session_manager)
            await anyio.sleep_forever()


def allowed_hosts(port: int) -> list[str]:
    return [f"{HOST}:{port}", f"localhost:{port}"]


def _refusal(status: int, reason: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": reason}, status, headers)
