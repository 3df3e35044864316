"""What rules read out of a passage, and above all what they do not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.write.rules import telling
from memory.write.told import ToldRelation

WRITTEN = datetime(2024, 3, 6, 9, tzinfo=UTC)  # a Wednesday


def told(text: str, title: str = "2024-03-06", **given: object) -> tuple[ToldRelation, ...]:
    kept: dict[str, object] = {"at": WRITTEN, "speaker": None, "properties": {}, "first": False, **given}
    return telling(text, title, **kept).relations  # type: ignore[arg-type]


def facts(text: str, title: str = "2024-03-06", **given: object) -> set[tuple[str, str, str]]:
    return {
        (one.subject, one.predicate, one.object) for one in told(text, title, **given) if one.modality == "asserted"
    }


@pytest.mark.parametrize(
    ("sentence", "replaced", "value"),
    [
        ("I moved from Turin to Genoa last week.", "Turin", "Genoa"),
        ("The rent goes from 520 to 560 as of May.", "520", "560"),
        ("The availability target was raised from 99.5 to **99.9**.", "99.5", "99.9"),
        ("The fee is 45 euros a month (was 40).", "40", "45 euros a month"),
        ("Switched from Evernote to Joplin, finally.", "Evernote", "Joplin"),
        ("The due date isn't the 12th, it's 21 April.", "12 April", "21 April"),
        ("Payment is now within 45 days instead of 30 days.", "30 days", "45 days"),
        ("Our team is renamed from Comet to **Meteor**.", "Comet", "Meteor"),
        ("I'm no longer vegan. Back to vegetarian, with eggs.", "vegan", "vegetarian"),
        ("Spare key: not at the office any more, only with Aunt Rosa.", "at the office", "with Aunt Rosa"),
    ],
)
def test_a_change_has_the_new_and_the_old_value(sentence: str, replaced: str, value: str) -> None:
    assert [(one.replaces, one.object, one.modality) for one in told(sentence)] == [(replaced, value, "asserted")]
