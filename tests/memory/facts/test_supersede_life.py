"""Whatever is read, told, decided, taken back and forgotten, in any order: what questions see is what is stored."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from memory import Memory
from memory.errors import InvalidInputError, NotFoundError
from memory.facts.extraction import OWNER, ExtractedObject, ExtractedRelation, ExtractedThesis, Extraction
from memory.graph.arrays import Graph
from memory.graph.snapshot import load_graph
from memory.protocols import Embedder
from memory.revisions import Decision
from memory.store.graph import EDGE_KINDS
from tests.examples import examples

START = datetime(2022, 1, 1, tzinfo=UTC)
PLACES = ("Bonn", "Kyiv", "Riga")
NAMES = ("Ana", "Ana Ruiz", "Bo", OWNER)
LINES = (
    "Ana lives in Bonn.",
    "Ana moved to Riga.",
    "Ana Ruiz moved from Riga to Kyiv.",
    "Ana no longer lives in Riga.",
    "Bo works at Orbit.",
    "I moved to Kyiv.",
    "Rent: 900",
    "Rent: 950",
    "Bo sang.",
)

uris = st.sampled_from(["a.md", "b.md", "c.md"])
days = st.none() | st.integers(0, 40)
numbers = st.integers(0, 30)


def seen(graph: Graph) -> dict[str, Any]:
    """What can be seen of a graph, however it came about."""
    living = {int(node) for node in graph.episode_ids[graph.alive]}
    theses, links = graph.theses, graph.links
    members = theses.members
    told: dict[int, set[int]] = {}
    for edge, episode in links.evidence.tolist():
        told.setdefault(edge, set()).add(episode)
    return {
        "episodes": living,
        "theses": {
            int(id): (
                int(graph.episode_ids[row]),
                *(int(one[place]) for one in (theses.asserts, theses.valid_from, theses.valid_to)),
                {
                    (int(graph.object_ids[column]), int(edge))
                    for column, edge in zip(
                        members.indices[members.indptr[place] : members.indptr[place + 1]],
                        members.data[members.indptr[place] : members.indptr[place + 1]],
                        strict=True,
                    )
                },
            )
            for place, (id, row) in enumerate(zip(theses.ids, theses.rows, strict=True))
            if graph.alive[row]
        },
        "relations": {
            int(id): (int(src), int(dst), int(start), int(end), told.get(int(id)))
            for id, kind, src, dst, start, end in zip(
                links.ids, links.kinds, links.src, links.dst, links.valid_from, links.valid_to, strict=True
            )
            if EDGE_KINDS[kind] == "rel"
        },
        "neighbours": {
            (int(id), int(src), int(dst))
            for id, kind, src, dst in zip(links.ids, links.kinds, links.src, links.dst, strict=True)
            if EDGE_KINDS[kind] == "next" and src in living and dst in living
        },
        "sorted": bool((links.ids[1:] > links.ids[:-1]).all()),
    }


class Life(RuleBasedStateMachine):
    def __init__(self, embedder: Embedder, sizes: list[int]) -> None:
        """`sizes` gets the number of facts that were compared, each time."""
        super().__init__()
        self.sizes = sizes
        self.memory = Memory.open(":memory:", embedder=embedder)
        self.pairs: list[tuple[int, int]] = []

    def teardown(self) -> None:
        self.memory.close()

    def picked(self, query: str, number: int) -> int:
        with self.memory.store.reading() as conn:
            ids = [id for (id,) in conn.execute(query).fetchall()]
        return ids[number % len(ids)] if ids else -1

    def tried(self, work: Callable[[], Any]) -> None:
        with suppress(NotFoundError, InvalidInputError):
            work()

    @rule(uri=uris, lines=st.lists(st.sampled_from(LINES), min_size=1, max_size=3), at=days)
    def remember(self, uri: str, lines: list[str], at: int | None) -> None:
        day = None if at is None else START + timedelta(days=at * 20)
        self.memory.ingest.remember("\n\n".join(lines), title=uri[0], source=uri, at=day)

    @rule(
        number=numbers,
        subject=st.sampled_from(NAMES),
        object=st.sampled_from(PLACES),
        modality=st.sampled_from(["asserted", "past", "negated", "plan"]),
        form=st.sampled_from([{"single": True}, {"single": True, "by_place": True}, {}]),
        alias=st.none() | st.sampled_from(["Bo", "Annie"]),
        since=days,
        until=days,
        model=st.sampled_from(["a model", None]),
    )
    def learn(
        self,
        number: int,
        subject: str,
        object: str,
        modality: Any,
        form: dict[str, bool],
        alias: str | None,
        since: int | None,
        until: int | None,
        model: str | None,
    ) -> None:
        episode = self.picked("SELECT id FROM node WHERE kind = 'E' ORDER BY id", number)
        bounds = [None if at is None else START + timedelta(days=at * 20) for at in (since, until)]
        told = ExtractedRelation(
            subject=subject, predicate="lives in", object=object, start=0, end=5, modality=modality,
            valid_from=bounds[0], valid_to=bounds[1], **form,
        )  # fmt: skip
        thesis = ExtractedThesis(text=f"{subject}: {object}", objects=(subject, object), start=0, end=5)
        objects = (ExtractedObject(subject, "person", (alias,)),) if alias and subject != OWNER else ()
        telling = Extraction((told,), (thesis,) if model else (), objects)
        self.pairs += self.memory.knowledge.assert_facts({episode: telling}, model).undecided

    @rule(number=numbers, relation=st.sampled_from(["supersedes", "contradicts", "duplicates"]))
    def decide(self, number: int, relation: Any) -> None:
        if self.pairs:
            self.memory.knowledge.apply_decisions(
                [Decision(*self.pairs[number % len(self.pairs)], relation, 0.9)], "a model"
            )

    @rule(number=numbers, verdict=st.sampled_from(["keep", "both", "old", "open", "undo"]))
    def settle(self, number: int, verdict: Any) -> None:
        id = self.picked("SELECT id FROM revision ORDER BY id", number)
        self.tried(
            lambda: self.memory.knowledge.undo(id) if verdict == "undo" else self.memory.knowledge.settle(id, verdict)
        )

    @rule(one=st.sampled_from(NAMES), other=st.sampled_from(NAMES), same=st.booleans())
    def name(self, one: str, other: str, same: bool) -> None:
        self.tried(
            lambda: (self.memory.knowledge.join_names if same else self.memory.knowledge.separate_names)(one, other)
        )

    @rule(uri=uris)
    def retire(self, uri: str) -> None:
        self.tried(lambda: self.memory.ingest.retire(uri))

    @rule(uri=uris)
    def forget_source(self, uri: str) -> None:
        self.tried(lambda: self.memory.forgetting.forget(source=uri))

    @rule(number=numbers)
    def forget_fact(self, number: int) -> None:
        id = self.picked("SELECT id FROM edge WHERE kind = 'rel' ORDER BY id", number)
        self.tried(lambda: self.memory.forgetting.forget(fact=id))

    @rule()
    def consolidate(self) -> None:
        self.memory.maintenance.consolidate()

    @rule(name=st.sampled_from((*NAMES, *PLACES)))
    def forget_object(self, name: str) -> None:
        self.tried(lambda: self.memory.forgetting.forget(object=name))

    @invariant()
    def what_is_seen_is_what_is_stored(self) -> None:
        with self.memory.store.reading() as conn:
            stored = seen(load_graph(conn))
        served = seen(self.memory.state.serving.snapshot.graph)
        for part in stored:
            assert served[part] == stored[part], part
        self.sizes.append(len(stored["relations"]))
        assert self.memory.maintenance.check().problems == ()


def test_any_life_is_served_as_it_is_stored(static: Embedder) -> None:
    sizes: list[int] = []

    class Born(Life):
        def __init__(self) -> None:
            super().__init__(static, sizes)

    how = examples(1 / 2, stateful_step_count=15)
    run_state_machine_as_test(Born, settings=how)
    assert max(sizes) > 1, "some life had several facts that were compared"
