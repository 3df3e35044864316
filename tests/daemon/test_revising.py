"""How what is known changed, as clients see it, and the news of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from daemon import wire
from daemon.api import facts
from daemon.jobs import activity
from daemon.jobs.workers import Writer
from memory import Memory
from memory.errors import InvalidInputError, NotFoundError
from memory.facts.extraction import ExtractedRelation, Extraction
from memory.nouns import Document
from memory.revisions import Decision
from memory.settings import MemorySettings
from memory.store import episodes
from plugins import manager


@pytest.fixture
def memory() -> Iterator[Memory]:
    by_hand = MemorySettings(rules=False)
    with Memory.open(":memory:", embedder=manager.load().embedder("static"), settings=by_hand) as memory:
        yield memory


def tell(memory: Memory, day: str, text: str, *relations: tuple[str, str, str], modality: str = "asserted") -> int:
    """A note of that day that says these relations, each in the whole of its sentence; its episode's id."""
    at = datetime.fromisoformat(day).replace(tzinfo=UTC)
    [receipt] = memory.ingest.remember_many([Document(f"{day}.md", text, kind="file", at=at)])
    [id] = receipt.episode_ids
    told = [
        ExtractedRelation(
            subject=s, predicate=p, object=o, start=0, end=text.index(".") + 1, modality=modality, single=True
        )  # type: ignore[arg-type]
        for s, p, o in relations
    ]
    memory.knowledge.assert_facts({id: Extraction(tuple(told))})
    return id


def moves(memory: Memory) -> None:
    tell(memory, "2024-05-01", "Marta lives in Lisbon. She keeps bees.", ("Marta", "lives in", "Lisbon"))
    tell(memory, "2026-03-09", "Marta lives in Porto.", ("Marta", "lives in", "Porto"))


def shown(reply: wire.FactsReply) -> list[str]:
    return [fact.text for fact in reply.facts]


def values(reply: wire.HistoryReply) -> list[tuple[str, list[str]]]:
    return [(timeline.predicate, [value.fact.objects[-1] for value in timeline.values]) for timeline in reply.timelines]


def test_what_was_replaced_is_shown_with_its_history_alone(memory: Memory) -> None:
    moves(memory)
    assert shown(memory.browsing.facts("Marta")) == ["Marta lives in Porto"]
    assert shown(memory.browsing.facts("Marta", datetime(2025, 1, 1, tzinfo=UTC), None, False)) == [
        "Marta lives in Lisbon"
    ]
    both = memory.browsing.facts("Marta", history=True)
    assert shown(both) == ["Marta lives in Porto", "Marta lives in Lisbon"]
    assert both.facts[1].quote == "Marta lives in Lisbon." and both.facts[1].predicate == "lives in"


def test_a_sentence_that_says_more_than_the_relation_stays(memory: Memory) -> None:
    text = (
        "Since then Marta lives in Porto, in the house with the green door that her aunt Ines left her, and keeps bees."
    )
    id = tell(memory, "2026-03-09", text)
    short = ExtractedRelation(subject="Marta", predicate="lives in", object="Porto", start=11, end=31)
    memory.knowledge.assert_facts({id: Extraction((short,))}, "test")
    assert shown(memory.browsing.facts("Marta")) == ["Marta lives in Porto", text]
    tell(memory, "2026-04-01", "Marta lives in Faro.", ("Marta", "lives in", "Faro"))
    assert shown(memory.browsing.facts("Marta")) == ["Marta lives in Faro"], "it holds what is old"


def test_a_second_sentence_that_says_what_was_replaced_is_left_out(memory: Memory) -> None:
    moves(memory)
    tell(memory, "2024-06-01", "At that time Marta lives in Lisbon.", ("Marta", "lives in", "Lisbon"))
    assert shown(memory.browsing.facts("Marta")) == ["Marta lives in Porto"]


def test_a_sentence_stays_as_long_as_its_relation_does_not_hold_yet(memory: Memory) -> None:
    text = "Next century Marta moves to Porto."
    id = tell(memory, "2026-03-09", text)
    later = datetime(2101, 1, 1, tzinfo=UTC)
    told = ExtractedRelation(
        subject="Marta", predicate="lives in", object="Porto", start=13, end=33, valid_from=later, single=True
    )
    memory.knowledge.assert_facts({id: Extraction((told,))})
    assert shown(memory.browsing.facts("Marta")) == [text]
    assert shown(memory.browsing.facts("Marta", datetime(2101, 6, 1, tzinfo=UTC)))[0] == "Marta lives in Porto"


def test_what_the_memory_knew_on_a_day(memory: Memory) -> None:
    moves(memory)
    yesterday = datetime.now(UTC) - timedelta(days=1)
    assert memory.browsing.facts("Marta", None, yesterday, False).facts == ()


def test_two_notes_that_disagree(memory: Memory) -> None:
    tell(memory, "2026-03-09", "Marta lives in Porto.", ("Marta", "lives in", "Porto"))
    at = datetime(2026, 3, 9, tzinfo=UTC)
    [receipt] = memory.ingest.remember_many([Document("b.md", "Marta lives in Faro.", kind="file", at=at)])
    relation = ExtractedRelation(subject="Marta", predicate="lives in", object="Faro", start=0, end=20, single=True)
    memory.knowledge.assert_facts({receipt.episode_ids[0]: Extraction((relation,))})
    reply = memory.browsing.facts("Marta")
    assert sorted(shown(reply)) == ["Marta lives in Faro", "Marta lives in Porto"]
    [dispute] = reply.disputes
    assert (dispute.relation, dispute.state) == ("contradicts", "open")
    memory.knowledge.settle(dispute.id, "both")
    assert memory.browsing.facts("Marta").disputes == ()


