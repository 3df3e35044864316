"""The ranker of this program, as it stands in the daemon: what is trained, and how, is imported when it is needed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memory.protocols import Embedder
from memory.ranking import Serving, TrainingReport
from memory.settings import RecallSettings
from memory.store import training
from memory.store.connect import Connection
from memory.store.store import Store
from memory.store.training import Model
from plugins.rankers.settings import TrainedSettings, kind

if TYPE_CHECKING:
    from plugins.rankers.scorer import Scorer


class TrainedRanker:
    """The ranker of this program: a `memory.ranking.EdgeRanker`. What it was trained to is kept as models of a kind for
    each embedder, for vectors of one mean nothing to another."""

    def __init__(self, settings: TrainedSettings | None = None) -> None:
        self._settings = settings or TrainedSettings()

    def load(self, conn: Connection, embedder: Embedder) -> Scorer | None:
        """The scorer in use with this embedder."""
        model = training.active(conn, kind(embedder.name))
        if model is None:
            return None
        from plugins.rankers.scorer import Scorer  # most memories have none

        return Scorer.unpack(model.params)

    def undo(self, conn: Connection, embedder: str) -> tuple[Model, Model | None] | None:
        """Takes the scorer in use back; what is used now, if there was one before it. None if none was used."""
        return training.undo(conn, kind(embedder))

    def train(self, store: Store, serving: Serving, settings: RecallSettings, **options: Any) -> TrainingReport:
        """Trains on the questions that were answered so far; `options` as `training.Training` has them. Deterministic
        for the same memory. Breaking off leaves what is in use in use."""
        from plugins.rankers.training import Training  # once a night

        recall = settings if serving.usable else replace(settings, lexical_weight=1.0)
        return Training(store, serving, recall, self._settings, **options).run()
