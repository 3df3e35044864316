"""How many files a folder has, before they are read."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from daemon import wire
from daemon.config.settings import Settings
from daemon.watch.files import Found
from daemon.watch.walking import Ignore, walk
from plugins.manager import Plugins

COUNT_SECONDS = 10.0


def count_files(plugins: Plugins, settings: Settings, own: Iterable[Path], paths: Iterable[Path]) -> wire.Counted:
    """Counts what would be read, for some seconds; no file is opened."""
    number = size = lacking = 0
    deadline = time.monotonic() + COUNT_SECONDS
    own = tuple(own)
    for entry, _ in _walk(paths, settings, own):
        if entry.unread is None and entry.size and plugins.reads(entry.path):
            number += 1
            size += entry.size
            lacking += plugins.lacks_library(entry.path)
        if time.monotonic() > deadline:
            return wire.Counted(number, size, complete=False, lacking=lacking)
    return wire.Counted(number, size, complete=True, lacking=lacking)


def _walk(paths: Iterable[Path], settings: Settings, own: tuple[Path, ...]) -> Iterator[tuple[Found, Path]]:
    """All files below the paths, each with the folder below which no link is followed."""
    for path in paths:
        ignore = Ignore(path if path.is_dir() else path.parent, settings.watch.ignore, own)
        for entry in walk(path, ignore):
            yield entry, ignore.root
