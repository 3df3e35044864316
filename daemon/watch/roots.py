"""Watched folders: identity, state, open question; and which missing files count as deleted.

A single deleted file is retired at once. Many are not, whether together or within a day: they stay until a person
decides to keep or drop their content. Nothing is retired if the folder is missing or was replaced by another one."""

from __future__ import annotations

import logging
import os
import re
import stat
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from daemon.config.settings import WatchSettings
from daemon.watch.files import is_gone, uri_of
from daemon.watch.walking import Ignore
from memory import Memory
from memory.errors import InvalidInputError, NotFoundError
from memory.nouns import Policy
from memory.time.timestamps import now_ms

if TYPE_CHECKING:
    from watchdog.observers.api import ObservedWatch


VOLUMES = Path("/dev/disk/by-uuid")
MOUNTS = Path("/proc/self/mountinfo")
NETWORK = frozenset(
    "9p afpfs afs beegfs ceph cifs coda davfs gfs2 glusterfs gpfs lustre ncpfs nfs nfs3 nfs4 ocfs2 orangefs smb2 smb3"
    " smbfs vboxsf virtiofs webdav".split()
)  # and all fuse.NAME, except a few local ones
LOCAL_FUSE = frozenset("fuse.encfs fuse.gocryptfs fuse.cryfs fuse.ntfs fuse.ntfs-3g fuse.mergerfs fuse.bindfs".split())
log = logging.getLogger(__name__)
AWAY = "it is missing; it is read again when it returns"
GONE_FILES, GONE_SHARE = 20, 0.2  # above this number and share missing files stay until a person decides
GONE_WINDOW_MS = 24 * 3600 * 1000  # in which they are added up
FEW = 2  # files that may all be deleted at once without a question
SAME_SHARE = 0.1  # share of known files that identifies a folder with another identity


Identity = tuple[int, str, int]
"""The identity of a folder, independent of its path: inode, volume, time of birth or 0. Device numbers are not enough:
two drives mounted at one place in turn share one, and a drive's number changes."""


@dataclass
class Root:
    """A watched folder."""

    path: Path
    ignore: Ignore
    policy: Policy  # of new sources
    known_as: Identity | None  # the identity when it was last accepted
    tags: tuple[str, ...] = ()  # of its sources
    is_undecided: bool = False  # a question about deleted files is open
    settled: int = 0  # time of the last answer, ms UTC
    mounts: tuple[str, ...] = ()  # current and former mount points in it
    named: tuple[str, ...] = ()  # uris in it that the rules exclude but a person had read
    gone: tuple[str, ...] = ()  # uris of missing files that are not retired
    dropped: frozenset[str] = frozenset()  # those of them to retire
    watch: ObservedWatch | None = None
    watched_as: Identity | None = None  # the source of its events
    state: str = "scanning"  # scanning | watching | missing
    detail: str = ""
    unheard: str = ""  # why events are missing or incomplete
    network: str = ""  # the kind of its network drive
    scans: int = 0  # running scans
    scan_waits: bool = False  # a scan is queued
    scanned: float = 0.0  # start of the last scan
    scan_s: float = 0.0  # its duration
    doubted: float | None = None  # when many files were first missing

    @classmethod
    def from_options(cls, path: Path, policy: Policy, options: Mapping[str, Any], ignore: Ignore) -> Root:
        """Returns the root from stored `options`. An identity in an old format is dropped: then the files identify the
        folder."""
        identity = options.get("identity") or ()
        known_as = tuple(identity) if len(identity) == 3 else None
        tags, mounts, named = (tuple(options.get(name, ())) for name in ("tags", "mounts", "named"))
        is_undecided, settled = options.get("is_undecided", False), options.get("settled", 0)
        return cls(path, ignore, policy, known_as, tags, is_undecided, settled, mounts, named)

    def is_named(self, uri: str) -> bool:
        """Whether a person added this file, or a folder around it, explicitly."""
        return any(uri == named or uri.startswith(named + "/") for named in self.named)

    @property
    def options(self) -> dict[str, Any]:
        """Returns the options to store."""
        kept = ("tags", "is_undecided", "settled", "mounts", "named")
        return {"identity": self.known_as} | {name: getattr(self, name) for name in kept}


