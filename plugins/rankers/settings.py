"""The parameters of the ranker, and the name of the trained model. Standard library only."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class TrainedSettings:
    """The ranker of this program: a small network that learns which edges lead to answers (ReG)."""

    questions: int = 200  # well answered, that training needs
    points: float = 1.0  # of recall, in percent, that a new ranker needs to be used
    labels: Literal["cited", "pool"] = "cited"  # needed are the edges to what was cited, or those of ReG's pool


def kind(embedder: str) -> str:
    """Returns the kind under which the store keeps the models that were trained with this embedder."""
    return f"edge scorer, {embedder}"
