"""A value that is valid from a later day on is not called earlier, and what holds until then still holds."""

from __future__ import annotations

from datetime import datetime

import pytest

from memory import Memory
from memory.nouns import Answer, Document

NOW = datetime(2026, 6, 1, 12).astimezone()


def write(memory: Memory, day: str, text: str) -> None:
    at = datetime.fromisoformat(day).astimezone()
    memory.ingest.remember_many([Document("/gym.md", text, title="Gym", kind="file", at=at)])


@pytest.mark.parametrize(("now", "earlier"), [(NOW, False), (datetime(2099, 6, 1).astimezone(), True)])
def test_a_value_that_begins_later(fresh: Memory, now: datetime, earlier: bool) -> None:
    write(fresh, "2026-01-05", "# Gym\n\nFee: 30 euros\n")
    write(fresh, "2026-05-20", "# Gym\n\nFee: 36 euros from 1 September 2098\n")
    *_, answer = fresh.questions.ask("What is the fee of the gym?", now=now)
    assert isinstance(answer, Answer)
    lines = answer.text.split("\n")
    (new,), (old,) = ([line for line in lines if value in line] for value in ("36 euros", "30 euros"))
    assert "earlier" not in new and ("earlier" in old) is earlier
    assert "until 2098-09-01" in old


def test_a_line_that_is_struck_out_is_an_earlier_value(fresh: Memory) -> None:
    write(fresh, "2026-01-05", "# Gym\n\n- ~~The class of Ida begins at 7 pm.~~\n- The class of Ida begins at 8 pm.\n")
    *_, answer = fresh.questions.ask("When does the class of Ida begin?", now=NOW)
    assert isinstance(answer, Answer)
    lines = answer.text.split("\n")
    assert "8 pm" in lines[0] and "earlier" not in lines[0]
    assert lines[1].startswith("- earlier: ") and "7 pm" in lines[1]
