"""Calls about what is read and forgotten: notes, files, watched folders, agents, secrets, exports; and about the
daemon: its state, models, the page, other computers."""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from daemon import wire
from daemon.calls import call
from daemon.calls.knowledge import KnowledgeCalls
from daemon.client.connection import Lines, Stream

Policy = Annotated[str | None, Literal["local", "any"] | None]


class DaemonCalls(KnowledgeCalls):
    """Every call. Each may raise DaemonError and DaemonDownError."""

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
        """Store a note, from `at`, by default from now."""

    @call("POST", "/agents/remember", thread="write", slow=True, tool="remember", writes=True)
    def remember_for(self, agent: str, text: str, title: str = "") -> wire.KeptNote:
        """Store a note of an agent: what is worth knowing later, in whole sentences with names and dates. It is
        attributed to the agent, and replacements by it wait for the person's review. Equal notes are stored once. The
        settings limit its size and the number of notes."""

    @call("GET", "/agents", field="agents", slow=True)
    def agents(self) -> tuple[wire.Agent, ...]:
        """List the agents that wrote notes or judged answers."""

    @call("POST", "/agents/undo", slow=True)
    def undo_agent(self, agent: str, since: datetime | None = None) -> wire.AgentUndone:
        """Forget an agent's notes, all or those since a time, and remove its verdicts."""

    @call("POST", "/add", ends="Added")
    def add(self, paths: Sequence[Path], policy: Policy = None, again: bool = False) -> Stream:
        """Read files or folders once; continues if the stream is closed. `policy`: local (their text stays on this
        machine) or any (remote models may read it), also for what was read there before; None leaves that unchanged,
        and new text gets its watched folder's or the default. `again`: also reads forgotten files."""

    @call("POST", "/count", slow=True)
    def count(self, paths: Sequence[Path]) -> wire.Counted:
        """Count the files that would be read in files or folders, and their size; opens no file."""

    @call("GET", "/folders", to="watcher.folders", field="folders")
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
        """Watch a folder from now on and read it in the background. `policy` is as for `add`; for a watched folder, it
        and `tags` replace the present ones."""

    @call("POST", "/folders/remove", slow=True)
    def unwatch(self, path: Path, forget: bool = False) -> wire.Forgotten:
        """Stop watching a folder; `forget` also forgets everything read from it."""

    @call("GET", "/folders/gone")
    def list_gone(self, path: Path) -> wire.GoneReply:
        """List the deleted files of a watched folder that a person must decide about."""

    @call("POST", "/folders/gone", to="watcher.decide")
    def decide_gone(self, path: Path, *, keep: bool) -> wire.Folder:
        """Keep the content of the deleted files of a watched folder, or drop it."""

    @call("GET", "/sources", offline=True)
    def sources(self, query: str = "", limit: int = 100) -> wire.SourcesReply:
        """List the sources with all the words of `query` in their name or title."""

    @call("GET", "/skipped")
    def list_skipped(self, match: str = "", limit: int = 1000) -> wire.SkippedReply:
        """List files that could not be read, with the reason: those with the words in name or reason."""

    @call("GET", "/retired")
    def list_retired(self, limit: int = 100) -> wire.RetiredReply:
        """List the sources with text that is stored but no longer found by questions."""

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
        """Forget the one named item; `source` is a uri or a path. `retired`: retired text, all of it or that of a
        `source` or folder."""

    @call("POST", "/secrets", to="memory.sources.find_secrets", thread="read", field="secrets", offline=True)
    def secrets(self, placeholders: Sequence[str]) -> Mapping[str, str]:
        """Look up the secrets of placeholders, without those no longer stored. Never on the page."""

    @call("GET", "/secrets/places", field="places", slow=True)
    def secret_places(self) -> tuple[wire.SecretPlace, ...]:
        """List the places of masked and unmasked secrets. Never on the page."""

    @call("GET", "/export", offline=True)
    def export(self, pages: bool = False) -> Lines:
        """Export all current data as lines of JSON; `pages`: a line for each thing, with everything about it."""

    @call("GET", "/secrets/export", offline=True)
    def export_with_secrets(self) -> Lines:
        """Export all data with the masked secrets. Never on the page."""

    @call("POST", "/backup", slow=True, offline=True)
    def backup(self, to: Path | None = None) -> wire.BackedUp:
        """Copy the memory to a path that does not exist yet; None means the backup folder."""

    @call("GET", "/hello")
    def hello(self) -> wire.Hello:
        """Show the version and protocol of the daemon."""

    @call("GET", "/status", offline=True)
    def status(self) -> wire.Status:
        """Show the contents of the memory and the work of the daemon."""

    @call("GET", "/activity")
    def activity(self) -> Stream:
        """Follow the daemon's activity, until the stream is closed."""

    @call("GET", "/check", to="memory.maintenance.check", slow=True, offline=True)
    def check(self) -> wire.Check:
        """Check the memory file from end to end."""

    @call("POST", "/tidy", to="nightly.consolidate", slow=True)
    def tidy(self) -> wire.ConsolidationReport:
        """Run the nightly maintenance now."""

    @call("GET", "/plugins")
    def plugins(self) -> wire.PluginsReply:
        """List the plug-ins, and those that were not loaded."""

    @call("GET", "/embedder", to="embedder.state")
    def embedder(self) -> wire.EmbedderReply:
        """Show the embedder."""

    @call("POST", "/embedder", to="embedder.change", slow=True)
    def set_embedder(self, name: str) -> wire.EmbedderReply:
        """Change the embedder; the passages get their new vectors in the background."""

    @call("GET", "/models", to="models.reply")
    def models(self, elsewhere: bool = False) -> wire.ModelsReply:
        """List the language models, within some seconds. Remote services without a named model are contacted only with
        `elsewhere`."""

    @call("POST", "/models/use", to="models.use")
    def use_models(self, role: str, names: Sequence[str]) -> wire.ModelsReply:
        """Set the models of a role until the daemon ends; config.toml sets them for the next start. `names` in order of
        preference; without any, the role is turned off."""

    @call("POST", "/models/try", to="models.try_model", slow=True)
    def try_model(self, name: str) -> wire.ModelTest:
        """Ask a model, or one of a family (`ollama`), for one word; a local one may have to be loaded first. Uses the
        current addresses and keys of config.toml."""

    @call("POST", "/models/probe", ends="Grades")
    def probe_model(self, name: str) -> Stream:
        """Grade a model. Closing the stream ends it."""

    @call("POST", "/enrichment", to="enrichment.enable")
    def enable_enrichment(self, enabled: bool) -> wire.Enrichment:
        """Turn background reading by models on or off until the daemon ends; config.toml sets it for the next start."""

    @call("POST", "/enrichment/retry", field="jobs")
    def retry(self, id: int | None = None) -> int:
        """Retry jobs at which models failed, all or one; returns their number."""

    @call("POST", "/page")
    def open_page(self, port: int | None = None) -> wire.PageLink:
        """Make a link that opens the web page once; opens its port if needed."""

    @call("POST", "/page/close", field="was_open")
    def close_page(self) -> bool:
        """End the page's sessions and close its port; returns whether it was open."""

    @call("POST", "/sync/begin", to="sync.begin", field="words", slow=True)
    def begin_sync(self, folder: Path, words: str = "") -> str:
        """Synchronise this memory through a folder from now on. Without `words` the folder gets a new key; returns its
        words. With those of another computer this one joins it, and the reply is empty."""

    @call("POST", "/sync", to="sync.run", slow=True)
    def sync(self) -> wire.SyncState:
        """Synchronise now."""

    @call("POST", "/secrets/sync", to="sync.words", field="words")
    def sync_words(self) -> str:
        """Show the words of the folder's key. Never on the page."""

    @call("POST", "/sync/forget", to="sync.forget", slow=True)
    def forget_computer(self, name: str) -> wire.SyncState:
        """Remove a computer from the folder, with its files; its statements stay."""

    @call("POST", "/sync/folders")
    def allow_sync(self, folder: Path, allowed: bool = True) -> wire.SyncState:
        """Allow or forbid that facts and answers from a watched folder go to the other computers."""

    @call("POST", "/replica", slow=True)
    def replicate(self, address: str, goes_on: bool = False, with_local: bool = False) -> wire.Replica:
        """Maintain a replica of the memory in a folder, at sftp:// or at s3://. An address that has a replica is
        refused unless `goes_on`, which replaces it. Text of local folders leaves the computer only `with_local`."""

    @call("POST", "/replica/renew", slow=True)
    def renew_replica(self) -> wire.Replica:
        """Remove all earlier states of the memory from the replica, and so forgotten text."""

    @call("POST", "/replica/stop", to="replication.stop")
    def stop_replica(self) -> None:
        """Stop the replica; its files stay."""

    @call("POST", "/stop")
    def stop(self) -> None:
        """End the daemon."""
