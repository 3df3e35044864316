"""Another embedder in place of the one there is: nobody waits, nothing is mixed, nothing is lost."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from memory import Memory
from memory.errors import InvalidInputError, NotFoundError
from memory.nouns import Document
from memory.protocols import Embedder
from memory.settings import MemorySettings, RecallSettings
from memory.store import vectors
from tests.examples import examples
from tests.memory.store.building import HashEmbedder

TEXTS = 3  # that are embedded of a note: itself and its two sentences
ON_DISK = MemorySettings(recall=RecallSettings(vectors_in_memory=0))


@dataclass
class Counting(HashEmbedder):
    """Remembers how many texts it was given, and breaks after `most` of them."""

    name: str = "counting"
    dimension: int = 12
    batch: int = 4
    most: int = 10**9
    texts: list[str] = field(default_factory=list)

    def embed_documents(self, texts: list[str]) -> np.ndarray:
        self.texts += texts
        if len(self.texts) > self.most:
            raise RuntimeError("out of breath")
        return super().embed_documents(texts) if texts else np.zeros((0, self.dimension), np.float32)


def notes(first: int, last: int) -> list[Document]:
    return [
        Document(f"note {n}", f"Crate {n} came from harbour {n % 7}. Nuria signed for it.", title=f"Crate {n}")
        for n in range(first, last)
    ]


def stored(memory: Memory) -> dict[str, tuple[bool, int, int]]:
    """Embedder -> whether it is active, how many live episodes it has seen, and how many there are."""
    with memory.store.reading() as conn:
        rows = conn.execute("SELECT id, name, active FROM embedder ORDER BY id").fetchall()
        return {name: (bool(active), *vectors.coverage(conn, id)) for id, name, active in rows}


def content(memory: Memory) -> list[tuple[str, bytes | None]]:
    with memory.store.reading() as conn:
        return sorted(
            conn.execute(
                "SELECT s.uri, v.data FROM vec v JOIN episode e ON e.node_id = v.item_id"
                " JOIN source s ON s.id = e.source_id JOIN embedder b ON b.id = v.embedder_id WHERE b.active"
            )
        )


def best_cosine(memory: Memory, question: str) -> float:
    """Of the question with a whole passage."""
    return next(
        float(step.detail["cosine"])
        for step in memory.questions.retrieve(question).recall.trace.steps
        if step.name == "text"
    )


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder=HashEmbedder()) as memory:
        memory.ingest.remember_many(notes(0, 30))
        yield memory


def test_after_a_switch_all_is_as_if_it_had_been_so_from_the_beginning(filled: Memory, static: Embedder) -> None:
    seen = list(filled.maintenance.switch_embedder(static, batch=8))
    assert seen[:4] == [(8, 30), (16, 30), (24, 30), (30, 30)]
    assert stored(filled) == {static.name: (True, 30, 30)}, "the old set is gone"
    assert filled.embedder is static and filled.browsing.stats().embedder == static.name
    assert filled.maintenance.check().problems == ()
    with Memory.open(":memory:", embedder=static) as fresh:
        fresh.ingest.remember_many(notes(0, 30))
        assert content(fresh) == content(filled)
        for question in ("Where did crate 12 come from?", "What did Nuria sign for?"):
            assert [(hit.episode.title, hit.score) for hit in filled.questions.retrieve(question).recall.hits] == [
                (hit.episode.title, hit.score) for hit in fresh.questions.retrieve(question).recall.hits
            ]


def test_the_same_embedder_again_costs_nothing(filled: Memory) -> None:
    same = Counting("hash", 8)
    list(filled.maintenance.switch_embedder(same))
    assert same.texts == []
    assert stored(filled) == {"hash": (True, 30, 30)}


def test_a_question_uses_the_old_vectors_until_the_end(filled: Memory, static: Embedder) -> None:
    bits = filled.maintenance.switch_embedder(static, batch=10)
    next(bits)
    assert stored(filled)[static.name] == (False, 10, 30)
    assert filled.embedder.name == "hash"
    exact = "Crate 3. Crate 3 came from harbour 3. Nuria signed for it."  # the hash embedder knows no other likeness
    assert best_cosine(filled, exact) == 1
    filled.ingest.remember("A heron stood on crate 99.", source="late")
    filled.ingest.retire("note 1")
    list(bits)
    assert stored(filled) == {static.name: (True, 30, 30)}
    assert filled.maintenance.check().problems == ()
    assert filled.questions.retrieve("Where did the heron stand?").recall.hits[0].channels["vector"] > 0.5


def test_what_breaks_off_changes_nothing_and_goes_on_later(filled: Memory) -> None:
    breaks = Counting(most=10 * TEXTS)
    with pytest.raises(RuntimeError, match="out of breath"):
        list(filled.maintenance.switch_embedder(breaks))
    assert stored(filled) == {"hash": (True, 30, 30), "counting": (False, 8, 30)}
    assert filled.questions.retrieve("Where did crate 12 come from?").recall.hits[0].episode.title == "Crate 12"
    assert filled.maintenance.check().problems == ()
    goes_on = Counting()
    list(filled.maintenance.switch_embedder(goes_on))
    assert len(goes_on.texts) == 22 * TEXTS
    assert stored(filled) == {"counting": (True, 30, 30)}


def test_a_memory_opened_with_another_embedder_answers_and_mixes_nothing(filled: Memory, static: Embedder) -> None:
    path = filled.store.path
    assert Memory.embedder_of(path) == "hash"
    filled.close()
    with Memory.open(path, embedder=static) as memory:
        hits = memory.questions.retrieve("Where did crate 12 come from?").recall.hits
        assert hits[0].episode.title == "Crate 12"
        assert all(hit.channels["vector"] == 0 for hit in hits), "by full text and graph alone"
        assert Memory.embedder_of(path) == "hash", "a reader changes nothing"
        memory.ingest.remember_many(notes(30, 32))
        assert stored(memory) == {"hash": (False, 30, 32), static.name: (False, 2, 32)}
        assert memory.maintenance.check().problems == ()
        assert Memory.embedder_of(path) is None, "no set is whole now"
    with Memory.open(path, embedder=HashEmbedder()) as memory:  # back again: two episodes lack, the others serve
        exact = "Crate 3. Crate 3 came from harbour 3. Nuria signed for it."
        assert best_cosine(memory, exact) == 1
        list(memory.maintenance.switch_embedder(memory.embedder))
        assert stored(memory) == {"hash": (True, 32, 32)}
        assert memory.maintenance.check().problems == ()


def test_what_was_prepared_is_written_without_the_embedder(tmp_path: Path, static: Embedder) -> None:
    first = Counting()
    with Memory.open(tmp_path / "memory.db", embedder=first) as memory:
        memory.ingest.remember_many(notes(0, 3))
        ready = memory.ingest.prepare(notes(0, 6))
        assert len(first.texts) == 6 * TEXTS, "only what is new"
        assert memory.browsing.stats().episodes == 3, "nothing is written"
        memory.ingest.retire("note 1")
        assert [one.added for one in memory.ingest.remember_many(ready)] == [0, 1, 0, 1, 1, 1]
        assert len(first.texts) == 7 * TEXTS, "and what has gone meanwhile"
        ready = memory.ingest.prepare(notes(6, 9))
        list(memory.maintenance.switch_embedder(static))
        memory.ingest.remember_many(ready)
        assert stored(memory) == {static.name: (True, 9, 9)}
        assert memory.maintenance.check().problems == ()


def test_the_set_that_questions_use_cannot_be_dropped(filled: Memory) -> None:
    with filled.store.writing() as conn, pytest.raises(InvalidInputError, match=r"hash.*Activate another"):
        vectors.drop(conn, 1)


@pytest.mark.parametrize("chosen", [MemorySettings(), ON_DISK], ids=["in memory", "on disk"])
def test_questions_and_writes_go_on_meanwhile(tmp_path: Path, chosen: MemorySettings) -> None:
    with Memory.open(tmp_path / "memory.db", embedder=HashEmbedder(), settings=chosen) as memory:
        memory.ingest.remember_many(notes(0, 60))
        failures: list[BaseException] = []
        done = threading.Event()
        asked = [0, 0]

        def until_done(work: object) -> None:
            n = 0
            try:
                while not done.is_set():
                    work(n)  # type: ignore[operator]
                    n += 1
            except BaseException as error:
                failures.append(error)

        def ask(n: int) -> None:
            found = [
                hit.episode.title
                for hit in memory.questions.retrieve(f"Where did crate {n % 60} come from?").recall.hits
            ]
            assert f"Crate {n % 60}" in found
            list(memory.questions.ask("What did Nuria sign for?"))
            asked[0] += 1

        def write(n: int) -> None:
            memory.ingest.remember(f"Heron {n} stood there.", source=f"late {n}")
            if n % 3 == 1:
                memory.ingest.retire(f"late {n - 1}")
            if n % 3 == 2:
                memory.forgetting.forget(source=f"late {n - 1}")
            asked[1] += 1

        threads = [threading.Thread(target=until_done, args=[work]) for work in (ask, ask, write)]
        for thread in threads:
            thread.start()
        for number in range(6):
            list(memory.maintenance.switch_embedder(Counting(f"number {number}", 9 + number), batch=16))
        done.set()
        for thread in threads:
            thread.join()
        assert failures == []
        assert min(asked) > 3
        ((name, (active, seen, live)),) = stored(memory).items()
        assert (name, active, seen) == ("number 5", True, live)
        assert memory.maintenance.check().problems == ()


SLOW = """
import sys, time
from memory import Memory
from tests.memory.store.building import HashEmbedder
from tests.memory.test_switch import Counting

