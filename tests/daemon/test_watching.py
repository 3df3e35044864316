"""Watched folders: real files, real events of the system, a real daemon."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from pathlib import Path

import pytest

from daemon import wire
from daemon.client.client import Client, DaemonError
from daemon.watch.events import Events
from plugins.readers.common.origin import CopiedFolders
from tests.daemon.conftest import (
    Listener,
    added,
    answer,
    listening,
    uris,
    wait_for,
    wait_for_state,
)
from tests.daemon.namespaces import run_in_namespace
from tests.running import RunningDaemon, run_daemon


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


def test_tags_of_a_folder_are_for_what_was_read_before_too(
    client: Client, running: RunningDaemon, folder: Path, listener: Listener
) -> None:
    (folder / "a.md").write_text("The fender is new.")
    listener.until_changed(folder / "a.md", "added")
    assert client.watch(folder, tags=["#boat"]).tags == ("boat",)
    assert [hit.passage.uri for hit in client.recall("fender", within=wire.Scope(tags=("boat",))).hits] == [
        str(folder / "a.md")
    ]
    running.stop()
    running.start()
    assert client.watch(folder).tags == ("boat",)
    (folder / "c.md").write_text("The sail is torn.")
    wait_for(client, folder, lambda found: found.sources == 2)
    (hit,) = client.recall("sail", within=wire.Scope(tags=("boat",))).hits
    assert hit.passage.uri == str(folder / "c.md")
    client.watch(folder, tags=[])
    assert not client.recall("sail", within=wire.Scope(tags=("boat",))).hits
    with pytest.raises(DaemonError) as caught:
        client.watch(folder, tags=[" "])
    assert caught.value.failed.code == "bad_input"


def test_what_a_person_had_read_beyond_the_rules_stays(
    client: Client, running: RunningDaemon, folder: Path, listener: Listener
) -> None:
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / ".palimpsestignore").write_text("deep/\n")
    for name in ("a.md", "deep/b.md", "deep/c.md", "deep/er/d.md"):
        (folder / name).write_text(f"The anchor of {name} is heavy.")
    wait_for(client, folder, lambda found: (found.sources, found.state) == (1, "watching"))
    added(client, folder / "deep" / "b.md", folder / "deep" / "er")
    kept = [str(folder / name) for name in ("a.md", "deep/b.md", "deep/er/d.md")]
    assert uris(client, str(folder)) == kept
    listener.close()
    running.stop()
    running.start()  # which scans
    wait_for_state(client, folder, "watching")
    assert uris(client, str(folder)) == kept
    (folder / "deep" / "b.md").unlink()
    (folder / ".palimpsestignore").write_text("deep/\n# another scan\n")
    wait_for(client, folder, lambda found: (found.sources, found.state) == (2, "watching"))


def test_a_skip_is_shown_once_and_forgotten_when_mended(client: Client, folder: Path, listener: Listener) -> None:
    file = folder / "scan.md"
    file.write_bytes(b"\x00\x01\x02" * 500)
    event = listener.until(lambda event: isinstance(event, wire.Skipped))
    assert isinstance(event, wire.Skipped) and (event.uri, "binary" in event.reason) == (str(file), True)
    file.write_text("Now it is a text.")
    listener.until_changed(file, "added")
    assert not [skip for skip in client.status().files.skipped if skip.uri == str(file)]


def test_more_folders_than_the_system_watches(tmp_path: Path) -> None:
    flags, probe = ["--user", "--map-root-user"], ["sh", "-c", "echo 10 > /proc/sys/user/max_inotify_watches"]
    said = run_in_namespace("limit", flags, [*probe], tmp_path)
    assert said[0].startswith("limit: the system gives no events of 11 of its 21 folders")
    assert said[1:] == ["seen: 20", "more: "]


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


def test_a_scan_reads_no_file_whose_size_and_time_are_as_known(
    client: Client, running: RunningDaemon, folder: Path, listener: Listener
) -> None:
    notes = [folder / f"{number}.md" for number in range(60)]
    for note in notes:
        note.write_text(f"The anchor {note.stem} is heavy.")
    listener.until(lambda event: client.sources(str(folder)).total == 60)
    listener.close()
    running.stop()
    for note in notes:
        times = note.stat().st_mtime_ns, note.stat().st_mtime_ns
        note.write_text(f"The anchor {note.stem} is light.")
        os.utime(note, ns=times)
    running.start()  # which scans
    wait_for_state(client, folder, "watching")
    assert "heavy" in answer(client, "What is the anchor 7?").text


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files")
def test_files_that_wait_to_be_read_are_not_open(client: Client, running: RunningDaemon, folder: Path) -> None:
    assert running.process is not None
    open_files, most = Path(f"/proc/{running.process.pid}/fd"), 0
    before = len([*open_files.iterdir()])
    for number in range(250):
        (folder / f"{number}.md").write_text(f"The anchor {number} is heavy.")
    while (known := client.sources(str(folder), 1).total) < 250:
        most = max(most, len([*open_files.iterdir()]) if known else 0)
    assert 0 < most < before + 60


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
    woken = times_woken(running)
    with listening(client) as quiet, pytest.raises(AssertionError, match=r"heard: \[\]"):
        quiet.until(lambda event: True, seconds=4)
    assert times_woken(running) - woken < 100, "it asks again and again whether there is something to do"


def test_idle_it_wakes_up_less_than_five_times_a_second(tmp_path: Path) -> None:
    """With the settings that everybody has: nothing in it asks again and again whether there is something to do."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("The anchor weighs ninety kilos.")
    with run_daemon(tmp_path / "home") as daemon:
        client = daemon.client
        with listening(client) as listener:
            client.watch(tmp_path / "notes")
            listener.until_changed(tmp_path / "notes" / "a.md", "added")
        wait_for_state(client, tmp_path / "notes", "watching")
        woken = []
        while len(woken) < 20 and (not woken or woken[-1] >= 5):  # what the reading left over ends first
            before = times_woken(daemon)
            time.sleep(1)
            woken.append(times_woken(daemon) - before)
        assert woken[-1] < 5, woken


def times_woken(running: RunningDaemon) -> int:
    assert running.process is not None
    if not (threads := Path(f"/proc/{running.process.pid}/task")).exists():
        pytest.skip("no /proc here")
    lines = [line for file in threads.glob("*/status") for line in file.read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))


def test_a_folder_that_is_watched_twice_is_not_worth_a_list_of_all(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    events = Events(lambda: None)
    events.start()
    try:
        watch = events.watch(tmp_path, lambda event: None)
        assert events.count_unheard(watch, [tmp_path / "a"]) == 0 and events._observer
        (emitter,) = events._observer.emitters
        group = emitter._inotify  # type: ignore[attr-defined]
        with warnings.catch_warnings(record=True) as caught:
            group._add_all_callbacks(bytes(tmp_path))  # as for a tree that appears while it is walked
        assert caught == [] and len(repr(group)) < 200
    finally:
        events.close()


def test_folders_nested_deeper_than_calls_have_events(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(1100):
        folder = folder / "d"
        folder.mkdir()
    events, noted = Events(lambda: None), threading.Event()
    events.start()
    try:
        watch = events.watch(tmp_path, lambda event: noted.set())
        assert events.count_unheard(watch, [folder]) == 0
        (folder / "note.md").touch()
        assert noted.wait(60)
    finally:
        events.close()
    assert not CopiedFolders().holds_copy(folder / "note.md", 0, tmp_path)
