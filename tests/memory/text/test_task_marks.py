"""The marks of tasks: boxes, days and rules of repetition in several notations."""

from __future__ import annotations

import pytest

from memory.text.markup import blank_fences, drop_marks, drop_other_days, read_marks, read_state


@pytest.mark.parametrize(
    ("task", "name", "marks"),
    [
        ("Oil the gate 🔁 every month on the last Friday when done 📅 2027-01-29", "Oil the gate",
         [("repeats", "every month on the last Friday when done"), ("due", "2027-01-29")]),
        ("Prune ⏫ 🔁 jeden zweiten März ➕ 2026-11-01", "Prune",
         [("repeats", "jeden zweiten März"), ("created", "2026-11-01")]),
        ("Sweep 🔁 every April #yard", "Sweep #yard", [("repeats", "every April")]),
        ("Rake [repeat:: every May on the 3rd] [due:: 2027-05-03]", "Rake",
         [("repeats", "every May on the 3rd"), ("due", "2027-05-03")]),
        ("Rake (repeat:: every day)", "Rake", [("repeats", "every day")]),
        ("Call Ida @{2027-02-03} @@{14:00}", "Call Ida", [("due", "2027-02-03")]),
        ("Pay due:2026-12-01 rec:1m", "Pay", [("due", "2026-12-01"), ("repeats", "1m")]),
        ("SCHEDULED: <2026-12-01 Tue .+1w>", "", [("scheduled", "2026-12-01"), ("repeats", ".+1w")]),
        ("Read the 🗺 of the bay", "Read the 🗺 of the bay", []),
    ],
)  # fmt: skip
def test_marks_are_no_part_of_the_name(task: str, name: str, marks: list[tuple[str, str]]) -> None:
    assert (drop_marks(task).strip(), read_marks(task)) == (name, marks)


def test_the_days_of_making_and_doing_are_not_planned() -> None:
    assert drop_other_days("Mow 🛫 2026-11-20 ⏳ 2026-11-25 ✅ 2026-11-26") == "Mow ⏳ 2026-11-25"


def test_the_sign_in_a_box_is_a_state() -> None:
    assert {box: read_state(box) for box in " !?*/>xX☑-~i1\""} == {
        **dict.fromkeys(" !?*/>", "open"), **dict.fromkeys("xX☑", "done"), **dict.fromkeys("-~", "cancelled"),
        **dict.fromkeys("i1\"", ""),
    }  # fmt: skip


def test_what_is_in_a_fence_is_blank_and_the_rest_keeps_its_place() -> None:
    text = "a\n```\n- [ ] b\n```\nc"
    assert blank_fences(text) == "a\n   \n       \n   \nc"
