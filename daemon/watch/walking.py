"""Walks folders without ignored files: patterns in .gitignore syntax, matched in linear time.

Any clone or archive may have a `.palimpsestignore`, so it is untrusted: google-re2 matches its patterns, since a
backtracking expression such as `*a*a*a*b` would hang the daemon."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import re2
from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from daemon.watch.files import (
    MIB,
    FoundFile,
    explain_error,
    make_found,
    open_folder,
    read,
    read_status,
)  # fmt: skip
from daemon.wire.documents import RULES_TOO_LONG
from plugins.readers import Unreadable

FOLDER_RULES = ".palimpsestignore"  # in .gitignore syntax, in any folder
MAX_PATTERNS = 1000  # of one file; beyond it nothing in its folder is read
MAX_LENGTH = 1 << 15  # characters of these patterns, likewise
MANY_PATTERNS = 100  # above which they are matched at once: fewer may take longer so, if they have many stars
PATTERN_MEMORY = 1 << 18  # bytes that the automaton of one pattern may use
KEPT_FILES = 100  # of rules, compiled: 6 MB at most for each
SYSTEM = ("/proc/", "/sys/", "/dev/", "/run/")  # when watching a whole disk: virtual file systems

BUILT = frozenset("build dist out target coverage bower_components vendor".split())
PROJECTS = (  # project files that make a folder with one of these names a build folder
    "package.json", "pyproject.toml", "setup.py", "Cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts", "go.mod",
    "composer.json", "Gemfile", "CMakeLists.txt", "Makefile",
)  # fmt: skip


def is_built(folder: Path) -> bool:
    """Whether a folder contains build results, judged by its name and its neighbours."""
    return folder.name in BUILT and any((folder.parent / name).exists() for name in PROJECTS)


class Ignore:
    """The ignore rules: patterns of the settings, of the folder and its subfolders in .gitignore syntax, and the
    daemon's own files."""

    def __init__(self, root: Path, patterns: Iterable[str], own: Iterable[Path]) -> None:
        """`own`: excluded paths."""
        self.root = root
        self._own = tuple(f"{path}/" for path in own)
        self._patterns = _compile_settings((*patterns, *(SYSTEM if root == Path(root.anchor) else ())))
        self._rules: dict[Path, tuple[tuple[int, GitIgnoreSpec], ...]] = {}  # by folder: (start of names, rules) above
        self._compiled = 0  # files of rules in `_rules`
        self._problems: dict[Path, str] = {}  # by the file of the rules
        self._excluded = {root: False}  # by folder: whether it or one above is ignored

    def is_own(self, path: Path) -> bool:
        """Whether the path is a file of the daemon, or in one of its folders."""
        return f"{path}/".startswith(self._own)

    def covers(self, path: Path, folder: bool) -> bool:
        """Whether `path`, in a folder that is not ignored, is ignored."""
        if self.is_own(path):
            return True
        name = path.relative_to(self.root).as_posix() + ("/" if folder else "")
        name = name.encode("utf-8", "replace").decode()  # re2 takes no surrogates
        ruled = self._patterns.check_file(name).include
        ignored = ruled if ruled is not None else folder and is_built(path)
        for start, rules in self._find_rules(path.parent):  # the rules of deeper folders win
            if (rule := rules.check_file(name[start:]).include) is not None:
                ignored = rule
        return bool(ignored)

    def reaches(self, path: Path) -> bool:
        """Whether `path` below the root is ignored or in an ignored folder."""
        steps = self.check(path)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return bool(end.value)

    def check(self, path: Path) -> Generator[None, None, bool]:
        """Checks as `reaches` does, one folder per `next`, because compiling its rules may take long."""
        if path == self.root:
            return False
        unknown, folder = [], path.parent
        while folder not in self._excluded:
            unknown.append(folder)
            folder = folder.parent
        excluded = self._excluded[folder]
        for folder in reversed(unknown):
            excluded = self._excluded[folder] = excluded or self.covers(folder, True)
            yield
        return excluded or self.covers(path, path.is_dir())

    def find_problem(self, path: Path) -> str:
        """Explains which rules in this file are not followed, or ""."""
        if path.name != FOLDER_RULES:
            return ""
        self._find_rules(path.parent)
        return self._problems.get(path, "")

    def _find_rules(self, folder: Path) -> tuple[tuple[int, GitIgnoreSpec], ...]:
        """Returns the rules for the entries of a folder, outermost first."""
        unknown = []
        while (rules := self._rules.get(folder)) is None and folder != self.root:
            unknown.append(folder)
            folder = folder.parent
        if rules is None:
            rules = self._rules[folder] = self._read_rules(folder)
        for folder in reversed(unknown):
            more = self._read_rules(folder)
            self._compiled += len(more)
            if self._compiled > KEPT_FILES:
                self._compiled = 0
                self._rules.clear()
            rules = self._rules[folder] = rules + more
        return rules

    def _read_rules(self, folder: Path) -> tuple[tuple[int, GitIgnoreSpec], ...]:
        try:
            data, _ = read(folder / FOLDER_RULES, MIB, self.root)
        except Unreadable as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return ()
            rules, problem = _exclude_all(str(error))
        else:
            rules, problem = _parse(data)
        if problem:
            self._problems[folder / FOLDER_RULES] = problem
        start = len("/".join(folder.relative_to(self.root).parts))
        return ((start + 1 if start else 0, rules),)