with Memory.open(sys.argv[1], embedder=HashEmbedder()) as memory:
    for done, total in memory.maintenance.switch_embedder(Counting(), batch=4):
        print(done, flush=True)
"""


def test_kill_9_in_the_middle_loses_at_most_a_batch(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder=HashEmbedder()) as memory:
        memory.ingest.remember_many(notes(0, 400))
    seen = 0
    for _ in range(2):
        child = subprocess.Popen([sys.executable, "-c", SLOW, str(path)], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        told = [int(child.stdout.readline()) for _ in range(5)]
        child.kill()
        child.wait()
        child.stdout.close()
        assert told[0] == seen + 4, "it goes on where it was"
        with Memory.open(path, embedder=HashEmbedder()) as memory:
            assert memory.maintenance.check().problems == ()
            active, now, live = stored(memory)["counting"]
            assert not active and told[-1] <= now < live == 400
            seen = now
    last = Counting()
    with Memory.open(path, embedder=HashEmbedder()) as memory:
        list(memory.maintenance.switch_embedder(last))
        assert len(last.texts) == (400 - seen) * TEXTS
        assert stored(memory) == {"counting": (True, 400, 400)}
        assert memory.maintenance.check().problems == ()


moves = st.one_of(
    st.tuples(st.sampled_from(["write", "retire", "forget"]), st.integers(0, 9)),
    st.tuples(st.sampled_from(["switch", "part", "open"]), st.integers(0, 2)),
)


@examples(1 / 2, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(moves, max_size=14), st.integers(0, 2))
def test_whatever_happened_a_switch_makes_it_whole(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]], last: int
) -> None:
    path = tmp_path_factory.mktemp("life") / "memory.db"

    def embedder(n: int) -> Counting:
        return Counting(f"embedder {n}", 5 + n, batch=3)

    memory = Memory.open(path, embedder=embedder(0))
    try:
        for number, (what, n) in enumerate(steps):
            try:
                if what == "write":
                    memory.ingest.remember_many(notes(number * 10, number * 10 + n) or notes(0, 2))
                elif what == "retire":
                    memory.ingest.retire(f"note {n}")
                elif what == "forget":
                    memory.forgetting.forget(source=f"note {n}")
                elif what == "open":
                    memory.close()
                    memory = Memory.open(path, embedder=embedder(n))
                elif what == "part":
                    next(memory.maintenance.switch_embedder(embedder(n)), None)
                else:
                    list(memory.maintenance.switch_embedder(embedder(n)))
            except NotFoundError:
                continue
            memory.questions.retrieve("Where did crate 3 come from?")
        list(memory.maintenance.switch_embedder(embedder(last)))
        live = memory.browsing.stats().episodes
        assert stored(memory) == {f"embedder {last}": (True, live, live)}
        assert memory.maintenance.check().problems == ()
        graph, matrix = memory.state.serving.snapshot.graph, memory.state.serving.snapshot.vectors
        assert matrix is not None and np.all(np.linalg.norm(matrix[graph.alive], axis=1) > 0.99)
    finally:
        memory.close()


def test_a_memory_of_an_older_version_gets_the_vectors_of_its_sentences(filled: Memory) -> None:
    with filled.store.writing() as conn:
        conn.execute("DELETE FROM sentence_vec")
    assert filled.questions.retrieve("Crate 3").recall.hits, "it answers without them"
    assert filled.maintenance.consolidate().episodes == 30 and filled.maintenance.consolidate().episodes == 0
    with filled.store.reading() as conn:
        assert conn.execute("SELECT count(*) FROM sentence_vec").fetchone()[0] == 30
