"""Who may come in on the page's port, which any program of this machine and any page of a browser can reach: by a link
that works once, from the exact host, from the page itself, and to no more of the API than the page needs."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from daemon import wire
from daemon.client.client import Client, DaemonError
from daemon.web import ALLOWED, HEADERS, LINK_SECONDS, MAX_LINKS, MAX_SESSIONS, STATIC, WebSessions
from tests.daemon.conftest import QUICK
from tests.running import RunningDaemon, run_daemon

HOSTS = (
    "evil.example", "evil.example:{port}", "localhost.evil.example:{port}", "127.0.0.1.nip.io:{port}", "x.local:{port}",
    "x.internal:{port}", "0.0.0.0:{port}", "127.0.0.2:{port}", "127.0.0.1:1{port}", "127.0.0.1", "127.0.0.1.:{port}",
    "user@127.0.0.1:{port}", "LOCALHOST:{port}", "127.0.0.1:0{port}", "",
)  # fmt: skip
ORIGINS = ("null", "http://evil.example", "http://127.0.0.1:{port}", "")
Reply = tuple[int, dict[str, str], bytes]
OWN = "http://127.0.0.1:{port}"
IDLE = replace(QUICK, daemon=replace(QUICK.daemon, page_idle_minutes=0.01))


@dataclass
class Browser:
    """Speaks with the page's port, and sends what is given and nothing else; None leaves a header out."""

    port: int
    cookie: str = ""
    key: str = ""

    def send(
        self, method: str, path: str, body: Any = None, *, host: str | None = "127.0.0.1:{port}", **headers: str | None
    ) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": host, **headers}.items():
            if value is not None:
                connection.putheader(name.replace("_", "-"), value.format(port=self.port))
        data = b"" if body is None else json.dumps(body).encode()
        if body is not None:
            connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        response = connection.getresponse()
        got = response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
        connection.close()
        return got

    def ask(self, method: str, path: str, body: Any = None, **headers: str | None) -> Reply:
        """As the page asks the API."""
        own: dict[str, str | None] = {
            "Cookie": self.cookie,
            "X_Palimpsest_Key": self.key,
            "Sec_Fetch_Site": "same-origin",
        }
        if method != "GET":
            own["Origin"] = OWN
        return self.send(method, f"/api{path}", body, **(own | headers))

    def exchange(self, token: str, **headers: str | None) -> Reply:
        return self.send("POST", "/session", {"token": token}, **({"Origin": OWN} | headers))


def token_of(link: wire.PageLink) -> str:
    return link.url.partition("#")[2]


def open_page(client: Client) -> Browser:
    """A browser with a session."""
    link = client.open_page()
    browser = Browser(link.port)
    status, headers, body = browser.exchange(token_of(link))
    assert status == 200
    browser.cookie = headers["set-cookie"].partition(";")[0]
    browser.key = json.loads(body)["key"]
    return browser


@pytest.fixture(scope="module")
def page(running: RunningDaemon) -> Iterator[Browser]:
    yield open_page(running.client)
    running.client.close_page()


def is_refused(got: Reply, code: str = "forbidden") -> bool:
    status, headers, body = got
    is_open = any(name.startswith("access-control") for name in headers)
    return status in (401, 403) and json.loads(body)["code"] == code and not is_open


def test_no_port_is_open_until_it_is_asked_for(running: RunningDaemon) -> None:
    running.client.close_page()
    assert running.client.close_page() is False
    link = running.client.open_page()
    assert Browser(link.port).send("GET", "/")[0] == 200
    with pytest.raises(OSError):  # nothing but one address of the loopback is bound
        socket.create_connection(("127.0.0.2", link.port), 2)
    assert running.client.close_page() is True
    with pytest.raises(OSError):
        Browser(link.port).send("GET", "/")


