"""Text that no question finds any more: it is listed, and erased when a person says so or its time has come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory import Memory
from memory.nouns import Answer, Citation, Document, Step, Trace, Visit
from memory.services.forgetting import ANY_TIME, Expiry
from memory.store import traces
from memory.views import Forgotten
from tests.memory.store.building import HashEmbedder
from tests.memory.test_forgetting import residue

BEGAN = datetime(2025, 3, 1, 9, tzinfo=UTC)
HOUR = 3_600_000


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder=HashEmbedder(dimension=64)) as memory:  # type: ignore[arg-type]
        yield memory


def write(memory: Memory, uri: str, text: str, minutes: float = 0) -> None:
    """A version of a note, saved so many minutes after the first."""
    at = BEGAN + timedelta(minutes=minutes)
    memory.ingest.remember_many([Document(uri, text, kind="file", at=at, sha256=f"{hash(text) & 0xFFFF:064x}")])


def notes(memory: Memory) -> None:
    write(memory, "/n/bank.md", "The name of the account is vaultname4711.")
    write(memory, "/n/bank.md", "The PIN of the account is in the safe.", 60 * 24)
    write(memory, "/n/old.md", "The letter says secretletter0815 to Ada.")
    write(memory, "/elsewhere/c.md", "Bo writes kkkfirst.")
    write(memory, "/elsewhere/c.md", "Bo writes nothing.", 60 * 24)
    memory.ingest.retire("/n/old.md")


def test_what_is_retired_is_listed_and_erased(memory: Memory) -> None:
    notes(memory)
    listed, total = memory.forgetting.list_retired(10)
    assert total == 3 and {(one.uri, one.deleted, one.passages) for one in listed} == {
        ("/n/old.md", True, 1), ("/n/bank.md", False, 1), ("/elsewhere/c.md", False, 1)
    }  # fmt: skip
    assert len(memory.forgetting.list_retired(1)[0]) == 1
    assert residue(memory, "vaultname4711", "secretletter0815") == ["vaultname4711", "secretletter0815"]
    gone = memory.forgetting.forget_retired("/n") + memory.forgetting.forget_retired("/n")
    assert (gone.sources, gone.episodes) == (1, 2) and memory.forgetting.forget_retired("/n") == Forgotten()
    memory.forgetting.wipe()
    assert residue(memory, "vaultname4711", "secretletter0815") == []
    assert [one.uri for one in memory.forgetting.list_retired(10)[0]] == ["/elsewhere/c.md"]
    assert "safe" in memory.questions.retrieve("PIN of the account").recall.hits[0].episode.text
    assert memory.maintenance.check().problems == ()
    assert memory.forgetting.forget_retired().episodes == 1 and memory.forgetting.count_retired() == 0


def test_a_file_whose_time_has_come_is_read_when_it_comes_back_and_a_forgotten_one_is_not(memory: Memory) -> None:
    for name in ("expired", "forgotten"):
        write(memory, f"/n/{name}.md", f"The letter of {name}.")
        sha256 = memory.sources.get(f"/n/{name}.md").sha256  # type: ignore[union-attr]
        memory.ingest.retire(f"/n/{name}.md")
        if name == "expired":
            assert memory.forgetting.expire(Expiry(deleted=ANY_TIME)).sources == 1
        else:
            memory.forgetting.forget_retired()
        assert memory.sources.is_forgotten(sha256) == (name == "forgotten")


def test_each_kind_goes_in_its_own_time(memory: Memory) -> None:
    notes(memory)
    long_ago = int(BEGAN.timestamp() * 1000)
    assert memory.forgetting.expire(Expiry(long_ago, long_ago, long_ago, HOUR)) == Forgotten(), (
        "it was retired just now"
    )
    assert memory.forgetting.expire(Expiry(drafts=ANY_TIME, shortest=HOUR)) == Forgotten(), "it stood for a day"
    gone = memory.forgetting.expire(Expiry(deleted=ANY_TIME))
    assert (gone.sources, gone.pending) == (1, "") and residue(memory, "secretletter0815", "vaultname4711") == [
        "vaultname4711"
    ]
    assert memory.forgetting.expire(Expiry(edited=ANY_TIME)).episodes == 2
    assert residue(memory, "vaultname4711") == []


def test_of_a_note_that_is_being_written_only_what_stood_is_kept(memory: Memory) -> None:
    """A value that stood for minutes goes, and what it had replaced is replaced by what came after it."""
    write(memory, "/n/flat.md", "Rent: 800 euros.")
    for minutes, rent in ((60 * 24, 900), (60 * 24 + 5, 950), (60 * 24 + 9, 980), (60 * 48, 990)):
        write(memory, "/n/flat.md", f"Rent: {rent} euros.", minutes)
    assert memory.forgetting.expire(Expiry(drafts=ANY_TIME, shortest=HOUR)).episodes == 2
    assert residue(memory, "900 euros", "950 euros", "980 euros", "800 euros") == ["980 euros", "800 euros"]
    follows = {(one.old.quote, one.new.quote) for one in memory.knowledge.revisions("all")}
    assert follows == {("Rent: 800 euros.", "Rent: 980 euros."), ("Rent: 980 euros.", "Rent: 990 euros.")}
    then = memory.questions.retrieve("Rent", as_of=BEGAN + timedelta(hours=12)).recall.hits
    assert [hit.episode.text for hit in then] == ["Rent: 800 euros."]
    assert memory.maintenance.check().problems == ()


# Questions ------------------------------------------------------------------------------------------------------


def lessons(memory: Memory) -> list[tuple[object, ...]]:
    with memory.store.reading() as conn:
        return conn.execute("SELECT * FROM edge_memory ORDER BY edge_id, slot, embedder_id").fetchall()


def test_of_old_questions_stays_what_is_learnt_from_them(memory: Memory) -> None:
    memory.state.settings = replace(
        memory.state.settings, answer=replace(memory.state.settings.answer, lines=1)
    )  # each cites one note
    for n, who in enumerate(("Ana", "Bo", "Cleo", "Dina")):
        memory.ingest.remember(f"{who} lives in house {n} of Lisbon.", source=f"/n/{who}.md")
    asked = []
    for who in ("Ana", "Bo", "Cleo"):
        *_, answer = memory.questions.ask(f"Where does {who} live?")
        asked.append(answer.trace_id)
    judged, plain, newest = asked
    memory.questions.feedback(judged, "good")
    before = lessons(memory)
    assert memory.forgetting.thin_out_questions(1, before=0) == 0, "they were asked later"
    assert before and memory.forgetting.thin_out_questions(1) == 2 and memory.forgetting.thin_out_questions(1) == 0
    whole, thin = memory.questions.trace(newest), memory.questions.trace(plain)
    assert whole.steps and whole.visits and whole.answer and whole.answer.citations[0].passage
    assert (thin.asked.question, thin.asked.no_answer) == ("Where does Bo live?", False)
    assert (thin.steps, thin.visits, thin.answer) == ((), (), None)
    kept = memory.questions.trace(judged).answer
    assert kept and kept.citations[0].quote and not kept.citations[0].passage, (
        "a ranker learns from what was called good"
    )

    assert memory.maintenance.diagnose().questions == 1, "of the others it is not known any more what they found"
    memory.maintenance.rebuild_edge_memory()
    assert lessons(memory) == before and memory.maintenance.check().problems == ()
    assert memory.questions.why(plain).used == ()
    memory.forgetting.forget(source="/n/Bo.md")
    assert plain not in [one.id for one in memory.questions.traces()], "forgetting finds it by what it cited"
    assert judged in [one.id for one in memory.questions.traces()]


def test_ten_thousand_questions_are_twenty_megabytes(memory: Memory) -> None:
    """Here a tenth of them, each as large as one about a note of a hundred words is."""
    id = memory.ingest.remember("Ana lives in Lisbon.", source="/n/a.md").episode_ids[0]
    steps = tuple(Step(f"stage {n}", 1.0, {"words": "w" * 130}) for n in range(11))
    visits = tuple(Visit(id, "episode", "Ana", 1.0, "text") for _ in range(12))
    cited = tuple(
        Citation(n, id, "/n/a.md", "Ana", "Ana lives in Lisbon." * 3, 1, 2, passage="p" * 600) for n in range(8)
    )
    memory.forgetting.wipe()
    before = memory.store.path.stat().st_size
    with memory.store.writing() as conn:
        for n in range(1000):
            traces.store(conn, Trace(f"Where does Ana live, {n}?", steps, visits), Answer("a" * 500, cited), 1000)
    assert memory.forgetting.thin_out_questions(50) == 950
    assert memory.forgetting.clear_unused()
    assert memory.store.path.stat().st_size - before < 2_000_000 - 1000 * 650, (
        "and 650 bytes for what is learnt from it"
    )


# The file -------------------------------------------------------------------------------------------------------


def test_the_file_gets_shorter_again(memory: Memory) -> None:
    for k in range(40):
        paragraphs = [f"Paragraph {i} of version {k} says w{i}." for i in range(100)]
        write(memory, "/n/a.md", "\n\n".join(paragraphs), k)
    memory.ingest.remember("Bo lives in Porto.", source="/n/b.md")
    memory.forgetting.wipe()
    grown = memory.store.path.stat().st_size
    assert not memory.forgetting.clear_unused(), "there is nothing to give back"
    memory.forgetting.expire(Expiry(drafts=ANY_TIME, shortest=HOUR))
    assert memory.forgetting.clear_unused() and memory.store.path.stat().st_size < grown / 2
    assert memory.questions.retrieve("Where does Bo live?").recall.hits[0].episode.source.uri == "/n/b.md"
    assert memory.maintenance.check().problems == () and not memory.forgetting.clear_unused()
