"""One agent: its name, its permissions, and the guard around each of its calls.

Every call is counted, limited to the shared sources, and logged without its content.
"""

from __future__ import annotations

import functools
import itertools
import logging
from collections.abc import Callable
from typing import Any, TypeVar

from mcp.server.mcpserver.exceptions import ToolError

from daemon.client.client import Client, DaemonDownError, DaemonError
from daemon.config.settings import SettingsError
from daemon.mcp.access import NAMELESS, NOTHING_SHARED, READS_ONLY, Access, Meter, Policy, RefusedError, client_name
from memory.nouns import AGENT_NOTES

log = logging.getLogger(__name__)
Call = TypeVar("Call", bound=Callable[..., Any])


class Agent:
    """An agent as the memory knows it. `connect` gives a client of a daemon that answers, `find_policy` what an agent
    of that name may. Without a `name` it is called what it says that it is."""

    def __init__(
        self,
        connect: Callable[[], Client],
        find_policy: Callable[[str], Policy],
        calls_per_minute: int,
        name: str | None = None,
    ) -> None:
        self._connect = connect
        self._find_policy = find_policy
        self._named = name
        self._introduced = ""
        self._meter = Meter(calls_per_minute)
        self._calls = itertools.count(1)

    @property
    def client(self) -> Client:
        return self._connect()

    @property
    def name(self) -> str:
        """What its owner calls it, else what it says that it is."""
        return self._named or (client_name(self._introduced) if self._introduced else NAMELESS)

    def introduce(self, name: str) -> None:
        """Notes what the program says that it is."""
        if name and name != self._introduced:
            self._introduced = name
            log.info("%s: it calls itself %r", self.name, name[:80])

    @property
    def writes(self) -> bool:
        """Whether it may write now."""
        try:
            return self._find_policy(self.name).writes
        except (SettingsError, DaemonError, DaemonDownError):
            return False

    @property
    def access(self) -> Access:
        """The sources that it may see now: the shared ones, and its own notes if it may write any."""
        policy = self._find_policy(self.name)
        if policy.access.everything or not policy.writes:
            return policy.access
        return Access((*policy.access.folders, self.own_notes))

    @property
    def own_notes(self) -> str:
        """The beginning of the names of its notes, without the final slash."""
        return f"{AGENT_NOTES}{self.name}"

    def guard(self, call: Call, called: str, *, writes: bool) -> Call:
        """The call, limited and logged. Refusals, and errors of the daemon, are raised as ToolError."""

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
            log.info("%s: %s", line, _measure_sizes(result))
            return result

        return guarded  # type: ignore[return-value]

    def _admit(self, writes: bool) -> None:
        """RefusedError for a call too many, and for what it may not do."""
        if wait := self._meter.take():
            raise RefusedError(f"Too many calls: wait {wait:.0f} seconds.")
        if self.access.is_empty:
            raise RefusedError(NOTHING_SHARED)
        if writes and not self.writes:
            raise RefusedError(READS_ONLY.format(name=self.name))


def _measure_sizes(result: Any) -> dict[str, int] | str:
    fields = result if isinstance(result, dict) else {}
    return {key: len(value) for key, value in fields.items() if isinstance(value, list)} or "done"
