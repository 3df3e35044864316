"""What questions are answered with."""

from dataclasses import dataclass

from memory.graph.snapshot import Snapshot
from memory.protocols import Embedder
from memory.retrieval.traversers import EdgeScorer


@dataclass(frozen=True, slots=True)
class Serving:
    """What questions are answered with, replaced as a whole on each write. `usable`: (nearly) every episode has a
    vector; `owner`: the names of whose mailbox was read; `scorer`: the trained ranker, if one is in use."""

    embedder: Embedder
    embedder_id: int
    snapshot: Snapshot
    usable: bool
    owner: tuple[str, ...]
    scorer: EdgeScorer | None = None
