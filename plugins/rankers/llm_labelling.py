"""Refining: a model is asked which edges a question needed, within a budget of calls (ReG's refinement).

What must stay on this machine is shown to no model elsewhere: neither a text, nor a name that only such a text tells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from memory.errors import ModelCancelledError, ModelError
from memory.exploring.labels import OptionLabels
from memory.graph.walk import Walkable
from memory.protocols import LLM
from memory.store import episodes, traces, training
from memory.store import graph as stored
from memory.store.connect import Connection
from memory.store.store import Store
from memory.store.training import Label, Lesson
from plugins.rankers import labels as labelling
from plugins.rankers.examples import Revisiting
from plugins.traversers.paths import Steps


class Refining:
    """Asks one model about lessons. `calls` it has answered; `ended`: why it is not asked again, if it failed."""

    def __init__(
        self, store: Store, revisiting: Revisiting, llm: LLM, most: int, cancelled: Callable[[], bool]
    ) -> None:
        self._store = store
        self._revisiting = revisiting
        self._llm = llm
        self._most = most
        self._cancelled = cancelled
        self.calls = 0
        self.ended = ""

    @property
    def done(self) -> bool:
        """Whether it may be asked no more."""
        return self.calls >= self._most or bool(self.ended)

    def labels(self, lesson: Lesson) -> list[Label] | None:
        """What the model says of a lesson; None if there is nothing to choose from, it may not see it, or it fails.
        Raises ModelCancelledError if nobody waits for it any more."""
        with self._store.reading() as conn:
            shown = self._shown(conn, lesson)
        if shown is None:
            return None
        question, ways, lines, local_only = shown
        try:
            found = labelling.refine_labels(self._llm, question, lesson, ways, lines, local_only, self._cancelled)
        except ModelCancelledError:
            raise
        except Exception as error:  # a model of somebody else's may raise anything
            self.ended = str(error) if isinstance(error, ModelError) else type(error).__name__
            return None
        self.calls += 1
        return found

    def _shown(self, conn: Connection, lesson: Lesson) -> tuple[str, list[Steps], list[str], bool] | None:
        """What it may choose from: the question, ways and how they read, and whether this has to stay here."""
        try:
            again = self._revisiting.visit(conn, traces.get(conn, lesson.trace_id))
        except LookupError:
            return None
        walk, relevance = again.walk, again.asked.relevance

        def predicates(edges: Sequence[int]) -> dict[int, str]:
            return {edge: row[0] for edge, row in training.tellings(conn, edges).items()}

        def texts(nodes: Sequence[int]) -> dict[int, str]:
            return stored.thesis_texts(conn, nodes) | stored.object_labels(conn, nodes)

        named = tuple(again.found.named_objects) or again.asked.starts
        goals = labelling.answers(walk, lesson, texts)
        ways = labelling.candidates(walk, named, goals, relevance, predicates)
        if not ways:
            return None
        on_them, others = labelling.vertices_of(walk, ways)
        is_open = training.are_open(conn, [*lesson.cited, *_told_by(walk, ways, on_them)])
        if not self._llm.is_local and not is_open:
            return None
        passages = {episode.id: episode for episode in episodes.by_ids(conn, on_them)}
        names = texts(others)
        if not self._llm.is_local:  # a name may be known from a text that has to stay here
            said = "\n".join(f"{one.title}\n{one.text}" for one in passages.values()).casefold()
            ways = [way for way in ways if all(names.get(id, "").casefold() in said for id in way.vertices)]
            if not ways:
                return None
        edges = sorted({edge for way in ways for edge in way.edges})
        signs = OptionLabels(again.found.question, False)
        lines = labelling.read_out(ways, walk, signs, names, passages, predicates(edges))
        return again.found.question.text, ways, lines, not is_open


def _told_by(walk: Walkable, ways: Sequence[Steps], passages: Sequence[int]) -> list[int]:
    """The episodes whose text these ways show: those on them, those of their theses, and those that tell their
    relations."""
    vertices = sorted({vertex for way in ways for vertex in way.vertices})
    rows = walk.episodes_of(vertices)
    told = walk.graph.links.evidence
    edges = sorted({edge for way in ways for edge in way.edges})
    by_relation = told[np.isin(told[:, 0], edges), 1].tolist()
    return [*passages, *walk.graph.episode_ids[rows[rows >= 0]].tolist(), *by_relation]