def test_a_link_works_once(running: RunningDaemon) -> None:
    link = running.client.open_page()
    browser, token = Browser(link.port), token_of(link)
    assert browser.exchange(token)[0] == 200
    assert is_refused(browser.exchange(token), "no_session")
    for wrong in ("", "x", token[:-1], f"{token}x", running.client.open_page().url):
        assert is_refused(browser.exchange(wrong), "no_session")
    for body in ({}, [], "x", {"token": 7}, {"token": None}, {"token": "x" * 5000}):
        assert is_refused(browser.send("POST", "/session", body, Origin=OWN), "no_session")


def test_a_link_is_given_to_a_browser_in_a_file_of_ones_own(running: RunningDaemon) -> None:
    """What a program is started with can be read by every user of the machine."""
    link = running.client.open_page()
    file = running.paths.opener
    assert (link.opener, link.url in file.read_text()) == (str(file), True)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    other = running.client.open_page()
    Browser(link.port).exchange(token_of(link))
    assert other.url in file.read_text(), "it leads where the newest link does"
    Browser(link.port).exchange(token_of(other))
    assert not file.exists()
    running.client.open_page()
    running.client.close_page()
    assert not file.exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user, too")
def test_another_user_gets_nothing_without_a_token(running: RunningDaemon) -> None:
    """They can open the port, and read what every process was started with; not the file that has the link."""
    link = running.client.open_page()
    ask = """
import encodings.idna, os, sys, urllib.error, urllib.request  # all that nobody else could load
port, opener = sys.argv[1:]
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    print(open(opener).read())
except PermissionError:
    print("no")
for path, body in ("/api/home", None), ("/api/search/notes", None), ("/session", b"{}"), ("/session", None):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, {"Origin": f"http://127.0.0.1:{port}"})
    try:
        print(urllib.request.urlopen(request).read())
    except urllib.error.HTTPError as error:
        print(error.code)
"""
    command = [sys.executable, "-P", "-c", ask, str(link.port), link.opener]
    got = subprocess.run(command, capture_output=True, text=True)
    assert (got.stdout.split(), got.stderr) == (["no", "401", "401", "401", "405"], "")
    assert Browser(link.port).exchange(token_of(link))[0] == 200, "the link is still for its owner"


def test_the_cookie_is_for_the_api_alone(running: RunningDaemon) -> None:
    link = running.client.open_page()
    _, headers, body = Browser(link.port).exchange(token_of(link))
    assert re.fullmatch(
        rf"palimpsest-{link.port}=[\w-]{{43}}; HttpOnly; Path=/api; SameSite=strict", headers["set-cookie"]
    )
    assert json.loads(body)["key"] not in headers["set-cookie"]


def test_cookie_and_key_are_worth_nothing_alone(page: Browser) -> None:
    """A browser sends the cookie to every port of the machine, so to a server of another user's, too."""
    assert page.ask("GET", "/hello")[0] == 200
    other = f"{page.cookie.partition('=')[0]}={page.key}"
    for wrong in (
        {"Cookie": None}, {"X_Palimpsest_Key": None}, {"Cookie": ""}, {"X_Palimpsest_Key": ""}, {"Cookie": other},
        {"Cookie": f"palimpsest={page.cookie.partition('=')[2]}"}, {"X_Palimpsest_Key": page.cookie.partition("=")[2]},
        {"Cookie": page.cookie[:-1]}, {"X_Palimpsest_Key": f"{page.key}x"}, {"Cookie": "\xe9=;;=\xff"},
    ):  # fmt: skip
        assert is_refused(page.ask("GET", "/hello", **wrong), "no_session")
    assert page.ask("GET", "/hello", Cookie=f"a=b; {page.cookie}; c=d")[0] == 200


@pytest.mark.parametrize("host", HOSTS)
def test_another_host_is_refused(page: Browser, host: str) -> None:
    for got in (page.ask("GET", "/hello", host=host), page.send("GET", "/", host=host), page.exchange("x", host=host)):
        assert is_refused(got) and b"127.0.0.1" in got[2]


