"""What stands before the API: who may come in, how many, how much they may bring, and the last word when all fails."""

from __future__ import annotations

import hmac
import logging
import traceback
from concurrent.futures import CancelledError

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from daemon import wire
from daemon.api.routing import reply
from daemon.failures import STATUS, failure

log = logging.getLogger(__name__)

TOO_LARGE = wire.Failed(
    "too_large", "The request is larger than 2 MiB.", "Save the text as a file and add that: pal add FILE."
)


def fail(problem: wire.Failed) -> Response:
    response = reply(problem, STATUS[problem.code])
    if problem.code in ("busy", "stopping"):
        response.headers["Retry-After"] = "1"
    return response


class Gate:
    """Lets requests in: as many as the settings say, none when the daemon is stopping, over TCP only with the token."""

    def __init__(self, app: ASGIApp, most: int, token: str | None, port: int | None) -> None:
        self._app = app
        self._most = most
        self._token = token
        self._hosts = {f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()}
        self._open = 0
        self.stopping = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if problem := self._problem(scope):
            await fail(problem)(scope, receive, send)
            return
        counted = scope["path"] != "/activity"  # a chat listens for as long as it is open
        started = refused = False

        async def note(message: Message) -> None:
            nonlocal started, refused
            if message["type"] == "http.response.start" and message["status"] == STATUS["too_large"]:
                refused = True  # the framework's limit, which has words of its own
                await fail(TOO_LARGE)(scope, receive, send)
            started = True
            if not refused:
                await send(message)

        self._open += counted
        try:
            await self._app(scope, receive, note)
        except Exception as error:
            # Without the error's message: it may quote what was asked or read.
            where = "".join(traceback.format_tb(error.__traceback__))
            log.error("%s %s: %s\n%s", scope["method"], scope["path"], type(error).__name__, where)
            if not started:
                await fail(failure(error))(scope, receive, send)
        finally:
            self._open -= counted

    def _problem(self, scope: Scope) -> wire.Failed | None:
        if self._token is not None and not self._known(dict(scope["headers"])):
            return wire.Failed("forbidden", "This daemon talks to its own user's programs only.")
        if self.stopping:
            return failure(CancelledError())
        if self._open >= self._most and scope["path"] != "/activity":
            return wire.Failed("busy", "Too many requests at the same time.", "Try again in a moment.")
        return None

    def _known(self, headers: dict[bytes, bytes]) -> bool:
        """A browser can reach a TCP port in another page's name: the exact host, no origin, and the token."""
        given = headers.get(b"authorization", b"")
        return (
            headers.get(b"host") in self._hosts
            and b"origin" not in headers
            and hmac.compare_digest(given, f"Bearer {self._token}".encode())
        )
