from __future__ import annotations

import os
from pathlib import Path

import pytest

from daemon.settings import IGNORE
from daemon.watch.files import Found, Ignore, Unread, read, uri_of, walk


def names(found: list[Found], root: Path) -> list[str]:
    return [item.path.relative_to(root).as_posix() for item in found]


def test_a_walk_is_in_order_and_leaves_out_what_is_ignored(tmp_path: Path) -> None:
    for name in (
        "b.md",
        "a/z.md",
        "a/y/x.md",
        ".git/config",
        "a/node_modules/m.md",
        "own/memory.db",
        "a.tmp",
        "c/keep.tmp",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    ignore = Ignore(tmp_path, [*IGNORE, "!keep.tmp"], [tmp_path / "own"])
    assert names(list(walk(tmp_path, ignore)), tmp_path) == ["b.md", "a/z.md", "a/y/x.md", "c/keep.tmp"]
    assert ignore.reaches(tmp_path / "a/node_modules/deep/m.md")
    assert ignore.reaches(tmp_path / "own" / "logs" / "x.md")
    assert not ignore.reaches(tmp_path / "a/y/x.md")
    assert not ignore.reaches(tmp_path)


def test_a_file_is_its_own_walk_even_if_it_is_ignored(tmp_path: Path) -> None:
    (tmp_path / ".env").touch()
    assert names(list(walk(tmp_path / ".env", Ignore(tmp_path, IGNORE, []))), tmp_path) == [".env"]
    assert list(walk(tmp_path / "nothing", Ignore(tmp_path, IGNORE, []))) == []


def test_links_and_pipes_are_met_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "secret.md").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "pipe")
    found = list(walk(tmp_path, Ignore(tmp_path, [], [])))
    assert [bool(item.unread) for item in found] == [True, True, True]
    for item in found:
        with pytest.raises(Unread, match=r"link|regular"):
            read(item.path, 100)


def test_read(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"12345")
    data, status = read(file, 5)
    assert (data, status.st_size, status.st_mtime_ns) == (b"12345", 5, file.stat().st_mtime_ns)
    with pytest.raises(Unread, match="too large"):
        read(file, 4)
    with pytest.raises(Unread, match="vanished"):
        read(tmp_path / "b", 4)
    with pytest.raises(Unread, match="regular"):
        read(tmp_path, 4)
    with pytest.raises(Unread):
        read(tmp_path / "a\0b", 4)


def test_a_file_that_is_written_while_it_is_read_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"first")
    honest = os.fstat
    seen: list[int] = []

    def late(handle: int) -> os.stat_result:
        if seen:
            file.write_bytes(b"first and more")
        seen.append(handle)
        return honest(handle)

    monkeypatch.setattr(os, "fstat", late)
    with pytest.raises(Unread, match="written to while"):
        read(file, 100)


def test_every_name_has_a_uri() -> None:
    assert uri_of(Path("/a/b c.md")) == "/a/b c.md"
    broken = uri_of(Path(os.fsdecode(b"/a/\xff.md")))
    assert broken == "/a/\\xff.md" and broken.encode("utf-8")
