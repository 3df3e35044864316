"""The settings of the traversers, declared as data. Standard library only."""

from dataclasses import dataclass, field
from typing import Literal

from memory.settings import setting


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """Settings shared by all traversers except spread."""

    vertices: str = setting(
        "ETO", "What they may enter: episodes, theses, objects; a small letter: only as the end of a path."
    )
    episodes: int = setting(8, "Best episodes of the text to start from, with the named objects.", most=1000)
    hub_penalty: bool = setting(True, "Whether vertices with very many edges cost more.")
    mixed_weight: float = setting(
        0.2, 'What each further traverser of a strategy such as "spread+beam" counts.', most=100
    )


@dataclass(frozen=True, slots=True)
class BeamSettings:
    """Beam search: the most relevant paths from the starts, all of one length at a time."""

    width: int = setting(20, "Paths kept at every depth.", least=1, most=10000)
    depth: int = setting(3, "Edges of a path.", least=1, most=20)
    neighbours: int = setting(30, "Neighbours by which a path may grow.", least=1, most=100000)
    paths: int = setting(10, "Paths returned.", least=1, most=1000)
    rank: Literal["path", "last"] = setting("path", "What paths are kept by: their cost, or that of their last edge.")
    triples: bool = setting(False, "Whether what an edge says is compared with the question, not what it leads to.")
    apart: bool = setting(False, "Whether each start has a beam of its own, whose paths share no end and no last edge.")


@dataclass(frozen=True, slots=True)
class CirclesSettings:
    """Water circles: rings around the starts; the answer is expected where several meet."""

    depth: int = setting(2, "Rings around each start.", least=1, most=20)
    edges: int = setting(2000, "Edges followed at most.", least=1)


@dataclass(frozen=True, slots=True)
class PathsSettings:
    """Paths between two starts."""

    search: Literal["both_ends", "ip", "weighted", "averaged"] = setting(
        "both_ends", "How they are searched: from both ends, or by A* with the heuristic ip, weighted or averaged."
    )
    step: float = setting(0.25, "Weight of an edge in A* relative to the heuristic, which is in [0, 2].", most=100)
    pairs: int = setting(6, "Pairs of starts between which paths are searched.", most=1000)
    length: int = setting(6, "Edges of a path.", least=1, most=100)
    pops: int = setting(400, "Vertices that one search may open.", least=1)
    count: int = setting(20, "Shortest paths kept of one search.", least=1, most=10000)


@dataclass(frozen=True, slots=True)
class SynergySettings:
    """Synergy: a traverser's visited vertices and the best texts confirm each other."""

    weight: float = setting(0.5, "Its share of the final score.", most=1)
    formula: Literal["product", "paper"] = setting(
        "product", "How votes and confirmation count: weighted and with limits, or as TGS-RAG prints it."
    )


@dataclass(frozen=True, slots=True)
class TraverserSettings:
    """The traversers other than spread."""

    walk: WalkSettings = field(default_factory=WalkSettings)
    beam: BeamSettings = field(default_factory=BeamSettings)
    circles: CirclesSettings = field(default_factory=CirclesSettings)
    paths: PathsSettings = field(default_factory=PathsSettings)
    synergy: SynergySettings = field(default_factory=SynergySettings)
