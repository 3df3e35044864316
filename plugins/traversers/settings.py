"""The parameters of the traversers. Standard library only."""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """Settings shared by all traversers except spread."""

    episodes: int = 8  # passages from which a walk starts, with the named objects
    hub_penalty: bool = True  # whether vertices with very many edges cost more


@dataclass(frozen=True, slots=True)
class BeamSettings:
    """BeamSearch (PersonalAI): the most relevant paths from the starts, one edge longer at a time."""

    width: int = 20  # paths kept at each depth
    depth: int = 3  # edges of a path
    neighbours: int = 30  # with which a path is extended
    paths: int = 10  # returned
    rank: Literal["path", "last"] = "path"  # paths are ranked by their cost, or by that of their last edge
    triples: bool = False  # whether the statement of an edge is compared with the question, instead of its vertex
    apart: bool = False  # whether each start has its own beam
    revisit: bool = False  # whether a path may visit a vertex twice
    share_vertices: bool = True  # whether two paths may end in the same vertex
    share_edges: bool = True  # whether two paths may end with the same edge
    mean_alpha: float = 0.75  # exponent of a path's length, by which its cost is divided
    final_sorting: Literal["mixed", "ended", "continuous"] = "mixed"  # which paths come first; mixed: the cheapest


@dataclass(frozen=True, slots=True)
class CirclesSettings:
    """WaterCircles (PersonalAI): rings around the starts, up to where several meet."""

    depth: int = 2  # rings around each start
    primary: int = 25  # edges chosen where circles of several starts meet
    secondary: int = 6  # other edges chosen
    texts: int = 30  # passages and theses chosen


@dataclass(frozen=True, slots=True)
class PathsSettings:
    """Paths between two starts."""

    search: Literal["shortest", "ip", "weighted", "averaged"] = "shortest"  # or A*
    length: int = 6  # edges of a path
    pops: int = 400  # vertices that a search may open


@dataclass(frozen=True, slots=True)
class TraverserSettings:
    """The traversers other than spread."""

    walk: WalkSettings = field(default_factory=WalkSettings)
    beam: BeamSettings = field(default_factory=BeamSettings)
    circles: CirclesSettings = field(default_factory=CirclesSettings)
    paths: PathsSettings = field(default_factory=PathsSettings)
