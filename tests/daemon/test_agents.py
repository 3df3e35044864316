"""What agents write: limits that no number of processes gets round, and all of it taken back at once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from daemon import wire
from daemon.client.client import Client, DaemonError
from daemon.config.settings import McpSettings, Settings
from tests.running import run_daemon

LIMITS = McpSettings(note_kb=1, notes_per_minute=5, notes_per_day=8)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with run_daemon(tmp_path_factory.mktemp("agents") / "home", Settings(mcp=LIMITS)) as daemon:
        note = daemon.paths.data / "ana.md"
        daemon.client.remember("City: Bonn", title="Ana", source=str(note), at=datetime(2026, 3, 1, tzinfo=UTC))
        yield daemon.client


def agent(client: Client, name: str) -> wire.Agent:
    return next((one for one in client.agents() if one.name == name), wire.Agent(name))


def test_what_an_agent_writes_is_its_own_word_and_replaces_nothing(client: Client) -> None:
    kept = client.remember_for("scribe", "City: Riga", "Ana")
    [passage] = [hit.passage for hit in client.recall("In which city is Ana?").hits if hit.passage.uri == kept.source]
    assert passage.speaker == "scribe (agent)" and passage.title == "Ana"
    assert {fact.objects[1] for fact in client.facts("Ana").facts if fact.predicate == "city"} == {"Bonn", "Riga"}
    assert client.revisions().revisions == ()


def test_the_same_note_again_is_kept_once_and_counts_once(client: Client) -> None:
    first = client.remember_for("parrot", "Polly wants a cracker.")
    for text in ("Polly wants a cracker.", " polly  WANTS a\ncracker. "):
        assert client.remember_for("parrot", text) == wire.KeptNote(first.source, known=True)
    assert agent(client, "parrot").notes == 1
    assert client.remember_for("other", "Polly wants a cracker.").known is False


def test_an_agent_that_floods_is_stopped_by_the_minute_and_others_are_not(client: Client) -> None:
    for n in range(LIMITS.notes_per_minute):
        client.remember_for("flood", f"Note number {n} of the flood.")
    with pytest.raises(DaemonError, match=r"5 notes a minute: wait \d+ s"):
        client.remember_for("flood", "One more of the flood.")
    assert agent(client, "flood").notes == LIMITS.notes_per_minute
    client.remember_for("calm", "One note of a calm agent.")


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("big", "x " * 600, "may have 1 kB"),
        ("bytes", "ä" * 501, "may have 1 kB"),
        ("empty", " \n ", "no words"),
        ("../up", "A note.", "name"),
        ("", "A note.", "name"),
        ("A", "A note.", "name"),
    ],
)
def test_what_is_too_long_empty_or_of_nobody_is_refused(client: Client, name: str, text: str, reason: str) -> None:
    with pytest.raises(DaemonError, match=reason):
        client.remember_for(name, text)
    assert name not in {one.name for one in client.agents()}


def test_all_of_an_agent_is_taken_back_at_once_and_nothing_of_another(client: Client) -> None:
    mine = [client.remember_for("undone", f"The {word} is open.").source for word in ("gate", "hatch")]
    client.remember_for("undone-too", "The window is open.")
    *_, answered = client.ask("Which hatch is open?", agent="undone")
    assert isinstance(answered, wire.Answered) and answered.trace_id is not None
    client.judge(answered.trace_id, "good")
    known = agent(client, "undone")
    assert (known.notes, known.verdicts) == (2, 1) and known.last is not None
    assert client.undo_agent("undone", since=datetime.now(UTC) + timedelta(hours=1)).notes == 0
    taken = client.undo_agent("undone")
    assert (taken.notes, taken.verdicts, taken.forgotten.sources) == (2, 1, 2)
    assert not {one.uri for one in client.sources("note:agent/").sources} & set(mine)
    assert "undone" not in {one.name for one in client.agents()} and agent(client, "undone-too").notes == 1
    assert client.undo_agent("undone") == wire.AgentUndone(wire.Forgotten())


def test_a_note_may_have_just_the_kilobytes_that_are_allowed(client: Client) -> None:
    assert client.remember_for("exact", "ä" * 500).known is False


def test_what_was_written_before_a_restart_counts_for_the_day(tmp_path: Path) -> None:
    settings = Settings(mcp=McpSettings(notes_per_day=2))
    with run_daemon(tmp_path / "home", settings) as daemon:
        for text in ("The first note.", "The second note."):
            daemon.client.remember_for("a", text)
        daemon.stop()
        daemon.start()
        with pytest.raises(DaemonError, match="within 24 hours"):
            daemon.client.remember_for("a", "The third note.")
