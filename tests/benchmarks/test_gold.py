"""What counts as a change that was found, where one that was not was lost, and what an oracle says of two facts."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchmarks import gold, losses
from benchmarks.command import DataError
from benchmarks.gold import Change, Pair, Timeline
from benchmarks.losses import Told
from memory.nouns import Fact, Modality

AT = datetime(2024, 3, 1, tzinfo=UTC)
OSLO = Change("Petrel, mooring", "Bergen", "Oslo", "explicit", "a.md", "b.md", "2024-03-01")
BACK = Change("Petrel, mooring", "Oslo", "Bergen harbour", "reversal", "b.md", "c.md", "2025-03-01")
LIFE = Timeline((OSLO, BACK), {OSLO.about: ("Bergen", "Oslo", "Bergen harbour"), "Petrel, crew": ("3",)}, frozenset())


def fact(id: int, subject: str, predicate: str, object: str, modality: Modality = "asserted", quote: str = "") -> Fact:
    return Fact(
        id, "relation", f"{subject} {predicate} {object}", (subject, object), AT, None, AT, None, None, 1, "/ida/a.md",
        1, modality, "model", predicate, quote,
    )  # fmt: skip


def told(one: Fact, *paths: str) -> Told:
    return Told(one, frozenset(paths))


IN_BERGEN, IN_OSLO = fact(1, "Petrel", "lies in", "Bergen"), fact(2, "Petrel", "lies in", "Oslo")


def test_a_timeline_is_read(tmp_path: Path) -> None:
    def write(name: str, *rows: dict[str, Any]) -> None:
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))

    facts = [{"fact_id": id, "subject": "Petrel", "attribute": "mooring", "value": at} for id, at in ("aA", "bB")]
    update = {"old_fact_id": "a", "new_fact_id": "b", "type": "explicit", "old_path": "x", "new_path": "y", "date": "1"}
    write("facts.jsonl", *facts)
    write("updates.jsonl", update)
    write("nonupdates.jsonl", {"path_a": "x", "path_b": "z"})
    timeline = gold.load(tmp_path)
    assert timeline.changes == (Change("Petrel, mooring", "A", "B", "explicit", "x", "y", "1"),)
    assert timeline.values == {"Petrel, mooring": ("A", "B")}
    assert timeline.unchanged == {frozenset("xz")}
    write("updates.jsonl", update | {"new_fact_id": "c"})
    with pytest.raises(DataError, match="names the fact c"):
        gold.load(tmp_path)


def test_a_change_is_found_with_both_values_and_one_of_its_files() -> None:
    timeline = replace(LIFE, unchanged=frozenset({frozenset({"a.md", "d.md"})}))
    found = [
        Pair("in Bergen", "Oslo (the capital)", "", "b.md"),
        Pair("Bergen", "Oslo", "", "d.md"),
        Pair("Bergen", "Oslofjord", "d.md", "a.md"),  # a value may end inside a word, as in the reference
        Pair("Oslo", "Trondheim", "", "c.md"),
    ]
    assert gold.score(timeline, found) == {
        "gold": 2, "found": 4, "recall": 50, "precision": 50, "precision_any_file": 75, "nonupdates": 1, "violated": 1
    }  # fmt: skip


def test_the_values_of_a_pair_are_where_it_differs() -> None:
    found = gold.pair(IN_BERGEN, replace(IN_OSLO, uri="/ida/b.md#2"), "/ida/")
    assert found == Pair("Bergen", "Oslo", "a.md", "b.md")
    ana, bo = fact(3, "Ana", "is skipper of", "Petrel"), fact(4, "Bo", "is skipper of", "Petrel")
    assert gold.pair(ana, bo, "/ida/") == Pair("Ana", "Bo", "a.md", "a.md")
    mate = fact(5, "Ana", "is mate of", "Petrel")
    assert gold.pair(ana, mate, "/ida/").new == "is mate of"
    thesis = replace(ana, kind="thesis", text="Ana is the skipper.", objects=("Ana", "Petrel"))
    assert gold.pair(thesis, bo, "/ida/").old == "Ana is the skipper."


def test_where_the_values_are_one_in_other_words_the_subjects_differ() -> None:
    ana, bo = fact(3, "Ana", "is skipper of", "the Petrel"), fact(4, "Bo", "is skipper of", "Petrel")
    assert gold.pair(ana, bo, "/ida/") == Pair("Ana", "Bo", "a.md", "a.md")
    assert gold.pair(ana, replace(bo, objects=("Ana", "Petrel")), "/ida/").old == "the Petrel"


def test_a_thesis_that_names_the_new_value_itself_is_not_replaced_by_it() -> None:
    def thesis(text: str) -> Fact:
        return replace(IN_OSLO, kind="thesis", text=text, objects=("Petrel",), predicate=None)

    assert gold.judgement(LIFE, thesis("She lies in Bergen."), thesis("She lies in Oslo.")) == "replaces"
    moved = thesis("From Bergen she went to Oslo.")
    assert gold.judgement(LIFE, moved, thesis("She lies in Oslo.")) != "replaces"


def test_dates_and_small_numbers_are_also_spoken() -> None:
    assert gold.spoken("2026-05-22 11:00") == "2026-05-22 11:00, 22 May 2026, May 22, 2026"
    assert gold.spoken("2025-09") == "2025-09, September 2025"
    assert gold.spoken("2 heads") == "2 heads, two heads"
    for same in ("2 %", "20 heads", "2025", "Oslo 2"):
        assert gold.spoken(same) == same


def test_a_value_is_found_as_it_is_or_written_out() -> None:
    assert gold.same("perindopril 8 mg", "8 mg") and gold.same("eight mg", "8 mg")
    assert gold.same("22 May 2026", "2026-05-22 11:00") and not gold.same("18 mg", "8 mg")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (IN_BERGEN, IN_OSLO, "replaces"),
        (IN_OSLO, IN_BERGEN, "unrelated"),  # back it went to the harbour
        (IN_OSLO, fact(3, "Petrel", "is moored in", "the Bergen harbour"), "replaces"),
        (IN_OSLO, fact(3, "Petrel", "berth", "Oslo"), "same"),
        (fact(3, "Oslo", "has", "a fort"), fact(4, "Oslo", "has", "a tram"), "unrelated"),
        (IN_OSLO, replace(IN_OSLO, modality="past"), "ends"),  # it is told that it ended
        (replace(IN_BERGEN, modality="past", valid_to=AT), IN_OSLO, "replaces"),
        (replace(IN_BERGEN, modality="past", valid_to=AT + timedelta(days=90)), IN_OSLO, "unrelated"),
        (IN_BERGEN, fact(3, "Petrel", "harbour", "Bergen"), "same"),
        (IN_BERGEN, fact(3, "Petrel", "harbour", "Bergen", "negated"), "ends"),
        (fact(3, "Petrel", "harbour", "Bergen", "plan"), IN_BERGEN, "unrelated"),
        (IN_BERGEN, fact(3, "Petrel", "moved to Oslo in", "spring"), "replaces"),
        (IN_BERGEN, fact(3, "Petrel", "has a crew of", "3", quote="off to Oslo with three"), "unrelated"),
        (fact(3, "Bergen", "is berth of", "Petrel"), fact(4, "Oslo", "is berth of", "Petrel"), "replaces"),
        (fact(3, "Petrel", "has a crew of", "30"), fact(4, "Petrel", "has a crew of", "3"), "unrelated"),
    ],
)
def test_the_oracle(old: Fact, new: Fact, expected: str) -> None:
    assert gold.judgement(LIFE, old, new) == expected


def test_a_change_is_lost_by_the_first_stage_that_does_not_hand_it_on() -> None:
    bergen, oslo = told(IN_BERGEN, "z.md", "a.md"), told(IN_OSLO, "b.md")

    def stage(*told: Told, found: tuple[Pair, ...] = (), proposed: losses.Proposed | None = None) -> str:
        return losses.trace(OSLO, found, told, proposed or {}).stage

    assert stage(bergen, oslo, found=(Pair("Bergen", "Oslo", "a.md", "b.md"),)) == "found"
    assert stage(bergen) == stage(bergen, told(IN_OSLO, "z.md")) == "extraction"
    assert stage(bergen, told(replace(IN_OSLO, objects=("boat", "Oslo")), "b.md")) == "resolution"
    assert stage(bergen, oslo) == "candidates"
    assert stage(bergen, oslo, proposed={(2, 1): "unrelated"}) == "decision"
    assert stage(bergen, oslo, proposed={(1, 7): "rule: negates"}) == "decision"
    assert stage(bergen, oslo, proposed={(1, 7): "unrelated"}) == "candidates"


def test_a_loss_shows_what_there_is() -> None:
    lost = losses.trace(OSLO, (), [told(IN_BERGEN, "a.md")], {})
    assert lost.detail == "nobody told 'Oslo'"
    lost = losses.trace(OSLO, (), [told(IN_BERGEN, "a.md"), told(IN_OSLO, "b.md")], {})
    assert lost.detail == (
        "Petrel - lies in - Bergen [asserted, 2024-03-01..] / Petrel - lies in - Oslo [asserted, 2024-03-01..]"
    )
    found = losses.Loss("found", "")
    assert losses.table([lost, found, found]) == {
        "extraction": 0, "resolution": 0, "candidates": 1, "decision": 0, "found": 2
    }  # fmt: skip
    (row,) = losses.rows(LIFE.changes, [found, lost])
    assert (row["old"], row["new"], row["lost_by"]) == ("Oslo", "Bergen harbour", "candidates")
