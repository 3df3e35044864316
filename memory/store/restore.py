"""Replaces a memory with a backup or an export: verified first, and the old files are kept.

A write-ahead log belongs to one file; SQLite would apply it to any other file of that name and destroy it. So the log
moves with the replaced file."""

import hashlib
import os
import shutil
from pathlib import Path

from memory.errors import InvalidInputError, StoreDamagedError
from memory.store import check
from memory.store.backup import sync
from memory.store.connect import create_private
from memory.store.ownership import NOTE
from memory.store.store import Store

LOGS = ("-wal", "-shm", NOTE)  # suffixes of files next to an open memory, or after a crash
CHECKSUM = ".sha256"  # of a backup, in the format of sha256sum, in a file next to it


def write_checksum(backup: Path) -> None:
    """Writes the SHA-256 of a backup into a file next to it."""
    checksum = checksum_path(backup)
    create_private(checksum)
    checksum.write_text(f"{_hash_file(backup)}  {backup.name}\n", "utf-8")
    sync(checksum)


def checksum_path(backup: Path) -> Path:
    """The path of the checksum of a backup."""
    return backup.with_name(backup.name + CHECKSUM)


def restore(backup: Path, memory: Path, former_path: Path) -> None:
    """Replaces the memory file with the backup; its old files move to `former_path`. Nobody may have either open. If
    killed on the way, both still exist and it can be repeated. InvalidInputError without a backup, or if `former_path`
    exists; StoreDamagedError for a damaged backup, and nothing has changed."""
    if not backup.is_file():
        raise InvalidInputError(f"There is no backup {backup}.")
    checksum = checksum_path(backup)
    if checksum.exists() and checksum.read_text("utf-8").split()[:1] != [_hash_file(backup)]:
        raise StoreDamagedError(f"{backup} is not as it was written: its checksum differs. Nothing was changed.")
    ready = begin(memory)
    try:
        shutil.copyfile(backup, ready)
        with Store.open(ready) as store:  # also upgrades an older version
            problems = check.check(store).problems
            store.checkpoint()
        if problems:
            raise StoreDamagedError(f"{backup} is damaged. Nothing was changed. {problems[0]}")
        put_in_place(ready, memory, former_path)
    finally:
        discard(ready)


def begin(memory: Path) -> Path:
    """Creates an empty file next to a memory, to replace it later."""
    ready = memory.with_name(f".{memory.name}.restored")
    discard(ready)
    create_private(ready)
    return ready


def put_in_place(ready: Path, memory: Path, former_path: Path) -> None:
    """Gives a complete file the name of the memory, whose old files move to `former_path`. InvalidInputError if that
    exists."""
    if former_path.exists():
        raise InvalidInputError(f"{former_path} exists already.")
    sync(ready)
    _keep(memory, former_path)
    ready.replace(memory)
    sync(memory.absolute().parent)


def discard(file: Path) -> None:
    """Deletes a file that nobody has open, and its logs."""
    for name in (file.name, *(file.name + log for log in LOGS)):
        file.with_name(name).unlink(missing_ok=True)


def _keep(memory: Path, former_path: Path) -> None:
    """Gives a memory's file and its log second names, so that a memory exists at any moment."""
    if not memory.exists():
        return
    create_private(former_path)
    former_path.unlink()
    try:
        os.link(memory, former_path)
    except OSError:  # a file system without links, or another file system
        create_private(former_path)
        shutil.copyfile(memory, former_path)
    for log in LOGS:
        log_path = memory.with_name(memory.name + log)
        if log_path.exists():
            shutil.move(log_path, former_path.with_name(former_path.name + log))
    sync(former_path.absolute().parent)


def _hash_file(file: Path) -> str:
    with file.open("rb") as read:
        return hashlib.file_digest(read, "sha256").hexdigest()