def resolve_folder(path: Path) -> Path:
    """Returns the resolved path of a readable folder. InvalidInputError, NotFoundError."""
    try:
        path = path.resolve(strict=True)
        os.scandir(path).close()
    except FileNotFoundError as error:
        raise NotFoundError(f"There is no folder {path}. Check the path.") from error
    except NotADirectoryError as error:
        raise InvalidInputError(f"{path} is no folder. Watch the folder it is in, or read it once: pal add.") from error
    except (OSError, RuntimeError) as error:
        raise InvalidInputError(f"{path} cannot be watched: {getattr(error, 'strerror', None) or error}.") from error
    return path


def identify(path: Path) -> Identity | None:
    """Returns the identity of the folder at `path`, or None."""
    try:
        status = path.lstat()
        if not stat.S_ISDIR(status.st_mode):
            return None
        os.scandir(path).close()
        return status.st_ino, _find_volume(path, status.st_dev), int(getattr(status, "st_birthtime", 0))
    except OSError:
        return None


def _find_volume(path: Path, device: int) -> str:
    """Returns the name of a volume, independent of its mount point if the system has one."""
    with suppress(OSError):
        for link in VOLUMES.iterdir():
            with suppress(OSError):
                if link.stat().st_rdev == device:
                    return link.name
    named = os.statvfs(path).f_fsid if hasattr(os, "statvfs") else 0
    return f"{named:x}" if named else f"device {device}"


def network_of(path: Path, mounts: str | None = None) -> str:
    """Returns the kind of network drive that has the folder, or "". Changes by other machines cause no events there.
    `mounts` is in Linux format."""
    if mounts is None:
        try:
            mounts = MOUNTS.read_text("utf-8", "surrogateescape")
        except OSError:
            return ""
    kinds: dict[int, str] = {}  # by the length of the path; later mounts cover earlier ones
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields, kind = left.split(), right.partition(" ")[0]
        if len(fields) > 4 and path.is_relative_to(
            place := re.sub(r"\\(\d{3})", lambda match: chr(int(match[1], 8)), fields[4])
        ):
            kinds[len(place)] = kind
    kind = kinds[max(kinds)] if kinds else ""
    return kind if kind in NETWORK or (kind.startswith("fuse.") and kind not in LOCAL_FUSE) else ""


