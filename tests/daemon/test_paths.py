from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from daemon.paths import SOCKET_BYTES, Paths, private_folder

posix = pytest.mark.skipif(os.name == "nt", reason="no such modes on Windows")


def test_one_folder_holds_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_HOME", str(tmp_path))
    paths = Paths.from_environment()
    assert paths == Paths.in_folder(tmp_path)
    for path in (*paths.all(), paths.memory, paths.lock, paths.log, paths.output):
        assert path.is_relative_to(tmp_path)
    assert list(tmp_path.iterdir()) == []  # and nothing was created


def test_another_process_finds_the_same_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = Paths.in_folder(tmp_path)
    for name, value in paths.environment().items():
        monkeypatch.setenv(name, value)
    assert Paths.from_environment() == paths


def test_the_platforms_folders_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PALIMPSEST_HOME", raising=False)
    paths = Paths.from_environment()
    assert paths.data.is_absolute() and "palimpsest" in str(paths.data).lower()
    assert paths.environment() == {}


@posix
@pytest.mark.parametrize("length", [10, 60, 90, 150, 300])
def test_the_sockets_path_is_short_enough(length: int) -> None:
    home = Path("/home") / ("é" * length)
    paths = Paths.in_folder(home)
    assert len(os.fsencode(paths.socket)) < SOCKET_BYTES
    assert paths.socket == Paths.in_folder(home).socket
    assert paths.socket != Paths.in_folder(home / "other").socket


@posix
def test_a_private_folder_is_private(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    (tmp_path / "open").chmod(0o755)
    for folder in (tmp_path / "open", tmp_path / "new" / "er"):
        assert stat.S_IMODE(private_folder(folder).stat().st_mode) == 0o700


@posix
def test_a_folder_that_somebody_else_put_there_is_refused(tmp_path: Path) -> None:
    theirs = Path("/usr")
    if os.getuid() == 0:
        theirs = tmp_path / "theirs"
        theirs.mkdir()
        os.chown(theirs, 65534, 65534)
    (tmp_path / "link").symlink_to(theirs)
    for folder in (theirs, tmp_path / "link"):
        with pytest.raises(PermissionError, match="Choose a folder of your own") as caught:
            private_folder(folder)
        assert "Remove" not in str(caught.value), "somebody's memory may lie there"


def test_a_folder_may_be_a_link_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o755)
    (tmp_path / "link").symlink_to("elsewhere")
    assert private_folder(tmp_path / "link") == tmp_path / "link"
    assert (tmp_path / "elsewhere").stat().st_mode & 0o777 == 0o700
