"""The settings of the rankers, declared as data, and the name of what is trained. Standard library only."""

from dataclasses import dataclass, field

from memory.settings import setting


@dataclass(frozen=True, slots=True)
class TrainedSettings:
    """The ranker of this program: a small network that learns which edges lead to answers (ReG)."""

    questions: int = setting(200, "Well answered questions that training needs.", least=1)
    points: float = setting(1.0, "Gain in recall, in percentage points, that a new ranker needs to be used.", most=100)


@dataclass(frozen=True, slots=True)
class RankerSettings:
    """What learns from questions which edges they need."""

    trained: TrainedSettings = field(default_factory=TrainedSettings)


def kind(embedder: str) -> str:
    """The kind under which the store keeps the models that were trained with this embedder."""
    return f"edge scorer, {embedder}"
