"""Whether the time of a file tells when it was written, or only when it was copied."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from plugins import manager
from plugins.readers import documents
from plugins.readers.common.origin import CopiedFolders

COPIED = datetime(2026, 5, 4, 12).astimezone()


def write(path: Path, at: datetime, text: str = "Rain.") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at.timestamp(), at.timestamp()))
    return path


def is_copied(path: Path, root: Path) -> bool:
    return CopiedFolders().holds_copy(path, path.stat().st_mtime_ns, root)


def test_files_of_one_burst_are_copies(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{number}.md", COPIED + timedelta(seconds=3 * number)) for number in range(9)]
    edited = write(tmp_path / "edited.md", COPIED + timedelta(days=2))
    assert all(is_copied(file, tmp_path) for file in files)
    assert not is_copied(edited, tmp_path)


def test_files_that_were_saved_one_after_the_other_are_none(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{number}.md", COPIED + timedelta(minutes=number)) for number in range(9)]
    same = [write(tmp_path / name, COPIED - timedelta(days=1)) for name in ("a.md", "b.md")]
    assert not any(is_copied(file, tmp_path) for file in (*files, *same))


def test_a_file_that_is_alone(tmp_path: Path) -> None:
    alone = write(tmp_path / "a" / "note.md", COPIED)
    assert not is_copied(alone, tmp_path)
    write(tmp_path / "b" / "note.md", COPIED)
    assert is_copied(alone, tmp_path), "so were the files of the folders around it"
    assert not is_copied(alone, tmp_path / "a"), "outside of what was added nothing is looked at"
    write(tmp_path / ".git" / "config", COPIED + timedelta(days=1))
    assert is_copied(alone, tmp_path)


def test_a_file_alone_in_a_deep_tree_is_compared_with_a_few_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep, looked, look = tmp_path.joinpath(*"d" * 300), 0, os.scandir
    deep.mkdir(parents=True)

    def count(folder: Any) -> Any:
        nonlocal looked
        looked += 1
        return look(folder)

    monkeypatch.setattr(os, "scandir", count)
    assert not CopiedFolders().holds_copy(deep / "a.md", 0, tmp_path)
    assert looked < 100


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    assert not CopiedFolders().holds_copy(tmp_path / "gone" / "a.md", 1, tmp_path / "gone")


@pytest.mark.parametrize(
    ("text", "at", "copied", "day"),
    [
        ("Rain.", COPIED, False, "2026-05-04"),
        ("Rain.", COPIED, True, None),
        ("Rain.", datetime(2107, 1, 1).astimezone(), False, None),
        ("---\ndate: 2107-01-01\n---\nRain.", COPIED, False, "2026-05-04"),
        ("---\ndate: 2025-01-01\n---\nRain.", COPIED, True, "2025-01-01"),
        ("---\ncreated: 2025-01-01\n---\nRain.", COPIED, True, "2025-01-01"),
        ("---\ncreated: 2025-01-01\n---\nRain.", COPIED, False, "2026-05-04"),
        ("- [ ] call the roofer 📅 2025-02-01\n- [ ] paint @{2025-12-03}", COPIED, False, "2026-05-04"),
        ("Built in 1931, on 4 May 1931 in fact.", COPIED, True, None),
    ],
)
def test_when_a_note_was_written(
    tmp_path: Path, plugins: manager.Plugins, text: str, at: datetime, copied: bool, day: str | None
) -> None:
    path = write(tmp_path / "a.md", at, text)
    (note,) = documents(plugins.reader_for(path, 1), path, path.read_bytes(), path.stat(), copied)
    assert (note.at and note.at.date().isoformat()) == day
