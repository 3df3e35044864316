"""A note whose parts are from different days, from the disk through the daemon."""

from __future__ import annotations

from pathlib import Path

from daemon.client.client import Client
from tests.daemon.conftest import added, answer

NOTE = """# Kitchen project
Deadline: 30 April
Builder: Ferro & Sons
## 2026-03-02
The deadline moved to 14 May.
## 2026-04-10
Builder is now Casa Nova. Deadline: 1 June.
"""


def test_the_newest_day_in_the_text_answers(client: Client, tmp_path: Path) -> None:
    note = tmp_path / "kitchen.md"
    note.write_text(NOTE, "utf-8")
    assert added(client, note)[0].episodes == 3
    told = answer(client, "what is the deadline of the kitchen project?")
    assert "1 June" in next(line.text for line in told.lines if line.citations)
    assert told.citations[0].line == 7
    note.write_text(NOTE + "## 2026-05-02\nDeadline: 9 June\n", "utf-8")
    assert added(client, note)[0].episodes == 1
    told = answer(client, "what is the deadline of the kitchen project?")
    assert "9 June" in next(line.text for line in told.lines if line.citations)
