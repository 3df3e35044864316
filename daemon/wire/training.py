"""Training the ranker on earlier questions."""

from __future__ import annotations

from dataclasses import dataclass

from memory.events import Event


@dataclass(frozen=True, slots=True)
class Trained(Event):
    """The end of learning from earlier questions: how many there were, with so many labels; `trained` on some,
    `measured` on the newest: `before` and `after` are the percent of what they needed that is found, `margin` half the
    95 % interval of the difference; `near`: what could be found at all; `shadow`: what an earlier scorer that is not
    used finds in the questions since it was made. `promoted`: it is used from now on, with `dry_run` it would be."""

    questions: int
    labels: int
    trained: int
    measured: int
    before: float | None
    after: float | None
    margin: float | None
    near: float | None
    shadow: float | None
    promoted: bool
    reason: str
    dry_run: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class TrainingUndone:
    """Whether what was trained was taken back, and whether what was used before it is used again."""

    undone: bool
    earlier: bool
