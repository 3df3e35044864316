"""Who an agent is, what of the memory it may see, and how much of it in which time."""

from __future__ import annotations

import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from daemon import wire
from daemon.config.settings import McpClientSettings, Settings, load

POLICY_SECONDS = 2.0  # for which what was read of config.toml and the watched folders holds
NAMELESS = "agent"  # an agent that nobody has named, and that does not say what it is

NOTHING_SHARED = (
    "Nothing of this memory is shared with you. Its owner shares a folder with `pal mcp install`, or for all agents by "
    "marking it as free to go elsewhere: `pal watch add PATH --policy any`."
)
READS_ONLY = "You may only read. The owner allows more: pal config set mcp.clients.{name}.write true"


class RefusedError(Exception):
    """An agent asks for what it may not have, or for what is not there; the message is for it."""


@dataclass(frozen=True, slots=True)
class Access:
    """Which sources an agent may see: those in `folders`, or with `everything` all of them."""

    folders: tuple[str, ...] = ()
    everything: bool = False

    @classmethod
    def in_folders(cls, folders: Iterable[str | Path]) -> Access:
        """All that was read from these: a watched folder is known by where its links lead, a file by its path."""
        paths = [Path(folder).expanduser().absolute() for folder in folders]
        return cls(tuple(dict.fromkeys(str(way) for path in paths for way in (path, path.resolve()))))

    @property
    def is_empty(self) -> bool:
        return not self.everything and not self.folders

    def may_see(self, uri: str) -> bool:
        """Whether a source is shared."""
        return self.everything or any(
            uri == folder or uri.startswith((f"{folder}/", f"{folder}#")) for folder in self.folders
        )

    def limit(self, **limits: object) -> wire.Scope:
        """The scope of a question that finds nothing else."""
        if self.everything:
            return wire.Scope(**limits)  # type: ignore[arg-type]
        within = tuple(f"{folder}{mark}" for folder in self.folders for mark in "/#")  # beginnings of uris
        return wire.Scope(sources=self.folders, folders=within, **limits)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Policy:
    """What an agent may see, and whether it may write."""

    access: Access = Access()
    writes: bool = False


def policy_of(client: McpClientSettings, watched: Callable[[], Iterable[wire.Folder]]) -> Policy:
    """The policy of a program, from its settings. Without folders in them it sees the watched ones whose text may go to
    a model on another machine, as an agent's model is."""
    if client.everything:
        return Policy(Access(everything=True), client.write)
    folders = client.folders or tuple(folder.path for folder in watched() if folder.policy == "any")
    return Policy(Access.in_folders(folders), client.write)


class Policies:
    """What each agent may, as config.toml and the watched folders say it now: a change counts within seconds, also for
    one that is at work."""

    def __init__(self, config: Path, watched: Callable[[], Iterable[wire.Folder]]) -> None:
        self._config = config
        self._watched = watched
        self._read: dict[str, tuple[float, Policy]] = {}

    def find(self, name: str) -> Policy:
        """SettingsError for a config.toml that is wrong: then nothing is shared."""
        at, policy = self._read.get(name, (0.0, Policy()))
        if time.monotonic() - at > POLICY_SECONDS or not at:
            client = self.settings.mcp.clients.get(name, McpClientSettings())
            policy = policy_of(client, self._watched)
            self._read[name] = time.monotonic(), policy
        return policy

    @property
    def settings(self) -> Settings:
        return load(self._config)


@dataclass(slots=True)
class Meter:
    """Counts calls: an agent in a loop must wait."""

    calls_per_minute: int
    now: Callable[[], float] = time.monotonic
    _calls: deque[float] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self) -> float:
        """Counts a call; returns the seconds to wait if there were too many in the last minute, else 0."""
        with self._lock:
            now = self.now()
            while self._calls and now - self._calls[0] >= 60:
                self._calls.popleft()
            if len(self._calls) >= self.calls_per_minute:
                return 60 - (now - self._calls[0])
            self._calls.append(now)
            return 0.0


def client_name(text: str) -> str:
    """What a program says that it is, as a name: "Claude Code" is claude-code."""
    return re.sub(r"[^a-z0-9_]+", "-", text.casefold()).strip("-_")[:40] or NAMELESS
