"""Watched folders: real files, real events of the system, a real daemon."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from daemon import wire
from daemon.client import Client, DaemonError
from daemon.testing import RunningDaemon
from tests.daemon.conftest import Listener, answer, listening, uris


@pytest.fixture
def folder(client: Client, tmp_path: Path) -> Iterator[Path]:
    """A watched folder that has been scanned once, empty."""
    path = tmp_path / "watched"
    path.mkdir()
    client.watch(path)
    wait_for_state(client, path, "watching")
    yield path
    client.unwatch(path)


@pytest.fixture
def listener(client: Client, folder: Path) -> Iterator[Listener]:
    with listening(client) as hears:
        yield hears


def state_of(client: Client, path: Path) -> wire.Folder:
    (found,) = [row for row in client.folders() if row.path == str(path)]
    return found


def wait_for(client: Client, path: Path, wanted: Callable[[wire.Folder], bool], seconds: float = 15) -> wire.Folder:
    """A watched folder as it is when it is as wanted."""
    deadline = time.monotonic() + seconds
    while not wanted(found := state_of(client, path)):
        assert time.monotonic() < deadline, found
        time.sleep(0.02)
    return found


def wait_for_state(client: Client, path: Path, state: str) -> wire.Folder:
    return wait_for(client, path, lambda found: found.state == state)


def test_what_is_there_is_read(client: Client, tmp_path: Path) -> None:
    (tmp_path / "notes" / "sub").mkdir(parents=True)
    (tmp_path / "notes" / "sub" / "a.md").write_text("The seal is called Otto.")
    with listening(client) as listener:
        watched = client.watch(tmp_path / "notes")
        assert watched.path == str(tmp_path / "notes") and watched.state in ("scanning", "watching")
        listener.until_changed(tmp_path / "notes" / "sub" / "a.md", "added")
    assert wait_for_state(client, tmp_path / "notes", "watching").sources == 1
    assert "Otto" in answer(client, "What is the seal called?").text
    assert client.watch(tmp_path / "notes").sources == 1  # again is no harm
    gone = client.unwatch(tmp_path / "notes", forget=True)
    assert (gone.sources, gone.episodes) == (1, 1)
    assert uris(client, str(tmp_path)) == []
    assert answer(client, "What is the seal called?").no_answer


def test_create_change_delete(client: Client, folder: Path, listener: Listener) -> None:
    file = folder / "log.md"
    file.write_text("The tide gauge shows two metres.")
    listener.until_changed(file, "added")
    file.write_text("The tide gauge shows three metres.")
    listener.until_changed(file, "changed")
    text = answer(client, "What does the tide gauge show?").text
    assert "three" in text.splitlines()[0] and "two" not in text.splitlines()[0]
    file.unlink()
    listener.until_changed(file, "removed")
    assert uris(client, str(folder)) == []
    file.write_text("The tide gauge shows three metres.")  # and it comes back
    listener.until_changed(file, "added")
    assert uris(client, str(folder)) == [str(file)]


def test_a_moved_file_and_a_moved_folder_keep_their_identity(client: Client, folder: Path, listener: Listener) -> None:
    (folder / "in").mkdir()
    (folder / "in" / "mole.md").write_text("The harbour mole is four hundred metres long.")
    listener.until_changed(folder / "in" / "mole.md", "added")
    (before,) = client.recall("harbour mole", within=wire.Scope(folders=(str(folder),))).hits

    (folder / "in" / "mole.md").rename(folder / "mole of Leixões.md")
    listener.until_changed(folder / "mole of Leixões.md", "moved")
    (folder / "mole of Leixões.md").rename(folder / "in" / "mole.md")
    listener.until_changed(folder / "in" / "mole.md", "moved")
    (folder / "in").rename(folder / "out")
    listener.until_changed(folder / "out" / "mole.md", "moved")

    (after,) = client.recall("harbour mole", within=wire.Scope(folders=(str(folder),))).hits
    assert after.passage.uri == str(folder / "out" / "mole.md")
    assert after.passage.episode_id == before.passage.episode_id
    assert not [
        event for event in listener.heard if isinstance(event, wire.SourceChanged) and event.change == "removed"
    ]


def test_a_file_that_moves_to_another_watched_folder(client: Client, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    client.watch(other)
    wait_for_state(client, other, "watching")
    with listening(client) as listener:
        (folder / "crane.md").write_text("The yellow crane lifts forty tons.")
        listener.until_changed(folder / "crane.md", "added")
        (before,) = client.recall("yellow crane", k=1).hits
        (folder / "crane.md").rename(other / "crane.md")
        listener.until_changed(other / "crane.md", "moved")
    (after,) = client.recall("yellow crane", k=1).hits
    assert (after.passage.episode_id, after.passage.uri) == (before.passage.episode_id, str(other / "crane.md"))
    client.unwatch(other)


def test_editors_that_write_beside_and_rename(client: Client, folder: Path, listener: Listener) -> None:
    """Three ways to save; in each the file stays one source, and no temporary name is ever read."""
    file = folder / "draft.md"
    file.write_text("Version one of the speech.")
    listener.until_changed(file, "added")

    (folder / "draft.md.tmp").write_text("Version two of the speech.")  # write beside, rename over
    (folder / "draft.md.tmp").replace(file)
    listener.until_changed(file, "changed")

    file.rename(folder / "draft.md~")  # keep the old one, write anew (Vim, Emacs)
    file.write_text("Version three of the speech.")
    listener.until_changed(file, "changed")

    file.unlink()  # remove, write anew
    file.write_text("Version four of the speech.")
    listener.until_changed(file, "changed")

    assert uris(client, str(folder)) == [str(file)]
    assert {event.uri for event in listener.heard if isinstance(event, wire.SourceChanged)} == {str(file)}
    assert "four" in answer(client, "Which version of the speech?").text


def test_a_folder_that_comes_or_goes_whole(client: Client, folder: Path, listener: Listener, tmp_path: Path) -> None:
    (tmp_path / "made elsewhere" / "deep").mkdir(parents=True)
    (tmp_path / "made elsewhere" / "deep" / "x.md").write_text("The dredger works at night.")
    (tmp_path / "made elsewhere").rename(folder / "here")
    listener.until_changed(folder / "here" / "deep" / "x.md", "added")
    (folder / "here").rename(tmp_path / "gone")
    listener.until_changed(folder / "here" / "deep" / "x.md", "removed")
    (tmp_path / "gone" / "deep" / "y.md").write_text("Nobody reads this one.")
    (folder / "last.md").write_text("The pilot boat is orange.")
    listener.until_changed(folder / "last.md", "added")
    assert uris(client, str(tmp_path)) == [str(folder / "last.md")]


def test_ignored_names_are_never_read(client: Client, folder: Path, listener: Listener) -> None:
    for name in (".obsidian/workspace.md", "~$report.md", ".#lock.md", "secret.pem", "node_modules/x/readme.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("Never to be read.")
    (folder / "read me.md").write_text("To be read.")
    listener.until_changed(folder / "read me.md", "added")
    assert uris(client, str(folder)) == [str(folder / "read me.md")]
    (folder / ".palimpsestignore").write_text("read*\n")
    listener.until_changed(folder / "read me.md", "removed")


def test_what_is_said_of_a_folder(client: Client, running: RunningDaemon, folder: Path, listener: Listener) -> None:
    """Tags are for what was read before, too; what it shall not hold any more goes without a question."""
    (folder / "a.md").write_text("The fender is new.")
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "b.txt").write_text("The buoy is red.")
    for number in range(25):
        (folder / "deep" / "er" / f"{number}.md").write_text(f"The anchor {number} is heavy.")
    listener.until(lambda event: client.sources(str(folder)).total == 27)
    told = client.watch(folder, tags=["#boat"], readers=["markdown"], depth=1)
    assert (told.tags, told.readers, told.depth) == (("boat",), ("markdown",), 1)
    wait_for(client, folder, lambda found: (found.sources, found.state) == (1, "watching"))
    assert state_of(client, folder).gone == 0
    assert [hit.passage.uri for hit in client.recall("fender", within=wire.Scope(tags=("boat",))).hits] == [
        str(folder / "a.md")
    ]
    (folder / "c.md").write_text("The sail is torn.")
    (folder / "c.txt").write_text("Nobody reads this.")
    listener.until_changed(folder / "c.md", "added")
    running.stop()
    running.start()
    assert client.watch(folder).depth == 1
    (hit,) = client.recall("sail", within=wire.Scope(tags=("boat",))).hits
    assert hit.passage.uri == str(folder / "c.md")
    client.watch(folder, tags=[], readers=[], depth=0)
    wait_for(client, folder, lambda found: found.sources == 29)
    assert not client.recall("sail", within=wire.Scope(tags=("boat",))).hits
    for wrong in ({"readers": ["nobody"]}, {"depth": -1}, {"tags": [" "]}):
        with pytest.raises(DaemonError) as caught:
            client.watch(folder, **wrong)  # type: ignore[arg-type]
        assert caught.value.failed.code == "bad_input"


def test_a_skip_is_told_once_and_forgotten_when_mended(client: Client, folder: Path, listener: Listener) -> None:
    file = folder / "scan.md"
    file.write_bytes(b"\x00\x01\x02" * 500)
    event = listener.until(lambda event: isinstance(event, wire.Skipped))
    assert isinstance(event, wire.Skipped) and (event.uri, "binary" in event.reason) == (str(file), True)
    file.write_text("Now it is a text.")
    listener.until_changed(file, "added")
    assert not [skip for skip in client.status().skipped if skip.uri == str(file)]


def test_a_folder_that_goes_takes_nothing_with_it(client: Client, folder: Path, listener: Listener) -> None:
    """An unmounted drive, a renamed folder: its sources stay, it says so, and it goes on when it is back."""
    for number in range(3):
        (folder / f"{number}.md").write_text(f"Warehouse {number} smells of cork.")
    listener.until_changed(folder / "2.md", "added")
    folder.rename(folder.with_name("elsewhere"))
    missing = wait_for_state(client, folder, "missing")
    assert missing.sources == 3 and "not there" in missing.detail
    folder.mkdir()  # the empty place where it was mounted
    missing = wait_for(client, folder, lambda found: "another folder or drive" in found.detail)
    assert missing.state == "missing" and len(uris(client, str(folder))) == 3
    folder.rmdir()
    folder.with_name("elsewhere").rename(folder)
    back = wait_for_state(client, folder, "watching")
    assert (back.sources, back.detail) == (3, "")
    (folder / "new.md").write_text("Warehouse nine smells of salt.")
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
    with pytest.raises(DaemonError, match="waited for"):
        client.decide_gone(folder, keep=True)


def test_what_is_gone_can_be_kept(client: Client, folder: Path, listener: Listener) -> None:
    lose_files(client, folder, listener)
    client.decide_gone(folder, keep=True)
    assert wait_for(client, folder, lambda found: found.state == "watching" and found.gone == 0).sources == 40
    assert "rower 7" in answer(client, "To whom belongs locker 7?").text
    kept = [skip for skip in client.status().skipped if skip.uri.startswith(str(folder))]
    assert len(kept) == 39 and "as you said" in kept[0].reason
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
        client.watch(folder, depth=3)  # another look
    assert client.sources(str(folder)).total == 30


def test_a_large_part_of_a_folder_that_is_renamed_is_not_lost(client: Client, folder: Path, listener: Listener) -> None:
    (folder / "in").mkdir()
    for number in range(30):
        (folder / "in" / f"{number}.md").write_text(f"Shelf {number} is bent.")
    listener.until(lambda event: client.sources(str(folder)).total == 30)
    (folder / "in").rename(folder / "out")
    wait_for(client, folder, lambda found: uris(client, str(folder / "in")) == [])
    assert len(uris(client, str(folder / "out"))) == 30 and state_of(client, folder).detail == ""


def test_a_folder_in_whose_place_another_one_stands(client: Client, folder: Path, listener: Listener) -> None:
    """Nothing of it is removed, and nothing of the other one read, until a person says that it is the right one."""
    for number in range(12):
        (folder / f"{number}.md").write_text(f"Cabin {number} has a view.")
    listener.until(lambda event: client.sources(str(folder)).total == 12)
    folder.rename(folder.with_name("elsewhere"))
    folder.mkdir()
    (folder / "holiday.md").write_text("Notes of somebody else.")
    missing = wait_for(client, folder, lambda found: "another folder" in found.detail)
    assert missing.state == "missing" and "pal watch add" in missing.detail
    (folder / "again.md").write_text("More notes of somebody else.")
    folder.rename(folder.with_name("other"))
    folder.with_name("elsewhere").rename(folder)
    wait_for_state(client, folder, "watching")
    assert len(uris(client, str(folder))) == 12
    folder.rename(folder.with_name("elsewhere"))
    folder.mkdir()  # a new drive, and the files are copied to it
    wait_for(client, folder, lambda found: "another folder" in found.detail)
    for number in range(12):
        (folder / f"{number}.md").write_text(f"Cabin {number} has a view.")
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


def run_in_namespace(what: str, flags: list[str], probe: list[str | Path], place: Path) -> list[str]:
    """What tests.daemon.namespaces prints; skips the test where `probe` cannot be done in such a namespace."""
    namespace = ["unshare", *flags]
    try:
        subprocess.run([*namespace, *probe], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("the system allows no such namespace")
    run = [*namespace, sys.executable, "-m", "tests.daemon.namespaces", what, place]
    done = subprocess.run(run, capture_output=True, text=True, timeout=90)
    return [*done.stdout.splitlines(), *done.stderr.splitlines()]


def test_another_drive_at_the_same_place_takes_nothing_with_it(tmp_path: Path) -> None:
    """Both have the same inode at their top, and often the same device number."""
    flags = ["--mount", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]
    said = run_in_namespace("drives", flags, ["mount", "-t", "tmpfs", "drive", tmp_path], tmp_path)
    assert said == [
        "out: 12", "another one: missing 12", "back: 12", "inner one out: 14", "inner one back: 14"
    ]  # fmt: skip


def test_more_folders_than_the_system_watches(tmp_path: Path) -> None:
    flags, probe = ["--user", "--map-root-user"], ["sh", "-c", "echo 10 > /proc/sys/user/max_inotify_watches"]
    said = run_in_namespace("limit", flags, [*probe], tmp_path)
    assert said[0].startswith("limit: the system gives no events of 11 of its 21 folders")
    assert said[1:] == ["seen: 20", "more: "]


def test_a_folder_that_was_made_anew_with_some_of_its_files(client: Client, folder: Path, listener: Listener) -> None:
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


def test_what_happened_while_nobody_watched(
    running: RunningDaemon, client: Client, folder: Path, listener: Listener
) -> None:
    for name in ("stays", "moves", "changes", "goes"):
        (folder / f"{name}.md").write_text(f"The barrel that {name} is number {len(name)}.")
    listener.until(lambda event: client.sources(str(folder)).total == 4)
    listener.close()
    assert running.stop() == 0
    (folder / "moves.md").rename(folder / "moved.md")
    (folder / "changes.md").write_text("The barrel that changed is number 99.")
    (folder / "goes.md").unlink()
    (folder / "comes.md").write_text("The barrel that came is number 5.")
    running.start()
    wait_for_state(client, folder, "watching")
    assert [Path(uri).stem for uri in uris(client, str(folder))] == ["changes", "comes", "moved", "stays"]
    assert "99" in answer(client, "Which number is the barrel that changed?").text
    assert client.check().problems == ()


@pytest.mark.skipif(not Path("/proc/sys/fs/inotify").exists(), reason="inotify's queue")
def test_events_that_the_system_dropped(
    running: RunningDaemon, client: Client, folder: Path, listener: Listener
) -> None:
    """The daemon is held while more events come than the system keeps; what came last is found all the same."""
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if most > 50_000:
        pytest.skip(f"{most} events would take too long")
    assert running.process is not None
    running.process.send_signal(signal.SIGSTOP)
    try:
        state = Path(f"/proc/{running.process.pid}/stat")
        while state.read_text().rpartition(")")[2].split()[0] != "T":
            time.sleep(0.001)
        with (folder / "a.tmp").open("wb", 0) as one, (folder / "b.tmp").open("wb", 0) as other:
            for _ in range(most // 2 + 1000):  # equal events in a row would be one
                one.write(b"x")
                other.write(b"y")
        (folder / "lost.md").write_text("Nobody was told of the sextant.")
    finally:
        running.process.send_signal(signal.SIGCONT)
    listener.until_changed(folder / "lost.md", "added")
    assert "overflow" in running.paths.log.read_text("utf-8")


def test_folders_that_cannot_be_watched(client: Client, folder: Path, tmp_path: Path) -> None:
    (folder / "inner").mkdir()
    for path, code in ((folder / "inner", "conflict"), (tmp_path, "conflict"), (folder / "none", "not_found")):
        with pytest.raises(DaemonError) as caught:
            client.watch(path)
        assert caught.value.failed.code == code, path
    with pytest.raises(DaemonError) as caught:
        client.unwatch(tmp_path)
    assert caught.value.failed.code == "not_found"


def test_a_link_to_a_folder_is_watched_as_the_folder(client: Client, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    assert client.watch(tmp_path / "link").path == str(folder)


def test_idle_it_does_nothing(running: RunningDaemon, client: Client, folder: Path, listener: Listener) -> None:
    """Our own reading causes no work, and an idle daemon takes no processor."""
    (folder / "a.md").write_text("The anchor weighs ninety kilos.")
    listener.until_changed(folder / "a.md", "added")
    with pytest.raises(AssertionError, match="it did not come"):
        listener.until(lambda event: False, seconds=2)  # the rest of that
    before = processor_seconds(running)
    with listening(client) as quiet, pytest.raises(AssertionError, match=r"heard: \[\]"):
        quiet.until(lambda event: True, seconds=4)
    assert processor_seconds(running) - before <= 0.04  # 1 %, in ticks of a hundredth of a second


def processor_seconds(running: RunningDaemon) -> float:
    assert running.process is not None
    try:
        fields = Path(f"/proc/{running.process.pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        pytest.skip("no /proc here")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
