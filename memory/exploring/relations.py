"""How an object is related to others, in words, as a question may see it."""

from __future__ import annotations

from memory.graph.adjacency import EDGE_KINDS, Walkable
from memory.store import relations, sources
from memory.store.connect import Connection
from memory.store.relations import Relation
from memory.text.quotes import one_line
from memory.time.timestamps import from_ms

LONGEST = 60  # characters of a predicate
_REL, _SYN = EDGE_KINDS.index("rel"), EDGE_KINDS.index("syn")


class Relations:
    """The typed edges that `walk` may follow. With `only_open`, for a model elsewhere, those alone that no text tells
    which must stay on this machine, and without their times, which other facts may have changed."""

    def __init__(self, walk: Walkable, only_open: bool) -> None:
        self._walk = walk
        self._only_open = only_open

    def of(self, conn: Connection, node: int) -> dict[int, list[str]]:
        """Object -> how it is related to the object `node`, the newest last."""
        near = self._walk.neighbours(node)
        typed = near.edges[near.kinds == _REL].tolist()
        found: dict[int, list[str]] = {}
        may_leave = frozenset(sources.open_ids(conn)) if self._only_open else frozenset()
        for one in relations.by_id(conn, typed):
            if not self._only_open or one.sources <= may_leave:
                found.setdefault(one.object if one.subject == node else one.subject, []).append(self._told(one, node))
        for other in near.vertices[near.kinds == _SYN].tolist() if not self._only_open else ():
            found.setdefault(other, []).append("maybe the same")
        return found

    def _told(self, one: Relation, node: int) -> str:
        words = one_line(one.predicate)[:LONGEST]
        arrow = f"-[{words}]->" if one.subject == node else f"<-[{words}]-"
        since, until = (from_ms(ms) for ms in (one.valid_from, one.valid_to)) if not self._only_open else (None, None)
        parts: list[str] = [one.modality] if one.modality != "asserted" else []
        parts += [f"since {since.date().isoformat()}"] if since else []
        parts += [f"until {until.date().isoformat()}"] if until else []
        return f"{arrow} ({', '.join(parts)})" if parts else arrow
