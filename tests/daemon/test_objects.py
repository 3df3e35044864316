"""Looking around: objects, facts and notes by their words; an object, a note; what is corrected by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from daemon import wire
from daemon.client.client import Client, DaemonError
from tests.daemon.conftest import added
from tests.running import RunningDaemon

NOTES = {
    "Ozzie Penhale.md": "---\nphone: 0161 496 07\nbirthday: 1951-06-02\n---\n# Ozzie Penhale\n\n"
    "Keeps the [[Compressor]] alive.\n",
    "Compressor.md": "# Compressor\n\nOzzie Penhale has the belt. It was bought in Falmouth.\n",
    "2026-03-09.md": "# 2026-03-09\n\nOzzie Penhale came by with Nuria Solano.\n\n- [ ] Paint the door\n",
}


@pytest.fixture(scope="module")
def town(running: RunningDaemon, tmp_path_factory: pytest.TempPathFactory) -> tuple[Client, Path]:
    folder = tmp_path_factory.mktemp("town").resolve()
    for name, text in NOTES.items():
        (folder / name).write_text(text, "utf-8")
    added(running.client, folder)
    return running.client, folder


def failure(call: Callable[[], object]) -> wire.Failed:
    with pytest.raises(DaemonError) as caught:
        call()
    return caught.value.failed


def names(found: wire.SearchReply) -> list[str]:
    return [one.name for one in found.objects]


def test_objects_are_found_by_words_of_their_names(town: tuple[Client, Path]) -> None:
    client, _ = town
    assert names(client.search("objects", "OZZ pen")) == names(client.search("objects", "penhale")) == ["Ozzie Penhale"]
    (ozzie,) = client.search("objects", "ozzie").objects
    assert (ozzie.facts, ozzie.notes) == (2, 3)
    assert client.search("objects", "100% _").total == 0
    every = client.search("objects")
    assert every.objects[0].name == "Ozzie Penhale" and len(every.objects) == every.total
    assert not {"2026-03-09", "phone"} & set(names(every)), "dates and the names of fields are no things"
    paged = [client.search("objects", "", 2, offset) for offset in range(0, every.total, 2)]
    assert [one for page in paged for one in page.objects] == list(every.objects)
    assert failure(lambda: client.search("objects", "", 100_000)).code == "bad_input"


def test_facts_are_found_by_subject_predicate_and_value(town: tuple[Client, Path]) -> None:
    client, folder = town
    for words in ("phone", "ozzie phone", "0161"):
        (fact,) = client.search("facts", words).facts
        assert fact.objects == ("Ozzie Penhale", "0161 496 07") and fact.uri == str(folder / "Ozzie Penhale.md")
    assert client.search("facts", "ozzie nuria").total == 0
    assert client.search("facts", "").total == len(client.search("facts", "").facts) > 2


def test_notes_are_found_by_title_and_by_what_they_say(town: tuple[Client, Path]) -> None:
    client, folder = town
    assert [one.title for one in client.search("notes", "falm").notes] == ["Compressor"]
    found = client.search("notes", "compressor")
    assert found.total == 2 and found.notes[0].uri == str(folder / "Compressor.md"), "its title comes first"
    assert client.search("notes", '" OR *').total == 0 and client.search("notes", "").total == 3
    notes = client.search("notes", "").notes
    assert client.search("notes", "", 1, 1).notes == notes[1:2]
    assert notes[0].title == "2026-03-09", "the others have no date"


def test_an_object_with_its_facts_notes_and_neighbours(town: tuple[Client, Path]) -> None:
    client, _ = town
    ozzie = client.object("ozzie penhale")
    assert ozzie.name == "Ozzie Penhale"
    assert {one.predicate: one.objects[-1] for one in ozzie.facts} == {
        "phone": "0161 496 07", "birthday": "1951-06-02",
    }  # fmt: skip
    assert {timeline.predicate for timeline in ozzie.timelines} == {"phone", "birthday"}
    assert ozzie.notes_total == 3
    belt = next(one for one in ozzie.notes if one.title == "Compressor")
    assert (belt.line, belt.quote) == (3, "Ozzie Penhale has the belt. It was bought in Falmouth.")
    own = ozzie.notes[0]
    assert (own.title, own.quote) == ("Ozzie Penhale", "Keeps the [[Compressor]] alive."), "not its heading, and first"
    near = {one.name: one for one in ozzie.neighbours}
    assert near["0161 496 07"].relation == "phone" and near["0161 496 07"].forward
    assert near["Nuria Solano"].relation == "" and near["Nuria Solano"].passages == 1
    back = {one.name: one for one in client.object("0161 496 07").neighbours}
    assert not back["Ozzie Penhale"].forward
    assert failure(lambda: client.object("Atlantis")).code == "not_found"


def test_a_note_with_its_passages_and_what_was_read_out_of_it(town: tuple[Client, Path]) -> None:
    client, folder = town
    note = client.note(str(folder / "Ozzie Penhale.md"))
    assert note.source.title == "Ozzie Penhale" and note.source.episodes == len(note.passages) == 1
    assert "alive" in note.passages[0].text and note.read is not None and note.models == ()
    assert {one.objects[-1] for one in client.note(str(folder / "2026-03-09.md")).facts} == {"open"}
    assert failure(lambda: client.note("/nowhere.md")).code == "not_found"


def test_the_graph_around_a_thing_and_a_note_and_of_all(town: tuple[Client, Path]) -> None:
    client, folder = town
    around = client.graph("ozzie penhale")
    of = {one.id: one for one in around.nodes}
    assert [of[id].name for id in around.center] == ["Ozzie Penhale"]
    notes = {one.uri: one for one in around.nodes if one.kind == "note"}
    assert set(notes) == {str(folder / name) for name in NOTES}
    told = {(edge.relation, of[edge.target].name) for edge in around.edges if edge.relation}
    assert {("phone", "0161 496 07"), ("birthday", "1951-06-02")} <= told
    mentions = [edge for edge in around.edges if not edge.relation]
    assert all(of[edge.source].kind == "note" and of[edge.target].kind != "note" for edge in mentions)
    diary = notes[str(folder / "2026-03-09.md")]
    assert {of[edge.target].name for edge in mentions if edge.source == diary.id} >= {"Ozzie Penhale", "Nuria Solano"}
    assert diary.at is not None and all(edge.since == diary.at for edge in mentions if edge.source == diary.id)

    note = client.graph(diary.uri)
    assert note.center == (diary.id,) and {one.name for one in note.nodes} >= {"Ozzie Penhale", "Nuria Solano"}
    whole = client.graph()
    assert whole.center == () and {one.name for one in whole.nodes} >= {"Ozzie Penhale", "Compressor"}
    assert len(client.graph(limit=4).nodes) <= 4
    assert failure(lambda: client.graph("Nobody")).code == "not_found"
    assert (
        failure(lambda: client.graph(limit=0)).code == failure(lambda: client.graph(limit=100_000)).code == "bad_input"
    )


def test_the_graph_has_what_held_before(town: tuple[Client, Path]) -> None:
    client, _ = town
    client.correct(client.search("facts", "phone").facts[0].id, "0161 496 99")
    try:
        graph = client.graph("Ozzie Penhale")
        of = {one.id: one.name for one in graph.nodes}
        phones = {of[edge.target]: edge.until for edge in graph.edges if edge.relation == "phone"}
        assert phones["0161 496 99"] is None and phones["0161 496 07"] is not None
    finally:
        client.take_back_correction(client.search("facts", "0161 496 07").facts[0].id)


def test_a_correction_by_hand_takes_the_place_of_a_fact_and_can_be_taken_back(town: tuple[Client, Path]) -> None:
    client, _ = town
    (before,) = client.search("facts", "phone").facts
    for value in ("0161 496 99", "none, and proud of it"):
        done = client.correct(before.id, value)
        assert done.old.superseded_by is not None and done.new is not None and done.new.id == done.old.superseded_by
        assert done.new.objects == ("Ozzie Penhale", value) and done.new.origin in ("user", "rule")
        assert done.new.uri == f"note:corrected/{before.id}"
        phones = [one.objects[-1] for one in client.object("Ozzie Penhale").facts if one.predicate == "phone"]
        assert phones == [value]
        timeline = next(one for one in client.object("Ozzie Penhale").timelines if one.predicate == "phone")
        assert [one.fact.objects[-1] for one in timeline.values] == ["0161 496 07", value]
        (ended,) = [one.ended for one in timeline.values if one.ended]
        assert ended.state == "kept"
        assert client.status().review == 0, "what a person says needs no review"
        back = client.take_back_correction(before.id)
        assert back.old.superseded_by is None
        phones = [one.objects[-1] for one in client.object("Ozzie Penhale").facts if one.predicate == "phone"]
        assert phones == ["0161 496 07"]
    assert failure(lambda: client.take_back_correction(before.id)).code == "not_found"
    assert failure(lambda: client.correct(before.id, "0161  496 07")).code == "bad_input"
    assert failure(lambda: client.correct(before.id, " ")).code == "bad_input"
    assert failure(lambda: client.correct(1 << 40, "x")).code == "not_found"
