"""Files on the disk: walking, ignoring, skipping, and reading whole files only.

Symbolic links are not followed, only regular files are opened, and nothing is written. Files and folders are opened
folder by folder from the root: replacing a folder by a link meanwhile leads nowhere."""

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
SYSTEM = ("/proc/", "/sys/", "/dev/", "/run/")  # when watching a whole disk: virtual file systems

BUILT = frozenset("build dist out target coverage bower_components vendor".split())
PROJECTS = (  # project files that make a folder with one of these names a build folder
    "package.json", "pyproject.toml", "setup.py", "Cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts", "go.mod",
    "composer.json", "Gemfile", "CMakeLists.txt", "Makefile",
)  # fmt: skip

BY_HANDLE = os.open in os.supports_dir_fd and os.scandir in os.supports_fd  # not on Windows


def is_built(folder: Path) -> bool:
    """Whether a folder contains build results, judged by its name and its neighbours."""
    return folder.name in BUILT and any((folder.parent / name).exists() for name in PROJECTS)


class Unread(Exception):
    """A file that was not read; the message is the reason for a person."""


@dataclass(frozen=True, slots=True)
class Found:
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


@dataclass
class Walked:
    """The listed folders, and those of them that are mount points."""

    folders: list[Path] = field(default_factory=list)
    mounts: list[Path] = field(default_factory=list)


class Ignore:
    """What is never read: patterns of the settings, of the folder and its subfolders in .gitignore syntax, and our own
    files."""

    def __init__(
        self,
        root: Path,
        patterns: Iterable[str],
        own: Iterable[Path],
        depth: int = 0,
        suffixes: Collection[str] | None = None,
    ) -> None:
        """`own`: excluded paths. `depth`: levels of folders to read (0: all). `suffixes`: if given, only these are
        read, in lower case with the dot."""
        self.root = root
        self._own = frozenset(own)
        self._depth = depth
        self._suffixes = suffixes
        self._patterns = GitIgnoreSpec.from_lines([*patterns, *(SYSTEM if root == Path(root.anchor) else ())])
        self._folders: dict[Path, GitIgnoreSpec | None] = {}  # cached rules by folder

    def covers(self, path: Path, folder: bool) -> bool:
        """Whether `path`, in a folder that is not ignored, is ignored."""
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
        for part in parts:  # the rules of deeper folders win
            if (rules := self._read_rules(place)) is not None and (rule := rules.check_file(name).include) is not None:
                ignored = rule
            name = name[len(part) + 1 :]
            place /= part
        return bool(ignored)

    def _read_rules(self, folder: Path) -> GitIgnoreSpec | None:
        if folder not in self._folders:
            try:
                data, _ = read(folder / FOLDER_RULES, MIB, self.root)
                self._folders[folder] = GitIgnoreSpec.from_lines(data.decode("utf-8", "replace").splitlines())
            except Unread:
                self._folders[folder] = None
        return self._folders[folder]

    def reaches(self, path: Path) -> bool:
        """Whether `path` below the root is ignored or in an ignored folder."""
        if path == self.root:
            return False
        above = path.relative_to(self.root).parents
        folders = [self.root / part for part in above if part != Path()]
        return any(self.covers(folder, True) for folder in folders) or self.covers(path, path.is_dir())


def walk(start: Path, ignore: Ignore, walked: Walked | None = None) -> Iterator[Found]:
    """All files below `start` (a folder or a file) that are not ignored, by name, subfolders after files.

    `start` is the root of `ignore` or below it, and may itself be ignored, since somebody named it. Listed folders are
    added to `walked`."""
    walked = walked or Walked()
    try:
        first = _read_status(start, ignore.root)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        yield Found(str(start), unread=_explain(error), folder=True)
        return
    if not stat.S_ISDIR(first.st_mode):
        yield _record(start, first)
        return
    waiting = [(start, first.st_dev)]
    while waiting:
        folder, drive = waiting.pop()
        below: list[Path] = []
        try:
            entries, device = _look_into(folder, ignore, below)
        except OSError as error:
            yield Found(str(folder), unread=_explain(error), folder=True)
            continue
        walked.folders.append(folder)
        if device != drive:
            walked.mounts.append(folder)
        yield from entries
        waiting += ((path, device) for path in reversed(below))


