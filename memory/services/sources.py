"""Sources with their episodes and secrets, watched folders, skipped files, and chats."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from memory.nouns import FORGOTTEN, Episode, Policy, Source
from memory.services import read_by, write_by
from memory.services.activity import Job
from memory.store import browse, episodes, forget, jobs, sources, synced, traces
from memory.store.sources import fold_name as fold_name
from memory.store.store import Store
from memory.time.timestamps import now_ms, to_ms
from memory.views import ListedSource, SecretPlace

AT_ONCE = 500  # passages that are searched for secrets


class Sources:
    """Metadata of sources; their text is handled by `Ingest`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    get = read_by(sources.get)
    list_under = read_by(sources.list_under)
    list_below = read_by(sources.list_below)
    list_uris = read_by(sources.list_uris)
    list_equal = read_by(sources.list_equal)
    count_under = read_by(sources.count_under)
    count_retired = read_by(sources.count_retired)
    list_of_size = read_by(sources.list_of_size)
    list_skipped = read_by(sources.list_skipped)
    search_skipped = read_by(sources.search_skipped)
    watched_folders = read_by(sources.list_folders)
    folder_policy = read_by(sources.folder_policy)
    find_secrets = read_by(episodes.find_secrets)
    list_masked = read_by(episodes.list_masked)
    chat_names = read_by(sources.chat_names)
    search = read_by(browse.search_sources)
    count_tags = read_by(browse.count_tags)
    change_tags = write_by(sources.change_tags)
    set_reader_versions = write_by(sources.read_again)
    synced_folders = read_by(synced.list_allowed)
    set_synced_folders = write_by(synced.set_allowed)
    is_forgotten = read_by(forget.is_marked)
    read_again = write_by(forget.unmark)

    def read_since(self, since: datetime, limit: int, until: datetime | None = None) -> tuple[list[ListedSource], int]:
        """Returns (the live sources read between two times, newest first; total)."""
        return self._store.read(browse.list_read, to_ms(since), to_ms(until), limit)

    def set_policy(self, policies: Mapping[str, Policy]) -> None:
        """Sets where text may go: of each source, or of all below that folder or in that file."""
        with self._store.writing() as conn:
            for uri, policy in policies.items():
                sources.set_policy(conn, uri, policy)

    def note_files(
        self,
        readable: Iterable[str],
        skipped: Mapping[str, str],
        stamps: Iterable[tuple[Source, int, int]],
        whole: Mapping[str, tuple[str, int, int]] | None = None,
    ) -> None:
        """Records files that became readable; unreadable ones, with the reason; and files with new size or mtime_ns but
        the same content. `whole`: hash, size and mtime_ns of files whose sources, by uri, are now complete."""
        with self._store.writing() as conn:
            sources.unskip(conn, readable)
            for uri, reason in skipped.items():
                sources.skip(conn, uri, reason, now_ms())
            sources.stamp(conn, stamps)
            sources.set_contents(conn, whole or {})

    def forget_content(self, digests: Mapping[str, str]) -> None:
        """Excludes from reading what forgotten files contain now: hashes by uri."""
        with self._store.writing() as conn:
            forget.mark(conn, [*digests.values()], now_ms())
            for uri in digests:
                sources.skip(conn, uri, FORGOTTEN, now_ms())

    def unwatch_folder(self, path: str, uri: str, then: Job | None = None) -> None:
        """Stops watching a folder, and queues a job for its sources, in one transaction."""
        with self._store.allow_deletes(), self._store.writing() as conn:
            sources.unwatch_folder(conn, path, uri)
            if then is not None:
                jobs.enqueue(conn, then, now_ms())

    def watch_folder(self, path: str, policy: Policy, options: Mapping[str, Any]) -> None:
        """Stores a watched folder and its options."""
        self._store.write(sources.watch_folder, path, now_ms(), policy, options)

    def episodes(self, ids: Sequence[int], *, live: bool = False) -> list[Episode]:
        """Returns the existing ones of these episodes, in that order; with `live` without retired ones."""
        with self._store.reading() as conn:
            alive = episodes.alive(conn, ids) if live else ids
            return episodes.get_many(conn, [id for id in ids if id in alive])

    def has_chat(self, name: str) -> bool:
        """Whether a live chat has that name, regardless of case and spaces."""
        return fold_name(name) in map(fold_name, self.chat_names())

    # Secrets: only for who sits at this machine, for no model, agent or other program -----------------

    def list_unmasked(self) -> list[SecretPlace]:
        """Lists secrets in text from before masking, by uri and line: in passages, also of earlier versions, and in
        questions ("trace 12"). Reads the whole memory."""
        from memory.text.secrets import find_secrets  # 35 ms, which a start should not pay

        places, last = set(), 0
        while ids := self._store.read(episodes.list_ids, last, AT_ONCE):
            for episode in self._store.read(episodes.get_many, ids):
                uri, line = episode.source.uri, episode.line
                places |= {SecretPlace(uri, line, kind) for _, _, kind in find_secrets(episode.title)}
                for start, _, kind in find_secrets(episode.text):
                    places.add(SecretPlace(uri, episode.line_at(start), kind))
            last = ids[-1]
        for id, question in self._store.read(traces.list_questions):
            places |= {SecretPlace(f"trace {id}", None, kind) for _, _, kind in find_secrets(question)}
        return sorted(places, key=lambda place: (place.uri, place.line or 0))