def test_history_is_in_order_of_time_and_says_who_replaced_what(memory: Memory) -> None:
    moves(memory)
    tell(memory, "2023-01-01", "Marta lives in Braga.", ("Marta", "lives in", "Braga"))
    tell(memory, "2026-05-01", "Marta plays the flute.", ("Marta", "plays", "the flute"))
    found = memory.browsing.history("Marta")
    assert values(found) == [("plays", ["the flute"]), ("lives in", ["Braga", "Lisbon", "Porto"])]
    braga, lisbon, porto = found.timelines[1].values
    assert braga.ended and braga.ended.author == "rule" and braga.fact.valid_to == lisbon.fact.valid_from
    assert lisbon.ended and lisbon.ended.new == porto.fact and porto.ended is None
    with pytest.raises(NotFoundError):
        memory.browsing.history("Nobody")


def test_what_a_model_joined_is_one_strand(memory: Memory) -> None:
    tell(memory, "2025-01-01", "Marta cooks for Lumen.", ("Marta", "cooks for", "Lumen"))
    id = tell(memory, "2026-01-01", "Marta bakes for Rosa.")
    relation = ExtractedRelation(subject="Marta", predicate="bakes for", object="Rosa", start=0, end=21)
    memory.knowledge.assert_facts({id: Extraction((relation,))}, "test")
    assert {timeline for timeline, _ in values(memory.browsing.history("Marta"))} == {"cooks for", "bakes for"}
    old, new = sorted(fact.id for fact in memory.knowledge.facts("Marta") if fact.kind == "relation")
    memory.knowledge.apply_decisions([Decision(old, new, "supersedes", 0.9)], "test")
    found = memory.browsing.history("Marta")
    assert values(found) == [("bakes for", ["Lumen", "Rosa"])]
    assert found.timelines[0].values[0].ended is not None and found.timelines[0].values[0].ended.author == "model"


def test_a_fact_that_was_never_true_is_in_no_history(memory: Memory) -> None:
    moves(memory)
    [revision] = memory.knowledge.revisions()
    facts.settle_revision(memory, lambda event: None, revision.id, "old")
    [timeline] = memory.browsing.history("Marta").timelines
    assert [(value.fact.objects[-1], value.ended) for value in timeline.values] == [("Lisbon", None)]
    assert shown(memory.browsing.facts("Marta")) == ["Marta lives in Lisbon"]


def test_who_decides_sees_whole_sentences(memory: Memory) -> None:
    first = "# Log\n\nIt rained. Marta lives in Lisbon, as ever. Lisbon is warm."
    second = "Marta lives in Porto"
    for day, text, quote in (("2024-05-01", first, "lives in Lisbon"), ("2026-03-09", second, "Porto")):
        at = datetime.fromisoformat(day).replace(tzinfo=UTC)
        [receipt] = memory.ingest.remember_many([Document(f"{day}.md", text, kind="file", at=at)])
        [id] = receipt.episode_ids
        with memory.store.reading() as conn:
            start = episodes.get_many(conn, [id])[0].text.rindex(quote)
        told = ExtractedRelation(
            subject="Marta", predicate="lives in", object=quote.split()[-1], start=start, end=start + len(quote),
            single=True,
        )  # fmt: skip
        memory.knowledge.assert_facts({id: Extraction((told,))})
    [revision] = facts.revisions(memory, "open", None, 10).revisions
    assert (revision.old.quote, revision.new.quote) == ("Marta lives in Lisbon, as ever.", "Marta lives in Porto")
    assert facts.revision(memory, revision.id) == revision


def test_a_verdict_is_published(memory: Memory) -> None:
    moves(memory)
    told: list[wire.Event] = []
    [revision] = facts.revisions(memory, "open", None, 10).revisions
    settled = facts.settle_revision(memory, told.append, revision.id, "keep")
    assert told == [wire.FactChanged(settled)] and settled.state == "kept"
    assert facts.settle_revision(memory, told.append, revision.id, "undo").state == "undone"
    assert facts.revisions(memory, "open", None, 10) == wire.RevisionsReply((), 0)
    assert [one.id for one in facts.revisions(memory, "all", "Marta", 10).revisions] == [revision.id]
    with pytest.raises(InvalidInputError, match="verdict"):
        facts.settle_revision(memory, told.append, revision.id, "maybe")
    with pytest.raises(InvalidInputError, match="state"):
        facts.revisions(memory, "closed", None, 10)
    with pytest.raises(NotFoundError):
        facts.settle_revision(memory, told.append, 99, "keep")
    assert len(told) == 2


def test_news_come_once_and_in_order(memory: Memory) -> None:
    moves(memory)
    told: list[wire.Event] = []
    news = activity.News(memory, told.append)
    writer = Writer(news.publish_new)
    writer.start()
    writer.write(lambda: tell(memory, "2026-04-01", "Marta lives in Faro.", ("Marta", "lives in", "Faro")))
    writer.write(lambda: tell(memory, "2026-05-01", "Marta lives in Evora.", ("Marta", "lives in", "Evora")))
    writer.write(lambda: None)
    assert writer.close(60)
    assert [(event.revision.old.objects[-1], event.revision.new.objects[-1]) for event in told] == [  # type: ignore[union-attr]
        ("Porto", "Faro"),
        ("Faro", "Evora"),
    ]


def test_what_cannot_be_sorted_is_written_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> None:
        raise ZeroDivisionError

    writer = Writer(broken)
    writer.start()
    assert writer.write(lambda: 1) == 1 and writer.write(lambda: 2) == 2
    assert writer.close(60)
    assert "could not be reported: ZeroDivisionError" in caplog.text
