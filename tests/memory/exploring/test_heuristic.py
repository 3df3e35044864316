"""The controller without a model: what it visits, when it stops, and that it stays within what may be seen."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memory import Memory
from memory.exploring.heuristic import MAX_POOLED, explore_best_first
from memory.nouns import Document, Scope
from memory.protocols import Embedder
from tests.examples import examples
from tests.memory.exploring.looking import found
from tests.memory.retrieval.vaults import QUESTIONS, Vault, day, fill, scopes, sight, vaults


def remember(memory: Memory, *texts: str, name: str = "n") -> list[int]:
    receipts = memory.remember_many(
        Document(f"/{name}/{number}.md", text, title=f"{name} {number}", at=day(number))
        for number, text in enumerate(texts)
    )
    return [id for receipt in receipts for id in receipt.episode_ids]


def test_a_hub_with_sixty_passages_does_not_take_what_belongs_to_the_rare(fresh: Memory) -> None:
    remember(fresh, *(f"Lumen Works had a good day, number {n}." for n in range(60)), name="hub")
    (rare,) = remember(fresh, "The wedding of Zelda Quist took place in the old mill.", name="rare")
    looked = explore_best_first(found(fresh, "Did Lumen Works know Zelda Quist?"), nodes=3)
    assert rare in looked.episodes and len(looked.episodes) < 60
    assert looked.steps[0].detail["objects"] <= 3


def test_what_is_beside_the_best_passages_is_found(fresh: Memory) -> None:
    ids = remember(
        fresh,
        "Red Notice is a film by Rawson Thurber.",
        "Rawson Thurber studied with Ana Silva.",
        "Ana Silva lives in Porto.",
    )
    looked = explore_best_first(found(fresh, "Red Notice"))
    assert list(looked.episodes) == ids
    assert set(explore_best_first(found(fresh, "Red Notice"), nodes=1).episodes) <= set(ids[:2])
    assert looked.calls == 0


def test_of_two_in_one_passage_the_rarer_comes_first(fresh: Memory) -> None:
    crowd = [f"Nobody counted the lamps of the Lumen Fair in year {n}." for n in range(60)]
    _, *_, last = remember(
        fresh, "At midnight the Lumen Fair saw Zora Quill dance.", *crowd, "In winter Zora Quill keeps bees."
    )
    assert last in explore_best_first(found(fresh, "Who danced at midnight?"), nodes=2).episodes, (
        "after the page itself"
    )


def test_it_goes_no_deeper_than_it_may_nor_over_a_day(fresh: Memory) -> None:
    remember(
        fresh,
        "Red Notice is a film by Rawson Thurber. It was shown on 3 May 2019.",
        *(f"A film was seen again by visitor number {n}." for n in range(12)),
    )
    home, far, same_day = remember(
        fresh, "Rawson Thurber lives with Ana Silva.", "Ana Silva was born in Porto.", "Bread was baked on 3 May 2019.",
        name="far",
    )  # fmt: skip
    here = found(fresh, "Who made the film Red Notice?")
    reached = {depth: set(explore_best_first(here, depth=depth, stall=99).episodes) for depth in (1, 3)}
    assert home in reached[1] and far not in reached[1] and far in reached[3]
    assert same_day not in reached[3]


def test_objects_that_bring_nothing_new_end_it(fresh: Memory) -> None:
    names = " ".join(f"Quax{n} Silva met Bo{n} Chen." for n in range(25))
    remember(fresh, f"{names} One.", f"{names} Two.", f"{names} Three.")
    looked = explore_best_first(found(fresh, "Whom did Quax1 Silva meet?"), nodes=200, stall=2)
    assert (looked.stopped, len(looked.episodes)) == ("stalled", 3)
    assert looked.steps[0].detail["objects"] <= 5  # of fifty


def test_objects_with_a_new_passage_let_it_go_on(fresh: Memory) -> None:
    names = "Adler Brandt Conrad Dorsch Eckert Fehling".split()
    ids = remember(fresh, *(f"Mila {name} polished a lamp." for name in names))
    looked = explore_best_first(found(fresh, "Who polished a lamp?"), stall=2)
    assert (looked.stopped, set(looked.episodes)) == ("all", set(ids))


def test_it_ends_at_its_limits(fresh: Memory) -> None:
    remember(fresh, *(f"Person{n} Ashford met Person{n + 1} Ashford at the Lumen fair." for n in range(60)))
    here = found(fresh, "Whom did Person3 Ashford meet at the Lumen fair?")
    looked = explore_best_first(here, nodes=7, stall=1000)
    assert (looked.stopped, looked.steps[0].detail["objects"]) == ("nodes", 7)
    whole = explore_best_first(here, depth=100, nodes=10_000, stall=10_000)
    assert whole.stopped == "all" and len(whole.episodes) == MAX_POOLED
    assert len(explore_best_first(here, depth=0, nodes=10_000, stall=10_000).episodes) <= len(whole.episodes)


def test_what_it_found_is_ranked_among_the_hits(fresh: Memory) -> None:
    ids = remember(
        fresh, "Red Notice is a film by Rawson Thurber.", "Rawson Thurber studied with Ana Silva.", "Red is a colour."
    )
    here = found(fresh, "Red Notice")
    looked = explore_best_first(here)
    assert list(looked.episodes.values()) == sorted(looked.episodes.values(), reverse=True)
    assert all(0 <= relevance <= 1 for relevance in looked.episodes.values())
    with fresh.store.reading() as conn:
        both = here.with_collected(conn, looked.episodes)
    assert both.collected == frozenset(looked.episodes) and both.recall.hits[0].episode.id == ids[0]


def test_an_empty_memory_gives_nothing(fresh: Memory) -> None:
    looked = explore_best_first(found(fresh, "Who is Ana Silva?"))
    assert (dict(looked.episodes), looked.steps, looked.stopped) == ({}, (), "nothing found")


@examples(1 / 2)
@given(vaults, st.sampled_from(QUESTIONS), st.none() | st.integers(0, 9).map(day), scopes)
def test_it_stays_within_what_may_be_seen_and_says_the_same_again(
    static: Embedder, vault: Vault, question: str, as_of: datetime | None, within: Scope | None
) -> None:
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "m.db", embedder=static) as memory:
        fill(memory, vault)
        looked = explore_best_first(found(memory, question, as_of, within))
        with memory.store.reading() as conn:
            may = sight(conn, as_of, within, as_of, as_of or datetime.now(UTC))
        assert set(looked.episodes) <= may.episodes
        assert explore_best_first(found(memory, question, as_of, within)).episodes == looked.episodes
