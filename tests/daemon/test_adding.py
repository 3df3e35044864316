"""Reading files once: every file is read, or its skip says why; nothing is read twice or half."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon import wire
from daemon.client.client import Client, DaemonError
from tests.daemon.conftest import added, answer, listening, uris
from tests.running import RunningDaemon


@pytest.fixture
def notes(client: Client, tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "notes"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def skips(client: Client, below: Path) -> dict[str, str]:
    """The recorded skips of files below a folder: name -> reason."""
    return {
        os.path.relpath(skip.uri, below): skip.reason
        for skip in client.status().files.skipped
        if skip.uri.startswith(str(below))
    }


def test_a_folder_is_read_and_answers(client: Client, notes: Path) -> None:
    (notes / "boat.md").write_text("# Boat\n\nThe Albatross lies at berth forty in Peniche.\n")
    (notes / "deep" / "er").mkdir(parents=True)
    (notes / "deep" / "er" / "cat.txt").write_text("The cat Figo was vaccinated by Doctor Salgado on 4 May 2024.")
    done, events = added(client, notes)
    assert (done.sources, done.skipped, done.unchanged, done.removed) == (2, 0, 0, 0) and done.episodes >= 2
    progress = [event for event in events if isinstance(event, wire.Progress)]
    assert (progress[-1].done, progress[-1].total) == (2, 2)
    answered = answer(client, "Where does the Albatross lie?")
    assert answered.citations[0].label == f"{notes / 'boat.md'}:3"
    assert "Salgado" in answer(client, "Who vaccinated the cat Figo?").text

    again, _ = added(client, notes)
    assert (again.sources, again.unchanged, again.episodes) == (0, 2, 0)


def test_a_changed_file_is_read_again_and_a_touched_one_is_not(client: Client, notes: Path) -> None:
    file = notes / "plan.md"
    file.write_text("The regatta starts at 10:00.")
    added(client, file)
    os.utime(file, ns=(1, 1))
    assert added(client, file)[0].unchanged == 1
    assert added(client, file)[0].unchanged == 1  # the new date is known now
    file.write_text("The regatta starts at 12:00.")
    assert added(client, file)[0].sources == 1
    text = answer(client, "When does the regatta start?").text
    assert "12:00" in text.splitlines()[0] and "10:00" not in text.splitlines()[0]


def test_what_has_gone_is_retired_and_what_moved_stays_itself(client: Client, notes: Path) -> None:
    (notes / "a.md").write_text("The heron sleeps on the left chimney.")
    (notes / "b.md").write_text("The stork prefers the right chimney.")
    added(client, notes)
    before = client.recall("Where does the heron sleep?").hits[0].passage
    (notes / "new").mkdir()
    (notes / "a.md").rename(notes / "new" / "heron.md")
    (notes / "b.md").unlink()
    done, _ = added(client, notes)
    assert done.removed == 1
    after = client.recall("Where does the heron sleep?").hits[0].passage
    assert after.uri == str(notes / "new" / "heron.md") and after.episode_id == before.episode_id
    assert uris(client, str(notes)) == [str(notes / "new" / "heron.md")]


def test_a_folder_that_is_renamed_and_added_again_is_there_once(client: Client, notes: Path, tmp_path: Path) -> None:
    chats = [
        {"title": title, "messages": [{"role": "user", "content": f"{title} is loud."}]} for title in ("Ebb", "Tide")
    ]
    (notes / "chats.json").write_text(json.dumps(chats))
    for number in range(30):
        (notes / f"{number}.md").write_text(f"The bell buoy {number} rings.")
    (notes / "twin.md").write_text("The bell buoy 1 rings.")
    added(client, notes)
    before = client.recall("Which bell buoy 7 rings?").hits[0].passage
    notes.rename(tmp_path / "renamed")
    done, _ = added(client, tmp_path / "renamed")
    assert (done.sources, done.unchanged) == (0, 32)
    after = client.recall("Which bell buoy 7 rings?").hits[0].passage
    assert after.uri == str(tmp_path / "renamed" / "7.md") and after.episode_id == before.episode_id
    assert uris(client, str(notes)) == [] and len(uris(client, str(tmp_path / "renamed"))) == 33
    shutil.copytree(tmp_path / "renamed", notes)  # a copy is not a move
    assert added(client, notes)[0].unchanged == 0
    shutil.rmtree(tmp_path / "renamed")


def test_a_file_of_many_chats_loses_only_what_was_taken_out(client: Client, notes: Path) -> None:
    def chat(title: str, text: str) -> dict[str, object]:
        return {"title": title, "messages": [{"role": "user", "content": text, "time": "2024-05-01T10:00:00Z"}]}

    file = notes / "chats.json"
    file.write_text(
        json.dumps([chat("Ferry", "The ferry to Berlengas is cancelled."), chat("Tea", "I like Gorreana tea.")])
    )
    assert added(client, file)[0].sources == 2
    listed = uris(client, str(file))
    assert len(listed) == 2 and all(uri.startswith(f"{file}#") for uri in listed)
    assert added(client, notes)[0].unchanged == 1
    file.write_text(json.dumps([chat("Ferry", "The ferry to Berlengas is cancelled.")]))
    assert added(client, notes)[0].removed >= 1
    assert len(uris(client, str(file))) == 1
    file.rename(notes / "old chats.json")
    assert added(client, notes)[0].removed == 0
    assert len(uris(client, str(notes))) == 1
    assert client.forget(source=str(notes / "old chats.json")).sources == 1


def test_bad_files_are_skipped_with_their_reason(client: Client, notes: Path) -> None:
    """One good file among all kinds of bad ones is read; each bad one says what is the matter."""
    (notes / "good.md").write_text("The ginkgo stands in the yard of the museum.")
    (notes / "empty.md").touch()
    (notes / "binary.md").write_bytes(bytes(range(256)) * 64)
    (notes / "blank.txt").write_text(" \n\n ")
    (notes / "unknown.xyz").write_text("text of no known kind")
    (notes / "nothing.json").write_text("{}")
    (notes / "broken.json").write_text('{"a": [1, 2')
    with (notes / "huge.txt").open("wb") as huge:
        huge.truncate(200 << 20)
    (notes / "loop.md").symlink_to(notes / "loop.md")
    (notes / "around").symlink_to(notes)
    os.mkfifo(notes / "pipe.md")
    (notes / "latin.txt").write_bytes("Der Bäcker heißt Jörg.".encode("latin-1"))
    (notes / "utf8.txt").write_bytes(b"The baker is called J\xc3\xb6rg, says \xff nobody.")
    done, events = added(client, notes)
    reasons = skips(client, notes)
    assert done.sources == 3
    assert done.skipped == len(reasons) == len([event for event in events if isinstance(event, wire.Skipped)])
    for name, word in {
        "empty.md": "empty",
        "binary.md": "binary",
        "blank.txt": "no text",
        "unknown.xyz": "no reader for .xyz",
        "nothing.json": "no text",
        "broken.json": "JSON",
        "huge.txt": "too large: 200.0 MiB",
        "loop.md": "symbolic link",
        "around": "symbolic link",
        "pipe.md": "no regular file",
    }.items():
        assert word.lower() in reasons[name].lower(), (name, reasons[name])
    assert "museum" in answer(client, "Where does the ginkgo stand?").text

    (notes / "binary.md").write_text("Now it is text.")
    (notes / "huge.txt").unlink()
    added(client, notes)
    assert not {"binary.md", "huge.txt"} & set(skips(client, notes))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_skipped_until_it_may_be_read(client: Client, notes: Path) -> None:
    file = notes / "secret.md"
    file.write_text("The safe opens with the year of the flood.")
    file.chmod(0)
    assert added(client, notes)[0].skipped == 1
    assert "permission" in skips(client, notes)["secret.md"]
    file.chmod(0o600)
    assert added(client, notes)[0].sources == 1
    assert skips(client, notes) == {}


def test_a_file_with_a_name_that_is_no_text(client: Client, notes: Path) -> None:
    name = os.fsencode(notes) + b"/br\xf6ken.md"
    with open(name, "w") as file:  # noqa: PTH123  a path of bytes
        file.write("The bridge at Tavira is closed.")
    (notes / "new\nline [b]\x1b[31m.md").write_text("The weir at Odeleite is open.")
    done, _ = added(client, notes)
    assert (done.sources, done.skipped) == (1, 1)
    assert "name" in skips(client, notes)["br\\xf6ken.md"]


def test_what_is_not_there_is_refused_at_once(client: Client, notes: Path) -> None:
    with pytest.raises(DaemonError, match="There is no"):
        client.add([notes / "nothing.md"])
    (notes / "me").symlink_to(notes / "me")
    with pytest.raises(DaemonError) as caught:
        client.add([notes / "me"])
    assert caught.value.failed.code in ("bad_input", "not_found")


def test_ignored_files_are_not_read_unless_named(client: Client, notes: Path) -> None:
    for name in (
        ".git/config.txt",
        "node_modules/a.md",
        "~$draft.md",
        "id_rsa",
        ".env",
        "a.md.swp",
        "mine/drafts/x.md",
    ):
        (notes / name).parent.mkdir(parents=True, exist_ok=True)
        (notes / name).write_text(f"The password of {name} is swordfish.")
    (notes / ".palimpsestignore").write_text("drafts/\n")
    done, _ = added(client, notes)
    assert (done.sources, done.skipped) == (0, 1)  # the ignore file itself is no note
    assert added(client, notes / "mine" / "drafts" / "x.md")[0].sources == 1


def test_files_that_are_named_after_keys_are_read_only_when_they_are_named(client: Client, notes: Path) -> None:
    keys = ("passwords.txt", "credentials.csv", "bitwarden_export.csv", "1password.csv", "chrome passwords.csv",
            "recovery-codes.txt", "kubeconfig", "shadow", "key", "backup.key.txt", "Passwörter.key.txt")  # fmt: skip
    for name in keys:
        (notes / name).write_text("url,username,password\nhttps://x.example,mira,ternstone-4417\n")
    for name in ("Passwords.md", "key ideas.txt", "shadow puppets.md"):
        (notes / name).write_text(f"What {name} is about: the fourth drawer, password: ternstone-4417.")
    done, events = added(client, notes)
    skipped = {Path(event.uri).name: event.reason for event in events if isinstance(event, wire.Skipped)}
    assert (done.sources, {*skipped}) == (3, {*keys}) and all("pal add FILE" in why for why in skipped.values())
    assert added(client, notes / "passwords.txt")[0].sources == 1
    (notes / "passwords.txt").write_text("url,username,password\nhttps://y.example,mira,ternstone-4418\n")
    assert added(client, notes)[0].sources == 1, "whoever has named it wants it"
    hits = client.recall("url y.example username mira password").hits
    assert "ternstone" not in " ".join(hit.passage.text for hit in hits) and "y.example" in hits[0].passage.text


def test_the_daemons_own_files_are_never_read(client: Client, running: RunningDaemon) -> None:
    (running.paths.data / "note.md").write_text("I am inside the memory's own folder.")
    beside = running.paths.data.parent / "beside.md"
    beside.write_text("I am outside.")
    added(client, running.paths.data.parent)
    assert str(beside) in uris(client)
    assert not [uri for uri in uris(client) if uri.startswith(str(running.paths.data))]


def test_many_files_that_are_gone_at_once_are_not_believed(client: Client, notes: Path) -> None:
    for number in range(30):
        (notes / f"{number}.md").write_text(f"Buoy number {number} blinks every {number + 2} seconds.")
    assert added(client, notes)[0].sources == 30
    shutil.rmtree(notes)
    notes.mkdir()
    done, events = added(client, notes)
    assert done.removed == 0 and len(uris(client, str(notes))) == 30
    (told,) = [event.text for event in events if isinstance(event, wire.Notice)]
    assert told.startswith("30 files that were read there before are gone.") and "pal watch gone" in told


def test_forgotten_in_a_watched_folder_stays_forgotten(client: Client, notes: Path) -> None:
    file = notes / "diary.md"
    file.write_text("I hid the chocolate behind the encyclopedia.")
    with listening(client) as listener:
        client.watch(notes)
        listener.until_changed(file, "added")
        client.forget(source=str(file))
        assert "forgotten" in skips(client, notes)["diary.md"]
        file.write_text("I hid the chocolate behind the globe.")
        (notes / "other.md").write_text("The globe is from 1950.")
        listener.until_changed(notes / "other.md", "added")
    assert str(file) not in uris(client)
    assert added(client, file)[0].skipped == 1
    assert added(client, file, again=True)[0].sources == 1  # unless somebody asks for it
    assert skips(client, notes) == {}
    client.unwatch(notes)


def test_closing_the_stream_does_not_stop_the_reading(client: Client, notes: Path) -> None:
    for number in range(200):
        (notes / f"{number}.md").write_text(f"Page {number} of the logbook speaks of wind force {number % 12}.")
    with listening(client) as listener:
        client.add([notes]).close()
        listener.until(lambda event: isinstance(event, wire.Progress) and event.done == event.total == 200)
    assert client.sources(str(notes)).total == 200


def test_a_person_goes_before_a_folder(client: Client, notes: Path) -> None:
    """While a folder is read, remember and a single file are done long before its end."""
    for number in range(800):
        (notes / f"{number}.md").write_text(f"Container {number} holds {number * 3} oranges from Silves.")
    ended = threading.Event()

    def read_all() -> None:
        added(client, notes)
        ended.set()

    threading.Thread(target=read_all, daemon=True).start()
    while client.status().files.queue == 0:
        assert not ended.is_set()
    client.remember("Meanwhile the parrot learnt to whistle.")
    assert "parrot" in answer(client, "Who learnt to whistle?").text
    assert not ended.is_set()
    assert ended.wait(60)
    assert client.sources(str(notes)).total == 800
    assert client.check().problems == ()
