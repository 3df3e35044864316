"""What holds of the whole pipeline, whatever is in the memory: nothing invisible comes out of any stage, and neither
the order of writing nor the hash seed matters. Real files, real vectors; what may be seen is worked out by SQL."""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st

from memory import Memory
from memory.nouns import Answer, Citation, Document, Scope, Step, Turn, Visit
from memory.protocols import Embedder, Vectors
from memory.retrieval.analyse import analyse
from memory.retrieval.text_search import fact_time, find_named_objects, visible_episodes
from memory.retrieval.traversers import Guidance, Seeds
from memory.settings import MemorySettings, RecallSettings
from memory.store import episodes, text
from memory.store import graph as stored
from memory.text.mentions import norm
from memory.text.sentences import sentences
from plugins.manager import load
from plugins.settings import BeamSettings, CirclesSettings, TraverserSettings, WalkSettings
from tests.examples import examples
from tests.memory.retrieval.vaults import QUESTIONS, STRATEGIES, Vault, day, fill, scopes, sight, vaults
from tests.memory.store.building import about

ALL = TraverserSettings()
# Where a budget cuts between equals the one with the lesser id is kept, so here no budget cuts; and of two equal starts
# `paths` sets out from the one with the lesser id, so it is left out of that comparison.
AMPLE = TraverserSettings(
    WalkSettings(episodes=100),
    BeamSettings(width=10**6, neighbours=10**6, paths=10**6),
    CirclesSettings(primary=10**4, secondary=10**4, texts=10**4),
)
ARROW = r"; | - [^;]* -> | <- [^;]* - | -> "  # between the names of a chain
questions = st.sampled_from(QUESTIONS)
strategies = st.sampled_from(STRATEGIES)
walks = st.sampled_from(["beam", "circles", "paths", "beam+circles+paths"])
as_ofs = st.none() | st.integers(0, 9).map(day)


@contextmanager
def filled(
    static: Embedder, vault: Vault, strategy: str, order: list[int] | None = None, base: TraverserSettings = ALL
) -> Iterator[Memory]:
    settings, find = MemorySettings(recall=RecallSettings(strategy=strategy)), load().strategies(base)
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(Path(folder) / "m.db", embedder=static, settings=settings, find_strategy=find) as memory,
    ):
        fill(memory, vault, order)
        yield memory


def asked_of(question: str, as_of: datetime | None, now: datetime) -> datetime | None:
    """The time at which facts must hold: that of `as_of`, else the one of which the question asks how things stood."""
    when = analyse(question, now=now).when
    stood = when is not None and when.kind == "as_of" and when.until is not None
    return as_of or (when.until - timedelta(milliseconds=1) if stood else None)


@examples(1 / 2)
@given(vaults, strategies, questions, as_ofs, scopes)
def test_what_may_not_be_seen_is_no_hit_no_visit_and_no_citation(
    static: Embedder, vault: Vault, strategy: str, question: str, as_of: datetime | None, within: Scope | None
) -> None:
    with filled(static, vault, strategy) as memory, memory.store.reading() as conn:
        holds = asked_of(question, as_of, day(9))
        may = sight(conn, as_of, within, holds, holds or day(9))
        told = sight(conn, as_of, within, as_of, holds or day(9))  # a later note may tell of the time asked of
        found = memory.questions.retrieve(question, k=50, as_of=as_of, within=within, now=day(9)).recall
        assert {hit.episode.id for hit in found.hits} <= may.episodes
        for visit in found.trace.visits:
            assert visit.node_id in (may.episodes if visit.kind == "episode" else may.objects), visit
            assert visit.parent_edge is None or visit.parent_edge in may.edges
        names = set(stored.object_labels(conn, sorted(may.objects)).values())
        assert set(next(step.detail["objects"] for step in found.trace.steps if step.name == "seed")) <= names
        words = {thesis.text for thesis in episodes.theses_of(conn, sorted(may.episodes)) if thesis.id in told.theses}
        for event in memory.questions.ask(question, as_of=as_of, within=within, now=day(9)):
            if isinstance(event, Visit):
                assert event.node_id in may.episodes | may.objects
            elif isinstance(event, Step) and event.name == "answer":
                ways = (re.sub(r" \[\d+\]", "", chain) for chain in event.detail["chain"])
                assert {name for way in ways for name in re.split(ARROW, way)} <= names
            elif isinstance(event, Citation):
                assert event.episode_id in may.episodes
                assert {event.quote[start:end] for start, end in sentences(event.quote)} <= words
            elif isinstance(event, Answer):
                for citation in event.citations:  # every id of the context resolves
                    [episode] = episodes.get_many(conn, [citation.episode_id])
                    assert citation.quote in episode.text
                    assert citation.passage == episode.text


@examples(1 / 2)
@given(
    vaults, st.sampled_from(["beam", "circles", "paths", "beam+circles+paths"]), questions, as_ofs, scopes, st.data()
)
def test_no_path_or_bridge_leads_through_what_may_not_be_seen(
    static: Embedder,
    vault: Vault,
    strategy: str,
    question: str,
    as_of: datetime | None,
    within: Scope | None,
    data: st.DataObject,
) -> None:
    with filled(static, vault, strategy) as memory, memory.store.reading() as conn:
        may = sight(conn, as_of, within, as_of, as_of or day(9))
        everything = may.episodes | may.theses | may.objects
        graph = memory.state.serving.snapshot.graph
        mask = visible_episodes(conn, graph, as_of, within)
        assert {int(id) for id in graph.episode_ids[mask]} == may.episodes
        n = len(mask)
        scores = np.array(data.draw(st.lists(st.floats(0, 1, width=32), min_size=n, max_size=n)), np.float32)
        named = find_named_objects(conn, graph, analyse(question), mask)
        seeds = Seeds(
            np.where(mask, scores, 0).astype(np.float32),
            named,
            Guidance(when=fact_time(analyse("x", now=day(9), as_of=as_of), None)),
        )
        traverse = load().strategies()(f"{strategy}+synergy").traverse
        assert traverse is not None
        walk = traverse(graph, seeds, mask, RecallSettings())
        assert {*graph.object_ids[walk.objects > 0].tolist()} <= everything
        assert not walk.episodes[~mask].any()
        assert walk.votes is not None and not walk.votes[0][~mask].any()


