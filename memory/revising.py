"""The part of `Memory` that keeps facts true: learning, replacing, looking at them in time, taking back."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from memory.errors import InvalidInputError, NotFoundError
from memory.facts.assertion import FactAsserter
from memory.facts.extraction import OWNER, Extraction
from memory.ingest.ingest import Change
from memory.nouns import AssertionResult, Decision, Episode, Fact, Revision, RevisionState, Verdict
from memory.protocols import Embedder, Vectors
from memory.remembering import Remembering
from memory.serving import Serving
from memory.settings import MemorySettings
from memory.store import episodes, extractions, facts, graph, relations, revisions
from memory.store.connect import Connection
from memory.store.store import Store
from memory.text.mentions import norm
from memory.time.timestamps import from_ms, to_ms

NAMES = 3  # that are offered for one that nothing has
VECTORS = 20_000  # of facts that are kept at hand while a model reads
ME = frozenset(("i", "me", "my", "myself", OWNER))  # how the person whose memory it is asks for themselves


class Revising(Remembering):
    """Facts in time. All writes are one transaction each, on the disk when the call returns."""

    store: Store
    settings: MemorySettings
    _write_lock: threading.RLock
    _serving: Serving
    _quick: Embedder | None
    _known_by: Embedder | None = None
    _known_vectors: Mapping[str, NDArray[np.float32]] = MappingProxyType({})

    # Learning -------------------------------------------------------------------------------------

    def learn(self, extractions: Mapping[int, Extraction], model: str | None = None) -> AssertionResult:
        """Learns what live episodes (ids) tell; `model` is the one that read them, None if rules did.

        Names become objects, relations are put in their place in time and replace what they can be seen to replace.
        Nothing is lost by it: every replacement is a revision. The same telling again changes nothing. Pairs of facts
        that no rule can judge come back with a model's telling, for `decided`.
        """
        with self._asserting() as asserter:
            asserter.assert_extractions(extractions, model)
            return asserter.result(None if model is None else self._embedded)

    def decided(self, decisions: Sequence[Decision], model: str) -> tuple[int, ...]:
        """Applies what a model decided of pairs of facts, where it is sure; ids of the revisions."""
        with self._asserting() as asserter:
            asserter.apply_decisions(decisions, model)
            return asserter.result().revisions

    def pair(self, old: int, new: int) -> tuple[Fact, Fact] | None:
        """Both facts as a model is to judge them, or None if one is not there any more."""
        with self.store.reading() as conn:
            if len(relations.by_id(conn, [old, new])) < 2:
                return None
            one, other = facts.by_id(conn, [old, new])
        return one, other

    def unread(self, limit: int) -> list[Episode]:
        """Live episodes that no model has read and no job has in hand: what questions found first, then the newest."""
        with self.store.reading() as conn:
            return episodes.by_ids(conn, extractions.list_unread(conn, limit))

    # Looking --------------------------------------------------------------------------------------

    def facts(
        self, about: str, as_of: datetime | None = None, history: bool = False, known_on: datetime | None = None
    ) -> list[Fact]:
        """What is known of an object, by any of its names ("me" is the person whose memory it is), newest first.

        What holds at `as_of` (default: now), as the memory knew it on `known_on` (default: now). `history` shows what
        no longer holds as well. NotFoundError for a name nothing mentions.
        """
        now = _now()
        known = now if known_on is None else to_ms(known_on)
        with self.store.reading() as conn:
            return facts.list_about(
                conn, self._objects(conn, about), known, now if as_of is None else to_ms(as_of), history
            )

    def fact(self, id: int) -> Fact:
        """One fact, replaced or retired or not. NotFoundError."""
        with self.store.reading() as conn:
            return facts.get(conn, id)

    def revisions(self, state: str = "open", limit: int = 50, about: str | None = None) -> list[Revision]:
        """Replacements of facts in a state (open | kept | undone | settled | all), the newest first; `about`: only
        those of an object. InvalidInputError, NotFoundError."""
        if state != "all" and state not in get_args(RevisionState):
            known = ", ".join(get_args(RevisionState))
            raise InvalidInputError(f"{state!r} is no state of a revision. Use one of: {known}, all.")
        chosen: RevisionState | None = None if state == "all" else state  # type: ignore[assignment]
        with self.store.reading() as conn:
            objects = None if about is None else self._objects(conn, about)
            return _revisions(conn, revisions.listing(conn, chosen, limit, objects))

    def revision(self, id: int) -> Revision:
        """One revision. NotFoundError."""
        with self.store.reading() as conn:
            return _revisions(conn, [revisions.get(conn, id)])[0]

    # Deciding -------------------------------------------------------------------------------------

    def settle(self, revision_id: int, verdict: Verdict) -> Revision:
        """What a person says of a revision. `keep`: the new fact stands and the old one is history; `both`: both hold,
        and it is not asked again; `old`: the old one stands, the new one was never true. NotFoundError."""
        if verdict not in get_args(Verdict):
            raise InvalidInputError(f"{verdict!r} is no verdict. Use one of: {', '.join(get_args(Verdict))}.")
        with self._asserting() as asserter:
            asserter.settle_revision(revisions.get(asserter.conn, revision_id), verdict)
        return self.revision(revision_id)

    def undo(self, revision_id: int) -> Revision:
        """Everything is exactly as before the revision, and it is not made again. NotFoundError."""
        with self._asserting() as asserter:
            asserter.settle_revision(revisions.get(asserter.conn, revision_id), "undo")
        return self.revision(revision_id)

    def same(self, one: str, other: str) -> int:
        """Two names mean one object: each finds both from now on, and their facts take each other's place; how many do.
        Nothing is moved, so `apart` undoes it. NotFoundError; InvalidInputError if they are one already."""
        with self._asserting() as asserter:
            ones, others = self._objects(asserter.conn, one), self._objects(asserter.conn, other)
            if set(ones) & set(others):
                raise InvalidInputError(f"{one!r} and {other!r} are one already.")
            asserter.join_objects(ones, others)
            return len(asserter.result().revisions)

    def apart(self, one: str, other: str) -> int:
        """Two names mean different objects: the opposite of `same`, also where a model took one for the other's alias.
        How many replacements it undid. NotFoundError; InvalidInputError if they are not taken for one."""
        with self._asserting() as asserter:
            ones, others = graph.called(asserter.conn, norm(one)), graph.called(asserter.conn, norm(other))
            if not ones or not others:
                raise NotFoundError(f"Nothing is known of {one if not ones else other!r}.")
            if not set(self._objects(asserter.conn, one)) & set(self._objects(asserter.conn, other)):
                raise InvalidInputError(f"{one!r} and {other!r} are two already.")
            return asserter.separate_objects(ones, others)

    # ----------------------------------------------------------------------------------------------

    @contextmanager
    def _asserting(self) -> Iterator[FactAsserter]:
        """A transaction of learning; after it questions see what has changed."""
        with self._write_lock:
            with self.store.writing() as conn:
                asserter = self._asserter(conn)
                yield asserter
                changes = asserter.graph_changes()
                self._made_whole(conn)
            self._show(changes)
            self._look_again()

    def _asserter(self, conn: Connection) -> FactAsserter:
        return FactAsserter(conn, _now(), self.settings.person.names or self._serving.owner)

    def _show(self, changes: Sequence[Change]) -> None:
        """Questions see from now on what was learnt."""
        snapshot = self._serving.snapshot
        for change in changes:
            snapshot = snapshot.after(change, np.zeros((0, self._serving.embedder.dimension), np.float32))
        self._serving = replace(self._serving, snapshot=snapshot)

    def _embedded(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts, of which the same come again and again."""
        embedder = self._quick or self._serving.embedder
        known = dict(self._known_vectors) if self._known_by is embedder and len(self._known_vectors) < VECTORS else {}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(new, embedder.embed_documents(new), strict=True) if new else ())
        self._known_by, self._known_vectors = embedder, known
        return np.array([known[text] for text in texts], np.float32)

    def _objects(self, conn: Connection, name: str) -> list[int]:
        """The objects of that name. NotFoundError if there are none."""
        key = norm(name)
        found = graph.all_by_norm(conn, key)
        if not found and key in ME:
            found = graph.owner(conn)
        if not found:
            names = graph.beginning_with(conn, key, NAMES) if key else []
            known = f" There is: {', '.join(names)}." if names else ""
            raise NotFoundError(f"Nothing is known of {name!r}.{known}")
        return found


def _revisions(conn: Connection, rows: Sequence[revisions.Row]) -> list[Revision]:
    ids = sorted({id for row in rows for id in (row.old, row.new)})
    known = {fact.id: fact for fact in facts.by_id(conn, ids)}
    found = []
    for row in rows:
        if row.old in known and row.new in known:
            old, new = known[row.old], known[row.new]
            at, settled = from_ms(row.t), from_ms(row.settled)
            found.append(
                Revision(row.id, row.relation, old, new, row.reason, row.author, row.conf, row.state, at, settled)
            )
    return found


def _now() -> int:
    """The store's time: ms UTC."""
    return time.time_ns() // 1_000_000
