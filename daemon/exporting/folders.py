"""A folder of files that are rewritten regularly: only changed files, and no file of another author.

A list in the folder has the written files with their hashes. A file that is not in it, or has another content, belongs
to a person: it is kept and reported. An ignore file keeps the memory from reading its own export, wherever the folder
is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path, PurePosixPath

from daemon.exporting.files import NewFile
from plugins.exporters.contract import Part

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


def write_folder(folder: Path, exporter: str, parts: Iterable[Part]) -> Report:
    """Writes the files of an exporter into a new folder, an empty one, or one of an earlier export. ForeignFolderError,
    OSError. If interrupted, each file has its old or its new content, and the list is right."""
    before = _read_list(folder, exporter)
    folder.mkdir(parents=True, exist_ok=True)
    report, written = Report(), dict(before)
    try:
        _put(folder / IGNORED, b"# written by pal export, so that the memory does not read itself\n*\n")
        obsolete = dict.fromkeys(before)
        for path, pieces in _list_files(parts):
            obsolete.pop(path, None)
            _write(folder, path, pieces, written, report)
        for path in obsolete:
            _remove(folder, path, written, report)
    finally:
        _put(folder / WRITTEN, json.dumps({"exporter": exporter, "files": dict(sorted(written.items()))}).encode())
    return report


def _read_list(folder: Path, exporter: str) -> dict[str, str]:
    """The files of the last export, each with the hash of its content."""
    try:
        listing = json.loads((folder / WRITTEN).read_bytes())
        if listing["exporter"] == exporter:
            return {str(path): str(digest) for path, digest in listing["files"].items()}
        raise ForeignFolderError(f"It was written as {listing['exporter']}.")
    except FileNotFoundError:
        if folder.is_dir() and any(folder.iterdir()):
            raise ForeignFolderError("Other files are in it.") from None
        return {}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ForeignFolderError(f"{WRITTEN} in it cannot be read.") from error


def _list_files(parts: Iterable[Part]) -> Iterator[tuple[str, Iterator[bytes]]]:
    for path, pieces in groupby(parts, lambda part: part.path):
        pure = PurePosixPath(path)
        if pure.is_absolute() or not pure.parts or ".." in pure.parts or "\\" in path or "\0" in path:
            raise ValueError(f"{path!r} is no path within a folder.")
        yield path, (part.data for part in pieces)


def _write(folder: Path, path: str, pieces: Iterator[bytes], written: dict[str, str], report: Report) -> None:
    place, digest = folder / path, hashlib.sha256()
    on_disk = _compute_digest(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    with suppress(_LeftError), NewFile(place, durable=False) as file:
        for piece in pieces:
            digest.update(piece)
            file.write(piece)
        if digest.hexdigest() == on_disk:
            written[path] = on_disk
            report.unchanged += 1
            raise _LeftError
        if on_disk is not None and on_disk != written.get(path):
            report.kept.append(path)
            raise _LeftError
        written[path] = digest.hexdigest()
        report.changed.append(path)


class _LeftError(Exception):
    """The existing file is kept."""


def _remove(folder: Path, path: str, written: dict[str, str], report: Report) -> None:
    place = folder / path
    on_disk = _compute_digest(place)
    if on_disk == written.pop(path) and on_disk is not None:
        place.unlink()
        report.removed.append(path)
    elif on_disk is not None:
        report.kept.append(path)


def _compute_digest(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def _put(path: Path, data: bytes) -> None:
    with NewFile(path) as file:
        file.write(data)
