"""Files and folders that are gone: what is believed, what is asked, what another folder in their place changes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from daemon import wire
from daemon.client.client import Client, DaemonError
from tests.daemon.conftest import Listener, answer, listening, state_of, uris, wait_for, wait_for_state
from tests.daemon.namespaces import run_in_namespace
from tests.examples import rounds
from tests.running import RunningDaemon


@pytest.mark.soak
@pytest.mark.parametrize("number", range(rounds(1)))
def test_a_folder_that_goes_takes_nothing_with_it(
    client: Client, folder: Path, listener: Listener, number: int
) -> None:
    """An unmounted drive, a renamed folder: its sources stay, it says so, and it goes on when it is back."""
    for file in range(3):
        (folder / f"{file}.md").write_text(f"Warehouse {file} of row {number} smells of cork.")
    listener.until_changed(folder / "2.md", "added")
    folder.rename(folder.with_name("elsewhere"))
    missing = wait_for_state(client, folder, "missing")
    assert missing.sources == 3 and "missing" in missing.detail
    folder.mkdir()  # the empty place where it was mounted
    missing = wait_for(client, folder, lambda found: "another folder or drive" in found.detail)
    assert missing.state == "missing" and len(uris(client, str(folder))) == 3
    folder.rmdir()
    folder.with_name("elsewhere").rename(folder)
    back = wait_for_state(client, folder, "watching")
    assert (back.sources, back.detail) == (3, "")
    (folder / "new.md").write_text(f"Warehouse nine of row {number} smells of salt.")
    listener.until_changed(folder / "new.md", "added")


def lose_files(client: Client, folder: Path, listener: Listener) -> None:
    """Of 40 files that were read, 39 go at once, and a person is asked."""
    for number in range(40):
        (folder / f"{number}.md").write_text(f"Locker {number} belongs to rower {number}.")
    listener.until(lambda event: client.sources(str(folder)).total == 40)
    for number in range(1, 40):
        (folder / f"{number}.md").unlink()
    wait_for(client, folder, lambda found: "gone at once" in found.detail)
    listener.until(lambda event: isinstance(event, wire.Notice) and "39 files are gone" in event.text)
    assert client.sources(str(folder)).total == 40


def test_many_files_gone_at_once_are_doubted_and_then_asked_about(
    running: RunningDaemon, client: Client, folder: Path, listener: Listener
) -> None:
    lose_files(client, folder, listener)
    assert (state_of(client, folder).gone, client.list_gone(folder).total) == (39, 39)
    assert "rower 7" in answer(client, "To whom belongs locker 7?").text
    listener.close()
    running.kill()  # the question outlives the process
    running.start()
    wait_for(client, folder, lambda found: found.gone == 39)
    (folder / "0.md").unlink()
    wait_for(client, folder, lambda found: found.gone == 40)
    (folder / "0.md").write_text("Locker 0 belongs to rower 0.")
    with listening(client) as hears:
        client.decide_gone(folder, keep=False)
        hears.until(lambda event: client.sources(str(folder)).total == 1)
    assert wait_for(client, folder, lambda found: found.gone == 0).detail == ""
    (folder / "0.md").unlink()  # what a person let go does not make the next one suspicious
    wait_for(client, folder, lambda found: found.sources == 0)
    with pytest.raises(DaemonError, match="no question"):
        client.decide_gone(folder, keep=True)


def test_what_is_gone_can_be_kept(client: Client, folder: Path, listener: Listener) -> None:
    lose_files(client, folder, listener)
    client.decide_gone(folder, keep=True)
    assert wait_for(client, folder, lambda found: found.state == "watching" and found.gone == 0).sources == 40
    assert "rower 7" in answer(client, "To whom belongs locker 7?").text
    kept = [skip for skip in client.status().files.skipped if skip.uri.startswith(str(folder))]
    assert len(kept) == 39 and "as you decided" in kept[0].reason
    (folder / "7.md").write_text("Locker 7 belongs to rower 77.")  # and back it is a file as any other
    listener.until_changed(folder / "7.md", "changed")
    (folder / "7.md").unlink()
    listener.until_changed(folder / "7.md", "removed")


def test_files_that_go_one_after_the_other_are_asked_about_too(
    client: Client, folder: Path, listener: Listener
) -> None:
    for number in range(60):
        (folder / f"{number}.md").write_text(f"Hook {number} holds the oar of rower {number}.")
    listener.until(lambda event: client.sources(str(folder)).total == 60)
    for number in range(0, 20, 10):
        for file in range(number, number + 10):
            (folder / f"{file}.md").unlink()
        listener.until(lambda event, left=50 - number: client.sources(str(folder)).total == left)  # type: ignore[misc]
    for file in range(20, 30):
        (folder / f"{file}.md").unlink()
    wait_for(client, folder, lambda found: found.gone == 10)
    assert client.sources(str(folder)).total == 40


def test_files_that_are_emptied_are_as_gone(client: Client, folder: Path, listener: Listener) -> None:
    """As programs leave them that keep files elsewhere and only their names here."""
    for number in range(30):
        (folder / f"{number}.md").write_text(f"Bench {number} is of oak.")
    listener.until(lambda event: client.sources(str(folder)).total == 30)
    for number in range(30):
        (folder / f"{number}.md").write_text("")
    wait_for(client, folder, lambda found: found.gone == 30)
    assert client.sources(str(folder)).total == 30
    client.decide_gone(folder, keep=True)
    for _ in range(2):
        wait_for(client, folder, lambda found: (found.state, found.gone, found.detail) == ("watching", 0, ""))
        (folder / ".palimpsestignore").write_text("# another look\n")
    assert client.sources(str(folder)).total == 30


def test_a_large_part_of_a_folder_that_is_renamed_is_not_lost(client: Client, folder: Path, listener: Listener) -> None:
    (folder / "in").mkdir()
    for number in range(30):
        (folder / "in" / f"{number}.md").write_text(f"Shelf {number} is bent.")
    listener.until(lambda event: client.sources(str(folder)).total == 30)
    (folder / "in").rename(folder / "out")
    wait_for(client, folder, lambda found: uris(client, str(folder / "in")) == [])
    assert len(uris(client, str(folder / "out"))) == 30 and state_of(client, folder).detail == ""


@pytest.mark.soak
@pytest.mark.parametrize("number", range(rounds(1)))
def test_a_folder_in_whose_place_another_one_stands(
    client: Client, folder: Path, listener: Listener, number: int
) -> None:
    """Nothing of it is removed, and nothing of the other one read, until a person says that it is the right one."""
    for file in range(12):
        (folder / f"{file}.md").write_text(f"Cabin {file} of deck {number} has a view.")
    listener.until(lambda event: client.sources(str(folder)).total == 12)
    folder.rename(folder.with_name("elsewhere"))
    folder.mkdir()
    (folder / "holiday.md").write_text(f"Notes of somebody else, {number}.")
    missing = wait_for(client, folder, lambda found: "another folder" in found.detail)
    assert missing.state == "missing" and "pal watch add" in missing.detail
    (folder / "again.md").write_text(f"More notes of somebody else, {number}.")
    folder.rename(folder.with_name("other"))
    folder.with_name("elsewhere").rename(folder)
    wait_for_state(client, folder, "watching")
    assert len(uris(client, str(folder))) == 12
    folder.rename(folder.with_name("elsewhere"))
    folder.mkdir()  # a new drive, and the files are copied to it
    wait_for(client, folder, lambda found: "another folder" in found.detail)
    for file in range(12):
        (folder / f"{file}.md").write_text(f"Cabin {file} of deck {number} has a view.")
    wait_for(client, folder, lambda found: (found.state, found.detail, found.sources) == ("watching", "", 12))
    shutil.rmtree(folder.with_name("elsewhere"))
    folder.rename(folder.with_name("elsewhere"))
    folder.with_name("other").rename(folder)
    wait_for(client, folder, lambda found: "another folder" in found.detail)
    assert len(uris(client, str(folder))) == 12
    client.watch(folder)
    wait_for(client, folder, lambda found: (found.gone, found.sources) == (12, 14))
    client.decide_gone(folder, keep=False)
    wait_for(client, folder, lambda found: found.sources == 2)


@pytest.mark.soak
@pytest.mark.parametrize("number", range(rounds(1)))
def test_another_drive_at_the_same_place_takes_nothing_with_it(tmp_path: Path, number: int) -> None:
    """Both have the same inode at their top, and often the same device number."""
    flags = ["--mount", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]
    said = run_in_namespace("drives", flags, ["mount", "-t", "tmpfs", "drive", tmp_path], tmp_path)
    assert said == [
        "out: 12", "another one: missing 12", "back: 12", "inner one out: 14", "inner one back: 14"
    ]  # fmt: skip


def test_a_folder_that_was_made_again_with_some_of_its_files(client: Client, folder: Path, listener: Listener) -> None:
    for number in range(40):
        (folder / f"{number}.md").write_text(f"Mooring {number} is free.")
    listener.until(lambda event: client.sources(str(folder)).total == 40)
    folder.rename(folder.with_name("elsewhere"))
    folder.mkdir()
    for number in range(12):
        (folder / f"{number}.md").write_text(f"Mooring {number} is free.")
    wait_for(client, folder, lambda found: found.gone == 28)
    (folder / "39.md").write_text("Mooring 39 is free.")
    wait_for(client, folder, lambda found: found.gone == 27)
    (folder / "new.md").write_text("Mooring 99 is taken.")
    listener.until_changed(folder / "new.md", "added")
    client.decide_gone(folder, keep=False)
    wait_for(client, folder, lambda found: (found.state, found.sources) == ("watching", 14))
    assert client.sources(str(folder)).total == 14


def test_a_folder_is_accepted_while_it_is_being_scanned(
    running: RunningDaemon, client: Client, folder: Path, listener: Listener
) -> None:
    """Another one in its place, of which the scan has yet to say so: a daemon that starts scans a little later."""
    for number in range(12):
        (folder / f"{number}.md").write_text(f"Cleat {number} is bent.")
    listener.until(lambda event: client.sources(str(folder)).total == 12)
    listener.close()
    running.stop()
    folder.rename(folder.with_name("elsewhere"))
    folder.mkdir()
    (folder / "new.md").write_text("The cleats are on the new drive.")
    running.start()
    assert client.watch(folder).state == "scanning"
    wait_for(client, folder, lambda found: (found.state, found.gone, found.sources) == ("watching", 12, 13))
