"""pal web prints a link, has a browser open a file that leads there, and ends the page."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.cli.vault import Shell


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    folder = tmp_path_factory.mktemp("web")
    return Shell(folder, folder / "home")


def test_the_link_is_printed_and_the_page_is_ended(shell: Shell) -> None:
    said = shell.pal("web", "--print")
    assert said.code == 0 and said.out.startswith("http://127.0.0.1:") and "works once" in said.err
    port = int(said.out.split(":")[2].split("/")[0])
    socket.create_connection(("127.0.0.1", port), 5).close()
    assert shell.pal("web", "--print", "--json").json["port"] == port
    assert shell.pal("web", "--stop").err == "The page is closed.\n"
    assert shell.pal("web", "--stop", "--json").json == {"was_open": False}
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), 5)


def test_a_browser_is_given_a_file_and_not_the_link(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, browser = tmp_path / "given", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {given}\n')
    browser.chmod(0o700)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    said = shell.pal("web")
    assert said.code == 0 and "opens in your browser" in said.err
    assert given.read_text() == (shell.home / "run" / "page.html").as_uri()
    assert said.out.strip() in (shell.home / "run" / "page.html").read_text()


def test_where_there_is_no_browser_the_link_is_left_to_you(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    assert "no browser" in shell.pal("web").err


def test_a_port_that_cannot_be_had_is_reported(shell: Shell) -> None:
    assert shell.pal("web", "--print", "--port", "80").code == 2
    assert shell.pal("web", "--print", "--port", "65536").code == 2
    shell.pal("web", "--stop")
    shell.pal("daemon", "stop")
