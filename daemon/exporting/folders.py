"""A folder of files that are rewritten regularly: only changed files, and no file of another author.

A list in the folder has the written files with their hashes. A file that is not in it, or has another content, belongs
to a person: it is kept and reported. An ignore file keeps the memory from reading its own export, wherever the folder
is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from daemon.exporting.files import NewFile

WRITTEN = ".palimpsest-export.json"
IGNORED = ".palimpsestignore"


class ForeignFolderError(Exception):
    """A folder with other files and without the list."""


@dataclass
class Report:
    """The files by path: `changed` ones were written, `kept` ones belong to a person."""

    changed: list[str] = field(default_factory=list)
    unchanged: int = 0
    removed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


def write_folder(folder: Path, files: Iterable[tuple[str, bytes]]) -> Report:
    """Writes files (name, content) into a new folder, an empty one, or one of an earlier export. ForeignFolderError,
    OSError. If interrupted, each file has its old or its new content, and the list is right."""
    before = _read_list(folder)
    folder.mkdir(parents=True, exist_ok=True)
    report, written = Report(), dict(before)
    try:
        _put(folder / IGNORED, b"# written by pal export, so that the memory does not read itself\n*\n")
        obsolete = dict.fromkeys(before)
        for name, content in files:
            obsolete.pop(name, None)
            _write(folder, name, content, written, report)
        for name in obsolete:
            _remove(folder, name, written, report)
    finally:
        _put(folder / WRITTEN, json.dumps({"files": dict(sorted(written.items()))}).encode())
    return report


def _read_list(folder: Path) -> dict[str, str]:
    """The files of the last export, each with the hash of its content."""
    try:
        listing = json.loads((folder / WRITTEN).read_bytes())
        return {str(name): str(digest) for name, digest in listing["files"].items()}
    except FileNotFoundError:
        if folder.is_dir() and any(folder.iterdir()):
            raise ForeignFolderError("Other files are in it.") from None
        return {}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ForeignFolderError(f"{WRITTEN} in it cannot be read.") from error


def _write(folder: Path, name: str, content: bytes, written: dict[str, str], report: Report) -> None:
    if not name or {"/", "\\", "\0"} & {*name}:
        raise ValueError(f"{name!r} is no name of a file.")
    on_disk, digest = _compute_digest(folder / name), hashlib.sha256(content).hexdigest()
    if digest == on_disk:
        written[name] = digest
        report.unchanged += 1
    elif on_disk is not None and on_disk != written.get(name):
        report.kept.append(name)
    else:
        _put(folder / name, content, durable=False)
        written[name] = digest
        report.changed.append(name)


def _remove(folder: Path, name: str, written: dict[str, str], report: Report) -> None:
    on_disk = _compute_digest(folder / name)
    if on_disk == written.pop(name) and on_disk is not None:
        (folder / name).unlink()
        report.removed.append(name)
    elif on_disk is not None:
        report.kept.append(name)


def _compute_digest(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def _put(path: Path, data: bytes, durable: bool = True) -> None:
    with NewFile(path, durable) as file:
        file.write(data)
