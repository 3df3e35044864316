"""What objects are called before a model.

A name may come from a text that has to stay on this machine while the object stands in others as well. So a model that
is elsewhere is told a name only as it stands in a passage that may leave, and of an object without one it hears
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from memory.facts.extraction import OWNER
from memory.graph.adjacency import EPISODE, Walkable
from memory.nouns import Episode
from memory.store import episodes
from memory.store import graph as stored
from memory.store.connect import Connection
from memory.text.mentions import mentions
from memory.text.quotes import Quotable, one_line
from memory.text.relation_sentences import NAMELESS

LOOKED_AT = 5  # passages in which a name is looked for
LONGEST = 120  # characters of a name


class Labels:
    """Names of objects. `walk` sees only what may be shown; with `only_open` names must stand in it."""

    def __init__(self, walk: Walkable, only_open: bool) -> None:
        self._walk = walk
        self._only_open = only_open
        self._known: dict[int, str] = {}

    def of(self, conn: Connection, nodes: Iterable[int]) -> dict[int, str]:
        """Node id -> name in one line; what may not be named, or not be seen, is left out."""
        nodes = list(dict.fromkeys(nodes))
        new = [node for node in nodes if node not in self._known]
        labels = stored.object_labels(conn, new)
        for node in new:
            name = labels.get(node, "") if self._walk.visible(node) else ""
            if name and self._only_open and name not in (OWNER, NAMELESS):
                name = self._as_written(conn, node, name)
            self._known[node] = one_line(name)[:LONGEST]
        return self.known(nodes)

    def known(self, nodes: Iterable[int]) -> dict[int, str]:
        """The same of those that were asked for before."""
        return {node: self._known[node] for node in nodes if self._known.get(node)}

    def _as_written(self, conn: Connection, node: int, label: str) -> str:
        near = self._walk.neighbours(node).vertices
        mentioning = near[self._walk.kinds(near) == EPISODE][:LOOKED_AT].tolist()
        passages = [one for one in episodes.by_ids(conn, mentioning) if one.source.policy == "any"]
        if any(Quotable.of(_words(one)).names(label) for one in passages):
            return label
        for one in passages:
            surfaces = {mention.norm: mention.surface for mention in mentions(one.text, one.title)}
            for norm, nodes in stored.objects_by_norm(conn, list(surfaces)).items():
                if node in nodes:
                    return surfaces[norm]
        return ""


def _words(episode: Episode) -> str:
    return f"{episode.title}\n{episode.text}\n{episode.speaker or ''}"
