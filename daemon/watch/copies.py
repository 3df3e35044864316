"""Versions of a file that a sync left where two were changed at once: the newest is read.

Boiler.sync-conflict-20261103-101112-ABCDEFG.md    Syncthing
Boiler (Ann's conflicted copy 2026-11-02).md       Dropbox, Nextcloud, Obsidian; in other languages, too
Boiler_conflict-20261103-101112.md                 ownCloud
Boiler-DESKTOP-1A2B3C4.md                          OneDrive
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from daemon.watch import files
from daemon.watch.files import Found, uri_of
from daemon.watch.survey import Survey
from memory.nouns import SYNC_COPY

SAME_TIME_NS = 60 * 10**9  # by which times differ that a copy of the folder has set

_COPY = re.compile(
    r"(?P<stem>.+?)(?: ?\([^()]*[ck]onfli[ck]?t[^()]*\)|[._-](?:sync-)?conflict(?:-\d[\w-]*)?"
    r"|-(?-i:DESKTOP|LAPTOP)-(?-i:[A-Z\d]{7}))",
    re.IGNORECASE,
)


def leave_copies(disk: Survey) -> list[str]:
    """Leaves out all but the newest version of each file; the uris of the others. Of versions of one time the file
    without an addition to its name is the newest."""
    versions: defaultdict[Path, list[Found]] = defaultdict(list)
    for uri, found in disk.files.items():
        if (match := _COPY.fullmatch(found.path.stem)) and found.path != disk.looks[uri].root:
            versions[found.path.with_name(match["stem"] + found.path.suffix)].append(found)
    left = []
    for path, copies in versions.items():
        original = disk.files.get(uri_of(path)) or _look_at(path, disk, copies[0])
        if original is None or not original.size:
            continue
        newest = max([original, *copies], key=lambda one: one.mtime_ns - (one is not original) * SAME_TIME_NS)
        for found in (original, *copies):
            uri = uri_of(found.path)
            if found is not newest and uri in disk.files:
                del disk.files[uri], disk.looks[uri]
                disk.unread[uri] = SYNC_COPY.format(newest.path.name)
                left.append(uri)
    return left


def _look_at(path: Path, disk: Survey, copy: Found) -> Found | None:
    """The original of a copy that was looked at alone."""
    look = disk.looks[uri_of(copy.path)]
    if look.path != copy.path or look.ignore.covers(path, False):
        return None
    return next(files.walk(path, look.ignore), None)
