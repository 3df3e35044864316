"""Requests that a server of models answers at once: limited in bytes and in time, whatever it sends."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx
import pytest

from plugins.llms import call, transport

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@contextmanager
def serve(first: bytes, then: bytes, pause_s: float = 0.0) -> Iterator[tuple[str, threading.Event]]:
    """A server that sends `first`, and then `then` again and again until the client leaves, which sets the event."""
    has_left = threading.Event()
    over = threading.Event()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()

        def answer() -> None:
            with suppress(OSError), listener.accept()[0] as client:
                client.recv(65536)
                client.sendall(first)
                while then and not over.wait(pause_s):
                    client.sendall(then)
            has_left.set()

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", has_left
        finally:
            over.set()
            thread.join(60)


def test_a_reply_without_end_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call, "MOST_BYTES", 1 << 20)
    with serve(HEAD + b'\r\n{"models": [', b'"x",' * 4096) as (url, has_left):
        with pytest.raises(httpx.HTTPError, match="without end"):
            transport.ask(url, "/api/tags")
        assert has_left.wait(60)


@pytest.mark.parametrize("first", [b"HTTP/1.1 200 OK\r\nX-Slow: ", HEAD + b"\r\n"], ids=["head", "body"])
def test_a_reply_that_trickles_is_broken_off(monkeypatch: pytest.MonkeyPatch, first: bytes) -> None:
    monkeypatch.setattr(transport, "ASK_SECONDS", 0.3)
    with serve(first, b"x", pause_s=0.02) as (url, has_left):
        with pytest.raises(httpx.HTTPError):
            transport.ask(url, "/api/tags")
        assert has_left.wait(60)


def test_a_compressed_reply_is_refused() -> None:
    """A megabyte of zeros would be a kilobyte on the wire."""
    body = gzip.compress(bytes(1 << 20))
    head = HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body)
    with serve(head + body, b"") as (url, _), pytest.raises(httpx.HTTPError, match="compressed"):
        transport.ask(url, "/api/tags")
