"""What earlier questions bring to this one: replayed edges, and the evidence of one that was all but the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from memory.edge_memory.activation import Remembered
from memory.edge_memory.edges import Vector
from memory.edge_memory.replay import Replayed, answered_before, asked_before, most_alike, replay
from memory.graph.adjacency import Moment, Walkable
from memory.graph.arrays import Bools, Floats, Graph
from memory.protocols import Vectors
from memory.store.connect import Connection
from memory.store.queries import Earlier
from memory.time.timestamps import to_ms


@dataclass(frozen=True, slots=True)
class Brought:
    """`query` (d,) is the question's vector, empty if nothing was looked at; `replayed` what edges brought; `earlier`
    the question that was all but the same, or else `like` the one that stands out as the same in other words, if what
    answered it is as it was."""

    query: Vectors
    replayed: Replayed
    earlier: Earlier | None = None
    like: Earlier | None = None

    @property
    def evidence(self) -> tuple[int, ...]:
        """The episodes (ids) that helped with such a question before, the surest first."""
        if self.earlier is not None:
            return self.earlier.cited
        return tuple(dict.fromkeys((*(self.like.cited if self.like is not None else ()), *self.replayed.evidence)))

    def worth(self, graph: Graph) -> Floats:
        """(n,) in [0, 1]: how surely reading an episode helped before."""
        found = np.zeros(len(graph.alive), np.float32)
        sure = dict(self.replayed.read)
        if self.earlier is not None:
            sure |= dict.fromkeys(self.earlier.cited, 1.0)
        for episode, value in sure.items():
            if episode in graph.row_of:
                found[graph.row_of[episode]] = value
        return found

    def told(self) -> dict[str, Any]:
        """For the trace."""
        return {
            "fires": len(self.replayed.fires),
            "followed": len(self.replayed.followed),
            "episodes": list(self.evidence),
            "read": list(self.replayed.evidence),
            "earlier": self.earlier.trace_id if self.earlier is not None else None,
            "like": self.like.trace_id if self.like is not None else None,
        }


NOTHING_BROUGHT = Brought(np.zeros(0, np.float32), Replayed())


def bring(
    conn: Connection,
    graph: Graph,
    remembered: Remembered,
    query: Vectors,
    starts: Iterable[int],
    allowed: Bools,
    holds: Moment,
    as_of: datetime | None,
    timeless: bool,
) -> Brought:
    """What is remembered for a question with the vector `query` (d,) that begins at `starts` (node ids) and may see
    `allowed` (n,). Only one that is `timeless`, that speaks of no time itself, is taken for an earlier one."""
    key: Vector | None = remembered.key(query) if query.any() else None
    if key is None:
        return Brought(query, Replayed())
    fires = remembered.fires(key)
    replayed = Replayed()
    if len(fires.edges):
        replayed = replay(Walkable(graph, allowed, when=holds), starts, fires)

    def sees(episode: int) -> bool:
        return episode in graph.row_of and bool(allowed[graph.row_of[episode]])

    if not timeless:
        return Brought(query, replayed)
    asked = asked_before(conn, remembered, key, to_ms(as_of), sees)
    earlier = answered_before(asked)
    return Brought(query, replayed, earlier, most_alike(asked) if earlier is None else None)
