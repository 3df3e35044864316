"""Which files that are not there are believed to be gone.

A file that is deleted is let go at once. Many are not, whether they go together or one after the other within a day:
they stay in the memory until a person says whether to keep what they said or to drop it. Nothing is let go either of a
folder that is not there, or in whose place another one stands.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from daemon.settings import WatchSettings
from daemon.watch.files import is_gone, uri_of
from daemon.watch.roots import Root, identify
from memory import Memory
from memory.time.timestamps import now_ms

log = logging.getLogger(__name__)

AWAY = "it is not there; it is read again when it comes back"
FEW = 2  # files, of which all may be deleted at once without a question
SAME_SHARE = 0.1  # of its known files a folder must still hold to be taken for itself where its identity is another


class Losses:
    """Judges watched folders. `save(root)` keeps what outlives the process, `warn(text)` tells everybody, and
    `look_again(seconds, root)` has a folder scanned later."""

    def __init__(
        self,
        memory: Memory,
        settings: WatchSettings,
        save: Callable[[Root], None],
        warn: Callable[[str], None],
        look_again: Callable[[float, Root], object],
    ) -> None:
        self._sources = memory.sources
        self._settings = settings
        self._save = save
        self._warn = warn
        self._look_again = look_again

    def accept(self, root: Root, there: int, gone: int, whole: bool) -> bool:
        """Whether what stands at its place is the folder: `there` of its known files are, `gone` are not. Only a look
        at the `whole` folder may take one whose identity is another for it."""
        identity = identify(root.path)
        if identity is None:
            self.miss(root, AWAY)
            return False
        if identity == root.known_as:
            return True
        if not whole:
            return False
        if gone and there < SAME_SHARE * (there + gone):
            self.miss(
                root,
                f"another folder or drive is in its place, with {there:,} of {there + gone:,} known files. Nothing is "
                f'removed or read. If it is the right one: pal watch add "{root.path}"',
            )
            return False
        return True

    def believe(self, root: Root, gone: Sequence[str], whole: bool) -> Collection[str]:
        """Those of the files, by uri, that are gone for sure."""
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
        """What a person is asked about a folder."""
        return f'{len(root.gone):,} files are gone. Keep what they said, or drop it? pal watch gone "{root.path}"'

    def look_again_for(self, root: Root) -> tuple[str, ...]:
        """The files that a person decides about: some may be back, or have been found elsewhere, since they were
        missed."""
        known = {source.uri.partition("#")[0] for source in self._sources.list_under(uri_of(root.path) + "/")}
        root.gone = tuple(uri for uri in root.gone if uri.partition("#")[0] in known and _is_lost(Path(uri)))
        return root.gone

    def answer(self, root: Root) -> None:
        """A person said what becomes of the files that are gone; those of before do not count any more."""
        root.gone, root.dropped, root.settled = (), frozenset(), now_ms()
        root.mounts = tuple(filter(os.path.ismount, root.mounts))
        self._settle(root, answered=True)

    def miss(self, root: Root, why: str) -> None:
        """The folder is not there, or is not itself."""
        if root.detail != why:
            log.warning("folder %s: %s", root.path, why)
            self._warn(f"{root.path}: {why}.")
        root.state, root.detail = "missing", why

    def _are_many(self, root: Root, gone: int) -> bool:
        """Whether with `gone` files too many are gone, counting those that were let go within a day."""
        below = uri_of(root.path) + "/"
        since = max(root.settled, now_ms() - int(self._settings.gone_window_s * 1000))
        before = self._sources.count_retired(below, since)
        known = self._sources.count_under(below)
        lost = gone + before
        if gone >= known > FEW or (2 * gone >= known and identify(root.path) != root.known_as):
            return True
        return lost > self._settings.gone_files and lost > self._settings.gone_share * (known + before)

    def _doubt(self, root: Root, gone: Sequence[str], whole: bool) -> None:
        """First they are looked for once more: a file that is moved by hand or by a program may be back soon."""
        wait = self._settings.gone_wait_s
        if root.held:
            root.gone = tuple(sorted({*gone} if whole else {*root.gone, *gone}))
            root.detail = self.ask(root)
        elif root.doubted is None:
            root.doubted = time.monotonic()
            root.detail = f"{len(gone):,} files are gone at once; looking again before that is believed"
            self._look_again(wait, root)
        elif whole and time.monotonic() - root.doubted >= wait * 0.9:  # the clock that calls again is another one
            root.held, root.doubted, root.gone = True, None, tuple(sorted(gone))
            root.detail = self.ask(root)
            self._save(root)
            self._warn(f"{root.path}: {root.detail}")

    def _settle(self, root: Root, answered: bool = False) -> None:
        """Nothing is doubted any more."""
        root.doubted, root.detail, root.gone = None, "", ()
        if root.held or answered:
            root.held = False
            self._save(root)


def _is_drive_out(root: Root, gone: Sequence[str]) -> bool:
    """Whether some of the files lie where another drive was mounted in the folder, and is no more."""
    out = tuple(mount + "/" for mount in root.mounts if not os.path.ismount(mount))
    return any(uri.startswith(out) for uri in gone)


def _is_lost(file: Path) -> bool:
    """Whether the file is not there, or holds nothing any more."""
    try:
        return is_gone(file) or file.lstat().st_size == 0
    except OSError:
        return False
