"""Who may come in over the optional loopback TCP, which any program of this machine and any page of a browser can
reach: the exact host, nothing a browser adds for a page, the token. Every route stands behind that."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from daemon.testing import RunningDaemon, run_daemon
from tests.daemon.conftest import QUICK

HOSTS = (
    "evil.example", "evil.example:{port}", "localhost.evil.example:{port}", "127.0.0.1.nip.io:{port}", "x.local:{port}",
    "x.internal:{port}", "0.0.0.0:{port}", "127.0.0.2:{port}", "127.0.0.1:1{port}", "127.0.0.1", "127.0.0.1.:{port}",
    "user@127.0.0.1:{port}", "[::1]:{port}", "LOCALHOST:{port}", "127.0.0.1:0{port}", "",
)  # fmt: skip
ORIGINS = ("null", "http://evil.example", "http://127.0.0.1:{port}", "")
SITES = ("cross-site", "same-site", "same-origin", "")
TOKENS = (
    "", "Bearer", "Bearer ", "Bearer x", "bearer {token}", "Basic {token}", "Bearer {token}x", "Bearer {cut}",
    "{token}", "Bearer  {token}", "Bearer {token},Bearer {token}",
)  # fmt: skip


@dataclass
class Door:
    daemon: RunningDaemon
    port: int
    token: str

    def knock(
        self, method: str = "GET", path: str = "/hello", *, host: str | None = "127.0.0.1:{port}",
        token: str | None = "Bearer {token}", body: bytes = b"", **headers: str | None,
    ) -> tuple[int, dict[str, str], bytes]:  # fmt: skip
        """What a program gets that sends these headers and no others; None leaves one out."""
        given = {"Host": host, "Authorization": token, **headers}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in given.items():
            if value is not None:
                words = {"port": self.port, "token": self.token, "cut": self.token[:-1]}
                connection.putheader(name.replace("_", "-"), value.format(**words))
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        got = response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
        connection.close()
        return got


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    with run_daemon(tmp_path_factory.mktemp("tcp") / "home", QUICK, PALIMPSEST_TRANSPORT="tcp") as daemon:
        where = json.loads(daemon.paths.token.read_text())
        yield Door(daemon, where["port"], where["token"])


def is_refused(got: tuple[int, dict[str, str], bytes]) -> bool:
    status, headers, body = got
    return (
        status == 403
        and json.loads(body)["code"] == "forbidden"
        and not any(name.startswith("access-control") for name in headers)
    )


def test_its_own_programs_come_in(door: Door) -> None:
    assert door.knock()[0] == 200
    assert door.knock(host="localhost:{port}", Sec_Fetch_Site="none")[0] == 200


@pytest.mark.parametrize("host", [*HOSTS, None])
def test_another_host_is_refused(door: Door, host: str | None) -> None:
    assert is_refused(door.knock(host=host)) or (host is None and door.knock(host=host)[0] == 422)


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_page_is_refused(door: Door, origin: str) -> None:
    assert is_refused(door.knock(Origin=origin))
    assert is_refused(door.knock("OPTIONS", Origin=origin, Access_Control_Request_Method="POST"))


@pytest.mark.parametrize("site", SITES)
def test_what_a_browser_sends_for_a_page_is_refused(door: Door, site: str) -> None:
    assert is_refused(door.knock(Sec_Fetch_Site=site))


@pytest.mark.parametrize("token", [*TOKENS, None])
def test_without_the_token_nobody_comes_in(door: Door, token: str | None) -> None:
    assert is_refused(door.knock(token=token))
    assert is_refused(door.knock(path=f"/hello?token={door.token}", token=token))
    assert is_refused(door.knock(token=token, Cookie=f"token={door.token}"))


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_only_json_is_taken(door: Door, kind: str | None) -> None:
    status, _, said = door.knock("POST", "/recall", body=b'{"question": "x"}', Content_Type=kind)
    assert status == 422 and b"Content-Type: application/json" in said
    for good in ("application/json", "Application/JSON; charset=utf-8"):
        assert door.knock("POST", "/recall", body=b'{"question": "x"}', Content_Type=good)[0] == 200


def test_two_hosts_or_two_tokens_are_refused(door: Door) -> None:
    assert is_refused(door.knock(host="127.0.0.1:{port}", authorization="Bearer {token}"))
    status, _, _ = door.knock(hOST="evil.example")
    assert status in (403, 422)


def test_every_route_stands_behind_the_gate(door: Door) -> None:
    """Also one that is added tomorrow: whatever the API describes, what is not there, and the description itself."""
    described: dict[str, dict[str, Any]] = json.loads(door.knock(path="/openapi.json")[2])["paths"]
    routes = [(method.upper(), path.replace("{id}", "1")) for path, methods in described.items() for method in methods]
    assert len(routes) > 40 and ("POST", "/stop") in routes
    for method, path in [*routes, ("GET", "/openapi.json"), ("GET", "/nothing"), ("TRACE", "/hello"), ("GET", "//")]:
        for wrong in ({"token": None}, {"token": "Bearer x"}, {"host": "evil.example"}, {"Origin": "null"}):
            assert is_refused(door.knock(method, path, **wrong)), (method, path, wrong)  # type: ignore[arg-type]
    assert door.knock()[0] == 200, "and none of them stopped it"


def test_the_token_is_in_no_log(door: Door) -> None:
    door.knock(path=f"/nothing?token={door.token}")
    door.knock(path=f"/nothing/{door.token}", token="Bearer x")
    assert door.token not in door.daemon.paths.log.read_text() + door.daemon.paths.output.read_text()
