"""The settings of the traversers, declared as data. Standard library only."""

from dataclasses import dataclass, field
from typing import Literal

from memory.settings import setting


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """Settings shared by all traversers except spread."""

    episodes: int = setting(8, "Passages from which a walk starts, with the named objects.", most=1000)
    hub_penalty: bool = setting(True, "Whether vertices with very many edges cost more.")


@dataclass(frozen=True, slots=True)
class BeamSettings:
    """BeamSearch (PersonalAI): the most relevant paths from the starts, one edge longer at a time."""

    width: int = setting(20, "Paths kept at each depth.", least=1, most=10000)
    depth: int = setting(3, "Edges of a path.", least=1, most=20)
    neighbours: int = setting(30, "Neighbours with which a path is extended.", least=1, most=100000)
    paths: int = setting(10, "Paths returned.", least=1, most=1000)
    rank: Literal["path", "last"] = setting(
        "path", "How paths are ranked: by their cost, or by that of their last edge."
    )
    triples: bool = setting(
        False, "Whether the statement of an edge is compared with the question, instead of its vertex."
    )
    apart: bool = setting(False, "Whether each start has its own beam.")
    revisit: bool = setting(False, "Whether a path may visit a vertex twice.")
    share_vertices: bool = setting(True, "Whether two paths may end in the same vertex.")
    share_edges: bool = setting(True, "Whether two paths may end with the same edge.")
    mean_alpha: float = setting(0.75, "Exponent of a path's length, by which its cost is divided.", most=10)
    final_sorting: Literal["mixed", "ended", "continuous"] = setting(
        "mixed", "Which paths come first: ended ones, continuous ones, or the cheapest (mixed)."
    )


@dataclass(frozen=True, slots=True)
class CirclesSettings:
    """WaterCircles (PersonalAI): rings around the starts, up to where several meet."""

    depth: int = setting(2, "Rings around each start.", least=1, most=20)
    primary: int = setting(25, "Edges chosen where circles of several starts meet.", most=10000)
    secondary: int = setting(6, "Other edges chosen.", most=10000)
    texts: int = setting(30, "Passages and theses chosen.", most=10000)


@dataclass(frozen=True, slots=True)
class PathsSettings:
    """Paths between two starts."""

    search: Literal["both_ends", "ip", "weighted", "averaged"] = setting(
        "both_ends", "The search: breadth-first from both ends, or A* with the heuristic ip, weighted or averaged."
    )
    length: int = setting(6, "Edges of a path.", least=1, most=100)
    pops: int = setting(400, "Vertices that a search may open.", least=1)


@dataclass(frozen=True, slots=True)
class SynergySettings:
    """Synergy: a traverser's visited vertices and the best texts confirm each other."""

    weight: float = setting(0.5, "Share of the final score.", most=1)


@dataclass(frozen=True, slots=True)
class TraverserSettings:
    """The traversers other than spread."""

    walk: WalkSettings = field(default_factory=WalkSettings)
    beam: BeamSettings = field(default_factory=BeamSettings)
    circles: CirclesSettings = field(default_factory=CirclesSettings)
    paths: PathsSettings = field(default_factory=PathsSettings)
    synergy: SynergySettings = field(default_factory=SynergySettings)
