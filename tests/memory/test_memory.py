"""The library as its callers see it: a real file, real vectors, nothing replaced."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from memory import Memory
from memory.errors import InvalidInputError, NotFoundError
from memory.nouns import Answer, Citation, Document, Scope, Step, Token, Turn
from memory.protocols import Embedder
from tests.examples import examples


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


LIGHT = """# Gannet Light

The lamp burns paraffin. Nuria Solano keeps the key.

## Visiting

Open on Sundays. The keeper is Nuria Solano.
"""


def asked(memory: Memory, question: str, **limits: object) -> Answer:
    *_, answer = memory.questions.ask(question, **limits)  # type: ignore[arg-type]
    assert isinstance(answer, Answer)
    return answer


def test_what_was_remembered_is_found_and_cited(fresh: Memory) -> None:
    receipt = fresh.ingest.remember(
        LIGHT, title="Gannet Light", source="/notes/light.md", at=day("2025-03-01"), ref="mine"
    )
    found = fresh.questions.retrieve("Who keeps the key of the lamp?").recall
    assert found.hits[0].episode.id in receipt.episode_ids
    assert found.hits[0].episode.ref == "mine"
    events = list(fresh.questions.ask("Who keeps the key of the lamp?"))
    assert {type(event) for event in events} >= {Step, Token, Citation, Answer}
    answer = events[-1]
    assert isinstance(answer, Answer)
    assert "Nuria Solano keeps the key." in answer.text.splitlines()[0]
    first = answer.citations[0]
    assert (first.label, first.quote) == ("/notes/light.md:3", "The lamp burns paraffin. Nuria Solano keeps the key.")
    assert "".join(event.text for event in events if isinstance(event, Token)).strip() == answer.text


def test_every_citation_quotes_its_source(fresh: Memory) -> None:
    fresh.ingest.remember(LIGHT, title="Gannet Light", source="/notes/light.md")
    lines = LIGHT.splitlines()
    for citation in asked(fresh, "When is the light open for visiting and who is the keeper?").citations:
        assert citation.line is not None
        assert citation.quote in "\n".join(lines[citation.line - 1 :])
        assert citation.quote.split()[0] in lines[citation.line - 1]


def test_a_line_is_that_of_the_original_where_the_reader_made_the_text(fresh: Memory) -> None:
    text = "Fog signal\n\nThe horn is a Vega.\nIt was last sounded by Ozzie Penhale.\n"
    document = Document("/fog.html", text, title="Fog", lines=(3, 3, 17, 22, 22))
    fresh.ingest.remember_many([document])
    citation = asked(fresh, "Who was it last sounded by?").citations[0]
    assert (citation.quote, citation.label) == ("It was last sounded by Ozzie Penhale.", "/fog.html:22")
    assert fresh.knowledge.facts("Ozzie Penhale")[0].line == 22
    moved = Document("/fog.html", text, title="Fog", lines=(5, 5, 19, 24, 24))
    assert fresh.ingest.remember_many([moved])[0].kept == 1
    assert asked(fresh, "Who was it last sounded by?").citations[0].line == 24


def test_the_same_again_changes_nothing(fresh: Memory) -> None:
    first = fresh.ingest.remember(LIGHT, source="/notes/light.md")
    before = fresh.browsing.stats()
    second = fresh.ingest.remember(LIGHT, source="/notes/light.md")
    assert (second.episode_ids, second.added, second.removed) == (first.episode_ids, 0, 0)
    after = fresh.browsing.stats()
    assert (after.episodes, after.theses, after.objects, after.edges) == (
        before.episodes,
        before.theses,
        before.objects,
        before.edges,
    )


def test_a_changed_source_keeps_what_did_not_change(fresh: Memory) -> None:
    section = "The fog horn sounds. " * 60
    old = f"# One\n\n{section}\n\n# Two\n\nThe cat is called Bosun. {section}\n\n# Three\n\n{section}\n"
    new = "An opening line that pushes all down.\n\n" + old.replace("Bosun", "Purser")
    first = fresh.ingest.remember(old, title="N", source="/n.md")
    second = fresh.ingest.remember(new, title="N", source="/n.md")
    kept = set(first.episode_ids) & set(second.episode_ids)
    assert kept
    assert second.removed > 0
    assert "Purser" in asked(fresh, "What is the cat called?").text
    assert all("Bosun" not in hit.episode.text for hit in fresh.questions.retrieve("Bosun the cat").recall.hits)
    moved = {hit.episode.id: hit.episode.line for hit in fresh.questions.retrieve("fog horn").recall.hits}
    assert all(line > 2 for id, line in moved.items() if id in kept and line)
    assert not fresh.maintenance.check().problems


def test_properties_that_change_are_mentioned_again(fresh: Memory) -> None:
    def version(keeper: str) -> Document:
        return Document("/p.md", "A round tower by the sea.", title="Tower", properties={"keeper": keeper})

    first = fresh.ingest.remember_many([version("Ozzie Penhale")])[0]
    second = fresh.ingest.remember_many([version("Juno Abara")])[0]
    assert first.episode_ids == second.episode_ids
    assert fresh.questions.retrieve("Juno Abara").recall.trace.visits[0].label == "Juno Abara"
    assert all(
        visit.label != "Ozzie Penhale" for visit in fresh.questions.retrieve("Ozzie Penhale").recall.trace.visits
    )
    assert not fresh.maintenance.check().problems


def test_a_batch_is_all_or_nothing(fresh: Memory) -> None:
    with pytest.raises(InvalidInputError, match="no words"):
        fresh.ingest.remember_many([Document("a", "Good words."), Document("b", " \n ")])
    assert fresh.browsing.stats().sources == 0
    assert fresh.questions.retrieve("good words").recall.hits == ()


def test_of_two_versions_in_one_batch_the_later_counts(fresh: Memory) -> None:
    first, second = fresh.ingest.remember_many([Document("a", "The door is red."), Document("a", "The door is blue.")])
    assert first == second
    assert "blue" in asked(fresh, "What colour is the door?").text


def test_a_chat_is_found_by_turn(fresh: Memory) -> None:
    turns = (
        Turn("Ana", "Where do we meet on Friday?", day("2025-05-01"), "t1"),
        Turn("Rui", "At the Café Nero, six o'clock.", day("2025-05-01"), "t2"),
    )
    fresh.ingest.remember_many([Document("chat:1", turns=turns, kind="chat", title="Plans", conversation="c1")])
    hit = fresh.questions.retrieve("Where do Ana and Rui meet?").recall.hits[0]
    assert set(hit.episode.refs) == {"t1", "t2"}
    assert "Café Nero" in asked(fresh, "Where do we meet on Friday?").text


def test_an_older_value_stands_behind_the_newer_one(fresh: Memory) -> None:
    fresh.ingest.remember(
        "The harbour office is in Quay Street 4.", title="Harbour", source="old", at=day("2023-01-01")
    )
    fresh.ingest.remember("The harbour office is in Mole Lane 9.", title="Harbour", source="new", at=day("2025-01-01"))
    lines = asked(fresh, "Where is the harbour office?").text.splitlines()
    assert "Mole Lane" in lines[0]
    assert lines[1].startswith("- earlier: ")
    assert "Quay Street" in lines[1]


def test_as_of_knows_nothing_later(fresh: Memory) -> None:
    fresh.ingest.remember("The harbour office is in Quay Street 4.", source="old", at=day("2023-01-01"))
    fresh.ingest.remember("The harbour office is in Mole Lane 9.", source="new", at=day("2025-01-01"))
    answer = asked(fresh, "Where is the harbour office?", as_of=day("2024-01-01"))
    assert "Quay Street" in answer.text
    assert "Mole Lane" not in answer.text


def test_within_limits_every_stage(fresh: Memory) -> None:
    fresh.ingest.remember_many(
        [
            Document("/office/a.md", "Lumen moved to Rome.", tags=("work",)),
            Document("/home/b.md", "Lumen is the cat's name.", tags=("home",)),
        ]
    )
    for scope in (Scope(folders=("/home",)), Scope(tags=("home",)), Scope(sources=("/home/b.md",))):
        assert [hit.episode.source.uri for hit in fresh.questions.retrieve("Lumen", within=scope).recall.hits] == [
            "/home/b.md"
        ]
    assert fresh.questions.retrieve("Lumen", within=Scope(folders=("/nowhere",))).recall.hits == ()


def test_what_memory_does_not_hold_is_refused(fresh: Memory) -> None:
    assert "Nothing has been read yet" in asked(fresh, "Who keeps the key?").text
    fresh.ingest.remember(LIGHT, source="/notes/light.md")
    answer = asked(fresh, "What is the boiling point of tungsten?")
    assert answer.no_answer
    assert answer.citations == ()
    assert "tungsten" in answer.missing


@pytest.mark.parametrize("question", ["", "   \n", "x" * 100_000])
def test_a_question_that_cannot_be_meant_is_refused_at_once(fresh: Memory, question: str) -> None:
    with pytest.raises(InvalidInputError):
        fresh.questions.ask(question)
    with pytest.raises(InvalidInputError):
        fresh.questions.retrieve(question)


@pytest.mark.parametrize("question", ["灯台守は誰ですか？", "кто хранит ключ", "???", "'\" OR NEAR( *", "\ud800"])
def test_any_other_question_is_answered_somehow(fresh: Memory, question: str) -> None:
    fresh.ingest.remember(LIGHT, source="/notes/light.md")
    assert asked(fresh, question).text


def test_a_question_without_a_word_is_refused(fresh: Memory) -> None:
    fresh.ingest.remember(LIGHT, source="/notes/light.md")
    answer = asked(fresh, "???")
    assert answer.no_answer and answer.text.startswith("The question contains no word") and not answer.citations


def test_a_moved_source_keeps_its_episodes(fresh: Memory) -> None:
    ids = fresh.ingest.remember(LIGHT, source="/a.md").episode_ids
    fresh.ingest.move("/a.md", "/b.md")
    hit = fresh.questions.retrieve("lamp paraffin").recall.hits[0]
    assert (hit.episode.id, hit.episode.source.uri) == (ids[0], "/b.md")
    with pytest.raises(NotFoundError):
        fresh.ingest.move("/a.md", "/c.md")


def test_a_retired_source_is_not_found_and_can_come_back(fresh: Memory) -> None:
    fresh.ingest.remember(LIGHT, source="/a.md")
    assert fresh.ingest.retire("/a.md") > 0
    assert fresh.questions.retrieve("lamp paraffin").recall.hits == ()
    fresh.ingest.remember(LIGHT, source="/a.md")
    assert fresh.questions.retrieve("lamp paraffin").recall.hits
    assert not fresh.maintenance.check().problems


def test_what_is_forgotten_is_gone_from_the_file(fresh: Memory) -> None:
    fresh.ingest.remember("The password of the tower is Xylophagous77.", source="/secret.md")
    asked(fresh, "What is the password of the tower?")
    fresh.forgetting.forget(source="/secret.md")
    assert fresh.questions.retrieve("password tower").recall.hits == ()
    files = list(fresh.store.path.parent.glob("memory.db*"))
    assert files
    assert all(b"Xylophagous77" not in file.read_bytes() for file in files)
    with pytest.raises(InvalidInputError):
        fresh.forgetting.forget()
    with pytest.raises(InvalidInputError):
        fresh.forgetting.forget(source="a", episode=1)


def test_many_are_forgotten_at_once_or_none(fresh: Memory) -> None:
    for name in "abc":
        fresh.ingest.remember(f"The secret of {name} is kept.", source=f"/{name}.md")
    with pytest.raises(NotFoundError):
        fresh.forgetting.forget_sources(["/a.md", "/nowhere.md"])
    assert fresh.browsing.stats().sources == 3
    assert fresh.forgetting.forget_sources(["/a.md", "/b.md"]).sources == 2
    assert [hit.episode.source.uri for hit in fresh.questions.retrieve("secret").recall.hits] == ["/c.md"]
    assert fresh.forgetting.forget_sources([]).sources == 0


def test_facts_about_a_name(fresh: Memory) -> None:
    fresh.ingest.remember(LIGHT, source="/notes/light.md", at=day("2025-03-01"))
    facts = fresh.knowledge.facts("nuria solano")
    assert {"Nuria Solano keeps the key.", "The keeper is Nuria Solano."} <= {fact.text for fact in facts}
    with pytest.raises(NotFoundError):
        fresh.knowledge.facts("Nobody Known")


def test_a_verdict_is_one_of_three_on_an_answer_that_is_there(fresh: Memory) -> None:
    with pytest.raises(InvalidInputError, match="Use good, bad or none"):
        fresh.questions.feedback(1, "great")
    with pytest.raises(NotFoundError, match="no trace 1"):
        fresh.questions.feedback(1, "good")


def test_a_reopened_memory_answers_alike(tmp_path: Path, static: Embedder) -> None:
    path = tmp_path / "m.db"
    with Memory.open(path, embedder=static) as memory:
        memory.ingest.remember(LIGHT, source="/light.md")
        memory.ingest.remember("Ozzie Penhale sells paraffin.", source="/ozzie.md")
        before = [
            (hit.episode.id, round(hit.score, 5))
            for hit in memory.questions.retrieve("Who sells paraffin?").recall.hits
        ]
    with Memory.open(path, embedder=static) as memory:
        after = [
            (hit.episode.id, round(hit.score, 5))
            for hit in memory.questions.retrieve("Who sells paraffin?").recall.hits
        ]
    assert before == after


def test_a_backup_is_a_memory(fresh: Memory, tmp_path: Path, static: Embedder) -> None:
    fresh.ingest.remember(LIGHT, source="/light.md")
    fresh.maintenance.backup(tmp_path / "copy.db")
    with Memory.open(tmp_path / "copy.db", embedder=static) as copy:
        assert copy.questions.retrieve("lamp").recall.hits
    with pytest.raises(InvalidInputError):
        fresh.maintenance.backup(tmp_path / "copy.db")


def test_vectors_on_disk_find_the_same(tmp_path: Path, static: Embedder, fresh: Memory) -> None:
    from dataclasses import replace

    from memory.settings import MemorySettings

    documents = [Document(f"/{name}.md", f"{name} is a town by the sea.") for name in ("Oban", "Lagos", "Faro", "Kyle")]
    fresh.ingest.remember_many(documents)
    base = MemorySettings()
    on_disk = replace(base, recall=replace(base.recall, vectors_in_memory=0))
    with Memory.open(tmp_path / "disk.db", embedder=static, settings=on_disk) as other:
        other.ingest.remember_many(documents)
        assert [h.episode.title for h in other.questions.retrieve("seaside town").recall.hits] == [
            h.episode.title for h in fresh.questions.retrieve("seaside town").recall.hits
        ]


def test_questions_and_writes_at_once(fresh: Memory) -> None:
    fresh.ingest.remember(LIGHT, source="/light.md")
    failures: list[BaseException] = []
    done = threading.Event()

    def ask() -> None:
        try:
            while not done.is_set():
                assert fresh.questions.retrieve("Who keeps the key?").recall.hits
                assert asked(fresh, "Who keeps the key?").text
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for n in range(25):
        fresh.ingest.remember(f"Ship number {n} passed Gannet Light.", source=f"/ship/{n % 7}.md")
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert not fresh.maintenance.check().problems


words = st.sampled_from("Ana Rui Lisbon ferry harbour lamp [[Nuria Solano]] #sea 2024 keeps sells paraffin".split())
texts = st.lists(words, min_size=1, max_size=12).map(" ".join)
steps = st.lists(st.tuples(st.sampled_from("abcd"), st.one_of(texts, st.just("retire"))), max_size=12)


@examples(1 / 2, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_the_snapshot_grown_by_writes_is_the_one_loaded(static: Embedder, changes: list[tuple[str, str]]) -> None:
    with Memory.open(":memory:", embedder=static) as memory:
        for uri, text in changes:
            if text != "retire":
                memory.ingest.remember(text, source=uri)
            else:
                try:
                    memory.ingest.retire(uri)
                except NotFoundError:
                    continue
        question = "Who sells paraffin to Nuria Solano in Lisbon?"
        grown = [(hit.episode.text, round(hit.score, 4)) for hit in memory.questions.retrieve(question).recall.hits]
        memory.state.serving = memory.state.load(static, memory.state.serving.embedder_id)
        assert sorted(grown) == sorted(
            (hit.episode.text, round(hit.score, 4)) for hit in memory.questions.retrieve(question).recall.hits
        )
        assert not memory.maintenance.check().problems


def test_a_slow_embedder_reads_no_sentences(static: Embedder) -> None:
    class Slow:
        name, dimension, batch, query_prefix, document_prefix = "slow", static.dimension, 8, "", ""

        def __init__(self) -> None:
            self.texts: list[str] = []

        def embed_documents(self, texts: list[str]) -> Any:
            self.texts += texts
            return static.embed_documents(texts)

        def embed_query(self, text: str) -> Any:
            return static.embed_query(text)

    slow = Slow()
    with Memory.open(":memory:", embedder=slow, quick=static) as memory:
        memory.ingest.remember(LIGHT, title="Gannet Light", source="/notes/light.md")
        slow.texts.clear()
        assert "Nuria Solano" in asked(memory, "Who keeps the key of the lamp?").text
    assert slow.texts == []
