"""pal sessions: list, search, show, delete."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from tests.cli.vault import Shell

AT = datetime(2026, 3, 9, 12, tzinfo=UTC)
BELT = "Who has the belt for the compressor?"


def ask(shell: Shell, *questions: str) -> None:
    """A session of its own."""
    assert shell.pal("chat", "--plain", input="\n".join(questions)).code in (0, 4)


def test_sessions_from_the_first_to_the_deleted(shell: Shell, tmp_path: Path) -> None:
    assert shell.pal("sessions").err.startswith("There are no sessions yet.")
    assert shell.pal("sessions", "search", "belt").code == 4
    shell.pal("remember", "The belt for the compressor is with Ozzie.")
    ask(shell, BELT, "Where is Ozzie?")
    ask(shell, "What is the capital of Mongolia?")

    listed = shell.pal("sessions").out.splitlines()
    assert [line.split("  ")[0] for line in listed] == ["2", "1"] and listed[1].endswith(f"4 messages  {BELT}")
    assert [one["id"] for one in shell.pal("sessions", "-n", "1", "--json").json["conversations"]] == [2]

    found = shell.pal("sessions", "search", "OZZIE", "belt")
    assert found.out.splitlines()[1] == "   Memory: The belt for the compressor is with Ozzie. [1]"
    assert [
        one["conversation"]["id"] for one in shell.pal("sessions", "search", "mongolia", "--json").json["matches"]
    ] == [2]

    shown = shell.pal("sessions", "show", "1").out
    assert shown.startswith(f"{BELT}\n\nYou: {BELT}\n\n- The belt")
    assert shell.pal("sessions", "show", "1", "--json").json["conversation"]["messages"] == 4

    asked = shell.pal("sessions", "delete", "1")
    assert asked.code == 2 and "Add --yes to delete without being asked." in asked.err
    assert shell.pal("sessions", "delete", "1", "2", "--yes").out == "Deleted: 2 sessions.\n"
    assert shell.pal("sessions", "show", "1").code == 4
