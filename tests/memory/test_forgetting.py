"""Forgetting what was learnt: it is gone from every byte of the file, and what it had replaced holds again."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from memory import Memory
from memory.errors import NotFoundError
from memory.facts.extraction import ExtractedObject, ExtractedRelation, ExtractedThesis, Extraction
from memory.nouns import Answer, Citation, Document, Receipt
from memory.revisions import Decision
from memory.settings import MemorySettings
from memory.store import files, jobs
from tests.memory.store.building import HashEmbedder

SECRET = "Marta lives in Qqqzwickl and is called Vvvnick by Jjjdrake."
WORDS = ("qqqzwickl", "vvvnick", "jjjdrake", "xxxpredicate", "zzzthesis", "wwwreason")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    embedder, by_hand = HashEmbedder(dimension=64), MemorySettings(rules=False)
    with Memory.open(tmp_path / "memory.db", embedder=embedder, settings=by_hand) as memory:  # type: ignore[arg-type]
        yield memory


def residue(memory: Memory, *words: str) -> list[str]:
    """Which of these words still stand anywhere in the files: memory, write-ahead log, journal."""
    files = [file.read_bytes().lower() for file in memory.store.path.parent.glob("memory.db*")]
    return [word for word in words if any(word.encode() in content for content in files)]


def keep(memory: Memory, day: str, text: str) -> Receipt:
    at = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return memory.ingest.remember_many([Document(f"{day}.md", text, kind="file", at=at)])[0]


def home(memory: Memory, day: str, place: str) -> int:
    """A note of that day that says where Marta lives; its episode's id."""
    text = f"Marta lives in {place}."
    [id] = keep(memory, day, text).episode_ids
    memory.knowledge.assert_facts({id: Extraction((relation("Marta", "lives in", place, len(text), single=True),))})
    return id


def relation(subject: str, predicate: str, object: str, end: int = 5, single: bool = False) -> ExtractedRelation:
    return ExtractedRelation(subject=subject, predicate=predicate, object=object, start=0, end=end, single=single)


def told_in_secret(memory: Memory) -> int:
    """A passage that a model has read, of which much was learnt and something asked; its episode's id."""
    home(memory, "2024-01-01", "Lisbon")
    for n in range(20):
        keep(memory, f"2024-02-{n + 1:02}", f"Marta wrote letter {n}.")
    [id] = keep(memory, "2025-01-01", SECRET).episode_ids
    telling = Extraction(
        relations=(
            relation("Marta", "lives in", "Qqqzwickl", 24),
            relation("Marta", "xxxpredicate of", "Jjjdrake", 24),
        ),
        theses=(ExtractedThesis(text="Zzzthesis: Marta left.", objects=("Marta", "Jjjdrake"), start=0, end=24),),
        objects=(ExtractedObject("Marta", "person", ("Vvvnick",)), ExtractedObject("Jjjdrake", "person")),
    )
    memory.knowledge.assert_facts({id: telling}, "wwwreason")
    ids = {one.objects[1]: one.id for one in memory.knowledge.facts("Marta") if one.kind == "relation"}
    memory.knowledge.apply_decisions([Decision(ids["Lisbon"], ids["Qqqzwickl"], "supersedes", 0.9)], "wwwreason")
    assert len(memory.knowledge.revisions("open")) == 1
    with memory.store.writing() as conn:
        jobs.enqueue(conn, jobs.Job("extract", "1", {"episodes": [id]}), 1000)
        jobs.enqueue(conn, jobs.Job("extract", "2", {"episodes": [id + 10_000]}), 1000)
        conn.execute(
            "INSERT INTO edge_memory SELECT e.id, 0, m.id, zeroblob(2 * m.dimension), 0.5, 1, 0, 1"
            " FROM edge e, (SELECT min(id) AS id, dimension FROM embedder) m"
            " WHERE kind = 'rel'"
        )
    list(memory.questions.ask("Where does Marta live?"))
    assert residue(memory, *WORDS) == [*WORDS]
    return id


@pytest.mark.parametrize("what", ["source", "episode"])
def test_a_passage_is_gone_with_all_that_was_learnt_of_it(memory: Memory, what: str) -> None:
    id = told_in_secret(memory)
    if what == "source":
        memory.forgetting.forget(source="2025-01-01.md")
    else:
        memory.forgetting.forget(episode=id)
    assert residue(memory, *WORDS) == []
    assert memory.maintenance.check().problems == ()
    [fact] = [one for one in memory.knowledge.facts("Marta", history=True) if one.kind == "relation"]
    assert (fact.objects, fact.valid_to, fact.superseded_by) == (("Marta", "Lisbon"), None, None)
    assert memory.knowledge.revisions("all") == []
    with memory.store.reading() as conn:
        assert conn.execute("SELECT count(*) FROM extraction WHERE episode_id = ?", (id,)).fetchone() == (0,)
        assert [job.key for job in jobs.list_jobs(conn, "queued")] == ["2"]
        assert conn.execute("SELECT count(*) FROM journal").fetchone() == (0,)
        live = "(SELECT id FROM edge UNION SELECT id FROM node)"
        for table, column in (("edge_memory", "edge_id"), ("provenance", "item_id"), ("vec", "item_id")):
            assert conn.execute(f"SELECT count(*) FROM {table} WHERE {column} NOT IN {live}").fetchone() == (0,), table
    with pytest.raises(NotFoundError):
        memory.knowledge.facts("Vvvnick")
    assert memory.questions.retrieve("Where does Marta live?").recall.hits


