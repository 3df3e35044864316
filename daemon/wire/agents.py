"""Agents: what they write into the memory, and who of them did."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory.nouns import Forgotten


@dataclass(frozen=True, slots=True)
class KeptNote:
    """POST /agents/remember: the note's name, and whether that agent had written just the same before; then nothing was
    written."""

    source: str
    known: bool = False


@dataclass(frozen=True, slots=True)
class Captured:
    """POST /capture: the source that holds the session, or the newest part of it; how many turns came, and how many of
    them were new."""

    source: str
    turns: int
    new: int


@dataclass(frozen=True, slots=True)
class Agent:
    """What an agent has written: how many notes, the newest `last`, and of how many answers it said something."""

    name: str
    notes: int = 0
    last: datetime | None = None
    verdicts: int = 0


@dataclass(frozen=True, slots=True)
class AgentsReply:
    """GET /agents: those that wrote or judged anything, by name."""

    agents: tuple[Agent, ...]


@dataclass(frozen=True, slots=True)
class AgentUndone:
    """POST /agents/undo: what is gone of an agent's notes, and how many of its verdicts were taken back."""

    forgotten: Forgotten
    notes: int = 0
    verdicts: int = 0
