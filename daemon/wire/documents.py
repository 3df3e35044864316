"""What is read and forgotten: notes, files, watched folders."""

from __future__ import annotations

from dataclasses import dataclass

from daemon.wire.codec import Event


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """POST /remember -> Remembered"""

    text: str
    title: str | None = None
    source: str | None = None
    at: str | None = None
    speaker: str | None = None
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class AddRequest:
    """POST /add -> ingestion stream. `paths` are absolute: files or folders, read once.

    `policy`: local (their text stays on this machine) | any (models elsewhere may be given it), for what was read there
    before, too; None leaves that as it is, and what is new gets its watched folder's or the default.
    """

    paths: tuple[str, ...]
    policy: str | None = None


@dataclass(frozen=True, slots=True)
class Added(Event):
    """The end of an ingestion."""

    sources: int
    episodes: int
    unchanged: int
    skipped: int
    removed: int = 0
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress(Event):
    """`done` of `total` documents; `label` is the one just read. `total` may still grow while a folder is walked."""

    done: int
    total: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class Skipped(Event):
    """A file that could not be read, and why."""

    uri: str
    reason: str
    at: str = ""


@dataclass(frozen=True, slots=True)
class SourceChanged(Event):
    """A source was added | changed | moved | removed."""

    uri: str
    change: str
    episodes: int = 0


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One source, as `pal status --sources` and the chat list it. `policy`: local | any."""

    uri: str
    kind: str
    title: str
    episodes: int
    at: str | None = None
    policy: str = "local"


@dataclass(frozen=True, slots=True)
class SourcesReply:
    sources: tuple[SourceRow, ...]
    total: int


@dataclass(frozen=True, slots=True)
class FolderRequest:
    """POST /folders (watch), POST /folders/remove (stop watching). `forget` drops what was read from it. `policy` is as
    in AddRequest; with one, a folder that is watched already changes its own."""

    path: str
    forget: bool = False
    policy: str | None = None


@dataclass(frozen=True, slots=True)
class Folder:
    """A watched folder. `state`: watching | scanning | missing | polling, with the reason in `detail`. `policy` of what
    is new in it: local | any."""

    path: str
    state: str
    sources: int = 0
    detail: str = ""
    policy: str = "local"


@dataclass(frozen=True, slots=True)
class FoldersReply:
    folders: tuple[Folder, ...]


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """POST /forget -> Forgotten. Exactly one field is set. `source` is a uri or a path."""

    source: str | None = None
    object: str | None = None
    episode: int | None = None
    fact: int | None = None


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the memory: a backup, or what an upgrade left."""

    path: str
    at: str


@dataclass(frozen=True, slots=True)
class Forgotten:
    """`copies` are those that still hold it, or cannot be read: to delete them is the person's part."""

    sources: int
    episodes: int
    objects: int
    facts: int
    copies: tuple[Copy, ...] = ()


@dataclass(frozen=True, slots=True)
class EstimateRequest:
    """POST /estimate -> Estimate. `paths` are absolute: files or folders, of which nothing is kept. `policy` as for
    POST /add."""

    paths: tuple[str, ...]
    policy: str | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is in files and folders, and what `model` would take to read it; "" where no model may. `minutes` is None
    where nobody knows how fast it is. `skipped` files cannot be read; `sampled` files were looked into, of `files`."""

    files: int
    skipped: int
    sampled: int
    bytes: int
    words: int
    episodes: int
    calls: int = 0
    tokens: int = 0
    minutes: float | None = None
    model: str = ""
    is_local: bool = True
