from __future__ import annotations

from dataclasses import fields

import pytest

from memory import stages
from memory.nouns import Step
from memory.stages import (
    AnswerNote,
    GraphNote,
    Note,
    RankNote,
    ReplayNote,
    RouteNote,
    ScopeNote,
    TextNote,
    TimeNote,
    last_note,
    notes,
    step,
)


@pytest.mark.parametrize(
    ("path", "kinds"),
    [
        (stages.TIME_EPISODE, [ScopeNote]),
        (stages.TEXT_ONLY, [RankNote]),
        (stages.UNKNOWN, [RouteNote]),
        (stages.EARLIER, [ReplayNote]),
        (stages.BRIDGED, [GraphNote, AnswerNote]),
    ],
)
def test_what_sql_reads_is_a_field_of_its_note(path: str, kinds: list[type[Note]]) -> None:
    name, *rest = path.removeprefix("$.").split(".")
    for kind in kinds:
        assert name in {item.name for item in fields(kind)}  # type: ignore[arg-type]
    assert set(rest) <= {item.name for item in fields(TimeNote)}


def test_a_note_survives_the_trace() -> None:
    note = ScopeNote(TimeNote("day", "the storm", "2025-03-01T00:00:00+00:00", line="The storm came.", episode=7), 3)
    kept = step(note, 1.5)
    assert kept == Step("scope", 1.5, kept.detail) and "until" not in kept.detail["time"]
    assert last_note(ScopeNote, [step(ScopeNote(), 0.0), kept, step(TextNote(0.5), 0.0)]) == note
    assert list(notes(TextNote, [kept])) == [] and last_note(TextNote, [kept]) is None


def test_what_an_older_version_noted_is_left_out() -> None:
    assert list(notes(RouteNote, [Step("route", 0.0, {"tier": "R3", "rung": 2})])) == [RouteNote("R3")]
