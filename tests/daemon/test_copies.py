"""Versions of a file that a sync left: the newest is read, the others are named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from daemon.watch.scan import Scan, ScanTarget, leave_copies
from daemon.watch.walking import Ignore, walk

COPIES = [
    "Ferry.sync-conflict-20260703-101112-7Q2LM4T.md",
    "Ferry (conflicted copy 2026-07-02).md",
    "Ferry (Ann's conflicted copy 2026-07-02 101112).md",
    "Ferry (In Konflikt stehende Kopie von Ann 2026-07-02).md",
    "Ferry (copie en conflit de Ann 2026-07-02).md",
    "Ferry (Conflicted copy phone 202607021010).md",
    "Ferry_conflict-20260702-101112.md",
    "Ferry.conflict.md",
    "Ferry-LAPTOP-3F5K7PQ.md",
]
OTHERS = ["Ferry (2026-07-02).md", "Ferry conflict notes.md", "Ferry 2.md", "Ferry-winter.md", "Ferry (conflict).txt"]


def survey(folder: Path, only: str = "") -> Scan:
    disk = Scan()
    look = ScanTarget(folder / only if only else folder, Ignore(folder, (), ()), folder)
    for found in walk(look.path, look.ignore):
        disk.files[str(found.path)], disk.targets[str(found.path)] = found, look
    return disk


def write(folder: Path, name: str, seconds: int) -> None:
    (folder / name).write_text(name)
    os.utime(folder / name, (1_780_000_000 + seconds,) * 2)


def leave(folder: Path, only: str = "") -> list[str]:
    disk = survey(folder, only)
    left = leave_copies(disk)
    assert all("Ferry" in disk.unread[uri] for uri in left) and disk.files.keys().isdisjoint(left)
    return sorted(Path(uri).name for uri in left)


def test_copies_of_the_same_time_or_older_are_left_out(tmp_path: Path) -> None:
    for place, name in enumerate([*COPIES, *OTHERS]):
        write(tmp_path, name, 5 - 100 * place)
    assert leave(tmp_path) == [], "there is no original"
    write(tmp_path, "Ferry.md", 0)
    assert leave(tmp_path) == sorted(COPIES)


def test_a_copy_that_is_newer_is_read_and_its_original_is_not(tmp_path: Path) -> None:
    write(tmp_path, "Ferry.md", 0)
    write(tmp_path, COPIES[0], 3600)
    write(tmp_path, COPIES[1], -3600)
    assert leave(tmp_path) == sorted(["Ferry.md", COPIES[1]])


@pytest.mark.parametrize(("seconds", "left"), [(0, [COPIES[0]]), (3600, [])])
def test_a_copy_that_is_looked_at_alone(tmp_path: Path, seconds: int, left: list[str]) -> None:
    write(tmp_path, "Ferry.md", 0)
    write(tmp_path, COPIES[0], seconds)
    assert leave(tmp_path, COPIES[0]) == left
