"""What computers do that agree through a folder: who is right, what is forgotten, what stays on its computer."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.errors import InvalidInputError, NotAvailableError, NotFoundError
from memory.facts.extraction import ExtractedRelation, Extraction
from memory.nouns import Answer, Citation, Document, Policy
from memory.sync import folder as folder_module
from memory.sync import sync as syncing
from memory.sync.document import FORGETTINGS, ITEMS, MACHINE, SharedEntry, resolve
from memory.sync.folder import MARKER, MOST_FILES, SharedFolder, make_words
from tests.memory.sync.computers import DAY, WORDS, Computer, agree, carry, carry_all, make_computers

YEAR_MS = 365 * 24 * 3600 * 1000
Pair = tuple[Computer, Computer]


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    with make_computers(tmp_path, "anna", "berta") as [anna, berta]:
        yield anna, berta


def shared_text(computer: Computer, at: Computer) -> bytes:
    """All that the files of a computer say, in a copy of the folder, decrypted."""
    folder = SharedFolder(at.folder, "reader", WORDS)
    own = [name for name in folder.find_changes() if name.startswith(f"{computer.name}/")]
    updates: list[bytes] = []
    folder.read(own, updates.append)
    return b"".join(updates)


# Who is right -------------------------------------------------------------------------------------------------


def test_of_two_that_know_of_each_other_the_later_wins_whatever_the_clocks_say() -> None:
    first = SharedEntry(1, t=2 * YEAR_MS, value="old")
    later = SharedEntry(2, t=0, seen={"anna": 1}, value="new")
    assert resolve({"anna": first, "berta": later}).value == "new"


def test_a_forgetting_wins_over_what_did_not_know_of_it_and_not_over_what_did() -> None:
    gone = SharedEntry(2, t=0, gone=True)
    assert resolve({"anna": gone, "berta": SharedEntry(9, t=0, value="edited meanwhile")}).gone
    assert resolve({"anna": gone, "berta": SharedEntry(9, t=0, after=2, value="wanted again")}).value == "wanted again"


def test_values_of_the_same_time_are_both_known() -> None:
    entries = {"anna": SharedEntry(3, t=0, value="a"), "berta": SharedEntry(1, t=0, value="b")}
    item = resolve(entries | {"clara": SharedEntry(2, t=0, value="a")})
    assert (item.value, item.others) == ("a", ("b",))


# Agreeing -----------------------------------------------------------------------------------------------------


def test_a_note_and_a_decision_are_on_the_other_computer_and_a_second_round_changes_nothing(pair: Pair) -> None:
    anna, berta = pair
    for computer in pair:
        computer.read_files()
    anna.say("boat", "The boat is at pier seven.")
    anna.decide("keep")
    agree([anna, berta])
    assert berta.notes() == {"note:boat": "The boat is at pier seven."}
    assert berta.rent() == anna.rent() == [("contradicts", "kept"), ("fact", "750 euros")]
    before = anna.memory.store.generation, berta.memory.store.generation, sorted(anna.folder.rglob("*"))
    agree([anna, berta])
    assert before == (anna.memory.store.generation, berta.memory.store.generation, sorted(anna.folder.rglob("*")))


def test_a_decision_waits_for_its_notes(pair: Pair) -> None:
    anna, berta = pair
    anna.read_files()
    anna.decide("both")
    agree([anna, berta])
    assert berta.sync.state.waiting == 1
    berta.read_files()
    berta.sync.run()
    assert berta.sync.state.waiting == 0 and ("contradicts", "settled") in berta.rent()
    anna.decide("open")
    agree([anna, berta])
    assert ("contradicts", "open") in berta.rent()


def test_a_correction_is_taken_over_and_two_at_once_go_to_the_review(pair: Pair) -> None:
    anna, berta = pair
    for computer in pair:
        computer.memory.ingest.remember_many(
            [Document("door.md", "Code: 1234\n", title="Door", kind="file", sha256="c" * 64)]
        )
    anna.correct_code("1234", "2222")
    agree([anna, berta])
    assert berta.codes() == anna.codes() == ["2222"]
    anna.correct_code("2222", "3333")
    berta.correct_code("2222", "4444")
    agree([anna, berta])
    assert berta.codes() == anna.codes() == ["3333", "4444"]
    for computer in pair:
        [row] = computer.memory.knowledge.revisions()
        assert (row.relation, {row.old.objects[-1], row.new.objects[-1]}) == ("contradicts", {"3333", "4444"})


def test_two_entries_of_the_profile_at_once_go_to_the_review_until_one_is_stated_again(pair: Pair) -> None:
    anna, berta = pair
    anna.set_profile("phone", "111")
    berta.set_profile("phone", "222")
    agree([anna, berta])
    assert anna.profile() == berta.profile() == {"phone": ["111", "222"]}
    assert [row.relation for row in anna.memory.knowledge.revisions()] == [
        row.relation for row in berta.memory.knowledge.revisions()
    ]
    anna.set_profile("phone", "333", DAY.replace(month=6))
    agree([anna, berta])
    assert anna.profile() == berta.profile() == {"phone": ["333"]}
    anna.memory.ingest.retire("note:me/phone")
    agree([anna, berta])
    assert anna.profile() == berta.profile() == {}


def test_a_chat_goes_on_and_a_verdict_is_known(pair: Pair) -> None:
    anna, berta = pair
    id = anna.memory.conversations.create("The harbour")
    anna.memory.conversations.add_question(id, "Where is the boat?")
    anna.memory.conversations.add_answer(id, Answer("At pier seven."))
    [*anna.memory.questions.ask("Where is the boat?")]
    trace = anna.memory.questions.traces()[0].id
    anna.memory.questions.feedback(trace, "bad")
    agree([anna, berta])
    assert berta.messages() == ["At pier seven.", "Where is the boat?"]
    assert [(asked.question, asked.verdict) for asked in berta.memory.questions.traces()] == [
        ("Where is the boat?", "bad")
    ]
    anna.memory.questions.feedback(trace, "none")
    anna.memory.conversations.delete(id)
    agree([anna, berta])
    assert berta.messages() == [] and berta.memory.questions.traces()[0].verdict is None


# What a model read; what stays ---------------------------------------------------------------------------------


def walk(policy: Policy, uri: str = "walk.md") -> Document:
    return Document(uri, "Met Ida near the quay.", kind="file", policy=policy, sha256="d" * 64, at=DAY)


def read_by_model(computer: Computer, policy: Policy) -> None:
    [receipt] = computer.memory.ingest.remember_many([walk(policy)])
    fact = ExtractedRelation(subject="Ida", predicate="works at", object="Lighthouse", start=0, end=22)
    computer.memory.knowledge.assert_facts({receipt.episode_ids[0]: Extraction((fact,))}, "qwen")


def test_what_a_model_read_on_one_is_not_read_again_on_the_other(pair: Pair) -> None:
    anna, berta = pair
    read_by_model(anna, "any")
    agree([anna, berta])
    berta.memory.ingest.remember_many([walk("any")])
    assert len(berta.memory.knowledge.unread_episodes(9)) == 1
    berta.sync.run()
    assert berta.memory.knowledge.unread_episodes(9) == []
    assert "Ida works at Lighthouse" in [fact.text for fact in berta.memory.knowledge.facts("Ida")]


def test_text_of_a_local_folder_is_written_only_if_that_is_allowed(pair: Pair) -> None:
    anna, berta = pair
    read_by_model(anna, "local")
    chat = anna.memory.conversations.create("Ida")
    episode = anna.memory.browsing.read_source("walk.md").passages[0]
    cited = (Citation(1, episode, "walk.md", "walk", "Met Ida near the quay."),)
    anna.memory.conversations.add_answer(chat, Answer("Met Ida near the quay. [1]", cited))
    agree([anna, berta])
    assert b"Lighthouse" not in shared_text(anna, anna) and b"quay" not in shared_text(anna, anna)
    assert "stays on anna" in berta.messages()[0]
    anna.memory.ingest.move("walk.md", "/vault/walk.md")
    anna.memory.sources.set_synced_folders(["/vault"])
    agree([anna, berta])
    assert b"Lighthouse" in shared_text(anna, anna)
    assert berta.messages() == ["Met Ida near the quay. [1]"]
    anna.memory.sources.set_synced_folders([])
    agree([anna, berta])
    assert "stays on anna" in berta.messages()[0]
    assert "Lighthouse" not in str(anna.sync._document.list_entries())


# Forgetting ---------------------------------------------------------------------------------------------------


def test_what_was_forgotten_on_one_is_forgotten_everywhere_and_in_the_files(pair: Pair) -> None:
    anna, berta = pair
    anna.say("secret", "The safe is behind Qqqzwickl.")
    agree([anna, berta])
    assert b"Qqqzwickl" in shared_text(anna, anna)
    berta.say("secret", "The safe is behind the Qqqzwickl painting.")
    anna.forget("secret")
    anna.sync.run()
    states = {one.name: one.has_forgotten for one in anna.sync.state.computers}
    assert states == {"anna": False, "berta": True}  # said until it has synchronised
    agree([anna, berta])
    for computer in (anna, berta):
        assert computer.notes() == {}
        assert not any(one.has_forgotten for one in computer.sync.state.computers)
        assert b"Qqqzwickl" not in shared_text(anna, computer) + shared_text(berta, computer)
        assert b"qqqzwickl" not in (computer.home / "memory.db").read_bytes().lower()
    anna.say("secret", "There is no safe.")  # a person who wants it again
    agree([anna, berta])
    assert berta.notes() == {"note:secret": "There is no safe."}


def test_a_forgotten_file_is_not_read_on_another_computer_even_if_it_arrives_later(pair: Pair) -> None:
    anna, berta = pair
    anna.read_files()
    anna.memory.forgetting.forget(source="flat 1.md")
    agree([anna, berta])
    assert berta.memory.sources.is_forgotten("a" * 64) and not berta.memory.sources.is_forgotten("b" * 64)
    berta.memory.sources.read_again(["a" * 64])
    berta.read_files()
    agree([anna, berta])
    assert berta.memory.sources.get("flat 1.md") is not None and anna.memory.sources.get("flat 1.md") is None
    berta.memory.forgetting.forget(source="flat 2.md")
    agree([anna, berta])
    assert anna.memory.sources.get("flat 2.md") is None


def test_a_passage_a_fact_and_a_name_are_forgotten_on_both(pair: Pair) -> None:
    anna, berta = pair
    anna.read_files()
    anna.say("ida", "Ida Novak lives near the harbour.")
    passage = anna.memory.browsing.read_source("flat 1.md").passages[0]
    fact = next(one for one in anna.memory.knowledge.facts("Flat") if "750 euros" in one.objects)
    agree([anna, berta])
    anna.memory.forgetting.forget(episode=passage)
    anna.memory.forgetting.forget(fact=fact.id)
    anna.memory.forgetting.forget(object="Ida Novak")
    agree([anna, berta])
    with pytest.raises(NotFoundError):
        berta.memory.knowledge.facts("Ida Novak")
    berta.read_files()  # they arrive after they were forgotten
    agree([anna, berta])
    assert berta.rent() == anna.rent() == []
    assert berta.memory.browsing.read_source("flat 1.md").passages == ()


# Files, clocks, computers -------------------------------------------------------------------------------------


def test_conflict_copies_and_half_written_files_are_named_left_out_and_tried_again(pair: Pair) -> None:
    anna, berta = pair
    anna.say("boat", "The boat is at pier seven.")
    anna.sync.run()
    carry(anna, berta)
    [file] = (berta.folder / "anna").glob("*.update")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    (berta.folder / "anna" / "00000001 (conflicted copy).update").write_bytes(whole)
    (berta.folder / "berta").mkdir()
    (berta.folder / "berta" / "00000007.update").write_bytes(whole)  # a copy under another name
    (berta.folder / "Holiday pictures").mkdir()
    berta.sync.run()
    assert berta.notes() == {} and len(berta.sync.state.skipped) == 4
    assert not berta.sync.is_due
    file.write_bytes(whole)
    assert berta.sync.is_due
    berta.sync.run()
    assert berta.notes() == {"note:boat": "The boat is at pier seven."} and len(berta.sync.state.skipped) == 2


@pytest.mark.parametrize(
    "value", [None, 7, "words", [1], {}, {"uri": 3}, {"name": "../x", "passage": 1, "fact": [1], "t": "x"}]
)
def test_items_of_another_shape_are_left_out_and_their_computer_named(pair: Pair, value: object) -> None:
    """A computer that was sold still has the words."""
    anna, berta = pair
    anna.say("boat", "The boat is called Wendelin.")
    for kind in (*ITEMS, *FORGETTINGS, MACHINE):
        anna.sync._document.put(f"{kind}:x", "anna", SharedEntry(5, t=0, value=value))
    anna.sync._document._map("note")["y/anna"] = "no entry"
    agree([anna, berta])
    assert "boat" in {note.uri.removeprefix("note:") for note in berta.memory.sources.list_under("note:")}
    assert value is None or "malformed" in dict(berta.sync.state.skipped)["anna"]
    assert not berta.sync.is_due


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_links_pipes_and_huge_or_wrong_files_are_left_out(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, berta = pair
    anna.say("boat", "The boat is at pier seven.")
    agree([anna, berta])
    foreign = SharedFolder(berta.folder, "foreign", WORDS)
    foreign.write(b"no update")
    foreign.write(b"\0" * 5000)
    monkeypatch.setattr(folder_module, "MOST_BYTES", 4096)
    os.mkfifo(berta.folder / "foreign" / "00000003.update")
    (berta.folder / "foreign" / "00000004.update").symlink_to("/dev/zero")
    (berta.folder / "foreign" / "00000005.update").write_bytes(b"\0" * 5000)
    (berta.folder / "linked").symlink_to(anna.folder / "anna")
    berta.sync.run()
    assert [name for name, _ in berta.sync.state.skipped] == [
        f"foreign/0000000{number}.update" for number in range(1, 6)
    ]
    assert not berta.sync.is_due
    berta.sync.folder.remove_machine("linked")  # removes nothing elsewhere
    assert list((anna.folder / "anna").glob("*.update"))


@pytest.mark.parametrize("forgets", [False, True])
def test_what_could_not_be_written_is_written_in_the_next_round(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, forgets: bool
) -> None:
    anna, berta = pair
    anna.say("boat", "The boat is at pier seven.")
    agree([anna, berta])
    if forgets:
        anna.forget("boat")
    else:
        anna.say("boat", "The boat is at pier nine.")

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", fail)
        with pytest.raises(NotAvailableError, match="No space"):
            anna.sync.run()
    assert anna.sync.is_due
    agree([anna, berta])
    assert berta.notes() == ({} if forgets else {"note:boat": "The boat is at pier nine."})
    assert not forgets or b"seven" not in shared_text(anna, anna)


def test_a_crash_before_old_files_are_removed_leaves_no_forgotten_text(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna, _ = pair
    anna.say("boat", "The boat is at pier seven.")
    anna.sync.run()
    anna.forget("boat")

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr(Path, "unlink", lambda file, **_: die() if file.suffix == ".update" else None)
        with pytest.raises(KeyboardInterrupt):
            anna.sync.run()
    assert b"seven" in shared_text(anna, anna)
    anna.start()
    agree([anna])
    assert b"seven" not in shared_text(anna, anna)


def test_a_clock_that_is_a_year_off_decides_nothing(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    anna, berta = pair
    now = syncing.now_ms
    monkeypatch.setattr(syncing, "now_ms", lambda: now() + YEAR_MS)
    anna.say("boat", "The boat is at pier seven.")
    agree([anna])
    monkeypatch.setattr(syncing, "now_ms", now)
    carry(anna, berta)
    berta.sync.run()
    berta.say("boat", "The boat is at pier nine.")
    agree([anna, berta])
    assert anna.notes() == berta.notes() == {"note:boat": "The boat is at pier nine."}


def test_a_computer_that_was_away_for_a_year(pair: Pair) -> None:
    anna, berta = pair
    agree([anna, berta])
    berta.say("away", "Written on the journey.")
    for day in range(2 * MOST_FILES):
        anna.say("day", f"Day {day} was calm.")
        anna.sync.run()
    assert len(list((anna.folder / "anna").glob("*.update"))) <= MOST_FILES
    agree([anna, berta])
    assert berta.notes() == anna.notes() == {
        "note:away": "Written on the journey.", "note:day": f"Day {2 * MOST_FILES - 1} was calm."
    }  # fmt: skip


def test_a_sold_computer_is_removed_and_what_it_stated_stays(pair: Pair) -> None:
    anna, berta = pair
    berta.say("boat", "The boat is at pier seven.")
    agree([anna, berta])
    with pytest.raises(InvalidInputError):
        anna.sync.forget_machine("anna")
    with pytest.raises(NotFoundError):
        anna.sync.forget_machine("clara")
    anna.sync.forget_machine("berta")
    assert not (anna.folder / "berta").exists()
    assert [one.name for one in anna.sync.state.computers] == ["anna"]
    carry(berta, anna)  # the other program brings its files back
    anna.sync.run()
    anna.sync.run()
    assert not (anna.folder / "berta").exists() and "note:boat" in anna.notes()
    carry(anna, berta)
    berta.say("boat", "Of the buyer.")
    with pytest.raises(InvalidInputError, match="removed"):
        berta.sync.run()


def test_all_files_may_be_lost_and_a_memory_may_be_an_older_one(pair: Pair, tmp_path: Path) -> None:
    anna, berta = pair
    anna.say("boat", "The boat is at pier seven.")
    anna.forget("boat")
    anna.say("pier", "The pier is closed.")
    agree([anna, berta])
    anna.memory.maintenance.backup(tmp_path / "backup.db")
    anna.say("pier", "The pier is open.")
    agree([anna, berta])
    for computer in (anna, berta):
        for name in ("anna", "berta"):
            shutil.rmtree(computer.folder / name)
        computer.start()
    anna.memory.close()
    shutil.copy(tmp_path / "backup.db", anna.home / "memory.db")
    anna.open()
    carry_all([anna, berta])
    agree([anna, berta])
    assert anna.notes() == berta.notes() == {"note:pier": "The pier is open."}


def test_words_and_folders_are_checked(pair: Pair, tmp_path: Path) -> None:
    anna, _ = pair
    with pytest.raises(InvalidInputError, match="not those"):
        SharedFolder(anna.folder, "clara", make_words()).open()
    for words in ("", "one two three", " ".join(["zoo"] * 12)):
        with pytest.raises(InvalidInputError, match="12 words"):
            SharedFolder(anna.folder, "clara", words)
    SharedFolder(anna.folder, "clara", f"  {WORDS.upper()} ").open()
    (anna.folder / MARKER).unlink()  # as where the drive is not mounted
    with pytest.raises(NotAvailableError, match="not there, or empty"):
        anna.sync.run()
    assert list(anna.folder.glob("anna/*")) == []
