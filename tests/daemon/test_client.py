"""The client: light, and honest about a daemon that is gone or goes."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from daemon import wire
from daemon.client.client import Client, DaemonDownError, DaemonError
from daemon.paths import Paths
from tests.daemon.conftest import listening
from tests.running import RunningDaemon

REPOSITORY = Path(__file__).parents[2]
HEAVY = (
    "numpy", "scipy", "pydantic", "fastapi", "starlette", "uvicorn", "httpx", "sqlite3", "pysqlite3",
    "watchdog", "apscheduler", "anthropic", "ollama", "textual", "rich", "asyncio", "ssl", "http.client",
)  # fmt: skip


def imported_by(code: str) -> set[str]:
    """The modules that are loaded after `code`."""
    out = subprocess.run(
        [sys.executable, "-P", "-c", f"import sys; {code}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(out.stdout.split())


def test_the_client_imports_nothing_heavy() -> None:
    modules = imported_by("import daemon.client.client, daemon.paths, daemon.config.settings, daemon.wire")
    assert "daemon.client.client" in modules
    assert not modules.intersection(HEAVY)
    packages = {"plugins", *(f"plugins.{name}" for name in ("hookspecs", "llms", "rankers", "traversers"))}
    light = {name for name in modules if name.endswith((".settings", ".contract", ".papers"))}  # dataclasses alone
    assert not {name for name in modules - packages - light if name.startswith(("plugins", "tui"))}


def test_a_message_is_made_when_it_is_first_asked_for() -> None:
    """Each takes half a millisecond to make, and there are about ninety."""
    modules = imported_by("from daemon import wire; wire.Scope, wire.Answered, wire.Hello")
    assert {name for name in modules if name.startswith("daemon.wire.")} == {
        f"daemon.wire.{name}" for name in ("codec", "replies")
    }


def test_the_client_imports_little() -> None:
    """What its import costs is measured in benchmarks/; how much it brings along can be counted."""
    assert len(imported_by("import daemon.client.client") - imported_by("pass")) < 80


def test_without_a_daemon_it_says_what_to_do(tmp_path: Path) -> None:
    client = Client(Paths.in_folder(tmp_path))
    with pytest.raises(DaemonDownError, match=r"No daemon is running\. Start it with `pal daemon start`"):
        client.status()
    with pytest.raises(DaemonDownError, match="No daemon is running"):
        client.ask("Where is the key?")


def test_a_stream_ends_when_another_thread_closes_it(client: Client) -> None:
    stream = client.activity()
    ended = threading.Event()
    heard: list[wire.Event] = []

    def listen() -> None:
        heard.extend(stream)
        ended.set()

    threading.Thread(target=listen, daemon=True).start()
    client.remember("The goat ate the map.")
    stream.close()
    assert ended.wait(60)
    assert list(stream) == []


def test_a_stream_that_is_left_ends_the_connection(client: Client) -> None:
    with client.ask("Who ate the map?") as stream:
        assert isinstance(next(stream), wire.Step)
    assert list(stream) == []


def test_an_error_has_its_code_reason_and_remedy(client: Client) -> None:
    with pytest.raises(DaemonError) as caught:
        client.watch(Path("/no/such/folder"))
    assert caught.value.failed.code == "not_found"
    assert str(caught.value) == "There is no folder /no/such/folder. Check the path."


def test_what_is_no_text_is_asked_about_all_the_same(client: Client) -> None:
    for call in (client.facts, client.history, client.sources):
        with contextlib.suppress(DaemonError):
            call("\udcff\udcfe")
    assert client.sources("\udcff\udcfe").total == 0


@pytest.mark.parametrize(("times", "serves"), [(30, True), (1, False)])
def test_a_daemon_without_time_is_asked_again_for_a_while(
    tmp_path: Path, times: int, serves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not serves:
        monkeypatch.setattr("daemon.client.connection.PATIENCE_SECONDS", -1.0)
    busy = b'HTTP/1.1 503 Busy\r\nRetry-After: 0\r\n\r\n{"code": "busy", "message": "Too many.", "remedy": ""}'
    hello = b'HTTP/1.1 200 OK\r\n\r\n{"version": "1", "protocol": 1, "pid": 7}'
    paths = Paths.in_folder(tmp_path)
    paths.runtime.mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(paths.socket))
        listener.listen()

        def serve() -> None:
            for text in [busy] * times + [hello] * serves:
                with listener.accept()[0] as one:
                    one.recv(65536)
                    one.sendall(text)

        server = threading.Thread(target=serve)
        server.start()
        if serves:
            assert Client(paths).hello().pid == 7
        else:
            with pytest.raises(DaemonError) as caught:
                Client(paths).hello()
            assert caught.value.failed.code == "busy"
        server.join(60)
        assert not server.is_alive()


def test_a_daemon_that_dies_ends_the_streams(running: RunningDaemon) -> None:
    with listening(running.client) as listener:
        running.kill()
        with pytest.raises(AssertionError, match="it did not come"):
            listener.until(lambda event: True)
    running.start()
    with listening(running.client):
        assert running.stop() == 0  # and a listener does not hold it
    running.start()
