"""What only reads, done in this process: for when the daemon cannot start, because the file is damaged or cannot be
written. Nothing is changed and nothing is kept; no language model is asked. Also how a memory is opened without it.

Imported only then: it takes the library, half a second, where a client takes none of it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import fields
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from daemon import views, wire
from daemon.api import facts as known_facts
from daemon.api import questions
from daemon.api.exporting import read_lines
from daemon.jobs.choices import choose_ranker, choose_strategy
from daemon.jobs.embedder import first
from daemon.lock import hold
from daemon.paths import Paths, private_folder
from daemon.settings import load
from memory import Memory
from memory.nouns import Answer
from plugins import manager


def open_memory(paths: Paths, read_only: bool = False) -> Memory:
    """The memory as a daemon would open it. NotAvailableError where its embedder is not installed; StoreError."""
    settings = load(paths.config)
    plugins = manager.load(settings)
    return Memory.open(
        paths.memory,
        embedder=first(paths.memory, plugins, settings.embedder.name, read_only),
        settings=choose_strategy(settings, plugins),
        quick=plugins.embedder("static"),
        find_strategy=plugins.strategies(settings.traversers),
        ranker=choose_ranker(settings, plugins),
        read_only=read_only,
    )


class Offline:
    """Those calls of `daemon.client.Client` that read, of a memory that nobody else has open."""

    def __init__(self, paths: Paths) -> None:
        """Raises AlreadyRunningError, SettingsError, StoreError."""
        self._paths = paths
        self._open = ExitStack()
        with ExitStack() as opening:
            with suppress(OSError):  # a home that cannot be written: nobody else writes there, either
                opening.enter_context(hold(paths.lock))
            self._memory = opening.enter_context(open_memory(paths, read_only=True))
            self._open = opening.pop_all()

    def close(self) -> None:
        self._open.close()

    def status(self) -> wire.Status:
        stats = self._memory.stats()
        return wire.Status(
            version=version("palimpsest"), protocol=wire.PROTOCOL, pid=os.getpid(), uptime_s=0.0, path=stats.path,
            embedder=stats.embedder, sources=stats.sources, episodes=stats.episodes, theses=stats.theses,
            objects=stats.objects, edges=stats.edges, bytes=stats.bytes, queue=0, busy="",
        )  # fmt: skip

    def sources(self, query: str = "", limit: int = 100) -> wire.SourcesReply:
        listed, total = self._memory.sources.search(query, limit)
        return wire.SourcesReply(tuple(listed), total)

    def ask(
        self,
        question: str,
        *,
        as_of: datetime | None = None,
        within: wire.Scope | None = None,
        effort: str = "normal",
        replay: bool = True,
        strategy: str = "",
        own_words: bool = False,
    ) -> Iterator[wire.Event]:
        """The events of a question; the last one is an Answered. Nothing is kept, whosever words they are."""
        began = time.monotonic()
        for event in self._memory.ask(
            question, as_of=as_of, within=questions.checked_scope(self._memory, within), effort=views.effort(effort),
            replay=replay, strategy=strategy,
        ):  # fmt: skip
            if isinstance(event, Answer):
                values = {item.name: getattr(event, item.name) for item in fields(event)} | {"note": ""}
                yield wire.Answered(**values, ms=round((time.monotonic() - began) * 1000, 1))
            else:
                yield event

    def recall(
        self,
        question: str,
        k: int = 10,
        *,
        as_of: datetime | None = None,
        within: wire.Scope | None = None,
        strategy: str = "",
    ) -> wire.RecallReply:
        began, within = time.monotonic(), questions.checked_scope(self._memory, within)
        found = self._memory.recall(question, k, as_of, within, strategy=strategy)
        return views.recall_reply(found, round((time.monotonic() - began) * 1000, 1))

    def facts(
        self, about: str, as_of: datetime | None = None, history: bool = False, known_on: datetime | None = None
    ) -> wire.FactsReply:
        return known_facts.facts(self._memory, about, as_of, known_on, history)

    def history(self, about: str) -> wire.HistoryReply:
        return known_facts.history(self._memory, about)

    def secrets(self, placeholders: tuple[str, ...]) -> Mapping[str, str]:
        return self._memory.secrets.find(placeholders)

    def export(self, kinds: Sequence[str] = (), secrets: bool = False) -> Iterator[bytes]:
        for piece in read_lines(self._memory, ",".join(kinds), secrets):
            yield from piece.splitlines(keepends=True)

    def check(self) -> wire.Check:
        return self._memory.check()

    def backup(self, to: Path | None = None) -> wire.BackedUp:
        to = to or private_folder(self._paths.backups) / f"memory-{datetime.now():%Y%m%d-%H%M%S-%f}.db"
        return wire.BackedUp(str(to), self._memory.backup(to.absolute()))
