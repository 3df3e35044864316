"""What questions are answered with; and edge ranking: what a plugin that is trained on earlier questions gives, and the
report of a training."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from memory.graph.snapshot import Snapshot
from memory.protocols import Embedder, Write
from memory.retrieval.traversers import EdgeScorer
from memory.settings import RecallSettings
from memory.store.connect import Connection
from memory.store.store import Store
from memory.store.training import Model


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


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """How far a training is: `done` of `total` questions or epochs of a stage."""

    stage: Literal["label", "train", "measure", "done"]
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """What came of a training. Recall in percent, of the needed edges among the first 50, on the newest questions.

    `questions` had labels; `reached`: the share of their needed edges near the question, in percent; `labels` by their
    origin. `sigma` and `scorer` are the recall before and after on `measured` questions, `margin` half the 95 %
    interval of the difference. `reason` says in a sentence why it was promoted or not; `stopped`: it was broken off.
    """

    questions: int = 0
    reached: float | None = None
    labels: dict[str, int] = field(default_factory=dict)
    trained: int = 0
    epoch: int = 0
    measured: int = 0
    sigma: float | None = None
    scorer: float | None = None
    margin: float | None = None
    promoted: bool = False
    model: int | None = None
    reason: str = ""
    seconds: float = 0.0
    stopped: bool = False


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
        progress: Callable[[TrainingProgress], None],
        cancelled: Callable[[], bool],
    ) -> TrainingReport:
        """Trains a scorer, and brings it into use if it finds more. `names` are those of the person; `write` runs each
        unit."""
        ...

    def undo(self, conn: Connection, embedder: str) -> tuple[Model, Model | None] | None:
        """Withdraws the scorer in use; returns it and the earlier one now in use, if any. None if none was in use."""
        ...
