"""Files on the disk, as they are found and read: what is ignored, what is skipped, and never half a file.

Nothing here follows a symbolic link, opens anything but a regular file, or writes. What is walked is opened folder by
folder from the one at the top, and so is what is read: a folder that is swapped for a link meanwhile leads nowhere.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec

FOLDER_RULES = ".palimpsestignore"  # in .gitignore syntax, in any folder
MIB = 1 << 20
SYSTEM = ("/proc/", "/sys/", "/dev/", "/run/")  # of a whole disk: what there is no file

BUILT = frozenset("build dist out target coverage bower_components vendor".split())
PROJECTS = (  # what makes a folder with one of these names one that a program wrote
    "package.json", "pyproject.toml", "setup.py", "Cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts", "go.mod",
    "composer.json", "Gemfile", "CMakeLists.txt", "Makefile",
)  # fmt: skip

BY_HANDLE = os.open in os.supports_dir_fd and os.scandir in os.supports_fd  # not on Windows


def is_built(folder: Path) -> bool:
    """Whether a folder holds what a program made of the sources beside it, by its name and theirs."""
    return folder.name in BUILT and any((folder.parent / name).exists() for name in PROJECTS)


class Unread(Exception):
    """A file that was not read; the message is the reason, for a person."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file or folder met on a walk. `unread` is the reason why it will not be read, if there is one. Many are held at
    once, so there is no more in it than is needed."""

    name: str
    size: int = 0
    mtime_ns: int = 0
    unread: str | None = None
    folder: bool = False  # what lies below could not be seen either

    @property
    def path(self) -> Path:
        return Path(self.name)


@dataclass
class Walked:
    """The folders that were looked into, and those of them in which another drive is mounted."""

    folders: list[Path] = field(default_factory=list)
    mounts: list[Path] = field(default_factory=list)


class Ignore:
    """What is never read: the patterns of the settings, those in the folder and in folders below it, as git takes them
    from its .gitignore files, and our own files."""

    def __init__(
        self,
        root: Path,
        patterns: Iterable[str],
        own: Iterable[Path],
        depth: int = 0,
        suffixes: Collection[str] | None = None,
    ) -> None:
        """`own` are folders or files that are left out wherever they lie. Only so many folders deep is read (0: all),
        and only files with these `suffixes`, in lower case with the dot, if some are given."""
        self.root = root
        self._own = frozenset(own)
        self._depth = depth
        self._suffixes = suffixes
        self._patterns = GitIgnoreSpec.from_lines([*patterns, *(SYSTEM if root == Path(root.anchor) else ())])
        self._folders: dict[Path, GitIgnoreSpec | None] = {}  # the rules in each, as far as it was asked for

    def covers(self, path: Path, folder: bool) -> bool:
        """Whether `path`, found in a folder that is not ignored itself, is ignored."""
        if path in self._own:
            return True
        parts = path.relative_to(self.root).parts
        if folder and self._depth and len(parts) >= self._depth:
            return True
        if not folder and self._suffixes is not None and path.suffix.lower() not in self._suffixes:
            return True
        name = "/".join(parts) + ("/" if folder else "")
        ruled = self._patterns.check_file(name).include
        ignored = ruled if ruled is not None else folder and is_built(path)
        place = self.root
        for part in parts:  # the rules of a folder further down win
            if (rules := self._rules_in(place)) is not None and (found := rules.check_file(name).include) is not None:
                ignored = found
            name = name[len(part) + 1 :]
            place /= part
        return bool(ignored)

    def _rules_in(self, folder: Path) -> GitIgnoreSpec | None:
        if folder not in self._folders:
            try:
                data, _ = read(folder / FOLDER_RULES, MIB, self.root)
                self._folders[folder] = GitIgnoreSpec.from_lines(data.decode("utf-8", "replace").splitlines())
            except Unread:
                self._folders[folder] = None
        return self._folders[folder]

    def reaches(self, path: Path) -> bool:
        """Whether `path` below the root is ignored, or lies in a folder that is."""
        if path == self.root:
            return False
        above = path.relative_to(self.root).parents
        folders = [self.root / part for part in above if part != Path()]
        return any(self.covers(folder, True) for folder in folders) or self.covers(path, path.is_dir())


def walk(start: Path, ignore: Ignore, walked: Walked | None = None) -> Iterator[Found]:
    """Everything below `start` (a folder, or one file) that is not ignored, by name, folders after their files.

    `start` lies below the root of `ignore`, or is it. It may itself be ignored: whoever names a file wants it. The
    folders that were looked into are added to `walked`.
    """
    walked = walked or Walked()
    try:
        first = _status(start, ignore.root)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        yield Found(str(start), unread=_reason(error), folder=True)
        return
    if not stat.S_ISDIR(first.st_mode):
        yield _found(start, first)
        return
    waiting = [(start, first.st_dev)]
    while waiting:
        folder, drive = waiting.pop()
        below: list[Path] = []
        try:
            found, device = _look_into(folder, ignore, below)
        except OSError as error:
            yield Found(str(folder), unread=_reason(error), folder=True)
            continue
        walked.folders.append(folder)
        if device != drive:
            walked.mounts.append(folder)
        yield from found
        waiting += ((path, device) for path in reversed(below))


def _look_into(folder: Path, ignore: Ignore, below: list[Path]) -> tuple[list[Found], int]:
    """The files of one folder that are not ignored, and its device; its folders go to `below`."""
    found = []
    with _open_folder(folder, ignore.root) as handle, os.scandir(handle) as entries:
        device = (os.fstat(handle) if isinstance(handle, int) else handle.stat()).st_dev
        for entry in sorted(entries, key=lambda entry: entry.name):
            path = folder / entry.name
            try:
                is_folder = entry.is_dir(follow_symlinks=False)
                if ignore.covers(path, is_folder):
                    continue
                if is_folder:
                    below.append(path)
                else:
                    # on Windows the entry's own has no inode, and may be older than the file
                    found.append(_found(path, entry.stat(follow_symlinks=False) if BY_HANDLE else path.lstat()))
            except OSError as error:
                found.append(Found(str(path), unread=_reason(error)))
    return found, device


@contextmanager
def open_whole(path: Path, most: int, root: Path) -> Iterator[tuple[int, os.stat_result]]:
    """A descriptor of the file and its stat, for what reads all of it. At the end Unread, if it is another one by then.

    It lies below `root`, and nothing on the way from there is a link. Raises Unread with the reason."""
    try:
        file = _open(path, root, os.O_RDONLY | _flags("O_NONBLOCK", "O_BINARY"))
    except (OSError, ValueError) as error:
        raise _unread(error) from error
    try:
        before = os.fstat(file)
        if unread := _found(path, before, most).unread:
            raise Unread(unread)
        yield file, before
        after = os.fstat(file)
    except OSError as error:
        raise _unread(error) from error
    finally:
        os.close(file)
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise Unread("it was written to while it was read")


def read(path: Path, most: int, root: Path) -> tuple[bytes, os.stat_result]:
    """The whole file and its stat; it was the same before and after it was read. Raises Unread with the reason."""
    with open_whole(path, most, root) as (file, status):
        with open(file, "rb", closefd=False) as stream:
            data = stream.read(most + 1)
        if len(data) != status.st_size:
            raise Unread("it was written to while it was read")
        return data, status


def hash_content(file: int) -> str:
    """The SHA-256 of what is in an open file, whose place is at its begin again."""
    with open(file, "rb", closefd=False) as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    os.lseek(file, 0, os.SEEK_SET)
    return digest


def _flags(*names: str) -> int:
    """What this system has of them."""
    return sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", *names))


def _open(path: Path, root: Path, flags: int) -> int:
    """A descriptor of what lies at `path`, the root or below it. OSError, also where a link is on the way there."""
    flags |= _flags()
    if path == root or not BY_HANDLE:
        return os.open(path, flags)
    above = os.open(root, _flags("O_DIRECTORY", "O_PATH"))
    try:
        *folders, name = path.relative_to(root).parts
        for folder in folders:
            below = os.open(folder, _flags("O_DIRECTORY", "O_PATH"), dir_fd=above)
            os.close(above)
            above = below
        return os.open(name, flags, dir_fd=above)
    finally:
        os.close(above)


@contextmanager
def _open_folder(path: Path, root: Path) -> Iterator[int | Path]:
    """What `os.scandir` takes for a folder."""
    if not BY_HANDLE:
        yield path
        return
    handle = _open(path, root, os.O_RDONLY | _flags("O_DIRECTORY"))
    try:
        yield handle
    finally:
        os.close(handle)


def _status(path: Path, root: Path) -> os.stat_result:
    """Of what lies there, links not followed. OSError."""
    if path == root or not BY_HANDLE:
        return path.lstat()
    with _open_folder(path.parent, root) as folder:
        assert isinstance(folder, int)
        return os.stat(path.name, dir_fd=folder, follow_symlinks=False)


def is_gone(path: Path) -> bool:
    """Whether there is nothing at that path, for sure."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):  # nobody may look, so nobody knows
        return False
    return False


def uri_of(path: Path) -> str:
    """A file's name in the memory: its path, where bytes that are no UTF-8 are written as \\xNN."""
    return os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace")


def _found(path: Path, status: os.stat_result, most: int | None = None) -> Found:
    unread = None
    if stat.S_ISLNK(status.st_mode):
        unread = "a symbolic link is not followed; add or watch what it points to"
    elif not stat.S_ISREG(status.st_mode):
        unread = "it is no regular file"
    elif most is not None and status.st_size > most:
        unread = f"too large: {status.st_size / MIB:,.1f} MiB, the limit is {most / MIB:,.0f} MiB"
    return Found(str(path), status.st_size, status.st_mtime_ns, unread)


def _unread(error: OSError | ValueError) -> Unread:
    return Unread("it vanished" if isinstance(error, FileNotFoundError) else _reason(error))


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "it vanished"
    if isinstance(error, PermissionError):
        return "no permission to read it"
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return "a symbolic link is not followed; add or watch what it points to"
    if isinstance(error, NotADirectoryError):
        return "a folder above it is a link or a file now; links are not followed"
    return f"the system cannot read it: {getattr(error, 'strerror', None) or error}"