@dataclass
class DeletionGuard:
    """The deletion policy of watched folders. `save(root)` stores a root, `warn(text)` notifies everybody, and
    `look_again(seconds, root)` schedules a scan."""

    memory: Memory
    settings: WatchSettings
    roots: Mapping[Path, Root]
    save: Callable[[Root], None]
    warn: Callable[[str], None]
    look_again: Callable[[float, Root], object]

    def accept(self, path: Path, existing: int, gone: int, whole: bool) -> bool:
        """Whether the folder is watched and still the same: `existing` of its known files exist, `gone` are missing.
        Only a scan of the `whole` folder may accept another identity."""
        if (root := self.roots.get(path)) is None:
            return False
        identity = identify(root.path)
        if identity is None:
            self.mark_missing(root, AWAY)
            return False
        if identity == root.known_as:
            return True
        if not whole:
            return False
        if gone and existing < SAME_SHARE * (existing + gone):
            self.mark_missing(
                root,
                f"another folder or drive is in its place, with {existing:,} of {existing + gone:,} known files. "
                f'Nothing is removed or read. If it is the right one: pal watch add "{root.path}"',
            )
            return False
        return True

    def confirm_deletions(self, path: Path, gone: Sequence[str], whole: bool) -> Collection[str]:
        """Returns the uris of the files that are certainly deleted."""
        if (root := self.roots.get(path)) is None:
            return ()
        ignored = {uri for uri in gone if not is_gone(Path(uri)) and root.ignore.reaches(Path(uri))}
        gone = [uri for uri in gone if uri not in ignored or not root.is_named(uri)]
        ignored.intersection_update(gone)
        rest = [uri for uri in gone if uri not in ignored and uri not in root.dropped]
        deleted = ignored | root.dropped.intersection(gone)
        if rest and (root.is_undecided or _is_drive_out(root, rest) or self._are_many(root, len(rest))):
            self._doubt(root, rest, whole)
        else:
            deleted.update(rest)
            if whole:
                self._settle(root)
        return deleted

    def _write_question(self, root: Root) -> str:
        """Asks the person about a folder's missing files."""
        return f'{len(root.gone):,} files are gone. Keep their content, or drop it? pal watch gone "{root.path}"'

    def list_undecided(self, root: Root) -> tuple[str, ...]:
        """Lists the files to decide about, without those that returned or were found elsewhere."""
        uris = {source.uri.partition("#")[0] for source in self.memory.sources.list_under(uri_of(root.path) + "/")}
        root.gone = tuple(uri for uri in root.gone if uri.partition("#")[0] in uris and _is_empty(Path(uri)))
        return root.gone

    def apply_decision(self, root: Root) -> None:
        """Applies the person's decision; earlier deletions no longer count."""
        root.gone, root.dropped, root.settled = (), frozenset(), now_ms()
        root.mounts = tuple(filter(os.path.ismount, root.mounts))
        self._settle(root, answered=True)

    def mark_missing(self, root: Root, why: str) -> None:
        """Records that the folder is missing or was replaced."""
        if root.detail != why:
            log.warning("folder %s: %s", root.path, why)
            self.warn(f"{root.path}: {why}.")
        root.state, root.detail = "missing", why

    def _are_many(self, root: Root, gone: int) -> bool:
        """Whether `gone` files are too many, including those retired within a day."""
        below = uri_of(root.path) + "/"
        since = max(root.settled, now_ms() - GONE_WINDOW_MS)
        before = self.memory.sources.count_retired(below, since)
        known = self.memory.sources.count_under(below)
        lost = gone + before
        if gone >= known > FEW or (2 * gone >= known and identify(root.path) != root.known_as):
            return True
        return lost > GONE_FILES and lost > GONE_SHARE * (known + before)

    def _doubt(self, root: Root, gone: Sequence[str], whole: bool) -> None:
        """Waits for a second scan before asking: files that are being moved may return."""
        wait = self.settings.gone_wait_s
        if root.is_undecided:
            root.gone = tuple(sorted({*gone} if whole else {*root.gone, *gone}))
            root.detail = self._write_question(root)
        elif root.doubted is None:
            root.doubted = time.monotonic()
            root.detail = f"{len(gone):,} files are gone at once; checking again before they count as deleted"
            self.look_again(wait, root)
        elif whole and time.monotonic() - root.doubted >= wait * 0.9:  # the scheduler uses another clock
            root.is_undecided, root.doubted, root.gone = True, None, tuple(sorted(gone))
            root.detail = self._write_question(root)
            self.save(root)
            self.warn(f"{root.path}: {root.detail}")

    def _settle(self, root: Root, answered: bool = False) -> None:
        """Clears the doubts."""
        root.doubted, root.detail, root.gone = None, "", ()
        if root.is_undecided or answered:
            root.is_undecided = False
            self.save(root)


def _is_drive_out(root: Root, gone: Sequence[str]) -> bool:
    """Whether some of the files were on a drive that is no longer mounted in the folder."""
    out = tuple(mount + "/" for mount in root.mounts if not os.path.ismount(mount))
    return any(uri.startswith(out) for uri in gone)


def _is_empty(file: Path) -> bool:
    """Whether the file is missing or empty."""
    try:
        return is_gone(file) or file.lstat().st_size == 0
    except OSError:
        return False
