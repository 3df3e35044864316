"""Conflicting versions of a file from a sync: the newest is read.

Boiler.sync-conflict-20261103-101112-ABCDEFG.md    Syncthing
Boiler (Ann's conflicted copy 2026-11-02).md       Dropbox, Nextcloud, Obsidian; in other languages, too
Boiler_conflict-20261103-101112.md                 ownCloud
Boiler-DESKTOP-1A2B3C4.md                          OneDrive
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from daemon.watch.files import Found, uri_of
from daemon.watch.survey import Survey
from daemon.watch.walking import walk
from memory.nouns import SYNC_COPY

SAME_TIME_NS = 60 * 10**9  # by which times may differ that a copy of the folder set

_COPY = re.compile(
    r"(?P<stem>.+?)(?: ?\([^()]*[ck]onfli[ck]?t[^()]*\)|[._-](?:sync-)?conflict(?:-\d[\w-]*)?"
    r"|-(?-i:DESKTOP|LAPTOP)-(?-i:[A-Z\d]{7}))",
    re.IGNORECASE,
)


def leave_copies(disk: Survey) -> list[str]:
    """Removes all but the newest version of each file from the scan; returns their uris. Of equal times the original
    counts as newest."""
    versions: defaultdict[Path, list[Found]] = defaultdict(list)
    for uri, file in disk.files.items():
        if (match := _COPY.fullmatch(file.path.stem)) and file.path != disk.looks[uri].root:
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
                del disk.files[uri], disk.looks[uri]
                disk.unread[uri] = SYNC_COPY.format(newest.path.name)
                left_out.append(uri)
    return left_out


def _look_at(path: Path, disk: Survey, copy: Found) -> Found | None:
    """The original of a copy that was scanned alone, or None."""
    look = disk.looks[uri_of(copy.path)]
    if look.path != copy.path or look.ignore.covers(path, False):
        return None
    return next(walk(path, look.ignore), None)
