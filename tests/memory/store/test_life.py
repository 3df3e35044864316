"""Whatever is written, retired and forgotten, in whatever order: the memory stays whole."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memory.errors import NotFoundError
from memory.store import arrays, check, episodes, forget, sources, text
from memory.store.store import Store
from tests.examples import examples
from tests.memory.store.building import remember

uris = st.sampled_from(["a", "b", "c", "d"])
names = ["Ana", "Bo", "Cleo"]
texts = st.lists(st.sampled_from([*names, "sings", "of tea", "?!", "...", "today."]), min_size=1, max_size=6).map(
    " ".join
)


@given(st.lists(st.text(), min_size=1, max_size=3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_text_is_kept_to_the_letter_and_leaves_without_a_trace(store: Store, passages: list[str]) -> None:
    with store.writing() as conn:
        ids = remember(conn, "s", *passages)
        assert [one.text for one in episodes.get_many(conn, ids)] == passages
        for thesis in episodes.theses_of(conn, ids):
            words = passages[ids.index(thesis.episode_id)]
            assert "\0" in words or thesis.text == words[thesis.span_from : thesis.span_to]
    assert check.check(store).problems == ()
    with store.writing() as conn:
        episodes.retire_many(conn, ids[:1], 2000)
        forget.source(conn, "s", 3000)
        assert conn.execute("SELECT count(*) FROM node").fetchone() == (0,)
    assert check.check(store).problems == ()


class Broken(Exception):
    """A unit that fails at its end."""


class Life(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.store = Store.open(":memory:")
        self.now = 0

    def teardown(self) -> None:
        self.store.close()

    def tick(self) -> int:
        self.now += 1
        return self.now

    def picked(self, number: int, kind: str = "E") -> int:
        with self.store.reading() as conn:
            ids = [id for (id,) in conn.execute("SELECT id FROM node WHERE kind = ? ORDER BY id", (kind,))]
        return ids[number % len(ids)] if ids else -1

    @rule(uri=uris, passages=st.lists(texts, max_size=3), fails=st.booleans())
    def write(self, uri: str, passages: list[str], fails: bool) -> None:
        with suppress(Broken), self.store.writing() as conn:
            remember(conn, uri, *passages, now=self.tick())
            if fails:
                raise Broken

    @rule(numbers=st.lists(st.integers(0, 20), max_size=3))
    def retire(self, numbers: list[int]) -> None:
        ids = [self.picked(number) for number in numbers]
        with self.store.writing() as conn:
            gone = episodes.retire_many(conn, ids, self.tick())
            assert episodes.retire_many(conn, ids, self.now) == ()
            live = arrays.live_edges(conn).values()
            assert not {*gone} & {node for edges in live for ends in (edges.src, edges.dst) for node in ends.tolist()}

    @rule(uri=uris)
    def delete(self, uri: str) -> None:
        with self.store.writing() as conn:
            source = sources.get(conn, uri)
            if source:
                episodes.retire_source(conn, source.id, self.tick())

    @rule(uri=uris, fails=st.booleans())
    def forget_source(self, uri: str, fails: bool) -> None:
        with suppress(NotFoundError, Broken), self.store.writing() as conn:
            forget.source(conn, uri, self.tick())
            if fails:
                raise Broken

    @rule(number=st.integers(0, 20))
    def forget_episode(self, number: int) -> None:
        with suppress(NotFoundError), self.store.writing() as conn:
            forget.episode(conn, self.picked(number), self.tick())

    @rule(number=st.integers(0, 40))
    def forget_fact(self, number: int) -> None:
        with suppress(NotFoundError), self.store.writing() as conn:
            forget.fact(conn, self.picked(number, "T"), self.tick())

    @rule(name=st.sampled_from(names))
    def forget_object(self, name: str) -> None:
        with suppress(NotFoundError), self.store.writing() as conn:
            forget.object(conn, name.lower(), self.tick())

    @rule()
    def rebuild(self) -> None:
        with self.store.writing() as conn:
            before = text.search(conn, ["ana", "tea"], 50)
            text.rebuild(conn)
            after = text.search(conn, ["ana", "tea"], 50)
            assert dict(zip(*before, strict=True)) == dict(zip(*after, strict=True))

    @invariant()
    def whole(self) -> None:
        assert check.check(self.store).problems == ()

    @invariant()
    def every_live_object_is_spoken_of(self) -> None:
        with self.store.reading() as conn:
            mentions = arrays.live_edges(conn)["mention"]
            assert {*arrays.live_objects(conn)[0].tolist()} == {*mentions.dst.tolist()}
            assert arrays.live_episodes(conn)["episode_ids"].tolist() == [
                id for (id,) in conn.execute("SELECT id FROM episode_content ORDER BY id")
            ]


Life.TestCase.settings = examples(1 / 2, stateful_step_count=12)
TestLife = Life.TestCase