def _look_into(folder: Path, ignore: Ignore, below: list[Path]) -> tuple[list[Found], int]:
    """(files of a folder that are not ignored, its device); adds its subfolders to `below`."""
    collected = []
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
                    # on Windows the entry's own has no inode and may be outdated
                    collected.append(_record(path, entry.stat(follow_symlinks=False) if BY_HANDLE else path.lstat()))
            except OSError as error:
                collected.append(Found(str(path), unread=_explain(error)))
    return collected, device


@contextmanager
def open_whole(path: Path, most: int, root: Path) -> Iterator[tuple[int, os.stat_result]]:
    """A descriptor of the file and its stat for reading all of it. Raises Unread at the end if the file changed.

    It is below `root`, with no links on the way. Raises Unread with the reason."""
    try:
        file = _open(path, root, os.O_RDONLY | _combine_flags("O_NONBLOCK", "O_BINARY"))
    except (OSError, ValueError) as error:
        raise _make_unread(error) from error
    try:
        before = os.fstat(file)
        if unread := _record(path, before, most).unread:
            raise Unread(unread)
        yield file, before
        after = os.fstat(file)
    except OSError as error:
        raise _make_unread(error) from error
    finally:
        os.close(file)
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise Unread("it changed while it was read")


def read(path: Path, most: int, root: Path) -> tuple[bytes, os.stat_result]:
    """(whole file, its stat), unchanged while it was read. Raises Unread with the reason."""
    with open_whole(path, most, root) as (file, status):
        with open(file, "rb", closefd=False) as stream:
            data = stream.read(most + 1)
        if len(data) != status.st_size:
            raise Unread("it changed while it was read")
        return data, status


def hash_content(file: int) -> str:
    """The SHA-256 of an open file, which is rewound."""
    with open(file, "rb", closefd=False) as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    os.lseek(file, 0, os.SEEK_SET)
    return digest


def _combine_flags(*names: str) -> int:
    """The sum of those flags that this system has."""
    return sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", *names))


def _open(path: Path, root: Path, flags: int) -> int:
    """A descriptor of `path`, the root or below it. OSError, also for a link on the way."""
    flags |= _combine_flags()
    if path == root or not BY_HANDLE:
        return os.open(path, flags)
    above = os.open(root, _combine_flags("O_DIRECTORY", "O_PATH"))
    try:
        *folders, name = path.relative_to(root).parts
        for folder in folders:
            below = os.open(folder, _combine_flags("O_DIRECTORY", "O_PATH"), dir_fd=above)
            os.close(above)
            above = below
        return os.open(name, flags, dir_fd=above)
    finally:
        os.close(above)


@contextmanager
def _open_folder(path: Path, root: Path) -> Iterator[int | Path]:
    """The argument of `os.scandir` for a folder."""
    if not BY_HANDLE:
        yield path
        return
    handle = _open(path, root, os.O_RDONLY | _combine_flags("O_DIRECTORY"))
    try:
        yield handle
    finally:
        os.close(handle)


def _read_status(path: Path, root: Path) -> os.stat_result:
    """The lstat of a path. OSError."""
    if path == root or not BY_HANDLE:
        return path.lstat()
    with _open_folder(path.parent, root) as folder:
        assert isinstance(folder, int)
        return os.stat(path.name, dir_fd=folder, follow_symlinks=False)


def is_gone(path: Path) -> bool:
    """Whether nothing exists at the path, for certain."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):  # unknown without permission
        return False
    return False


def uri_of(path: Path) -> str:
    """The uri of a file: its path, with bytes that are no UTF-8 as \\xNN."""
    return os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace")


def _record(path: Path, status: os.stat_result, most: int | None = None) -> Found:
    unread = None
    if stat.S_ISLNK(status.st_mode):
        unread = "a symbolic link is not followed; add or watch what it points to"
    elif not stat.S_ISREG(status.st_mode):
        unread = "it is no regular file"
    elif most is not None and status.st_size > most:
        unread = f"too large: {status.st_size / MIB:,.1f} MiB, the limit is {most / MIB:,.0f} MiB"
    return Found(str(path), status.st_size, status.st_mtime_ns, unread)


def _make_unread(error: OSError | ValueError) -> Unread:
    return Unread("it vanished" if isinstance(error, FileNotFoundError) else _explain(error))


def _explain(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "it vanished"
    if isinstance(error, PermissionError):
        return "no permission to read it"
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return "a symbolic link is not followed; add or watch what it points to"
    if isinstance(error, NotADirectoryError):
        return "a folder above it is a link or a file now; links are not followed"
    return f"the system cannot read it: {getattr(error, 'strerror', None) or error}"
