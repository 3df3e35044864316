"""today: what is new in the memory, and what of the day."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.cli.vault import Shell

RENT = "# Rent\n\n- Rent: 900\n- Deposit: 1800\n"


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """Some notes of which one was edited and one deleted, and tasks for today."""
    folder = tmp_path_factory.mktemp("news")
    shell = Shell(folder, folder / "home")
    empty = shell.pal("today")
    assert (empty.code, empty.out) == (4, "") and "Nothing has been read yet. Read a folder" in empty.err
    notes = folder / "notes"
    notes.mkdir()
    (notes / "rent.md").write_text(RENT)
    (notes / "old.md").write_text("Nobody lives in the tower.")
    shell.pal("add", "notes")
    new = shell.pal("today")
    assert (
        (new.code, new.out) == (4, "")
        and "No fact changed, " in new.err
        and "2 notes read since: pal status --sources" in new.err
    )
    (notes / "rent.md").write_text(RENT.replace("900", "950"))
    (notes / "old.md").unlink()
    today = date.today()
    days = {
        "Ring the bell": today,
        "Mend the net": today + timedelta(days=3),
        "Pay the miller": today - timedelta(days=2),
    }
    (notes / "tasks.md").write_text("".join(f"- [ ] {what} 📅 {day}\n" for what, day in days.items()))
    shell.pal("add", "notes")
    yield shell
    shell.pal("daemon", "stop")


def test_today_tells_what_is_due_changed_and_waits(shell: Shell) -> None:
    said = shell.pal("today")
    assert said.code == 0
    lines = said.out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "Overdue", "Today", "Coming", "Changed: 1 fact", "Read: 2 notes",
        "Waiting: 1 changed fact to look at: pal review",
    ]  # fmt: skip
    assert "  Ring the bell  notes/tasks.md:1" in lines
    assert f"  {date.today() + timedelta(days=3)}  Mend the net  notes/tasks.md:2" in lines
    assert "  Rent rent: 900 → 950" in lines
    reply = shell.pal("today", "--json").json
    assert (reply["changed_total"], reply["planned_total"], reply["review_total"]) == (1, 3, 1)


def test_another_day_has_its_own(shell: Shell) -> None:
    later = shell.pal("today", "--date", str(date.today() + timedelta(days=3))).out.splitlines()
    assert later[:2] == ["Overdue", f"  {date.today()}  Ring the bell  notes/tasks.md:1"]
    assert later[2] == f"  {date.today() - timedelta(days=2)}  Pay the miller  notes/tasks.md:3"
    assert str(date.today() + timedelta(days=3)) in later and "  Mend the net  notes/tasks.md:2" in later
    assert shell.pal("today", "--date", "2020-01-01").code == 4
    assert shell.pal("today", "--date", "soonish").code == 2


def test_the_notes_of_the_first_day_are_a_number_and_the_next_eight_days_are_listed(tmp_path: Path) -> None:
    shell = Shell(tmp_path, tmp_path / "home")
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(9):
        (notes / f"{number}.md").write_text(f"Note {number} is about the tower.\n")
    days = {name: date.today() + timedelta(days=n) for name, n in {"Oil the lens": 8, "Paint the door": 10}.items()}
    (notes / "tasks.md").write_text("".join(f"- [ ] {what} 📅 {day}\n" for what, day in days.items()))
    shell.pal("add", "notes")
    said = shell.pal("today").out
    assert "Read: 10 notes: pal status --sources\n" in said and "notes/3.md" not in said
    assert "Oil the lens" in said and "Paint the door" not in said
    shell.pal("daemon", "stop")


def test_the_newest_ten_overdue_tasks_are_listed_and_the_rest_counted(tmp_path: Path) -> None:
    shell = Shell(tmp_path, tmp_path / "home")
    tasks = "".join(f"(B) Oil hinge {n} due:2026-0{n % 6 + 1}-1{n % 3}\n" for n in range(11))
    (tmp_path / "todo.txt").write_text(
        f"{tasks}(A) 2026-06-27 book pool guest pass due:2026-07-09\nx 2026-07-01 2026-06-01 Pay due:2026-07-10\n"
    )
    shell.pal("add", "todo.txt")
    said = shell.pal("today", "--date", "2026-11-28")
    assert said.out.splitlines()[:2] == ["Overdue", "  2026-07-09  book pool guest pass  todo.txt:12"]
    assert said.out.count("Oil hinge") == 9 and "Pay" not in said.out and "and 2 earlier." in said.err
    shell.pal("daemon", "stop")
