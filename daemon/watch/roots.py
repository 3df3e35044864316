"""What is known of a watched folder: which folder of which volume it is, how it stands, what a person was asked."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from daemon.watch.files import Ignore
from memory.errors import InvalidInputError, NotFoundError
from memory.nouns import Policy

if TYPE_CHECKING:
    from watchdog.observers.api import ObservedWatch

VOLUMES = Path("/dev/disk/by-uuid")
MOUNTS = Path("/proc/self/mountinfo")
NETWORK = frozenset(
    "9p afpfs afs beegfs ceph cifs coda davfs gfs2 glusterfs gpfs lustre ncpfs nfs nfs3 nfs4 ocfs2 orangefs smb2 smb3"
    " smbfs vboxsf virtiofs webdav".split()
)  # and all that is fuse.NAME, but for a few that are on this machine
LOCAL_FUSE = frozenset("fuse.encfs fuse.gocryptfs fuse.cryfs fuse.ntfs fuse.ntfs-3g fuse.mergerfs fuse.bindfs".split())


class Identity(NamedTuple):
    """What a folder is, whatever its name. Device numbers will not do: two drives that take turns at one place have the
    same, and one drive has another tomorrow. `born` is 0 where the system does not tell it."""

    inode: int
    volume: str
    born: int


@dataclass(frozen=True)
class Rules:
    """What a person says of a folder beside its policy: tags for all that is read there, the readers that may read it
    (none: all), and how many folders deep it is read (0: all; 1: only what lies in it)."""

    tags: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()
    depth: int = 0


@dataclass
class Root:
    """A watched folder."""

    path: Path
    ignore: Ignore
    policy: Policy  # of what is new in it
    known_as: Identity | None  # what it was when it was last believed
    rules: Rules = Rules()
    held: bool = False  # a person was asked about files that are gone, and has not answered
    settled: int = 0  # when a person last answered, ms UTC
    mounts: tuple[str, ...] = ()  # folders in it at which another drive is, or was, mounted
    named: tuple[str, ...] = ()  # in it, which its rules leave out and a person had read all the same, by uri
    gone: tuple[str, ...] = ()  # files that are not there and not let go, by uri
    dropped: frozenset[str] = frozenset()  # those of them that a person lets go
    watch: ObservedWatch | None = None
    watched_as: Identity | None = None  # what the events come from
    state: str = "scanning"  # scanning | watching | missing
    detail: str = ""
    unheard: str = ""  # why no events of it, or not all, can be had
    network: str = ""  # the kind of the network drive that it lies on
    scans: int = 0  # that are under way
    scan_waits: bool = False  # one of them has not begun
    scanned: float = 0.0  # when the last one began
    scan_s: float = 0.0  # how long it took
    doubted: float | None = None  # when many files were first not there

    @classmethod
    def from_options(
        cls, path: Path, policy: Policy, options: Mapping[str, Any], ignore_rules: Callable[[Path, Rules], Ignore]
    ) -> Root:
        """As `options` kept it. An identity in another form is none: the folder is known by its files then."""
        identity = options.get("identity") or ()
        known_as = Identity(*identity) if len(identity) == len(Identity._fields) else None
        rules = Rules(tuple(options.get("tags", ())), tuple(options.get("readers", ())), options.get("depth", 0))
        held, settled, mounts = options.get("held", False), options.get("settled", 0), options.get("mounts", ())
        named = tuple(options.get("named", ()))
        return cls(path, ignore_rules(path, rules), policy, known_as, rules, held, settled, tuple(mounts), named)

    def is_named(self, uri: str) -> bool:
        """Whether a person had this file of it read, or a folder that it lies in."""
        return any(uri == one or uri.startswith(one + "/") for one in self.named)

    @property
    def options(self) -> dict[str, Any]:
        """What outlives the process."""
        rest = {"held": self.held, "settled": self.settled, "mounts": self.mounts, "named": self.named}
        return {"identity": self.known_as, **rest, **asdict(self.rules)}


def resolve_folder(path: Path) -> Path:
    """The folder that a person names, if it can be looked into. InvalidInputError, NotFoundError."""
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
    """What stands at `path`; None if there is no folder, or none that may be looked into."""
    try:
        status = path.lstat()
        if not stat.S_ISDIR(status.st_mode):
            return None
        os.scandir(path).close()
        return Identity(status.st_ino, _volume(path, status.st_dev), int(getattr(status, "st_birthtime", 0)))
    except OSError:
        return None


def _volume(path: Path, device: int) -> str:
    """The name that a volume keeps wherever it is mounted, as well as the system tells it."""
    with suppress(OSError):
        for link in VOLUMES.iterdir():
            with suppress(OSError):
                if link.stat().st_rdev == device:
                    return link.name
    named = os.statvfs(path).f_fsid if hasattr(os, "statvfs") else 0
    return f"{named:x}" if named else f"device {device}"


def network_of(path: Path, mounts: str | None = None) -> str:
    """The kind of the network drive that the folder lies on, "" if it lies on none or nobody can tell. What others
    change there the system tells nobody. `mounts` is as Linux writes it."""
    if mounts is None:
        try:
            mounts = MOUNTS.read_text("utf-8", "surrogateescape")
        except OSError:
            return ""
    kinds: dict[int, str] = {}  # by the length of the place; what is mounted over another comes later
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields, kind = left.split(), right.partition(" ")[0]
        if len(fields) > 4 and path.is_relative_to(place := re.sub(r"\\(\d{3})", _octal, fields[4])):
            kinds[len(place)] = kind
    kind = kinds[max(kinds)] if kinds else ""
    return kind if kind in NETWORK or (kind.startswith("fuse.") and kind not in LOCAL_FUSE) else ""


def _octal(found: re.Match[str]) -> str:
    return chr(int(found[1], 8))
