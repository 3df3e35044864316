from __future__ import annotations

import collections
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from daemon.config.settings import IGNORE
from daemon.watch.files import FoundFile, read, uri_of
from daemon.watch.walking import Ignore, walk
from plugins.readers import Unreadable
from tests.examples import rounds


def names(found: list[FoundFile], root: Path) -> list[str]:
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


def test_rules_in_folders_are_as_in_gitignore(tmp_path: Path) -> None:
    for name in ("a.md", "b.txt", "deep/a.md", "deep/b.txt", "deep/er/b.txt", "deep/er/c.log", "deep/er/most/c.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".palimpsestignore").write_text("*.txt\n*.log\n# a remark\n")
    (tmp_path / "deep" / ".palimpsestignore").write_text("!b.txt\n/a.md\nmost/\n")
    (tmp_path / "deep" / "er" / ".palimpsestignore").write_text("b.txt\n!*.log\n")

    ignore = Ignore(tmp_path, ["node_modules/"], [])
    found = names(list(walk(tmp_path, ignore)), tmp_path)
    assert not any(ignore.reaches(tmp_path / name) for name in found)
    assert [name for name in found if not name.endswith("ignore")] == ["a.md", "deep/b.txt", "deep/er/c.log"]
    assert Ignore(tmp_path, [], []).reaches(tmp_path / "deep" / "er" / "most" / "c.md")


def test_what_a_program_made_of_the_sources_beside_it_is_left_out(tmp_path: Path) -> None:
    for name in ("house/build/plan.md", "site/package.json", "site/build/page.md", "site/src/build/a.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    everything = ["house/build/plan.md", "site/package.json", "site/build/page.md", "site/src/build/a.md"]
    found = names(list(walk(tmp_path, Ignore(tmp_path, IGNORE, []))), tmp_path)
    assert found == [name for name in everything if name != "site/build/page.md"]
    assert names(list(walk(tmp_path, Ignore(tmp_path, [*IGNORE, "!build/"], []))), tmp_path) == everything


def test_foreign_ignore_files_cannot_hang_the_daemon(tmp_path: Path) -> None:
    """A backtracking matcher takes longer than the universe has existed for this pattern and this name."""
    (tmp_path / ".palimpsestignore").write_text("*a*a*a*a*a*a*a*a*a*a*a*ab\n")
    (tmp_path / ("a" * 200)).touch()
    (tmp_path / ("a" * 200 + "b")).touch()
    (tmp_path / os.fsdecode(b"aaaa\xff.md")).touch()
    found = names(list(walk(tmp_path, Ignore(tmp_path, IGNORE, []))), tmp_path)
    assert set(found) == {"a" * 200, os.fsdecode(b"aaaa\xff.md"), ".palimpsestignore"}


def test_invalid_patterns_are_named_and_the_others_are_followed(tmp_path: Path) -> None:
    for folder, rules in (
        ("a", "!\n*.tmp\n[z-a]\nx\\\n"),
        ("b", "f\n" * 1001),
        ("c", "*a" * 20_000),
        ("d", "# a remark\n\n"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / ".palimpsestignore").write_text(rules)
        (tmp_path / folder / "note.md").touch()
        (tmp_path / folder / "note.tmp").touch()
    found = list(walk(tmp_path, Ignore(tmp_path, [], [])))
    problems = {item.path.parent.name: item.unread for item in found if item.unread}
    assert problems["a"] == "skipped as invalid: line 1 ('!'), 3 ('[z-a]'), 4 ('x\\\\')"
    assert problems.keys() == {"a", "b", "c"} and "over 1,000 patterns" in (problems["b"] or "")
    assert problems["c"] == problems["b"]
    read_files = {name for name in names(found, tmp_path) if name.startswith(("a/note", "b/note", "c/note"))}
    assert read_files == {"a/note.md"}


def test_deeply_nested_folders_cost_one_check_each(tmp_path: Path) -> None:
    """The rules of 900 folders are read once each, and the 900 folders above a path are checked once."""
    ignore, checked = Ignore(tmp_path, IGNORE, []), 0
    covers = ignore.covers

    def count(path: Path, folder: bool) -> bool:
        nonlocal checked
        checked += 1
        return covers(path, folder)

    ignore.covers = count  # type: ignore[method-assign]
    deep = tmp_path.joinpath(*"d" * 900)
    assert not any(ignore.reaches(deep / f"note {number}.md") for number in range(5))
    assert checked == 900 + 5


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each folder on the way is opened")
def test_a_deep_tree_takes_a_few_calls_for_each_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.joinpath(*"d" * 300).mkdir(parents=True)
    opened, open_one = 0, os.open

    def count(*arguments: Any, **named: Any) -> int:
        nonlocal opened
        opened += 1
        return open_one(*arguments, **named)

    monkeypatch.setattr(os, "open", count)
    assert [*walk(tmp_path, Ignore(tmp_path, IGNORE, []))] == []
    assert opened < 4 * 300


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
        with pytest.raises(Unreadable, match=r"link|regular"):
            read(item.path, 100, tmp_path)


def test_read(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"12345")
    data, status = read(file, 5, tmp_path)
    assert (data, status.st_size, status.st_mtime_ns) == (b"12345", 5, file.stat().st_mtime_ns)
    with pytest.raises(Unreadable, match="too large"):
        read(file, 4, tmp_path)
    with pytest.raises(Unreadable, match="vanished"):
        read(tmp_path / "b", 4, tmp_path)
    with pytest.raises(Unreadable, match="regular"):
        read(tmp_path, 4, tmp_path)
    with pytest.raises(Unreadable):
        read(tmp_path / "a\0b", 4, tmp_path)


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
    with pytest.raises(Unreadable, match="changed while"):
        read(file, 100, tmp_path)


@pytest.mark.soak
def test_a_folder_that_is_swapped_for_a_link_leads_nowhere(tmp_path: Path) -> None:
    """The folder is its own and a link to the outside by turns, while it is walked and read: all that is read of it is
    its own, also where the file was found before the swap and is read after it."""
    tries = rounds(1000)
    root, outside, folder = tmp_path / "root", tmp_path / "outside", tmp_path / "root" / "z" / "deep"
    folder.mkdir(parents=True)
    (outside / "deep").mkdir(parents=True)
    (folder / "s.md").write_text("own")
    (outside / "deep" / "s.md").write_text("out")
    (outside / "deep" / "other.md").write_text("out")
    (tmp_path / "link").symlink_to(outside)
    ended = threading.Event()

    def swap() -> None:
        while not ended.is_set():
            (root / "z").rename(tmp_path / "aside")
            (tmp_path / "link").rename(root / "z")
            (root / "z").rename(tmp_path / "link")
            (tmp_path / "aside").rename(root / "z")

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen: collections.Counter[str] = collections.Counter()
    ignore = Ignore(root, [], [])
    try:
        for _ in range(tries):
            for start in (root, folder / "other.md"):
                seen.update(item.path.name for item in walk(start, ignore))
            try:
                seen[read(folder / "s.md", 100, root)[0].decode()] += 1
            except Unreadable:
                seen["refused"] += 1
    finally:
        ended.set()
        swapping.join()
    assert seen["out"] == seen["other.md"] == 0 and seen["own"] + seen["refused"] == tries
    (root / "z").rename(tmp_path / "gone")
    (root / "z").symlink_to(outside)
    with pytest.raises(Unreadable, match="link"):
        read(folder / "s.md", 100, root)


def test_every_name_has_a_uri() -> None:
    assert uri_of(Path("/a/b c.md")) == "/a/b c.md"
    broken = uri_of(Path(os.fsdecode(b"/a/\xff.md")))
    assert broken == "/a/\\xff.md" and broken.encode("utf-8")


def test_a_file_from_the_year_9892_has_the_latest_time_that_can_be_stored(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.touch()
    os.utime(note, (250_000_000_000, 250_000_000_000))
    (found,) = walk(tmp_path, Ignore(tmp_path, [], []))
    assert found.mtime_ns == 2**63 - 1
