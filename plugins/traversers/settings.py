"""The settings of the traversers, declared as data. Standard library only."""

from dataclasses import dataclass, field
from typing import Literal

from memory.settings import setting


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """Settings shared by all traversers except spread."""

    episodes: int = setting(8, "Best episodes of the text to start from, with the named objects.", most=1000)
    hub_penalty: bool = setting(True, "Whether vertices with very many edges cost more.")


@dataclass(frozen=True, slots=True)
class BeamSettings:
    """Beam search: the most relevant paths from the starts, all of one length at a time."""

    width: int = setting(20, "Paths kept at every depth.", least=1, most=10000)
    depth: int = setting(3, "Edges of a path.", least=1, most=20)
    neighbours: int = setting(30, "Neighbours by which a path may grow.", least=1, most=100000)
    paths: int = setting(10, "Paths returned.", least=1, most=1000)
    rank: Literal["path", "last"] = setting("path", "What paths are kept by: their cost, or that of their last edge.")
    triples: bool = setting(False, "Whether what an edge says is compared with the question, not what it leads to.")
    apart: bool = setting(False, "Whether each start has a beam of its own.")
    revisit: bool = setting(False, "Whether a path may come to a vertex again.")
    share_vertices: bool = setting(True, "Whether paths of one length may end in the same vertex.")
    share_edges: bool = setting(True, "Whether paths of one length may end with the same edge.")
    mean_alpha: float = setting(0.75, "Exponent of the length by which a path's cost is divided.", most=10)
    final_sorting: Literal["mixed", "ended", "continuous"] = setting(
        "mixed", "Which paths come first: those that could not go on (ended), the others (continuous), or the cheapest."
    )


@dataclass(frozen=True, slots=True)
class CirclesSettings:
    """Water circles: rings around the starts; the answer is expected where several meet."""

    depth: int = setting(2, "Rings around each start.", least=1, most=20)
    primary: int = setting(25, "Edges that are chosen where circles of several starts meet.", most=10000)
    secondary: int = setting(6, "Other edges that are chosen.", most=10000)
    texts: int = setting(30, "Passages and theses that are chosen.", most=10000)


@dataclass(frozen=True, slots=True)
class PathsSettings:
    """Paths between two starts."""

    search: Literal["both_ends", "ip", "weighted", "averaged"] = setting(
        "both_ends", "How they are searched: from both ends, or by A* with the heuristic ip, weighted or averaged."
    )
    length: int = setting(6, "Edges of a path.", least=1, most=100)
    pops: int = setting(400, "Vertices that one search may open.", least=1)


@dataclass(frozen=True, slots=True)
class SynergySettings:
    """Synergy: a traverser's visited vertices and the best texts confirm each other."""

    weight: float = setting(0.5, "Its share of the final score.", most=1)


@dataclass(frozen=True, slots=True)
class TraverserSettings:
    """The traversers other than spread."""

    walk: WalkSettings = field(default_factory=WalkSettings)
    beam: BeamSettings = field(default_factory=BeamSettings)
    circles: CirclesSettings = field(default_factory=CirclesSettings)
    paths: PathsSettings = field(default_factory=PathsSettings)
    synergy: SynergySettings = field(default_factory=SynergySettings)
