"""A watched folder: its identity, state, and open question."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from daemon.watch.walking import Ignore
from memory.errors import InvalidInputError, NotFoundError
from memory.nouns import Policy

if TYPE_CHECKING:
    from watchdog.observers.api import ObservedWatch

VOLUMES = Path("/dev/disk/by-uuid")
MOUNTS = Path("/proc/self/mountinfo")
NETWORK = frozenset(
    "9p afpfs afs beegfs ceph cifs coda davfs gfs2 glusterfs gpfs lustre ncpfs nfs nfs3 nfs4 ocfs2 orangefs smb2 smb3"
    " smbfs vboxsf virtiofs webdav".split()
)  # and all fuse.NAME, except a few local ones
LOCAL_FUSE = frozenset("fuse.encfs fuse.gocryptfs fuse.cryfs fuse.ntfs fuse.ntfs-3g fuse.mergerfs fuse.bindfs".split())


class Identity(NamedTuple):
    """The identity of a folder, independent of its path. Device numbers are not enough: two drives mounted at one place
    in turn share one, and a drive's number changes. `born` is 0 if unknown."""

    inode: int
    volume: str
    born: int


@dataclass
class Root:
    """A watched folder."""

    path: Path
    ignore: Ignore
    policy: Policy  # of new sources
    known_as: Identity | None  # the identity when it was last accepted
    tags: tuple[str, ...] = ()  # of its sources
    held: bool = False  # a question about deleted files is open
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
        """The root from stored `options`. An identity in an old format is dropped: then the files identify the
        folder."""
        identity = options.get("identity") or ()
        known_as = Identity(*identity) if len(identity) == len(Identity._fields) else None
        tags, mounts, named = (tuple(options.get(name, ())) for name in ("tags", "mounts", "named"))
        is_held, settled = options.get("held", False), options.get("settled", 0)
        return cls(path, ignore, policy, known_as, tags, is_held, settled, mounts, named)

    def is_named(self, uri: str) -> bool:
        """Whether a person had this file, or a folder around it, read."""
        return any(uri == named or uri.startswith(named + "/") for named in self.named)

    @property
    def options(self) -> dict[str, Any]:
        """The part to persist."""
        kept = ("tags", "held", "settled", "mounts", "named")
        return {"identity": self.known_as} | {name: getattr(self, name) for name in kept}


def resolve_folder(path: Path) -> Path:
    """The resolved path of a readable folder. InvalidInputError, NotFoundError."""
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
    """The identity of the folder at `path`, or None."""
    try:
        status = path.lstat()
        if not stat.S_ISDIR(status.st_mode):
            return None
        os.scandir(path).close()
        return Identity(status.st_ino, _find_volume(path, status.st_dev), int(getattr(status, "st_birthtime", 0)))
    except OSError:
        return None


def _find_volume(path: Path, device: int) -> str:
    """The name of a volume, independent of its mount point if the system has one."""
    with suppress(OSError):
        for link in VOLUMES.iterdir():
            with suppress(OSError):
                if link.stat().st_rdev == device:
                    return link.name
    named = os.statvfs(path).f_fsid if hasattr(os, "statvfs") else 0
    return f"{named:x}" if named else f"device {device}"


def network_of(path: Path, mounts: str | None = None) -> str:
    """The kind of the network drive of a folder, or "". Changes by other machines cause no events there. `mounts` is in
    Linux format."""
    if mounts is None:
        try:
            mounts = MOUNTS.read_text("utf-8", "surrogateescape")
        except OSError:
            return ""
    kinds: dict[int, str] = {}  # by the length of the path; later mounts cover earlier ones
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields, kind = left.split(), right.partition(" ")[0]
        if len(fields) > 4 and path.is_relative_to(place := re.sub(r"\\(\d{3})", _decode_octal, fields[4])):
            kinds[len(place)] = kind
    kind = kinds[max(kinds)] if kinds else ""
    return kind if kind in NETWORK or (kind.startswith("fuse.") and kind not in LOCAL_FUSE) else ""


def _decode_octal(match: re.Match[str]) -> str:
    return chr(int(match[1], 8))