@pytest.mark.parametrize(
    "origin", [*ORIGINS, "https://127.0.0.1:{port}", "http://localhost:{port}", "http://127.0.0.1"]
)
def test_another_page_is_refused(page: Browser, origin: str) -> None:
    if origin == OWN:
        assert page.ask("GET", "/hello", Origin=origin)[0] == 200
        return
    assert is_refused(page.ask("GET", "/hello", Origin=origin))
    assert is_refused(page.ask("POST", "/conversations", {"title": "x"}, Origin=origin))
    assert is_refused(page.exchange("x", Origin=origin))


def test_what_changes_something_says_where_it_comes_from(page: Browser) -> None:
    assert is_refused(page.ask("POST", "/conversations", {"title": "x"}, Origin=None))
    assert is_refused(page.exchange("x", Origin=None))
    for site in ("cross-site", "same-site", "none", ""):
        assert is_refused(page.ask("GET", "/hello", Sec_Fetch_Site=site))
    assert page.ask("GET", "/hello", Sec_Fetch_Site=None)[0] == 200  # a browser that does not say it
    assert page.send("GET", "/", Sec_Fetch_Site="cross-site")[0] == 200  # the file that leads here


def test_the_page_reaches_no_more_than_it_needs(page: Browser, running: RunningDaemon) -> None:
    """Also a route that is added tomorrow: what is not allowed is refused, with a session and without."""
    described: dict[str, dict[str, Any]] = json.loads(_description(running.client))["paths"]
    routes = {(method.upper(), path.replace("{id}", "1")) for path, methods in described.items() for method in methods}
    allowed = {(method, path) for method, path in routes if method in ALLOWED and ALLOWED[method].fullmatch(path)}
    assert {path for method, path in allowed if method != "GET"} == {
        "/ask", "/told", "/told/undo", "/conversations", "/traces/1/feedback", "/revisions/1",
    }  # fmt: skip
    never = {"/stop", "/forget", "/secrets", "/secrets/places", "/add", "/backup", "/page", "/page/close", "/folders"}
    assert not never & {path for _, path in allowed} and never <= {path for _, path in routes}
    for method, path in routes - allowed | {("GET", "/openapi.json"), ("POST", "//stop"), ("POST", "/ask/../stop")}:
        assert is_refused(page.ask(method, path, {} if method != "GET" else None)), (method, path)
    for method, path in routes:
        assert is_refused(page.ask(method, path, Cookie=None), "no_session")
    assert running.client.hello()


def _description(client: Client) -> bytes:
    from daemon.client.connection import send

    with send(client.paths, "GET", "/openapi.json", None, 20) as response:
        return response.read()


def test_every_reply_forbids_what_is_not_the_pages_own(page: Browser) -> None:
    own = {name.lower(): value for name, value in HEADERS.items()}
    for got in (
        page.send("GET", "/"), page.send("GET", "/app.js"), page.send("GET", "/nothing"), page.ask("GET", "/hello"),
        page.ask("POST", "/stop", {}), page.exchange("x"), page.send("GET", "/", host="evil.example"),
        page.send("PUT", "/"),
    ):  # fmt: skip
        assert own.items() <= got[1].items(), got
    policy = own["content-security-policy"]
    assert "unsafe" not in policy and "default-src 'none'" in policy and "http" not in policy
    assert page.ask("GET", "/hello")[1]["cache-control"] == "no-store"


def test_only_its_own_files_are_served(page: Browser) -> None:
    for file in STATIC.rglob("*.*"):
        assert page.send("GET", f"/{file.relative_to(STATIC)}")[2] == file.read_bytes()
    for path in (
        "/../guard.py",
        "/%2e%2e/guard.py",
        "/..%2fguard.py",
        "//etc/passwd",
        "/vendor",
        "/vendor/",
        "/app.js/x",
    ):
        assert page.send("GET", path)[0] == 404, path
    assert page.send("POST", "/app.js")[0] == 405


