"""Revisiting: a question that was answered before, seen again from the beginning, for learning at night.

What edges remember is shown as it was before each question, not with what that question itself has taught: a scorer
that sees the answer learns nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memory.edge_memory.edges import EdgeMemory
from memory.edge_memory.reinforce import update_slots
from memory.graph.arrays import Floats
from memory.graph.walk import Walkable
from memory.protocols import Vectors
from memory.retrieval.analyse import analyse
from memory.retrieval.pipeline import retrieve
from memory.retrieval.state import RetrievalResult
from memory.retrieval.traversers import Lookup
from memory.serving import Serving
from memory.settings import RecallSettings
from memory.store import edge_memory, queries
from memory.store.connect import Connection
from memory.store.edge_memory import Noted, Slots
from memory.time.timestamps import to_ms
from memory.trace import Traced
from plugins.rankers.features import Asked, Surroundings
from plugins.traversers.nearby import Nearby

KEPT = 200_000  # words of theses and objects whose vectors are kept from one question to the next
K = 10


@dataclass(frozen=True)
class Revisit:
    """A question as it is found today: the recall, and the edges near it."""

    found: RetrievalResult
    near: Nearby
    walk: Walkable
    asked: Asked


class Revisiting:
    """Sees questions again, one after the other."""

    def __init__(self, serving: Serving, settings: RecallSettings, names: Sequence[str] = ()) -> None:
        """`names`: those of the person whose memory it is."""
        self._serving = serving
        self._settings = settings if serving.usable else replace(settings, lexical_weight=1.0)
        self._names = tuple(names) or serving.owner
        self._known: dict[str, Floats] = {}

    def visit(self, conn: Connection, trace: Traced, memory: Mapping[int, float] | None = None) -> Revisit:
        """The question of a trace again, in the same scope and seen from the same time. `memory`: edge -> how strongly
        it fired then. Use what comes of it only while `conn` is open."""
        plan, asked_at = trace.plan, trace.asked.at
        question = plan.searched or trace.asked.question
        serving = self._serving
        state = analyse(question, self._names, plan.now or asked_at, as_of=plan.as_of, within=plan.within)
        found = retrieve(conn, serving.snapshot, serving.embedder, self._settings, state, K)
        lookup = Lookup(conn, serving.snapshot, serving.embedder, found.question.text)
        at = to_ms(plan.as_of or plan.now or asked_at) or 0
        guidance = replace(found.seeds.guidance, activation=memory or {}, at_ms=at)
        seeds = replace(found.seeds, guidance=guidance)
        return Revisit(found, *Surroundings.gather(lookup, found.graph, seeds, found.allowed, embed=self._embedded))

    def _embedded(self, texts: Sequence[str]) -> Vectors:
        """(n, d); what was embedded for an earlier question is not embedded again."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if len(self._known) + len(new) > KEPT:
            self._known.clear()
            new = list(dict.fromkeys(texts))
        if new:
            self._known.update(zip(new, self._serving.embedder.embed_documents(new), strict=True))
        return np.stack([self._known[text] for text in texts])


class Before:
    """What edges remembered before each question; call `learn` after each, in the order of time. What they were taught
    by questions that are not told, and what they inherited, is left out."""

    def __init__(self, conn: Connection, serving: Serving, traces: Sequence[int]) -> None:
        dimension = serving.embedder.dimension
        self._remembered = EdgeMemory.empty(dimension, queries.geometry(conn, serving.embedder_id))
        ids, vectors = queries.of_traces(conn, serving.embedder_id, dimension, traces)
        self._queries = dict(zip(ids.tolist(), vectors, strict=True))
        self._held: dict[int, Slots] = {}

    def fires(self, trace: int) -> Mapping[int, float]:
        """Edge -> how strongly it fired for that question."""
        key = self._remembered.key(self._queries[trace]) if trace in self._queries else None
        return {} if key is None else self._remembered.activate(key).activation_of

    def learn(self, conn: Connection, trace: int, noted: Sequence[Noted]) -> None:
        """The question was answered, and this is what edges were to learn from it."""
        key = self._remembered.key(self._queries[trace]) if trace in self._queries else None
        if key is None or not noted:
            return
        roles: dict[int, dict[edge_memory.Role, float]] = {}
        for row in noted:
            roles.setdefault(row.edge, {})[row.role] = row.delta
        nothing = Slots.none(self._remembered.dimension)
        changed = {
            edge: update_slots(self._held.get(edge, nothing), key, what, noted[0].feedback, noted[0].t)
            for edge, what in roles.items()
        }
        self._held |= changed
        self._remembered = self._remembered.with_changes(changed, edge_memory.ends(conn, changed))