@examples(1 / 2)
@given(vaults, as_ofs)
def test_facts_are_those_that_hold(static: Embedder, vault: Vault, as_of: datetime | None) -> None:
    with filled(static, vault, "spread") as memory, memory.store.reading() as conn:
        now = as_of or datetime.now(UTC)
        may = sight(conn, None, None, now, now)
        for name in ("ana silva", "bo chen", "lumen", "porto"):
            assert {fact.id for fact in about(conn, name, 2**50, as_of) or ()} <= may.theses | may.edges


def told(memory: Memory, question: str) -> tuple[dict[object, float], dict[str, float], str]:
    """What a question brings, without ids and times: scores of passages and of the objects named, and the answer."""
    found = memory.questions.retrieve(question, k=50, now=day(9)).recall
    hits = {(hit.episode.source.uri, hit.episode.seq): hit.score for hit in found.hits}
    visits = {norm(visit.label): visit.score for visit in found.trace.visits if visit.stage == "seed"}
    *_, answer = memory.questions.ask(question, now=day(9))
    assert isinstance(answer, Answer)
    return hits, visits, answer.text


@examples(1 / 8, phases=[Phase.generate])
@given(vaults, st.sampled_from(["spread", "beam", "spread+beam+circles"]), st.randoms(use_true_random=False))
def test_the_order_of_writing_does_not_matter(
    static: Embedder, vault: Vault, strategy: str, shuffled: random.Random
) -> None:
    order = list(range(len(vault.notes)))
    shuffled.shuffle(order)
    with (
        filled(static, vault, strategy, base=AMPLE) as one,
        filled(static, vault, strategy, order, base=AMPLE) as other,
    ):
        for question in QUESTIONS:
            hits, visits, answer = told(one, question)
            same_hits, same_visits, same_answer = told(other, question)
            assert hits == pytest.approx(same_hits, abs=1e-4)
            assert visits == pytest.approx(same_visits, abs=1e-4)
            # Looking around breaks ties by the order of writing, and with it the order of lines that fit alike.
            lines, same_lines = (sorted(re.sub(r"\[\d+\]", "", text).splitlines()) for text in (answer, same_answer))
            assert lines == same_lines


@pytest.mark.parametrize("first", [0, 1])
def test_a_day_is_a_date_whoever_mentions_it_first(fresh: Memory, first: int) -> None:
    pages = [
        Document("/2024-01-03.md", "The goat was shorn.", title="2024-01-03"),
        Document("/todo.md", "Pay the shearer on 2024-01-03."),
    ]
    for page in (pages[first], pages[1 - first]):
        fresh.ingest.remember_many([page])
    graph = fresh.state.serving.snapshot.graph
    with fresh.store.reading() as conn:
        [day_of_shearing] = stored.objects_by_norm(conn, ["2024-01-03"])["2024-01-03"]
        named = text.naming_dates(conn, date(2024, 1, 3), date(2024, 1, 4))
    assert graph.leads_nowhere[graph.column_of[day_of_shearing]]
    assert len(named) == 2


def test_a_person_is_called_by_the_whole_name(fresh: Memory) -> None:
    turns = (Turn("Ana", "I am Ana Silva."), Turn("Rui", "Hello Ana."))
    fresh.ingest.remember_many([Document("chat:1", turns=turns, kind="chat", title="Talk")])
    assert "Ana Silva" in {visit.label for visit in fresh.questions.retrieve("Who is Ana Silva?").recall.trace.visits}


@examples(1 / 4)
@given(vaults, st.sampled_from(["Zebulon Quark", "Ana Quark", "Silvana", "Portorož", "Lumenista"]))
def test_a_name_that_is_no_object_is_linked_to_none(static: Embedder, vault: Vault, name: str) -> None:
    with filled(static, vault, "spread") as memory, memory.store.reading() as conn:
        graph = memory.state.serving.snapshot.graph
        seeded = find_named_objects(conn, graph, analyse(f"Where did {name} go?"), graph.alive)
        found = stored.object_labels(conn, graph.object_ids[list(seeded)].tolist()).values()
        assert {norm(label) for label in found} <= set(norm(name).split())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_cosines_may_all_be_negative(static: Embedder, strategy: str) -> None:
    class Contrary:
        name, dimension, batch, query_prefix, document_prefix = "contrary", static.dimension, 8, "", ""

        def embed_documents(self, texts: Sequence[str]) -> Vectors:
            return static.embed_documents(texts)

        def embed_query(self, text: str) -> Vectors:
            return -static.embed_query(text)

    settings = MemorySettings(recall=RecallSettings(strategy=strategy, lexical_weight=0.5))
    find = load().strategies()
    with Memory.open(":memory:", embedder=Contrary(), settings=settings, find_strategy=find) as memory:
        memory.ingest.remember("Ana Silva met Bo Chen in Ghent.", source="/a.md")
        memory.ingest.remember("Bo Chen lives in Porto.", source="/b.md")
        found = memory.questions.retrieve("Who met Ana Silva in Ghent?").recall
        assert found.hits[0].episode.source.uri == "/a.md"
        assert found.hits[0].channels["vector"] < 0
        assert all(np.isfinite(hit.score) and hit.score > 0 for hit in found.hits)
