"""The trained ranker of edges (`pal train`) as used by the daemon; training code is imported on demand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memory.protocols import Embedder
from memory.retrieval.state import Serving
from memory.settings import RecallSettings
from memory.store import queries
from memory.store.connect import Connection
from memory.store.queries import Model
from memory.store.store import Store
from memory.trace import TrainingReport
from plugins.settings import TrainedSettings, ranker_kind

if TYPE_CHECKING:
    from plugins.rankers.scorer import Scorer


class TrainedRanker:
    """A `memory.retrieval.state.EdgeRanker`. Models are stored per embedder, because vectors of different embedders are
    not comparable."""

    def __init__(self, settings: TrainedSettings | None = None) -> None:
        self._settings = settings or TrainedSettings()

    def load(self, conn: Connection, embedder: Embedder) -> Scorer | None:
        """Returns the scorer in use with this embedder."""
        model = queries.active_model(conn, ranker_kind(embedder.name))
        if model is None:
            return None
        from plugins.rankers.scorer import Scorer  # most memories have none

        return Scorer.unpack(model.params)

    def undo(self, conn: Connection, embedder: str) -> tuple[Model, Model | None] | None:
        """Removes the scorer in use; returns it and its predecessor, if any. None if there was no scorer."""
        return queries.undo_promotion(conn, ranker_kind(embedder))

    def train(self, store: Store, serving: Serving, settings: RecallSettings, **options: Any) -> TrainingReport:
        """Trains on the questions answered so far; `options` are those of `training.Training`. Deterministic for the
        same memory. A cancelled training leaves the scorer in use."""
        from plugins.rankers.training import Training  # once a night

        recall = settings if serving.usable else replace(settings, lexical_weight=1.0)
        return Training(store, serving, recall, self._settings, **options).run()
