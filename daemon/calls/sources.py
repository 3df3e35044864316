"""Calls about what is read and forgotten: notes, files, watched folders, what agents write, secrets, exports."""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from daemon import wire
from daemon.calls.declaration import Calls, call
from daemon.client.connection import Lines, Stream

Policy = Annotated[str | None, Literal["local", "any"] | None]


class SourceCalls(Calls):
    """Notes, files and folders."""

    @call("POST", "/remember", thread="write", slow=True)
    def remember(
        self,
        text: str,
        *,
        title: str | None = None,
        source: str | None = None,
        at: datetime | None = None,
        speaker: str | None = None,
        ref: str | None = None,
    ) -> wire.Receipt:
        """Keep a note, from `at`, by default from now."""

    @call("POST", "/agents/remember", thread="write", slow=True, tool="remember", writes=True)
    def remember_for(self, agent: str, text: str, title: str = "") -> wire.KeptNote:
        """Keep a note of an agent: what is worth knowing later, in whole sentences with names and dates. It counts as
        the agent's word, and what it would replace waits for the person's review. The same note again is kept once. The
        settings limit its size and the number of notes."""

    @call("GET", "/agents", field="agents", slow=True)
    def agents(self) -> tuple[wire.Agent, ...]:
        """List the agents that wrote notes or judged answers."""

    @call("POST", "/agents/undo", slow=True)
    def undo_agent(self, agent: str, since: datetime | None = None) -> wire.AgentUndone:
        """Forget an agent's notes, all of them or those since a time, and remove its verdicts."""

    @call("POST", "/add", ends="Added")
    def add(self, paths: Sequence[Path], policy: Policy = None, again: bool = False) -> Stream:
        """Read files or folders once. It goes on if the stream is closed.

        `policy`: local, their text stays on this machine, or any, models elsewhere may be given it; also for what was
        read there before; None leaves that unchanged, and what is new gets its watched folder's or the default.
        `again`: forgotten files are read, too.
        """

    @call("POST", "/count", slow=True)
    def count(self, paths: Sequence[Path]) -> wire.Counted:
        """Count the files that would be read of files or folders, and their size; no file is opened."""

    @call("GET", "/folders", field="folders")
    def folders(self) -> tuple[wire.Folder, ...]:
        """List the watched folders."""

    @call("POST", "/folders")
    def watch(
        self,
        path: Path,
        policy: Policy = None,
        *,
        tags: Sequence[str] | None = None,
    ) -> wire.Folder:
        """Watch a folder from now on and read it in the background. `policy` is as for `add`; with it or `tags` those
        of a folder that is watched already are changed."""

    @call("POST", "/folders/remove", slow=True)
    def unwatch(self, path: Path, forget: bool = False) -> wire.Forgotten:
        """Stop watching a folder; with `forget` what was read from it is forgotten too."""

    @call("GET", "/folders/gone")
    def list_gone(self, path: Path) -> wire.GoneReply:
        """List the deleted files of a watched folder about which a person decides."""

    @call("POST", "/folders/gone")
    def decide_gone(self, path: Path, *, keep: bool) -> wire.Folder:
        """Keep the content of the deleted files of a watched folder, or drop it."""

    @call("GET", "/sources", offline=True)
    def sources(self, query: str = "", limit: int = 100) -> wire.SourcesReply:
        """List the sources with all the words of `query` in their name or title."""

    @call("GET", "/skipped")
    def list_skipped(self, match: str = "", limit: int = 1000) -> wire.SkippedReply:
        """List files that could not be read, and why: those with the words in their name or reason."""

    @call("GET", "/retired")
    def list_retired(self, limit: int = 100) -> wire.RetiredReply:
        """List the sources with text that is kept but no longer found by questions."""

    @call("POST", "/forget", slow=True, tool="forget", writes=True)
    def forget(
        self,
        *,
        source: str | None = None,
        object: str | None = None,
        episode: int | None = None,
        fact: int | None = None,
        retired: bool = False,
    ) -> wire.Forgotten:
        """Forget the one thing that is named; `source` is a uri or a path. `retired`: what no question finds any more,
        all of it or that of a `source` or folder."""

    @call("POST", "/secrets", thread="read", field="secrets", offline=True)
    def secrets(self, placeholders: Sequence[str]) -> Mapping[str, str]:
        """Look up the secrets of placeholders, without those that are no longer kept. Never on the page."""

    @call("GET", "/secrets/places", slow=True)
    def secret_places(self) -> wire.SecretPlacesReply:
        """List where secrets are, masked or in what was read before. Never on the page."""

    @call("GET", "/export", offline=True)
    def export(self, pages: bool = False) -> Lines:
        """Export all that is true in the memory as lines of JSON; or a line for each thing, with all about it."""

    @call("GET", "/secrets/export", offline=True)
    def export_with_secrets(self) -> Lines:
        """Export all with the secrets that are masked. Never on the page."""

    @call("POST", "/backup", slow=True, offline=True)
    def backup(self, to: Path | None = None) -> wire.BackedUp:
        """Copy the memory to a path that does not exist yet; None means the backup folder."""