def test_what_is_erased_is_not_called_undone_where_the_disk_refuses_to_overwrite_it(memory: Memory) -> None:
    resource = pytest.importorskip("resource")
    for n in range(40):
        memory.ingest.remember(f"The vaultword{n} is Ana's. " * 60, source=f"note:{n}")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    memory.forgetting.forget_sources(["note:7"], wipe=False)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, before[1]))  # no file may grow: the log cannot be emptied
    try:
        assert "disk" in memory.forgetting.wipe(0.0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert memory.forgetting.unwiped_since() and residue(memory, "vaultword7 ") == ["vaultword7 "]
    assert memory.sources.get("note:7") is None, "it is gone all the same"
    assert memory.forgetting.wipe() == "" and memory.forgetting.unwiped_since() is None
    assert residue(memory, "vaultword7 ") == []


def test_an_object_takes_its_relations_and_what_they_replaced_holds_again(memory: Memory) -> None:
    told_in_secret(memory)
    memory.forgetting.forget(object="Qqqzwickl")
    facts = [one.text for one in memory.knowledge.facts("Marta") if one.kind == "relation"]
    assert sorted(facts) == ["Marta lives in Lisbon", "Marta, xxxpredicate of: Jjjdrake"]
    assert memory.knowledge.revisions("all") == []
    assert memory.maintenance.check().problems == ()


def test_a_forgotten_fact_is_gone_and_what_it_replaced_is_open_again(memory: Memory) -> None:
    home(memory, "2024-01-01", "Lisbon")
    home(memory, "2025-01-01", "Porto")
    [revision] = memory.knowledge.revisions()
    memory.knowledge.settle(revision.id, "keep")
    memory.forgetting.forget(fact=revision.new.id)
    found = [one for one in memory.knowledge.facts("Marta", history=True) if one.kind == "relation"]
    assert [(one.objects[1], one.valid_to, one.superseded_by) for one in found] == [("Lisbon", None, None)]
    assert memory.knowledge.revisions("all") == []
    with pytest.raises(NotFoundError):
        memory.knowledge.fact(revision.new.id)


def test_an_older_fact_can_be_forgotten_and_the_newer_one_stays(memory: Memory) -> None:
    home(memory, "2024-01-01", "Lisbon")
    home(memory, "2025-01-01", "Porto")
    [revision] = memory.knowledge.revisions()
    memory.forgetting.forget(fact=revision.old.id)
    [fact] = [one for one in memory.knowledge.facts("Marta", history=True) if one.kind == "relation"]
    assert (fact.objects[1], fact.valid_to) == ("Porto", None)
    assert memory.knowledge.revisions("all") == []


@pytest.mark.parametrize("gone", [["Porto"], ["Porto", "Faro"], ["Faro", "Porto"]])
def test_what_comes_after_the_forgotten_one_replaces_what_was_before(memory: Memory, gone: list[str]) -> None:
    homes = {"Lisbon": "2023-01-01", "Porto": "2024-01-01", "Faro": "2025-01-01", "Evora": "2026-01-01"}
    for place, day in homes.items():
        home(memory, day, place)
    ids = {one.objects[1]: one.id for one in memory.knowledge.facts("Marta", history=True) if one.kind == "relation"}
    for place in gone:
        memory.forgetting.forget(fact=ids[place])
    assert [one.objects[1] for one in memory.knowledge.facts("Marta") if one.kind == "relation"] == ["Evora"]
    rest = [place for place in homes if place not in gone]
    found = {one.objects[1]: one for one in memory.knowledge.facts("Marta", history=True) if one.kind == "relation"}
    assert set(found) == set(rest)
    for place, following in pairwise(rest):
        assert found[place].valid_to == datetime.fromisoformat(homes[following]).replace(tzinfo=UTC)
        assert found[place].superseded_by == found[following].id
    assert residue(memory, "lives in porto") == ["lives in porto"], "the passage stays as it was written"
    for revision in memory.knowledge.revisions("all"):
        memory.knowledge.undo(revision.id)
    open_ended = [
        one.objects[1] for one in memory.knowledge.facts("Marta") if one.kind == "relation" and one.valid_to is None
    ]
    assert sorted(open_ended) == sorted(rest), "each can still be taken back"


def test_what_is_stated_twice_is_forgotten_with_both(memory: Memory) -> None:
    home(memory, "2024-01-01", "Porto")
    [id] = keep(memory, "2024-03-01", "Marta is at home in Porto city.").episode_ids
    memory.knowledge.assert_facts({id: Extraction((relation("Marta", "is at home in", "Porto city", 31),))}, "test")
    old, new = sorted(one.id for one in memory.knowledge.facts("Marta") if one.kind == "relation")
    memory.knowledge.apply_decisions([Decision(old, new, "duplicates", 0.9)], "test")
    assert len([one for one in memory.knowledge.facts("Marta") if one.kind == "relation"]) == 1
    memory.forgetting.forget(fact=old)
    for id in (old, new):
        with pytest.raises(NotFoundError):
            memory.knowledge.fact(id)
    assert memory.maintenance.check().problems == ()


def test_a_fact_that_another_passage_tells_stays(memory: Memory) -> None:
    home(memory, "2024-01-01", "Porto")
    again = home(memory, "2024-06-01", "Porto")
    memory.forgetting.forget(episode=again)
    assert [one.objects[1] for one in memory.knowledge.facts("Marta") if one.kind == "relation"] == ["Porto"]


def test_a_name_that_another_passage_gives_stays(memory: Memory) -> None:
    for day in ("2024-01-01", "2024-02-01"):
        [id] = keep(memory, day, "Marta is called Vvvnick.").episode_ids
        telling = Extraction(objects=(ExtractedObject("Marta", "person", ("Vvvnick",)),))
        memory.knowledge.assert_facts({id: telling}, "test")
    memory.forgetting.forget(source="2024-02-01.md")
    assert memory.knowledge.facts("Vvvnick") is not None
    memory.forgetting.forget(source="2024-01-01.md")
    assert residue(memory, "vvvnick") == []


def test_copies_that_still_hold_it_are_known(memory: Memory, tmp_path: Path) -> None:
    backups = tmp_path / "backups"
    backups.mkdir()
    memory.maintenance.backup(backups / "before.db")
    id = told_in_secret(memory)
    memory.maintenance.backup(backups / "after.db")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    memory.maintenance.backup(elsewhere / "mine.db")
    with memory.store.writing() as conn:
        files.note_copy(conn, elsewhere / "mine.db")
        files.note_copy(conn, elsewhere / "mine.db")
        files.note_copy(conn, elsewhere / "deleted.db")
    (backups / "broken.db").write_bytes(b"no memory at all" * 1000)
    (tmp_path / "memory.db.before-v2.bak").write_bytes((backups / "before.db").read_bytes())
    with memory.store.reading() as conn:
        known = files.known_copies(conn, memory.store.path, backups)
        uris = files.find_rows(conn, ["2025-01-01.md"])
    assert [path.name for path in known] == ["after.db", "before.db", "broken.db", "mine.db", "memory.db.before-v2.bak"]
    fact = next(one.id for one in memory.knowledge.facts("Marta") if one.kind == "relation")
    thesis = next(one.id for one in memory.knowledge.facts("Marta") if one.kind == "thesis")
    memory.ingest.move("2025-01-01.md", "renamed.md")
    with memory.store.reading() as conn:
        renamed = files.find_rows(conn, ["renamed.md"])
        ids = [files.find_rows(conn, episode=id), *(files.find_rows(conn, fact=one) for one in (fact, thesis))]
        every = (uris, renamed, files.find_rows(conn, object="qqqzwickl"), *ids)
        nobody = files.find_rows(conn, object="nobody")
    for wanted in every:
        names = [path.name for path in files.copies_with(known, *wanted)]
        assert names == ["after.db", "broken.db", "mine.db"], wanted
    assert [path.name for path in files.copies_with(known, *nobody)] == ["broken.db"]


@pytest.mark.parametrize("question", ["Where does Marta live?", "What about Qqqzwickl?"])
def test_what_is_forgotten_while_it_is_read_is_kept_in_no_trace(memory: Memory, question: str) -> None:
    told_in_secret(memory)
    events = memory.questions.ask(question)
    read = [next(events)]
    while not isinstance(read[-1], Citation):  # whoever reads slowly holds the rest back
        read.append(next(events))
    memory.forgetting.forget(source="2025-01-01.md")
    [*_, answer] = events
    assert isinstance(answer, Answer) and answer.trace_id is None and answer.no_answer
    assert memory.questions.traces() == [] and residue(memory, *WORDS) == []


def test_unused_parts_of_split_pages_are_cleared(memory: Memory) -> None:
    """SQLite leaves copies of rows there, which deleting the rows does not overwrite: SQLite 3.53 leaves one here."""
    rng = random.Random(2)
    words = [f"zq{number:05d}x{rng.randrange(10**9)}" for number in range(300)]
    notes = [Document(word, f"The key is {word}. " + "Filler text here. " * rng.randrange(1, 60)) for word in words]
    for start in range(0, len(notes), 5):
        memory.ingest.remember_many(notes[start : start + 5])
    rng.shuffle(words)
    gone, kept = words[:150], words[150:]
    memory.forgetting.forget_sources(gone)
    assert memory.forgetting.clear_unused() and not memory.forgetting.clear_unused()
    assert residue(memory, *gone) == [] and len(residue(memory, *kept)) == 150
    assert not memory.maintenance.check().problems and not memory.forgetting.clear_unused()
