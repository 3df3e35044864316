"""What of the memory an agent may see, and how much of it in which time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from daemon import wire

CALLS_PER_MINUTE = 60
MAX_PASSAGES = 50  # an answer to one call
MAX_BYTES = 200_000

NOTHING_SHARED = (
    "Nothing of this memory is shared with agents. Its owner shares a folder with `pal mcp --folder PATH`, all of it "
    "with `pal mcp --all`, or marks a folder as free to go elsewhere: `pal watch add PATH --policy any`."
)


@dataclass(frozen=True, slots=True)
class Access:
    """Which sources an agent may see: those in `folders`, or with `everything` all of them."""

    folders: tuple[str, ...] = ()
    everything: bool = False

    @classmethod
    def from_policies(cls, folders: tuple[wire.Folder, ...]) -> Access:
        """The watched folders whose text may go to a model elsewhere: an agent's model is one."""
        return cls(tuple(folder.path for folder in folders if folder.policy == "any"))

    @property
    def is_empty(self) -> bool:
        return not self.everything and not self.folders

    def may_see(self, uri: str) -> bool:
        """Whether a source is shared."""
        return self.everything or any(uri == folder or uri.startswith(f"{folder}/") for folder in self.folders)

    def limit(self, **limits: object) -> wire.Scope:
        """The scope of a question that finds nothing else."""
        return wire.Scope(folders=() if self.everything else self.folders, **limits)  # type: ignore[arg-type]


@dataclass(slots=True)
class Meter:
    """Counts calls: an agent in a loop is told to wait."""

    now: Callable[[], float] = time.monotonic
    _calls: deque[float] = field(default_factory=deque)

    def take(self) -> float:
        """Counts a call; returns the seconds to wait if there were too many in the last minute, else 0."""
        now = self.now()
        while self._calls and now - self._calls[0] >= 60:
            self._calls.popleft()
        if len(self._calls) >= CALLS_PER_MINUTE:
            return 60 - (now - self._calls[0])
        self._calls.append(now)
        return 0.0
