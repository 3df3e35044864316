"""Calls about the daemon itself: its state, the models and embedders it uses, the page in the browser, the folder
through which memories of several computers agree."""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from daemon import wire
from daemon.calls.declaration import Calls, call
from daemon.client.connection import Stream


class ProcessCalls(Calls):
    """The daemon, models and plug-ins."""

    @call("GET", "/hello")
    def hello(self) -> wire.Hello:
        """Show the version and protocol of the daemon."""

    @call("GET", "/status", offline=True)
    def status(self) -> wire.Status:
        """Show what the memory holds and what the daemon is doing."""

    @call("GET", "/activity")
    def activity(self) -> Stream:
        """Follow what the daemon does, until the stream is closed."""

    @call("GET", "/check", slow=True, offline=True)
    def check(self) -> wire.Check:
        """Check the memory file from end to end."""

    @call("POST", "/tidy", slow=True)
    def tidy(self) -> wire.ConsolidationReport:
        """Run the nightly maintenance now."""

    @call("GET", "/plugins")
    def plugins(self) -> wire.PluginsReply:
        """List the plug-ins, and those that were left out."""

    @call("GET", "/embedder")
    def embedder(self) -> wire.EmbedderReply:
        """Show the embedder."""

    @call("POST", "/embedder", slow=True)
    def set_embedder(self, name: str) -> wire.EmbedderReply:
        """Change the embedder; the passages get their new vectors in the background."""

    @call("GET", "/models")
    def models(self, elsewhere: bool = False) -> wire.ModelsReply:
        """List the language models; searching takes some seconds at most. Services elsewhere
        without a named model are asked only with `elsewhere`."""

    @call("POST", "/models/use")
    def use_models(self, role: str, names: Sequence[str]) -> wire.ModelsReply:
        """Change which models do what, until the daemon ends; config.toml says it for the next one. `names` in the
        order of preference; without any, no model does that."""

    @call("POST", "/models/try", slow=True)
    def try_model(self, name: str) -> wire.Tried:
        """Ask a model for one word, or one of a family (`ollama`); one on this machine may have to be loaded first.
        Addresses and keys are those in config.toml now."""

    @call("POST", "/models/probe", ends="Grades")
    def probe_model(self, name: str) -> Stream:
        """Grade a model. Closing the stream ends it."""

    @call("POST", "/enrichment")
    def enable_enrichment(self, enabled: bool) -> wire.Enrichment:
        """Let models read in the background, or no longer, until the daemon ends; config.toml says it for the next."""

    @call("POST", "/enrichment/retry", field="jobs")
    def retry(self, id: int | None = None) -> int:
        """Retry what models failed at, all of it or one job; returns how many jobs."""

    @call("POST", "/page")
    def open_page(self, port: int | None = None) -> wire.PageLink:
        """Make a link that opens the page in a browser, once; the port is opened if it is not."""

    @call("POST", "/page/close")
    def close_page(self) -> wire.PageClosed:
        """End the page's sessions and close its port."""

    @call("POST", "/sync/begin", slow=True)
    def begin_sync(self, folder: Path, words: str = "") -> wire.SyncBegun:
        """Synchronise this memory through a folder from now on. Without `words` the folder gets a new key, whose words
        are in the reply; with those of another computer this one joins it."""

    @call("POST", "/sync", slow=True)
    def sync(self) -> wire.SyncState:
        """Synchronise now."""

    @call("POST", "/secrets/sync", field="words")
    def sync_words(self) -> str:
        """Show the words of the folder's key. Never on the page."""

    @call("POST", "/sync/forget", slow=True)
    def forget_computer(self, name: str) -> wire.SyncState:
        """Remove a computer from the folder, with its files; what it stated stays."""

    @call("POST", "/sync/folders")
    def allow_sync(self, folder: Path, allowed: bool = True) -> wire.SyncState:
        """Let facts and answers from a watched folder go to the other computers, or no longer."""

    @call("POST", "/replica", slow=True)
    def replicate(self, address: str, goes_on: bool = False, with_local: bool = False) -> wire.Replica:
        """Keep a replica of the memory in a folder, at sftp:// or at s3://. An address that has a replica is refused
        unless `goes_on`: then this memory takes its place. Text of local folders leaves the computer `with_local` only.
        """

    @call("POST", "/replica/renew", slow=True)
    def renew_replica(self) -> wire.Replica:
        """Remove all earlier states of the memory from the replica, and so forgotten text."""

    @call("POST", "/replica/stop")
    def stop_replica(self) -> None:
        """Keep the replica no longer; its files stay."""

    @call("POST", "/stop")
    def stop(self) -> None:
        """End the daemon."""
