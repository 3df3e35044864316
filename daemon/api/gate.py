"""The gate of the API: who may come in, how many, how large a request may be, and the reply to an unexpected error.

A request counts once it has arrived completely: a partial one keeps nobody out. `daemon.process.server` sets a
time limit for the rest of it.
"""

from __future__ import annotations

import logging
import traceback
from collections import Counter
from concurrent.futures import CancelledError

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from daemon import wire
from daemon.api.routing import reply
from daemon.failures import CODES, failure

log = logging.getLogger(__name__)

IN_FLIGHT = 16  # open requests; a client above this number tries again
BODY_BYTES = 2 << 20
HEADERS_BYTES = 16 << 10
LISTENERS = 32  # to the daemon's activity: a chat is one while it is open
SECRETS = "/secrets"  # and what is below it: never over a port
ALWAYS = ("/hello", "/stop")  # however many others there are: neither takes any time

TOO_LARGE = wire.Failed(
    "too_large", "The request is larger than 2 MiB.", "Save the text as a file and add that: pal add FILE."
)
TOO_LARGE_A_HEAD = wire.Failed("too_large", "The head of the request is larger than 16 KiB.")
NO_JSON = wire.Failed("bad_input", "The request is not JSON.", "Say that it is: Content-Type: application/json")
BUSY = wire.Failed("busy", "Too many requests at the same time.", "Try again in a moment.")
TOO_MANY_LISTENERS = wire.Failed("busy", f"{LISTENERS} programs listen to the memory already.", "Close a chat.")


def fail(problem: wire.Failed) -> Response:
    response = reply(problem, CODES[problem.code][0])
    if problem is BUSY or problem.code == "stopping":  # the store has waited for its own lock already
        response.headers["Retry-After"] = "1"
    return response


class Gate:
    """Lets requests in: `most` at a time, none when the daemon is stopping."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = {"listeners": LISTENERS, "requests": most}
        self._open: Counter[str] = Counter()
        self.stopping = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if problem := self._check_head(scope):
            await fail(problem)(scope, receive, send)
            return
        body = await _read(receive)
        if body is None:
            return  # its client has gone
        kind = "listeners" if scope["path"] == "/activity" else "requests"
        if problem := _check_body(body, scope) or self._check_limit(kind, scope["path"]):
            await fail(problem)(scope, receive, send)
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        started = False

        async def bring() -> Message:
            return messages.pop() if messages else await receive()

        async def note(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        counted = scope["path"] not in ALWAYS
        self._open[kind] += counted
        try:
            await self._app(scope, bring, note)
        except (Exception, SystemExit) as error:  # which a plug-in may raise, and which would end the daemon
            # Without the error's message: it may quote a question or a note.
            where = "".join(traceback.format_tb(error.__traceback__))
            log.error("%s %s: %s\n%s", scope["method"], scope["path"], type(error).__name__, where)
            if not started:
                await fail(failure(error))(scope, receive, send)
        finally:
            self._open[kind] -= counted

    def _check_head(self, scope: Scope) -> wire.Failed | None:
        if scope["path"].startswith(SECRETS) and scope.get("client") is not None:  # a socket has no address
            return wire.Failed("forbidden", "Secrets are shown on the daemon's own socket only, never over a port.")
        if sum(len(name) + len(value) for name, value in scope["headers"]) > HEADERS_BYTES:
            return TOO_LARGE_A_HEAD
        declared = dict(scope["headers"]).get(b"content-length", b"0")  # a number: the server has looked
        return TOO_LARGE if int(declared) > BODY_BYTES else None

    def _check_limit(self, kind: str, path: str) -> wire.Failed | None:
        if self.stopping:
            return failure(CancelledError())
        is_full = path not in ALWAYS and self._open[kind] >= self._most[kind]
        return (TOO_MANY_LISTENERS if kind == "listeners" else BUSY) if is_full else None


def _check_body(body: bytes, scope: Scope) -> wire.Failed | None:
    """A page may send a form or plain text to any address without being asked whether it may; JSON it may not."""
    if len(body) > BODY_BYTES:
        return TOO_LARGE
    kind = dict(scope["headers"]).get(b"content-type", b"").partition(b";")[0].strip().lower()
    return NO_JSON if body and kind != b"application/json" else None


async def _read(receive: Receive) -> bytes | None:
    """The body, or as much of it as shows that it is too large; None if the client goes before."""
    body = b""
    more = True
    while more and len(body) <= BODY_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body
