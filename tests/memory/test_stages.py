from __future__ import annotations

from dataclasses import fields

import pytest

from memory import stages
from memory.nouns import Step
from memory.stages import (
    AnalysisNote,
    GuidedNote,
    Note,
    RankNote,
    ReplayNote,
    RouteNote,
    ScopeNote,
    SeedNote,
    TextNote,
    TimeNote,
    describe_step,
    last_note,
    notes,
    step,
)


@pytest.mark.parametrize(("path", "kind"), [(stages.TEXT_ONLY, RankNote), (stages.UNKNOWN, RouteNote)])
def test_what_sql_reads_is_a_field_of_its_note(path: str, kind: type[Note]) -> None:
    assert path.removeprefix("$.") in {item.name for item in fields(kind)}  # type: ignore[arg-type]


def test_a_note_survives_the_trace() -> None:
    note = AnalysisNote(["boat"], TimeNote("day", "1 March", "2025-03-01T00:00:00+00:00"))  # type: ignore[arg-type]
    kept = step(note, 1.5)
    assert kept == Step("analyse", 1.5, kept.detail) and "until" not in kept.detail["time"]
    assert last_note(AnalysisNote, [step(AnalysisNote(), 0.0), kept, step(TextNote(0.5), 0.0)]) == note
    assert list(notes(TextNote, [kept])) == [] and last_note(TextNote, [kept]) is None


def test_what_an_older_version_noted_is_left_out() -> None:
    assert list(notes(RouteNote, [Step("route", 0.0, {"tier": "R3", "rung": 2})])) == [RouteNote("R3")]


@pytest.mark.parametrize(
    ("note", "phrase"),
    [
        (AnalysisNote(("boat", "keel"), TimeNote("day", "1 March")), "asked about 1 March"),
        (ScopeNote(1204), "searched 1,204 passages"), (SeedNote(("Beatrice",)), "found 1 thing you named"),
        (TextNote(6.853, 0.5), ""), (ReplayNote(0, 0), ""), (GuidedNote(1, taken=(7, 8)), "fetched 2 more"),
    ],
)  # fmt: skip
def test_a_stage_is_described_for_a_person(note: Note, phrase: str) -> None:
    assert describe_step(step(note, 1.0)) == phrase


def test_a_stage_of_a_later_version_has_no_phrase() -> None:
    assert describe_step(Step("dreams", 1.0, {"sheep": 3})) == ""
