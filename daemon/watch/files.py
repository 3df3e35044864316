"""Opens files safely and reads only complete ones.

Symbolic links are not followed, only regular files are opened, and nothing is written. Paths are opened folder by
folder from the root, so that replacing a folder by a link meanwhile has no effect."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import stat
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from plugins.readers import LAST_NS, Unreadable

MIB = 1 << 20

OPENAT2, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH = 437, 0x04, 0x08  # <linux/openat2.h>


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file or folder met on a walk. `unread` is the reason not to read it, or "". Kept small because there are
    many."""

    name: str
    size: int = 0
    mtime_ns: int = 0
    unread: str | None = None
    folder: bool = False  # its contents could not be listed

    @property
    def path(self) -> Path:
        return Path(self.name)


@contextmanager
def open_whole(path: Path, most: int, root: Path) -> Iterator[tuple[int, os.stat_result]]:
    """Opens a file below `root` without following links, and yields its descriptor and stat. Raises Unreadable with the
    reason, at the end also if the file changed."""
    try:
        file = _open(path, root, os.O_RDONLY | _combine_flags("O_NONBLOCK"))
    except (OSError, ValueError) as error:
        raise Unreadable(explain_error(error)) from error
    try:
        before = os.fstat(file)
        if unread := make_found(path, before, most).unread:
            raise Unreadable(unread)
        yield file, before
        after = os.fstat(file)
    except OSError as error:
        raise Unreadable(explain_error(error)) from error
    finally:
        os.close(file)
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise Unreadable("it changed while it was read")


def read(path: Path, most: int, root: Path) -> tuple[bytes, os.stat_result]:
    """Returns (whole file, its stat), unchanged while it was read. Raises Unreadable with the reason."""
    with open_whole(path, most, root) as (file, status):
        with open(file, "rb", closefd=False) as stream:
            data = stream.read(most + 1)
        if len(data) != status.st_size:
            raise Unreadable("it changed while it was read")
        return data, status


def hash_content(file: int) -> str:
    """Returns the SHA-256 of an open file and rewinds it."""
    with open(file, "rb", closefd=False) as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    os.lseek(file, 0, os.SEEK_SET)
    return digest


def _combine_flags(*names: str) -> int:
    """Combines those flags that this system has."""
    return sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", *names))


def _open(path: Path, root: Path, flags: int) -> int:
    """Opens `path`, the root or below it. OSError, also for a link on the way."""
    flags |= _combine_flags()
    if path == root:
        return os.open(path, flags)
    parts = path.relative_to(root).parts
    above = os.open(root, _combine_flags("O_DIRECTORY", "O_PATH"))
    try:
        if (handle := _open_below(above, "/".join(parts), flags)) is not None:
            return handle
        for folder in parts[:-1]:
            below = os.open(folder, _combine_flags("O_DIRECTORY", "O_PATH"), dir_fd=above)
            os.close(above)
            above = below
        return os.open(parts[-1], flags, dir_fd=above)
    finally:
        os.close(above)


def _open_below(folder: int, path: str, flags: int) -> int | None:
    """Opens a path below an open folder in one Linux call; None on other systems and for a link on the way. OSError."""
    if sys.platform != "linux":
        return None
    how = struct.pack("QQQ", flags, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS)
    handle: int = _find_libc().syscall(OPENAT2, folder, os.fsencode(path), how, len(how))
    if handle >= 0:
        return handle
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EPERM, errno.ELOOP):  # before Linux 5.6, or forbidden in a container; a link
        return None
    raise OSError(code, os.strerror(code), path)


@cache
def _find_libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@contextmanager
def open_folder(path: Path, root: Path) -> Iterator[int]:
    """Yields a descriptor of a folder."""
    handle = _open(path, root, os.O_RDONLY | _combine_flags("O_DIRECTORY"))
    try:
        yield handle
    finally:
        os.close(handle)


def read_status(path: Path, root: Path) -> os.stat_result:
    """Returns the lstat of a path. OSError."""
    if path == root:
        return path.lstat()
    with open_folder(path.parent, root) as folder:
        return os.stat(path.name, dir_fd=folder, follow_symlinks=False)


def is_gone(path: Path) -> bool:
    """Whether certainly nothing exists at the path."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):  # unknown without permission
        return False
    return False


def uri_of(path: Path) -> str:
    r"""Returns the uri of a file: its path, with bytes that are not UTF-8 as \xNN."""
    return os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace")


def make_found(path: Path, status: os.stat_result, most: int | None = None) -> FoundFile:
    """Returns a file with the reason not to read it, if any: a link, not a regular file, or over `most` bytes."""
    unread = None
    if stat.S_ISLNK(status.st_mode):
        unread = "a symbolic link is not followed; add or watch what it points to"
    elif not stat.S_ISREG(status.st_mode):
        unread = "it is no regular file"
    elif most is not None and status.st_size > most:
        unread = f"too large: {status.st_size / MIB:,.1f} MiB, the limit is {most / MIB:,.0f} MiB"
    return FoundFile(str(path), status.st_size, read_mtime(status), unread)


def read_mtime(status: os.stat_result) -> int:
    """Returns the modification time in ns since the epoch, limited to what SQLite can store (2262)."""
    return min(status.st_mtime_ns, LAST_NS)


def explain_error(error: OSError | ValueError) -> str:
    """Explains to a person why a file or folder was not read."""
    if isinstance(error, FileNotFoundError):
        return "it vanished"
    if isinstance(error, PermissionError):
        return "no permission to read it"
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return "a symbolic link is not followed; add or watch what it points to"
    if isinstance(error, NotADirectoryError):
        return "a folder above it is a link or a file now; links are not followed"
    return f"the system cannot read it: {getattr(error, 'strerror', None) or error}"