@lru_cache(maxsize=8)
def _compile_settings(lines: tuple[str, ...]) -> GitIgnoreSpec:
    """Compiles the valid patterns of the settings into one expression: 5 µs per name instead of 270."""
    return GitIgnoreSpec(parse_patterns(lines)[0].patterns, backend="re2")


@lru_cache(maxsize=KEPT_FILES)  # each scan reads all of them again
def _parse(data: bytes) -> tuple[GitIgnoreSpec, str]:
    return parse_patterns(data.decode("utf-8", "replace").splitlines())


def parse_patterns(lines: Iterable[str]) -> tuple[GitIgnoreSpec, str]:
    """Returns (the valid patterns, what is wrong with the others or ""). Too many lines exclude everything."""
    patterns: list[GitIgnoreSpecPattern] = []
    invalid: list[str] = []
    length = 0
    options = re2.Options()
    options.max_mem, options.log_errors = PATTERN_MEMORY, False
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        length += len(line)
        if len(patterns) + len(invalid) == MAX_PATTERNS or length > MAX_LENGTH:
            return _exclude_all(f"it has over {MAX_PATTERNS:,} patterns or {MAX_LENGTH // 1024} KiB of them")
        try:
            expression, include = GitIgnoreSpecPattern.pattern_to_regex(line)
            if expression is None:
                raise ValueError("excludes nothing")
            patterns.append(GitIgnoreSpecPattern(re2.compile(expression, options), include))
        except (ValueError, re2.error):
            invalid.append(f"{number} ({line[:40]!r})")
    problem = f"skipped as invalid: line {', '.join(invalid[:5])}{', ...' if len(invalid) > 5 else ''}"
    if len(patterns) > MANY_PATTERNS:
        with suppress(re2.error):  # too large for one automaton
            return GitIgnoreSpec(patterns, backend="re2"), problem if invalid else ""
    return GitIgnoreSpec(patterns, backend="simple"), problem if invalid else ""


def _exclude_all(why: str) -> tuple[GitIgnoreSpec, str]:
    """Returns (rules that exclude everything, why): files that a person may have excluded must not be read."""
    return GitIgnoreSpec.from_lines(["*"], backend="simple"), f"{why}: {RULES_TOO_LONG}"


def walk(start: Path, ignore: Ignore) -> Iterator[FoundFile]:
    """Returns the files of `walk_in_steps`."""
    return filter(None, walk_in_steps(start, ignore, [], []))


def walk_in_steps(start: Path, ignore: Ignore, folders: list[Path], mounts: list[Path]) -> Iterator[FoundFile | None]:
    """Yields all files below `start` (a folder or a file) that are not ignored, by name, subfolders after files.

    `start` is the root of `ignore` or below it, and may itself be ignored, since somebody named it. Listed folders are
    added to `folders`, those where a drive is mounted to `mounts`, too. None for each entry that is no file to read, so
    that the caller need not wait for the next."""
    try:
        first = read_status(start, ignore.root)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        yield FoundFile(str(start), unread=explain_error(error), folder=True)
        return
    if not stat.S_ISDIR(first.st_mode):
        yield make_found(start, first)
        return
    waiting = [(start, first.st_dev)]
    while waiting:
        folder, drive = waiting.pop()
        below: list[Path] = []
        try:
            with open_folder(folder, ignore.root) as handle, os.scandir(handle) as entries:
                device = os.fstat(handle).st_dev
                for entry in sorted(entries, key=lambda entry: entry.name):
                    yield _look_at(entry, folder / entry.name, ignore, below)
        except OSError as error:
            yield FoundFile(str(folder), unread=explain_error(error), folder=True)
            continue
        folders.append(folder)
        if device != drive:
            mounts.append(folder)
        waiting += ((path, device) for path in reversed(below))


def _look_at(entry: os.DirEntry[str], path: Path, ignore: Ignore, below: list[Path]) -> FoundFile | None:
    """Returns the file of a folder's entry, or None if it is ignored or a folder, which is added to `below`."""
    try:
        if problem := ignore.find_problem(path):
            return FoundFile(str(path), unread=problem)
        is_folder = entry.is_dir(follow_symlinks=False)
        if ignore.covers(path, is_folder):
            return None
        if is_folder:
            below.append(path)
            return None
        return make_found(path, entry.stat(follow_symlinks=False))
    except OSError as error:
        return FoundFile(str(path), unread=explain_error(error))
