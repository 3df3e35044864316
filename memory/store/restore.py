"""Putting a backup, or what an export tells, in the place of a memory: verified first, and what it replaces is kept.

A write-ahead log belongs to one file. Beside another one SQLite would replay it there and ruin that, so the log of what
is replaced goes with it.
"""

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

LOGS = ("-wal", "-shm", NOTE)  # beside the file, while somebody has it open or after a crash
CHECKSUM = ".sha256"  # of a backup, in the form of sha256sum, in a file beside it


def write_checksum(backup: Path) -> None:
    """Writes the SHA-256 of a backup into a file beside it."""
    beside = checksum_path(backup)
    create_private(beside)
    beside.write_text(f"{_digest(backup)}  {backup.name}\n", "utf-8")
    sync(beside)


def checksum_path(backup: Path) -> Path:
    """Where the checksum of a backup stands."""
    return backup.with_name(backup.name + CHECKSUM)


def restore(backup: Path, memory: Path, kept: Path) -> None:
    """Puts the backup in the place of the memory file, whose own files become `kept`. Nobody may have either open.
    Killed on the way, both are still there and it can be done again. InvalidInputError where there is no backup, or
    something at `kept`; StoreDamagedError if the backup is not what was backed up, and nothing has changed."""
    if not backup.is_file():
        raise InvalidInputError(f"There is no backup {backup}.")
    beside = checksum_path(backup)
    if beside.exists() and beside.read_text("utf-8").split()[:1] != [_digest(backup)]:
        raise StoreDamagedError(f"{backup} is not as it was written: its checksum differs. Nothing was changed.")
    ready = begin(memory)
    try:
        shutil.copyfile(backup, ready)
        with Store.open(ready) as store:  # upgrades it, too, if an older version made it
            problems = check.check(store).problems
            store.checkpoint()
        if problems:
            raise StoreDamagedError(f"{backup} is damaged. Nothing was changed. {problems[0]}")
        put_in_place(ready, memory, kept)
    finally:
        discard(ready)


def begin(memory: Path) -> Path:
    """An empty file beside a memory, for what is to take its place."""
    ready = memory.with_name(f".{memory.name}.restored")
    discard(ready)
    create_private(ready)
    return ready


def put_in_place(ready: Path, memory: Path, kept: Path) -> None:
    """Gives a file that is whole the name of the memory, whose own files become `kept`. InvalidInputError if there is
    something at `kept`."""
    if kept.exists():
        raise InvalidInputError(f"{kept} exists already.")
    sync(ready)
    _keep(memory, kept)
    ready.replace(memory)
    sync(memory.absolute().parent)


def discard(file: Path) -> None:
    """Removes a file that nobody has open, and its logs."""
    for name in (file.name, *(file.name + log for log in LOGS)):
        file.with_name(name).unlink(missing_ok=True)


def _keep(memory: Path, kept: Path) -> None:
    """Gives a memory's file a second name, and its log that of it: until the first is replaced there is no moment at
    which there is no memory."""
    if not memory.exists():
        return
    create_private(kept)
    kept.unlink()
    try:
        os.link(memory, kept)
    except OSError:  # a file system without links, or another one
        create_private(kept)
        shutil.copyfile(memory, kept)
    for log in LOGS:
        beside = memory.with_name(memory.name + log)
        if beside.exists():
            shutil.move(beside, kept.with_name(kept.name + log))
    sync(kept.absolute().parent)


def _digest(file: Path) -> str:
    with file.open("rb") as read:
        return hashlib.file_digest(read, "sha256").hexdigest()
