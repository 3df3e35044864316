"""A folder of files that are written again and again: only what changed, and nothing that somebody else wrote.

A list in the folder says which files were written here and what was in them then. One that is not in it, or says
something else now, is a person's: it stays as it is, and is told. An ignore file keeps the memory from reading what it
wrote itself, wherever the folder lies.
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
    """A folder that holds what was not written here, and has no list of what was."""


@dataclass
class Report:
    """What became of the files, by path: `changed` ones were written, `kept` ones are a person's."""

    changed: list[str] = field(default_factory=list)
    unchanged: int = 0
    removed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


def write_folder(folder: Path, exporter: str, parts: Iterable[Part]) -> Report:
    """Writes the files of an exporter into a new folder, an empty one, or one that it wrote before. ForeignFolderError,
    OSError. Broken off, each file is as it was or as it should be, and the list says so."""
    before = _read_list(folder, exporter)
    folder.mkdir(parents=True, exist_ok=True)
    report, written = Report(), dict(before)
    try:
        _put(folder / IGNORED, b"# written by pal export, so that the memory does not read itself\n*\n")
        gone = dict.fromkeys(before)
        for path, pieces in _files(parts):
            gone.pop(path, None)
            _write(folder, path, pieces, written, report)
        for path in gone:
            _remove(folder, path, written, report)
    finally:
        _put(folder / WRITTEN, json.dumps({"exporter": exporter, "files": dict(sorted(written.items()))}).encode())
    return report


def _read_list(folder: Path, exporter: str) -> dict[str, str]:
    """The files that were written before, each with the hash of what was in it."""
    try:
        known = json.loads((folder / WRITTEN).read_bytes())
        if known["exporter"] == exporter:
            return {str(path): str(digest) for path, digest in known["files"].items()}
        raise ForeignFolderError(f"It was written as {known['exporter']}.")
    except FileNotFoundError:
        if folder.is_dir() and any(folder.iterdir()):
            raise ForeignFolderError("Other files are in it.") from None
        return {}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ForeignFolderError(f"{WRITTEN} in it cannot be read.") from error


def _files(parts: Iterable[Part]) -> Iterator[tuple[str, Iterator[bytes]]]:
    for path, pieces in groupby(parts, lambda part: part.path):
        pure = PurePosixPath(path)
        if pure.is_absolute() or not pure.parts or ".." in pure.parts or "\\" in path or "\0" in path:
            raise ValueError(f"{path!r} is no path within a folder.")
        yield path, (part.data for part in pieces)


def _write(folder: Path, path: str, pieces: Iterator[bytes], written: dict[str, str], report: Report) -> None:
    place, digest = folder / path, hashlib.sha256()
    there = _digest(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    with suppress(_LeftError), NewFile(place, durable=False) as file:
        for piece in pieces:
            digest.update(piece)
            file.write(piece)
        if digest.hexdigest() == there:
            written[path] = there
            report.unchanged += 1
            raise _LeftError
        if there is not None and there != written.get(path):
            report.kept.append(path)
            raise _LeftError
        written[path] = digest.hexdigest()
        report.changed.append(path)


class _LeftError(Exception):
    """What is there stays."""


def _remove(folder: Path, path: str, written: dict[str, str], report: Report) -> None:
    place = folder / path
    there = _digest(place)
    if there == written.pop(path) and there is not None:
        place.unlink()
        report.removed.append(path)
    elif there is not None:
        report.kept.append(path)


def _digest(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def _put(path: Path, data: bytes) -> None:
    with NewFile(path) as file:
        file.write(data)
