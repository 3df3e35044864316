"""An agent that uses the memory: its name, what its owner lets it see and do, its calls limited and logged."""

from __future__ import annotations

import functools
import itertools
import logging
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from daemon import wire
from daemon.client.client import Client, DaemonDownError, DaemonError
from daemon.config.settings import McpClientSettings, Settings, SettingsError, load
from daemon.jobs.schedule import RateLimit
from memory.nouns import AGENT_NOTES

POLICY_SECONDS = 2.0  # for which what was read of config.toml and the watched folders holds
NAMELESS = "agent"  # an agent that nobody has named, and that does not say what it is

NOTHING_SHARED = (
    "Nothing of this memory is shared with you. Its owner shares a folder with `pal mcp install`, or for all agents by "
    "marking it as free to go elsewhere: `pal watch add PATH --policy any`."
)
READS_ONLY = "You may only read. The owner allows more: pal config set mcp.clients.{name}.write true"
log = logging.getLogger(__name__)


class RefusedError(Exception):
    """An agent requested something forbidden or missing; the message is for it."""


@dataclass(frozen=True, slots=True)
class Access:
    """Which sources an agent may see: those in `folders`, with `everything` all of them; whether it may write."""

    folders: tuple[str, ...] = ()
    everything: bool = False
    writes: bool = False

    @classmethod
    def in_folders(cls, folders: Iterable[str | Path], writes: bool = False) -> Access:
        """Returns access to all sources read from these: a watched folder is known by its resolved path, a file by its
        path."""
        paths = [Path(folder).expanduser().absolute() for folder in folders]
        return cls(tuple(dict.fromkeys(str(way) for path in paths for way in (path, path.resolve()))), writes=writes)

    @property
    def is_empty(self) -> bool:
        return not self.everything and not self.folders

    def may_see(self, uri: str) -> bool:
        """Whether a source is shared."""
        return self.everything or any(
            uri == folder or uri.startswith((f"{folder}/", f"{folder}#")) for folder in self.folders
        )

    def limit(self, **limits: object) -> wire.Scope:
        """Returns the scope that limits a question to the shared sources."""
        if self.everything:
            return wire.Scope(**limits)  # type: ignore[arg-type]
        within = tuple(f"{folder}{mark}" for folder in self.folders for mark in "/#")  # beginnings of uris
        return wire.Scope(sources=self.folders, folders=within, **limits)  # type: ignore[arg-type]


def access_of(client: McpClientSettings, watched: Callable[[], Iterable[wire.Folder]]) -> Access:
    """Returns a program's access, from its settings. Without folders in them it sees the watched folders whose text
    remote models may read, because an agent's model is remote."""
    if client.everything:
        return Access((), True, client.write)
    folders = client.folders or tuple(folder.path for folder in watched() if folder.policy == "any")
    return Access.in_folders(folders, client.write)


class Policies:
    """The policies of all agents, from the current config.toml and watched folders: changes apply within seconds, also
    to running agents."""

    def __init__(self, config: Path, watched: Callable[[], Iterable[wire.Folder]]) -> None:
        self._config = config
        self._watched = watched
        self._read: dict[str, tuple[float, Access]] = {}

    def find(self, name: str) -> Access:
        """Returns an agent's policy. SettingsError for an invalid config.toml: then nothing is shared."""
        at, access = self._read.get(name, (0.0, Access()))
        if time.monotonic() - at > POLICY_SECONDS or not at:
            client = self.settings.mcp.clients.get(name, McpClientSettings())
            access = access_of(client, self._watched)
            self._read[name] = time.monotonic(), access
        return access

    @property
    def settings(self) -> Settings:
        return load(self._config)


def client_name(text: str) -> str:
    """Normalizes a program's name: "Claude Code" is claude-code."""
    return re.sub(r"[^a-z0-9_]+", "-", text.casefold()).strip("-_")[:40] or NAMELESS


Call = TypeVar("Call", bound=Callable[..., Any])


@dataclass
class Agent:
    """An agent as the memory knows it. `connect` gives a client of a daemon that answers, `find_access` what an agent
    of that name may. Without a name, `named`, it is called what it says that it is."""

    connect: Callable[[], Client]
    find_access: Callable[[str], Access]
    calls_per_minute: int
    named: str | None = None
    _introduced: str = ""

    def __post_init__(self) -> None:
        self._limit = RateLimit(self.calls_per_minute)  # for one in a loop
        self._calls = itertools.count(1)

    @property
    def client(self) -> Client:
        return self.connect()

    @property
    def name(self) -> str:
        """Returns the name given by its owner, else by its program."""
        return self.named or (client_name(self._introduced) if self._introduced else NAMELESS)

    def introduce(self, name: str) -> None:
        """Records the program's name for itself."""
        if name and name != self._introduced:
            self._introduced = name
            log.info("%s: it calls itself %r", self.name, name[:80])

    @property
    def writes(self) -> bool:
        """Whether it may write now."""
        try:
            return self.find_access(self.name).writes
        except (SettingsError, DaemonError, DaemonDownError):
            return False

    @property
    def access(self) -> Access:
        """Returns the sources that it may see now: the shared ones, and its own notes if it may write any."""
        access = self.find_access(self.name)
        return replace(access, folders=(*access.folders, self.own_notes)) if access.writes else access

    @property
    def own_notes(self) -> str:
        """Returns the uri prefix of its notes, without the final slash."""
        return f"{AGENT_NOTES}{self.name}"

    def guard(self, call: Call, called: str, *, writes: bool) -> Call:
        """Makes a call, limited and logged. Refusals, and errors of the daemon, are raised as ToolError."""
        from mcp.server.mcpserver.exceptions import ToolError  # whose package `pal mcp clients` does without

        @functools.wraps(call)
        def guarded(*given: Any, **arguments: Any) -> Any:
            line = f"{self.name}: call {next(self._calls)}, {called}"
            try:
                self._admit(writes)
                result = call(*given, **arguments)
            except (DaemonError, DaemonDownError, SettingsError) as trouble:
                log.info("%s: failed (%s)", line, type(trouble).__name__)
                raise ToolError(str(trouble)) from trouble
            except RefusedError as refused:
                log.info("%s: refused", line)
                raise ToolError(str(refused)) from None
            except Exception as trouble:  # its words stay out of the log
                log.error("%s: %s", line, type(trouble).__name__)
                raise ToolError(f"Something went wrong inside ({type(trouble).__name__}).") from None
            sizes = {key: len(value) for key, value in result.items() if isinstance(value, list)}
            log.info("%s: %s", line, sizes or "done")
            return result

        return guarded  # type: ignore[return-value]

    def _admit(self, writes: bool) -> None:
        """Raises RefusedError above the rate limit, and for forbidden calls."""
        if wait := self._limit.take():
            raise RefusedError(f"Too many calls: wait {wait:.0f} seconds.")
        if self.access.is_empty:
            raise RefusedError(NOTHING_SHARED)
        if writes and not self.writes:
            raise RefusedError(READS_ONLY.format(name=self.name))