def test_the_page_uses_nothing_from_elsewhere_and_no_inline_code() -> None:
    """The policy of the browser would stop it; here it is never written."""
    size = sum(file.stat().st_size for file in STATIC.rglob("*.*"))
    assert size < 1_000_000
    html = (STATIC / "index.html").read_text("utf-8")
    assert not re.search(r"<style|\bstyle=|\bon\w+=|<script(?! (?:defer |type=\"module\" )src=)", html)
    for file in STATIC.glob("*.*"):
        text = file.read_text("utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function", text), file
        assert not re.search(r"(?:src|href|url|import|fetch)[=(:]?\s*[\"'(]\s*(?:https?:)?//", text), file


def test_a_port_that_is_taken_is_reported(running: RunningDaemon) -> None:
    running.client.close_page()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(DaemonError, match=r"is taken.*--port 0"):
            running.client.open_page(taken.getsockname()[1])
    for port in (-1, 80, 65536):
        with pytest.raises(DaemonError, match="port"):
            running.client.open_page(port)
    link = running.client.open_page()
    with pytest.raises(DaemonError, match="--stop"):
        running.client.open_page(link.port - 1)
    assert running.client.open_page(link.port).port == link.port


def test_another_link_leaves_the_sessions_there_are(running: RunningDaemon) -> None:
    first, second = open_page(running.client), open_page(running.client)
    assert first.port == second.port and first.cookie != second.cookie
    assert (first.ask("GET", "/hello")[0], second.ask("GET", "/hello")[0]) == (200, 200)
    assert is_refused(first.ask("GET", "/hello", X_Palimpsest_Key=second.key), "no_session")


def test_closing_it_ends_every_session(running: RunningDaemon) -> None:
    before = open_page(running.client)
    running.client.close_page()
    after = open_page(running.client)
    assert is_refused(replace(before, port=after.port).ask("GET", "/hello"), "no_session")


def test_an_idle_page_is_closed_and_so_is_that_of_a_daemon_that_stops(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with run_daemon(tmp_path_factory.mktemp("idle") / "home", IDLE) as daemon:
        browser = open_page(daemon.client)
        assert browser.ask("GET", "/hello")[0] == 200
        with pytest.raises(OSError):  # its port is closed a moment after the session has ended
            for _ in range(1000):
                browser.ask("GET", "/hello", X_Palimpsest_Background="1")
                time.sleep(0.02)
        browser = open_page(daemon.client)
        assert daemon.stop() == 0 and not daemon.paths.opener.exists()
        with pytest.raises(OSError):
            browser.ask("GET", "/hello")


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_session_ends_when_nobody_uses_it() -> None:
    clock = Clock()
    sessions = WebSessions(60, clock)
    one = sessions.exchange(sessions.create_link())
    assert one is not None
    for _ in range(3):
        clock.now += 59
        assert sessions.find(one.cookie, one.key, is_use=True) is one
    clock.now += 59
    assert sessions.find(one.cookie, one.key, is_use=False) is one and sessions.seconds_left() == 1
    clock.now += 1
    assert sessions.find(one.cookie, one.key, is_use=True) is None and sessions.seconds_left() is None


def test_a_link_is_forgotten_and_there_are_never_many() -> None:
    clock = Clock()
    sessions = WebSessions(60, clock)
    late = sessions.create_link()
    clock.now += LINK_SECONDS
    assert sessions.exchange(late) is None
    links = [sessions.create_link() for _ in range(MAX_LINKS + 1)]
    assert sessions.exchange(links[0]) is None
    first = sessions.exchange(links[1])
    assert first is not None
    for _ in range(MAX_SESSIONS):
        clock.now += 1
        assert sessions.exchange(sessions.create_link())
    assert len(sessions) == MAX_SESSIONS and sessions.find(first.cookie, first.key, is_use=True) is None
