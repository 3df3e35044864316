"""The part of `Memory` that learns at night: how useful edges are told from others, measured, used and taken back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from memory.protocols import LLM
from memory.ranker import heads, training
from memory.ranker.training import Progress, Report, Write
from memory.retrieval.edge_features import HeadName
from memory.serving import Serving
from memory.settings import MemorySettings
from memory.store.store import Store
from memory.store.training import Model


class Studying:
    """What is learnt from many questions at once. Everything is in the file when a call returns."""

    store: Store
    settings: MemorySettings
    _serving: Serving
    _write_lock: threading.RLock

    def study(
        self,
        llm: LLM | None = None,
        *,
        calls: int = training.CALLS,
        head: HeadName = "compact",
        dry_run: bool = False,
        write: Write = training.directly,
        progress: Callable[[Progress], None] = lambda progress: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Report:
        """Learns from the questions that were answered well: a night's work, minutes for some hundreds of them.

        What comes of it is used from then on only if it finds more on the newest of them; see the report. `llm` may be
        asked `calls` times which facts a question needed; what may not leave this machine it only sees if it is on it.
        `head` is what learns; "full" takes PyTorch, without which "compact" does, and the report says so.
        `dry_run`: writes nothing. `write` runs each unit of writing. Nothing changes if it is `cancelled`.
        """
        serving = self._serving
        report = training.night(
            self.store, serving, self.settings.recall, llm, names=self.settings.person.names, calls=calls,
            head=head, dry_run=dry_run, write=write, progress=progress, cancelled=cancelled,
        )  # fmt: skip
        self._use_scorer()
        return report

    def unstudy(self) -> tuple[Model, Model | None] | None:
        """Takes back what `study` last brought into use, and uses what was used before it, if anything was; both. None
        if nothing is in use."""
        with self.store.writing() as conn:
            undone = heads.undo(conn, self._serving.embedder.name)
        self._use_scorer()
        return undone

    def _use_scorer(self) -> None:
        """Questions use what is in use now."""
        with self._write_lock:
            with self.store.reading() as conn:
                scorer = heads.load(conn, self._serving.embedder)
            self._serving = replace(self._serving, scorer=scorer)
