"""A memory that learns from questions, and what may happen to it, for the tests of what edges remember."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import strategies as st

from memory.edge_memory import rebuild, reinforce
from memory.edge_memory.edges import EdgeMemory
from memory.edge_memory.reinforce import Credit
from memory.errors import NotFoundError
from memory.nouns import Answer, Citation, Trace
from memory.store import edge_memory, forget, relations, revisions, traces, vectors
from memory.store.connect import Connection
from memory.store.store import Store
from tests.memory.store.building import DIMENSION, HashEmbedder, remember

QUESTIONS = [f"question {n} of what Ana did" for n in range(9)]


class Other(HashEmbedder):
    """Another embedder of another dimension."""

    def __init__(self) -> None:
        super().__init__("other", 12)


class Life:
    """A memory with four episodes and six relations, and all that is learnt from questions about them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.embedder = HashEmbedder()
        self.clock = 1000
        with store.writing() as conn:
            self.episodes = remember(
                conn, "a.md", "Ana met Bo.", "Bo lives in Rome.", "Ana lives in Oslo.", "Cy met Ana."
            )
            self.id = vectors.register(conn, self.embedder)
            objects = [id for (id,) in conn.execute("SELECT id FROM node WHERE kind = 'O' ORDER BY id")]
            plain, _ = relations.ensure_predicate(conn, "lives in", "lives in")
            self.relations = [
                relations.insert(conn, objects[0], plain, objects[n % 3 + 1], "asserted", 1.0, n, None, 1)
                for n in range(6)
            ]
            for n, id in enumerate(self.relations):
                relations.add_evidence(conn, id, self.episodes[n % 4], 0, 3, "rule")
            others = [id for (id,) in conn.execute("SELECT id FROM edge WHERE kind <> 'rel' ORDER BY id")]
            self.edges = [*self.relations, *others]
        self.remembered = EdgeMemory.empty(DIMENSION)
        self.asked: list[int] = []
        self.made: list[int] = []

    def ask(self, question: int, used: list[int], shown: list[int], grounded: bool = True) -> int:
        """One question, whose answer cites the first episode that is left."""
        self.clock += 7
        with self.store.writing() as conn:
            live = [id for (id,) in conn.execute("SELECT id FROM node WHERE kind = 'E' AND t_expired IS NULL")]
            read = tuple(live[:1] if used else ())
            answer = Answer(
                "Yes.", tuple(Citation(1, id, "a.md", "A title", "Ana") for id in read), no_answer=not grounded
            )
            trace = traces.store(conn, Trace(QUESTIONS[question]), answer, self.clock)
            cited = {self.edges[n % len(self.edges)]: 4 + 4 * (n % 2) for n in used}
            useless = {
                self.edges[n % len(self.edges)]: 0.35 for n in shown if self.edges[n % len(self.edges)] not in cited
            }
            credit = Credit(grounded, cited, read, (), useless if grounded else {}, {}, (*cited, *useless), ())
            query = self.embedder.embed_query(QUESTIONS[question])
            self.remembered = reinforce.reinforce_edges(
                conn, self.remembered, self.id, trace, query, credit, self.clock
            )
        return trace

    def supersede(self, old: int, new: int) -> int:
        self.clock += 7
        old, new = self.relations[old], self.relations[new]
        with self.store.writing() as conn:
            revision = revisions.add(conn, "supersedes", old, new, "", "rule", 1.0, self.clock)
            revisions.change(conn, revision, old, "superseded_by", new, self.clock)
        return revision

    def retract(self, old: int, new: int) -> int:
        self.clock += 7
        with self.store.writing() as conn:
            revision = revisions.add(
                conn, "duplicates", self.relations[old], self.relations[new], "", "user", 1.0, self.clock
            )
            revisions.change(conn, revision, self.relations[new], "t_expired", self.clock, self.clock)
        return revision

    def take_back(self, revision: int) -> None:
        with self.store.writing() as conn:
            revisions.revert(conn, revision)
            rebuild.complete(conn, self.id, DIMENSION)

    def say(self, trace: int, feedback: int | None) -> None:
        with self.store.writing() as conn:
            rebuild.apply_verdict(conn, self.id, DIMENSION, trace, feedback)

    def forget(self, episode: int) -> None:
        with self.store.writing() as conn:
            forget.episode(conn, self.episodes[episode], self.clock)
            rebuild.complete(conn, self.id, DIMENSION)

    def opened(self) -> int:
        """The edge that stands for having read the first episode."""
        with self.store.reading() as conn:
            return edge_memory.openings(conn, self.episodes[:1])[self.episodes[0]]

    def move(self, what: str, how: list[Any]) -> None:
        """Does one of `moves`, if it can be done."""
        with suppress(NotFoundError, TypeError):  # it was forgotten
            if what == "ask":
                self.asked.append(self.ask(*how))
            elif what == "fail":
                self.asked.append(self.ask(*how, [], grounded=False))
            elif what in ("supersede", "retract") and how[0] != how[1]:
                self.made.append(getattr(self, what)(*how))
            elif what == "back" and self.made:
                self.take_back(self.made.pop(how[0] % len(self.made)))
            elif what == "say" and self.asked:
                self.say(self.asked[how[0] % len(self.asked)], how[1])
            elif what == "forget":
                self.forget(how[0])

    def rows(self) -> list[Any]:
        with self.store.reading() as conn:
            return dump(conn)

    def rebuilt(self) -> list[Any]:
        with self.store.writing() as conn:
            edge_memory.clear(conn, self.id)
            rebuild.complete(conn, self.id, DIMENSION)
        return self.rows()


def dump(conn: Connection) -> list[Any]:
    return conn.execute("SELECT * FROM edge_memory ORDER BY embedder_id, edge_id, slot").fetchall()


few = st.integers(0, 5)
numbers = st.one_of(st.integers(0, 2), st.integers(0, 2), st.integers(0, 11))
moves = st.one_of(
    *[
        st.tuples(
            st.just("ask"), st.integers(0, 8), st.lists(numbers, min_size=1, max_size=3), st.lists(numbers, max_size=6)
        )
    ]
    * 4,
    st.tuples(st.just("fail"), st.integers(0, 8), st.lists(numbers, min_size=1, max_size=3)),
    *[st.tuples(st.just("supersede"), st.integers(0, 2), few)] * 2,
    st.tuples(st.just("retract"), few, few),
    st.tuples(st.just("back"), numbers),
    st.tuples(st.just("say"), numbers, st.sampled_from([1, -1, None])),
    st.tuples(st.just("forget"), st.integers(0, 3)),
)
