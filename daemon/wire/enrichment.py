"""What models do in the background."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FailedJob:
    """What was given up: reading a passage or deciding about it by a model, a file that was set aside, what was to be
    read once. `label` is what it is about, `reason` a sentence."""

    id: int
    kind: str  # "extract" | "decide" | "read" | "add"
    label: str
    reason: str


@dataclass(frozen=True, slots=True)
class Enrichment:
    """How far models are with reading. `state`: off | no_model | idle | reading | waiting, with a sentence in `detail`.

    `read` of `total` episodes were read by a model, `jobs` wait or run; `tokens` and `minutes` were spent today, of
    `daily_tokens` and `daily_minutes` (0: of any number). `unable`: that a model could not read several notes in a row.
    """

    state: str
    detail: str = ""
    model: str = ""
    read: int = 0
    total: int = 0
    jobs: int = 0
    failed: tuple[FailedJob, ...] = ()
    failed_total: int = 0
    tokens: int = 0
    minutes: float = 0.0
    daily_tokens: int = 0
    daily_minutes: int = 0
    unable: str = ""


@dataclass(frozen=True, slots=True)
class Retried:
    """`jobs` are done again."""

    jobs: int
