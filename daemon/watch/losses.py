"""Decides which missing files count as deleted.

A single deleted file is retired at once. Many are not, whether together or within a day: they stay until a person
decides to keep or drop their content. Nothing is retired if the folder is missing or was replaced by another one."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from daemon.config.settings import WatchSettings
from daemon.watch.files import is_gone, uri_of
from daemon.watch.roots import Root, identify
from memory import Memory
from memory.time.timestamps import now_ms

log = logging.getLogger(__name__)

AWAY = "it is missing; it is read again when it returns"
GONE_FILES, GONE_SHARE = 20, 0.2  # above this number and share missing files stay until a person decides
GONE_WINDOW_MS = 24 * 3600 * 1000  # in which they are added up
FEW = 2  # files that may all be deleted at once without a question
SAME_SHARE = 0.1  # share of known files that identifies a folder with another identity


class Losses:
    """The judge of watched folders. `save(root)` persists a root, `warn(text)` notifies everybody, and
    `look_again(seconds, root)` schedules a scan."""

    def __init__(
        self,
        memory: Memory,
        settings: WatchSettings,
        roots: Mapping[Path, Root],
        save: Callable[[Root], None],
        warn: Callable[[str], None],
        look_again: Callable[[float, Root], object],
    ) -> None:
        self._sources = memory.sources
        self._settings = settings
        self._roots = roots
        self._save = save
        self._warn = warn
        self._look_again = look_again

    def accept(self, path: Path, existing: int, gone: int, whole: bool) -> bool:
        """Whether the folder is watched and the known one: `existing` of its known files exist, `gone` do not. Only a
        scan of the `whole` folder may accept another identity."""
        if (root := self._roots.get(path)) is None:
            return False
        identity = identify(root.path)
        if identity is None:
            self.miss(root, AWAY)
            return False
        if identity == root.known_as:
            return True
        if not whole:
            return False
        if gone and existing < SAME_SHARE * (existing + gone):
            self.miss(
                root,
                f"another folder or drive is in its place, with {existing:,} of {existing + gone:,} known files. "
                f'Nothing is removed or read. If it is the right one: pal watch add "{root.path}"',
            )
            return False
        return True

    def believe(self, path: Path, gone: Sequence[str], whole: bool) -> Collection[str]:
        """The files, by uri, that are certainly deleted."""
        if (root := self._roots.get(path)) is None:
            return ()
        ignored = {uri for uri in gone if not is_gone(Path(uri)) and root.ignore.reaches(Path(uri))}
        gone = [uri for uri in gone if uri not in ignored or not root.is_named(uri)]
        ignored.intersection_update(gone)
        rest = [uri for uri in gone if uri not in ignored and uri not in root.dropped]
        let_go = ignored | root.dropped.intersection(gone)
        if rest and (root.held or _is_drive_out(root, rest) or self._are_many(root, len(rest))):
            self._doubt(root, rest, whole)
        else:
            let_go.update(rest)
            if whole:
                self._settle(root)
        return let_go

    def ask(self, root: Root) -> str:
        """The question to the person about a folder."""
        return f'{len(root.gone):,} files are gone. Keep their content, or drop it? pal watch gone "{root.path}"'

    def look_again_for(self, root: Root) -> tuple[str, ...]:
        """The files to decide about, without those that returned or were found elsewhere."""
        uris = {source.uri.partition("#")[0] for source in self._sources.list_under(uri_of(root.path) + "/")}
        root.gone = tuple(uri for uri in root.gone if uri.partition("#")[0] in uris and _is_lost(Path(uri)))
        return root.gone

    def answer(self, root: Root) -> None:
        """Applies the person's decision; earlier deletions no longer count."""
        root.gone, root.dropped, root.settled = (), frozenset(), now_ms()
        root.mounts = tuple(filter(os.path.ismount, root.mounts))
        self._settle(root, answered=True)

    def miss(self, root: Root, why: str) -> None:
        """Records that the folder is missing or another one."""
        if root.detail != why:
            log.warning("folder %s: %s", root.path, why)
            self._warn(f"{root.path}: {why}.")
        root.state, root.detail = "missing", why

    def _are_many(self, root: Root, gone: int) -> bool:
        """Whether `gone` files are too many, including those retired within a day."""
        below = uri_of(root.path) + "/"
        since = max(root.settled, now_ms() - GONE_WINDOW_MS)
        before = self._sources.count_retired(below, since)
        known = self._sources.count_under(below)
        lost = gone + before
        if gone >= known > FEW or (2 * gone >= known and identify(root.path) != root.known_as):
            return True
        return lost > GONE_FILES and lost > GONE_SHARE * (known + before)

    def _doubt(self, root: Root, gone: Sequence[str], whole: bool) -> None:
        """First waits for another scan: files that are being moved may return."""
        wait = self._settings.gone_wait_s
        if root.held:
            root.gone = tuple(sorted({*gone} if whole else {*root.gone, *gone}))
            root.detail = self.ask(root)
        elif root.doubted is None:
            root.doubted = time.monotonic()
            root.detail = f"{len(gone):,} files are gone at once; checking again before they count as deleted"
            self._look_again(wait, root)
        elif whole and time.monotonic() - root.doubted >= wait * 0.9:  # the scheduler uses another clock
            root.held, root.doubted, root.gone = True, None, tuple(sorted(gone))
            root.detail = self.ask(root)
            self._save(root)
            self._warn(f"{root.path}: {root.detail}")

    def _settle(self, root: Root, answered: bool = False) -> None:
        """Clears the doubts."""
        root.doubted, root.detail, root.gone = None, "", ()
        if root.held or answered:
            root.held = False
            self._save(root)


def _is_drive_out(root: Root, gone: Sequence[str]) -> bool:
    """Whether some of the files were on a drive that is no longer mounted in the folder."""
    out = tuple(mount + "/" for mount in root.mounts if not os.path.ismount(mount))
    return any(uri.startswith(out) for uri in gone)


def _is_lost(file: Path) -> bool:
    """Whether the file is missing or empty."""
    try:
        return is_gone(file) or file.lstat().st_size == 0
    except OSError:
        return False
