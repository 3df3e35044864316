"""The scan of the disk compared with the memory: where to look, what is missing or moved, and who decides about it."""

from __future__ import annotations

import fnmatch
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from daemon.watch.files import FoundFile, read_status, uri_of
from daemon.watch.roots import GONE_FILES, DeletionGuard
from daemon.watch.walking import Ignore, walk
from memory.nouns import SYNC_COPY, Policy, Source

KEPT = "it is missing; its content is kept, as you decided"  # the skip of a deleted file
NAMED = "its name says that it contains passwords or keys; to read it anyway, masked: pal add FILE"

Sources = dict[str, list[Source]]  # by the uri of their file
SAME_TIME_NS = 60 * 10**9  # by which times may differ that a copy of the folder set
# Conflicting versions of a file from a sync:
#   Boiler.sync-conflict-20261103-101112-ABCDEFG.md    Syncthing
#   Boiler (Ann's conflicted copy 2026-11-02).md       Dropbox, Nextcloud, Obsidian; in other languages, too
#   Boiler_conflict-20261103-101112.md                 ownCloud
#   Boiler-DESKTOP-1A2B3C4.md                          OneDrive
_COPY = re.compile(
    r"(?P<stem>.+?)(?: ?\([^()]*[ck]onfli[ck]?t[^()]*\)|[._-](?:sync-)?conflict(?:-\d[\w-]*)?"
    r"|-(?-i:DESKTOP|LAPTOP)-(?-i:[A-Z\d]{7}))",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ScanTarget:
    """A folder or file to scan, its exclusions, and its root. New sources get `policy`, known ones keep theirs; all get
    `tags`."""

    path: Path
    ignore: Ignore
    root: Path
    policy: Policy = "local"
    tags: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the whole root is scanned."""
        return self.path == self.root


@dataclass
class Scan:
    """The scanned files by uri. Unchanged ones are only counted (`same`), so that scanning a large folder again takes
    little memory."""

    files: dict[str, FoundFile] = field(default_factory=dict)
    targets: dict[str, ScanTarget] = field(default_factory=dict)  # of `files`
    unread: dict[str, str] = field(default_factory=dict)  # reasons of skipped files
    same: Counter[Path] = field(default_factory=Counter)  # unchanged files, by the path of their target
    folders: list[Path] = field(default_factory=list)  # that were listed
    mounts: list[Path] = field(default_factory=list)  # those of them where a drive is mounted
    blind: list[str] = field(default_factory=list)  # folders that could not be listed
    again: bool = False  # forgotten files are read, too
    forgotten_moved: bool = False  # a forgotten file is missing

    def has(self, uri: str) -> bool:
        """Whether the file exists or may exist."""
        return uri in self.files or uri in self.unread or any(uri.startswith(folder + "/") for folder in self.blind)

    def skip(self, uri: str, reason: str) -> None:
        """Notes that a scanned file is not read."""
        del self.files[uri], self.targets[uri]
        self.unread[uri] = reason

    def leave_same(self, source: Source) -> bool:
        """Removes the file of a source if it is unchanged; returns whether it is. Size and time do not suffice for a
        file that was scanned alone because of an event."""
        file, target = self.files.get(source.uri), self.targets.get(source.uri)
        if file is None or target is None or self.again or not file.size:
            return False
        if (source.size, source.mtime_ns) != (file.size, file.mtime_ns) or target.path == file.path:
            return False
        del self.files[source.uri], self.targets[source.uri]
        self.same[target.path] += 1
        return True

    def find_gone(self, known: Sources, skipped: Mapping[str, str], targets: Sequence[ScanTarget]) -> Sources:
        """Returns the sources whose file is missing, ignored or empty."""
        gone = {}
        for uri, sources in known.items():
            file = self.files.get(uri)
            is_gone = not file.size if file else not self.has(uri) and not _came_later(Path(uri), targets)
            if is_gone and skipped.get(uri) != KEPT:
                gone[uri] = sources
        return gone

    def leave_kept(self, skipped: Mapping[str, str]) -> None:
        """Skips empty files whose content a person decided to keep."""
        for uri in [uri for uri, file in self.files.items() if not file.size and skipped.get(uri) == KEPT]:
            self.skip(uri, KEPT)

    def leave_key_files(self, names: Sequence[str], known: Sources) -> None:
        """Skips files with such names, unless a person named them, now or before."""
        pattern = re.compile("|".join(map(fnmatch.translate, names)) or "(?!)", re.IGNORECASE)
        named = [uri for uri, file in self.files.items() if pattern.match(file.path.name)]
        for uri in named:
            if uri not in known and self.files[uri].path != self.targets[uri].root:
                self.skip(uri, NAMED)

    def accept(
        self,
        targets: Sequence[ScanTarget],
        known: Sources,
        gone: Sources,
        skipped: dict[str, str],
        guard: DeletionGuard,
    ) -> list[ScanTarget]:
        """Returns the targets at watched folders that are the known ones; the others are removed from the scan, `gone`
        and `skipped`."""
        existing = Counter(self.same)
        for uri, sources in known.items():
            file = self.files.get(uri)
            if uri not in gone and file and sources[0].size in (None, file.size):
                existing[self.targets[uri].path] += 1
        missing = Counter(_find_target(uri, targets).path for uri in gone)
        accepted = [
            target
            for target in targets
            if guard.accept(target.root, existing[target.path], missing[target.path], target.is_whole)
        ]
        if len(accepted) < len(targets):
            by_uri: tuple[dict[str, Any], ...] = (gone, skipped, self.files, self.unread)
            for mapping in by_uri:
                for uri in [uri for uri in mapping if _find_target(uri, targets) not in accepted]:
                    del mapping[uri]
        return accepted


def _came_later(path: Path, targets: Sequence[ScanTarget]) -> bool:
    """Whether a file missing from the scan exists: another task may have read it meanwhile."""
    ignore = _find_target(uri_of(path), targets).ignore
    try:
        read_status(path, ignore.root)
    except (OSError, ValueError):
        return False
    return not ignore.reaches(path)


def confirm_deletions(targets: Sequence[ScanTarget], gone: Sources, guard: DeletionGuard | None) -> Sources:
    """Returns the sources whose file is certainly deleted: in a folder that is not watched a few at once."""
    whole = {target.root for target in targets if target.is_whole}
    uris: dict[Path, list[str]] = {root: [] for root in whole}
    for uri in gone:
        uris.setdefault(_find_target(uri, targets).root, []).append(uri)
    if guard is None:
        return {uri: gone[uri] for missing in uris.values() if len(missing) <= GONE_FILES for uri in missing}
    return {
        uri: gone[uri]
        for root, missing in uris.items()
        for uri in guard.confirm_deletions(root, missing, root in whole)
    }


def _find_target(uri: str, targets: Sequence[ScanTarget]) -> ScanTarget:
    """Returns the target that covers a known file."""
    for target in targets:
        place = uri_of(target.path)
        if uri == place or uri.startswith((place + "/", place + "#")):
            return target
    raise AssertionError(f"{uri} was not looked for")


def leave_copies(disk: Scan) -> list[str]:
    """Removes all but the newest version of each file from the scan; returns their uris. Of equal times the original
    counts as newest."""
    versions: defaultdict[Path, list[FoundFile]] = defaultdict(list)
    for uri, file in disk.files.items():
        if (match := _COPY.fullmatch(file.path.stem)) and file.path != disk.targets[uri].root:
            versions[file.path.with_name(match["stem"] + file.path.suffix)].append(file)
    left_out = []
    for path, copies in versions.items():
        original = disk.files.get(uri_of(path)) or _look_at(path, disk, copies[0])
        if original is None or not original.size:
            continue
        newest = max([original, *copies], key=lambda copy: copy.mtime_ns - (copy is not original) * SAME_TIME_NS)
        for file in (original, *copies):
            uri = uri_of(file.path)
            if file is not newest and uri in disk.files:
                disk.skip(uri, SYNC_COPY.format(newest.path.name))
                left_out.append(uri)
    return left_out


def _look_at(path: Path, disk: Scan, copy: FoundFile) -> FoundFile | None:
    """Returns the original of a copy that was scanned alone, or None."""
    target = disk.targets[uri_of(copy.path)]
    if target.path != copy.path or target.ignore.covers(path, False):
        return None
    return next(walk(path, target.ignore), None)
