"""What a person tells in the chat becomes a note of their own words, if they want that, and can be taken back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon import wire
from daemon.api.statements import HOW_TO_KEEP, StatementStore
from daemon.client.client import Client, DaemonError
from daemon.config.settings import load
from daemon.jobs.workers import Writer
from memory import Memory
from plugins.manager import load as load_plugins
from tests.running import RunningDaemon


@pytest.fixture
def keeping(client: Client) -> Iterator[Client]:
    """A client of a daemon that keeps what is told; nothing that was told before is left."""
    client.set_telling("yes")
    yield client
    client.set_telling("ask")


def ask(client: Client, text: str, session: int | None = None) -> tuple[wire.SavedStatement | None, wire.Answered]:
    *events, last = client.ask(text, conversation=session, own_words=True)
    assert isinstance(last, wire.Answered)
    return next((event for event in events if isinstance(event, wire.SavedStatement)), None), last


def test_nobody_is_heard_unasked(client: Client, running: RunningDaemon) -> None:
    told, answered = ask(client, "I moved to Bergen")
    assert told == wire.SavedStatement("I moved to Bergen") and answered.no_answer
    assert (answered.text, answered.note, answered.missing) == ("No note says this yet.\n", HOW_TO_KEEP, ())
    assert client.sources("told:").sources == ()
    client.set_telling("no")
    assert load(running.paths.config).chat.remember == "no"
    told, answered = ask(client, "I moved to Bergen")
    assert told is None and answered.note == HOW_TO_KEEP
    told, answered = ask(client, "I moved to Bergen, where is the town hall?")
    assert told is None and answered.no_answer and not answered.note
    client.set_telling("ask")
    with pytest.raises(DaemonError):
        client.set_telling("perhaps")


def test_a_statement_takes_the_place_of_an_older_fact_and_undo_brings_it_back(keeping: Client) -> None:
    keeping.remember("# Me\n\n- Phone: 555 1111\n", source="note:me", title="Me")
    session = keeping.new_conversation("Numbers")
    told, answered = ask(keeping, "My phone number is 555 9999.", session.id)
    assert told is not None and told.source and told.changes[0].old.objects[-1] == "555 1111"
    assert "From now on: your phone: 555 9999 [1]" in answered.text
    assert "earlier: your phone: 555 1111 [2]" in answered.text
    own, before = answered.citations
    assert own.label.startswith("Numbers, me, ") and own.quote == "My phone number is 555 9999."
    assert before.uri == "note:me" and before.earlier
    assert [message.role for message in keeping.conversation(session.id).messages] == ["user", "memory"]
    [source] = keeping.sources("told:").sources
    assert (source.kind, source.title) == ("chat", "Numbers")
    assert "555 9999" in ask(keeping, "What is my phone number?")[1].lines[0].text
    assert keeping.undo_statement().text == "My phone number is 555 9999."
    assert keeping.sources("told:").sources == ()
    assert "555 1111" in ask(keeping, "What is my phone number?")[1].lines[0].text
    with pytest.raises(DaemonError, match="no statement of yours to take back"):
        keeping.undo_statement()


def test_what_is_asked_besides_is_answered(keeping: Client) -> None:
    keeping.remember("The town hall of Bergen is at Rådhusgaten 10.", source="note:hall", title="Town hall")
    told, answered = ask(keeping, "I moved to Bergen, where is the town hall?")
    assert told is not None and (told.text, told.besides) == ("I moved to Bergen", "where is the town hall?")
    assert "Rådhusgaten 10" in answered.lines[0].text
    again, _ = ask(keeping, "I moved to Bergen")  # sent twice, kept once
    assert again is not None and again.source == told.source
    keeping.undo_statement()


def test_questions_answers_and_other_clients_tell_nothing(keeping: Client) -> None:
    session = keeping.new_conversation("Boat")
    for text in ("Where is my boat?", "my boat", "Tell me about the boat."):
        assert ask(keeping, text, session.id)[0] is None
    *_, answered = keeping.ask("I moved to Lisbon", conversation=session.id)  # not a person's words: an agent asks so
    assert isinstance(answered, wire.Answered)
    assert keeping.sources("told:").sources == ()


def test_a_question_that_cannot_be_asked_keeps_nothing(keeping: Client) -> None:
    text = "I moved to Bergen, where is the town hall?"
    for wrong in ({"within": wire.Scope(conversation="none of mine")}, {"strategy": "sideways"}):
        with pytest.raises(DaemonError):
            [*keeping.ask(text, own_words=True, **wrong)]  # type: ignore[arg-type]
    assert keeping.sources("told:").sources == ()


def test_a_secret_that_is_stated_is_masked_wherever_it_is_kept(keeping: Client) -> None:
    session = keeping.new_conversation("Door")
    _, answered = ask(keeping, "remember that my password: Tr0ub4dor&3xyz", session.id)
    messages = [message.text for message in keeping.conversation(session.id).messages]
    assert len(messages) == 2 and "Kept" in answered.text
    assert not any("Tr0ub4dor" in text for text in (answered.text, answered.citations[0].quote, *messages))
    assert "Tr0ub4dor" not in keeping.undo_statement().text


def test_what_is_kept_by_hand_needs_no_setting(client: Client) -> None:
    told = client.tell("The spare key is under the pot.")
    assert told.source and told.changes == ()
    assert "under the pot" in ask(client, "Where is the spare key?")[1].text
    assert client.forget(source=told.source).sources == 1
    with pytest.raises(DaemonError, match="statement is missing"):
        client.tell("  ")
    long = " ".join(f"The {number}th plank of the hull is larch and was sawn in May." for number in range(60))
    client.tell(long)
    assert client.undo_statement().text.startswith("The 0th plank")


def test_the_last_statement_is_the_last_one_also_after_a_flight_to_the_west(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = Writer()
    writer.start()
    try:
        with Memory.open(tmp_path / "memory.db", embedder=load_plugins().embedder("static")) as memory:
            statements = StatementStore(memory, writer, tmp_path / "config.toml")
            for zone, text in (
                ("Asia/Tokyo", "The tea is in Tokyo."),
                ("America/Los_Angeles", "The hat is in Venice."),
            ):
                monkeypatch.setenv("TZ", zone)
                time.tzset()
                statements.keep(text, None)
            assert statements.find_last().text == "The hat is in Venice."
    finally:
        writer.close(60)
        monkeypatch.undo()
        time.tzset()
