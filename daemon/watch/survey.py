"""The scan of the disk compared with the memory: where to look, what is missing, and who decides about it."""

from __future__ import annotations

import fnmatch
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from daemon.watch.files import Found, read_status, uri_of
from daemon.watch.walking import Ignore
from memory.nouns import Policy, Source

KEPT = "it is missing; its content is kept, as you decided"  # the skip of a deleted file
NAMED = "its name says that it contains passwords or keys; to read it anyway, masked: pal add FILE"

Sources = dict[str, list[Source]]  # by the uri of their file


@dataclass(frozen=True)
class Look:
    """Where to look: a folder or file, exclusions, and its root. New sources get `policy`, known ones keep theirs; all
    get `tags`."""

    path: Path
    ignore: Ignore
    root: Path
    policy: Policy = "local"
    tags: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the whole root is scanned."""
        return self.path == self.root


class Judge(Protocol):
    """Decides about the files of a root. A scan of the `whole` root is stronger evidence than one of changed files."""

    def accept(self, root: Path, existing: int, gone: int, whole: bool) -> bool:
        """Whether the folder is the known one, given the numbers of existing and missing files. Otherwise nothing in it
        is read or retired."""

    def believe(self, root: Path, gone: Sequence[str], whole: bool) -> Collection[str]:
        """The files, by uri, that are certainly deleted."""


class Trusting:
    """Accepts up to `most` deleted files of a root at once; `doubted` counts the others."""

    def __init__(self, most: float = float("inf")) -> None:
        self._most = most
        self.doubted = 0

    def accept(self, root: Path, existing: int, gone: int, whole: bool) -> bool:
        return True

    def believe(self, root: Path, gone: Sequence[str], whole: bool) -> Collection[str]:
        if len(gone) <= self._most:
            return gone
        self.doubted += len(gone)
        return ()


@dataclass
class Survey:
    """The scanned files by uri. Unchanged ones are only counted (`same`), so that scanning a large folder again takes
    little memory."""

    files: dict[str, Found] = field(default_factory=dict)
    looks: dict[str, Look] = field(default_factory=dict)  # of `files`
    unread: dict[str, str] = field(default_factory=dict)  # reasons of skipped files
    same: Counter[Path] = field(default_factory=Counter)  # unchanged files, by the path of their look
    blind: list[str] = field(default_factory=list)  # folders that could not be listed
    again: bool = False  # forgotten files are read, too
    forgotten_moved: bool = False  # a forgotten file is missing

    def has(self, uri: str) -> bool:
        """Whether the file exists, or may exist."""
        return uri in self.files or uri in self.unread or any(uri.startswith(folder + "/") for folder in self.blind)

    def leave_same(self, source: Source) -> bool:
        """Removes the file of a source if it is unchanged; returns whether it is. Size and time do not suffice for a
        file that was looked at alone, because of an event."""
        file, look = self.files.get(source.uri), self.looks.get(source.uri)
        if file is None or look is None or self.again or not file.size:
            return False
        if (source.size, source.mtime_ns) != (file.size, file.mtime_ns) or look.path == file.path:
            return False
        del self.files[source.uri], self.looks[source.uri]
        self.same[look.path] += 1
        return True

    def find_gone(self, known: Sources, skipped: Mapping[str, str], looks: Sequence[Look]) -> Sources:
        """The sources whose file is missing, ignored or empty."""
        gone = {}
        for uri, sources in known.items():
            file = self.files.get(uri)
            is_gone = not file.size if file else not self.has(uri) and not _came_later(Path(uri), looks)
            if is_gone and skipped.get(uri) != KEPT:
                gone[uri] = sources
        return gone

    def leave_kept(self, skipped: Mapping[str, str]) -> None:
        """Skips empty files whose content a person decided to keep."""
        for uri in [uri for uri, file in self.files.items() if not file.size and skipped.get(uri) == KEPT]:
            del self.files[uri]
            self.unread[uri] = KEPT

    def leave_key_files(self, names: Sequence[str], known: Sources) -> None:
        """Skips files with such names, unless a person named them, now or before."""
        pattern = re.compile("|".join(map(fnmatch.translate, names)) or "(?!)", re.IGNORECASE)
        named = [uri for uri, file in self.files.items() if pattern.match(file.path.name)]
        for uri in named:
            if uri not in known and self.files[uri].path != self.looks[uri].root:
                del self.files[uri]
                self.unread[uri] = NAMED

    def accept(
        self, looks: Sequence[Look], known: Sources, gone: Sources, skipped: dict[str, str], judge: Judge
    ) -> list[Look]:
        """The looks at accepted folders; the others are removed from the scan, `gone` and `skipped`."""
        existing = Counter(self.same)
        for uri, sources in known.items():
            file = self.files.get(uri)
            if uri not in gone and file and sources[0].size in (None, file.size):
                existing[self.looks[uri].path] += 1
        missing = Counter(_find_look(uri, looks).path for uri in gone)
        accepted = [
            look for look in looks if judge.accept(look.root, existing[look.path], missing[look.path], look.is_whole)
        ]
        if len(accepted) < len(looks):
            by_uri: tuple[dict[str, Any], ...] = (gone, skipped, self.files, self.unread)
            for mapping in by_uri:
                for uri in [uri for uri in mapping if _find_look(uri, looks) not in accepted]:
                    del mapping[uri]
        return accepted


def _came_later(path: Path, looks: Sequence[Look]) -> bool:
    """Whether a file that the scan did not meet exists: another task may have read it meanwhile."""
    ignore = _find_look(uri_of(path), looks).ignore
    try:
        read_status(path, ignore.root)
    except (OSError, ValueError):
        return False
    return not ignore.reaches(path)


def believe(looks: Sequence[Look], gone: Sources, judge: Judge) -> Sources:
    """The sources whose file is certainly deleted."""
    whole = {look.root for look in looks if look.is_whole}
    uris: dict[Path, list[str]] = {root: [] for root in whole}
    for uri in gone:
        uris.setdefault(_find_look(uri, looks).root, []).append(uri)
    return {uri: gone[uri] for root, missing in uris.items() for uri in judge.believe(root, missing, root in whole)}


def _find_look(uri: str, looks: Sequence[Look]) -> Look:
    """The look that covers a known file."""
    for look in looks:
        place = uri_of(look.path)
        if uri == place or uri.startswith((place + "/", place + "#")):
            return look
    raise AssertionError(f"{uri} was not looked for")
