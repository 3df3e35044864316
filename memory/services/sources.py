"""Where text came from: sources with their episodes, watched folders, skipped files, and chats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memory.nouns import Episode, Policy, Source
from memory.store import correspondence, episodes, folders, sources
from memory.store.correspondence import fold_name as fold_name
from memory.store.folders import Skip as Skip
from memory.store.folders import WatchedFolder as WatchedFolder
from memory.store.sources import Listed as Listed
from memory.store.store import Store
from memory.time.timestamps import now_ms


class Sources:
    """What is known of sources; their text comes and goes through `Ingest`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def search(self, query: str, limit: int) -> tuple[list[Listed], int]:
        """Live sources that have `query` in uri or title, the newest first; and how many there are of them."""
        with self._store.reading() as conn:
            return sources.list_sources(conn, query, limit), sources.count(conn, query)

    def get(self, uri: str) -> Source | None:
        """The live source with that uri."""
        with self._store.reading() as conn:
            return sources.get(conn, uri)

    def list_under(self, prefix: str) -> list[Source]:
        """The live sources whose uri begins with `prefix`, by uri."""
        with self._store.reading() as conn:
            return sources.list_under(conn, prefix)

    def count(self, query: str) -> int:
        """How many live sources have `query` in uri or title."""
        with self._store.reading() as conn:
            return sources.count(conn, query)

    def set_policy(self, policies: Mapping[str, Policy]) -> None:
        """Changes where text may go: of each source, or of all below that folder or in that file."""
        with self._store.writing() as conn:
            for uri, policy in policies.items():
                sources.set_policy(conn, uri, policy)

    def set_reader_versions(self, versions: Mapping[str, int]) -> None:
        """Of sources that another version of their reader has read, the files are read again."""
        with self._store.writing() as conn:
            sources.read_anew(conn, versions)

    def note_files(
        self,
        readable: Iterable[str],
        skipped: Mapping[str, str],
        stamps: Iterable[tuple[Source, int, int]],
    ) -> None:
        """Files that can be read now; those that cannot, with the reason; and those whose size or mtime_ns is another
        though their content is the same."""
        with self._store.writing() as conn:
            for uri in readable:
                folders.unskip(conn, uri)
            for uri, reason in skipped.items():
                folders.skip(conn, uri, reason, now_ms())
            for source, size, mtime_ns in stamps:
                sources.stamp(conn, source.id, size, mtime_ns)

    def list_skipped(self, limit: int | None = None) -> list[Skip]:
        """Files that are not read, the newest first."""
        with self._store.reading() as conn:
            return folders.list_skipped(conn, limit=folders.count_skipped(conn) if limit is None else limit)

    # Watched folders ------------------------------------------------------------------------------

    def watched_folders(self) -> list[WatchedFolder]:
        """By path."""
        with self._store.reading() as conn:
            return folders.list_folders(conn)

    def watch_folder(self, path: str, policy: Policy, options: Mapping[str, Any]) -> None:
        """Notes that a folder is watched, or how."""
        with self._store.writing() as conn:
            folders.add(conn, path, now_ms(), policy, options)

    def unwatch_folder(self, path: str, uri: str) -> None:
        """It is not watched, and nothing below its `uri` is skipped any more. What was read from it stays."""
        with self._store.writing() as conn:
            folders.remove(conn, path)
            for skip in folders.list_skipped(conn, limit=folders.count_skipped(conn)):
                if skip.uri.startswith(uri + "/"):
                    folders.unskip(conn, skip.uri)

    def folder_policy(self, path: str) -> Policy | None:
        """The policy of the watched folder that `path` is or lies in; None if it lies in none."""
        with self._store.reading() as conn:
            return folders.policy_of(conn, path)

    # Episodes and chats ---------------------------------------------------------------------------

    def episodes(self, ids: Sequence[int], *, live: bool = False) -> list[Episode]:
        """Those that are there, in that order; with `live` only those that are not retired."""
        with self._store.reading() as conn:
            alive = episodes.alive(conn, ids) if live else ids
            return episodes.by_ids(conn, [id for id in ids if id in alive])

    def chat_names(self) -> list[str]:
        """What the live chats are called, the one that was read last first."""
        with self._store.reading() as conn:
            return correspondence.chat_names(conn)

    def has_chat(self, name: str) -> bool:
        """Whether a live chat is called so, in upper or lower case and with any spaces."""
        with self._store.reading() as conn:
            return bool(correspondence.chat_sources(conn, name))
