"""What questions are answered with; and edge ranking: what a plugin that is trained on earlier questions gives."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from memory.graph.snapshot import Snapshot
from memory.protocols import Embedder, Write
from memory.retrieval.traversers import EdgeScorer
from memory.settings import RecallSettings
from memory.store.connect import Connection
from memory.store.store import Store
from memory.store.training import Model
from memory.trace import TrainingReport


@dataclass(frozen=True, slots=True)
class Serving:
    """What questions are answered with, replaced as a whole on each write. `usable`: (nearly) every episode has a
    vector; `owner`: the names of the owner of the mailbox; `scorer`: the trained ranker, if one is in use."""

    embedder: Embedder
    embedder_id: int
    snapshot: Snapshot
    usable: bool
    owner: tuple[str, ...]
    scorer: EdgeScorer | None = None


class EdgeRanker(Protocol):
    """Learns from the questions that were answered well which edges a question needs."""

    def load(self, conn: Connection, embedder: Embedder) -> EdgeScorer | None:
        """The scorer in use with the vectors of this embedder."""
        ...

    def train(
        self,
        store: Store,
        serving: Serving,
        settings: RecallSettings,
        *,
        names: Sequence[str],
        write: Write,
        progress: Callable[[int, int, str], None],
        cancelled: Callable[[], bool],
    ) -> TrainingReport:
        """Trains a scorer, and brings it into use if it finds more. `names` are those of the person; `write` runs each
        unit; `progress` gets what is done, of how many, and what that is in a word."""
        ...

    def undo(self, conn: Connection, embedder: str) -> tuple[Model, Model | None] | None:
        """Withdraws the scorer in use; returns it and the earlier one now in use, if any. None if none was in use."""
        ...
