"""What was forgotten does not come back by itself, and is erased to the end, whatever comes between."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from daemon.client.client import Client, DaemonDownError, DaemonError
from daemon.jobs.erasure import Erasure
from daemon.jobs.workers import Tasks, Writer
from memory import Memory
from memory.nouns import FORGOTTEN, SAME_AS_FORGOTTEN
from memory.protocols import Embedder
from memory.store import sources
from memory.store.store import Store
from tests.daemon.conftest import QUICK, Listener, added, listening, uris, wait_until
from tests.running import RunningDaemon, run_daemon


def diary(folder: Path, year: int) -> str:
    """What stands in the diary; in each folder something else."""
    return f"In {year} I told Nora of the illness of {folder.parent.name}."


@pytest.fixture
def folder(client: Client, tmp_path: Path) -> Iterator[Path]:
    """A watched folder with a diary of two years, both forgotten, and a note that is not."""
    path = tmp_path / "notes"
    (path / "diary").mkdir(parents=True)
    for year in (2018, 2019):
        (path / "diary" / f"{year}.md").write_text(diary(path, year))
    (path / "bread.md").write_text(f"Bread is in the bin of {path.parent.name}.")
    client.watch(path)
    wait_until(lambda: len(uris(client, str(path))) == 3)
    for year in (2018, 2019):
        client.forget(source=str(path / "diary" / f"{year}.md"))
    yield path
    if [row for row in client.folders() if row.path == str(path)]:
        client.unwatch(path)


def reasons(client: Client, below: Path) -> dict[str, str]:
    """Why files below a folder are skipped: name -> reason."""
    return {
        str(Path(skip.uri).relative_to(below)): skip.reason
        for skip in client.status().files.skipped
        if Path(skip.uri).is_relative_to(below)
    }


def look(listener: Listener, file: Path) -> None:
    """Waits until all that happened before was looked at."""
    file.write_text(f"A beacon called {file.stem} of {file.parent.parent.name}.")
    listener.until_changed(file, "added")


def test_it_does_not_come_back_under_another_name(client: Client, folder: Path) -> None:
    with listening(client) as listener:
        (folder / "diary").rename(folder / "journal")
        look(listener, folder / "renamed.md")
        wait_until(lambda: reasons(client, folder) == {"journal/2018.md": FORGOTTEN, "journal/2019.md": FORGOTTEN})
        (folder / "journal" / "2018.md").write_text(diary(folder, 2018) + " She wept.")  # the mark went along
        look(listener, folder / "edited.md")
        shutil.copytree(folder / "journal", folder / "copies")
        look(listener, folder / "copied.md")
        copies = {f"copies/{year}.md": SAME_AS_FORGOTTEN for year in (2018, 2019)}
        wait_until(lambda: copies.items() <= reasons(client, folder).items())
        assert reasons(client, folder)["journal/2018.md"] == FORGOTTEN
        (folder / "bread.md").write_text(diary(folder, 2019))  # nor over a note that was there
        listener.until_changed(folder / "bread.md", "removed")
    known = {Path(uri).relative_to(folder).as_posix() for uri in uris(client, str(folder))}
    assert known == {"copied.md", "edited.md", "renamed.md"}


@pytest.mark.usefixtures("cold_daemon")
def test_it_does_not_come_back_renamed_while_no_daemon_runs(tmp_path: Path) -> None:
    notes, names = tmp_path / "notes", ("same", "edited", "moved", "edited while away")
    notes.mkdir()
    for name in names:
        (notes / f"{name}.md").write_text(f"The wexelglass of {name} is at Nora's.")
    with run_daemon(tmp_path / "home", QUICK) as daemon:
        daemon.client.watch(notes)
        wait_until(lambda: len(uris(daemon.client, str(notes))) == 4)
        for name in names:
            daemon.client.forget(source=str(notes / f"{name}.md"))
        with listening(daemon.client) as listener:
            (notes / "edited.md").write_text("The wexelglass of edited is at Nora's. She knows.")
            look(listener, notes / "first.md")
        daemon.stop()
        (notes / "edited while away.md").write_text("The wexelglass of all is at Nora's. She knows.")
        daemon.start()
        with listening(daemon.client) as listener:
            look(listener, notes / "second.md")
        daemon.stop()
        (notes / "deeper").mkdir()
        for name in names:
            (notes / f"{name}.md").rename(notes / ("deeper" if name == "moved" else ".") / f"{name} again.md")
        daemon.start()
        with listening(daemon.client) as listener:
            look(listener, notes / "third.md")
        wait_until(lambda: len(reasons(daemon.client, notes)) == 4)
        assert {*reasons(daemon.client, notes).values()} == {FORGOTTEN}
        assert {Path(uri).name for uri in uris(daemon.client, str(notes))} == {"first.md", "second.md", "third.md"}


def test_it_does_not_come_back_when_the_folder_is_watched_or_added_again(client: Client, folder: Path) -> None:
    client.unwatch(folder)
    (folder / "diary" / "2018.md").write_text(diary(folder, 2018) + " She wept.")
    with listening(client) as listener:
        client.watch(folder)
        look(listener, folder / "again.md")
        assert added(client, folder)[0].skipped == 2
        (folder / "diary" / "2018.md").rename(folder / "diary" / "2017.md")
        look(listener, folder / "moved.md")
    assert not [uri for uri in uris(client, str(folder)) if "diary" in uri]
    assert reasons(client, folder) == {"diary/2017.md": FORGOTTEN, "diary/2019.md": FORGOTTEN}

    assert client.unwatch(folder, forget=True).sources == 3
    with listening(client) as listener:
        client.watch(folder)
        look(listener, folder / "third.md")
    forgotten = dict.fromkeys(("again.md", "moved.md", "bread.md"), SAME_AS_FORGOTTEN)
    forgotten |= {"diary/2017.md": FORGOTTEN, "diary/2019.md": FORGOTTEN}
    wait_until(lambda: reasons(client, folder) == forgotten)
    assert uris(client, str(folder)) == [str(folder / "third.md")]


def test_it_does_not_come_back_renamed_while_rules_exclude_it(client: Client, folder: Path) -> None:
    rules, bread = folder / ".palimpsestignore", folder / "bread.md"
    with listening(client) as listener:
        (folder / "diary" / "2018.md").write_text(diary(folder, 2018) + " She wept.")
        look(listener, folder / "edited.md")
        (folder / "diary" / "2018.md").rename(folder / "diary" / "2017.md")
        rules.write_text("diary/\nbread.md\n")
        listener.until_changed(bread, "removed")
        rules.unlink()
        listener.until_changed(bread, "added")
    wait_until(lambda: not client.status().files.queue and not client.status().files.busy)
    assert reasons(client, folder) == {"diary/2017.md": FORGOTTEN, "diary/2019.md": FORGOTTEN}
    assert not [uri for uri in uris(client, str(folder)) if "diary" in uri]


def test_a_folder_in_a_watched_one_is_forgotten_and_stays_so(client: Client, folder: Path) -> None:
    old = folder / "old"
    old.mkdir()
    with listening(client) as listener:
        look(listener, old / "a.md")
        look(listener, old / "b.md")
        with pytest.raises(DaemonError) as hint:
            client.forget(source=str(old))
        assert f"pal watch rm --forget {old}" in hint.value.failed.message
        assert client.unwatch(old, forget=True).sources == 2
        (old / "a.md").write_text("A beacon that was edited since.")
        look(listener, folder / "later.md")
    assert [uri for uri in uris(client, str(folder)) if "/old/" in uri] == []
    assert {"old/a.md": FORGOTTEN, "old/b.md": FORGOTTEN}.items() <= reasons(client, folder).items()
    with pytest.raises(DaemonError):
        client.unwatch(folder / "nothing", forget=True)


def test_it_is_read_again_for_whoever_says_so(client: Client, folder: Path) -> None:
    file = folder / "diary" / "2019.md"
    assert added(client, file)[0].skipped == 1
    assert added(client, file, again=True)[0].sources == 1
    assert reasons(client, folder) == {"diary/2018.md": FORGOTTEN}
    shutil.copy(file, folder / "copy.md")
    with listening(client) as listener:
        look(listener, folder / "later.md")
    assert str(folder / "copy.md") in uris(client)


READER = """
import sys
from pathlib import Path
from memory.store.connect import connect

conn = connect(Path(sys.argv[1]))
conn.execute("BEGIN")
print(conn.execute("SELECT count(*) FROM episode").fetchone(), flush=True)
sys.stdin.read()
"""


def held(daemon: RunningDaemon, words: bytes) -> bool:
    """Whether these words still stand in any file of the memory."""
    return any(words in file.read_bytes() for file in daemon.paths.data.glob("memory.db*"))


@pytest.mark.usefixtures("cold_daemon")
def test_forgetting_a_folder_goes_on_after_kill_9(tmp_path: Path) -> None:
    notes, files = tmp_path / "notes", 450
    notes.mkdir()
    for n in range(files):
        (notes / f"{n}.md").write_text(f"Crate {n} holds the wexelglass number {n}.")
    with run_daemon(tmp_path / "home", QUICK) as daemon:
        daemon.client.watch(notes)
        wait_until(lambda: daemon.client.status().stats.sources == files)
        (notes / "0.md").unlink()  # what had gone before is forgotten, too
        wait_until(lambda: daemon.client.status().stats.sources == files - 1)
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(daemon.client.unwatch, notes, forget=True)
            wait_until(lambda: daemon.client.status().stats.sources < files - 1)
            daemon.kill()
            with pytest.raises(DaemonDownError):
                asked.result()
        with Store.open(daemon.paths.memory) as store, store.reading() as conn:
            left = sources.count_under(conn, f"{notes}/", ever=True)
            assert 0 < left < files and sources.list_folders(conn) == []
        daemon.start()
        wait_until(lambda: daemon.client.status().erasing is None)
        assert daemon.client.status().stats.sources == 0 and not held(daemon, b"wexelglass")


def test_a_folder_that_is_being_read_is_forgotten_whole(client: Client, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for n in range(600):
        (notes / f"{n}.md").write_text(f"Crate {n} of {tmp_path.name}.")
    client.watch(notes)
    wait_until(lambda: bool(uris(client, str(notes))))
    assert client.unwatch(notes, forget=True).sources < 600
    wait_until(lambda: not client.status().files.queue and not client.status().files.busy)
    assert uris(client, str(notes)) == []


def test_forgetting_beside_a_reader_is_pending_until_the_bytes_are_gone(tmp_path: Path) -> None:
    with run_daemon(tmp_path / "home", QUICK) as daemon:
        client = daemon.client
        client.remember("The vaultword7788 is mine.", source="vault")
        reader = [sys.executable, "-c", READER, str(daemon.paths.memory)]
        with subprocess.Popen(reader, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            assert other.stdout and other.stdout.readline()
            gone = client.forget(source="vault")
            assert gone.sources == 1 and "log" in gone.pending
            assert client.forget(source="vault").pending, "asked again it is no unknown source"
            assert (told := client.status().erasing) and told.unwiped_since and told.reason == gone.pending
            assert held(daemon, b"vaultword7788")
            assert daemon.stop() == 0
            daemon.start()
            assert client.status().erasing and held(daemon, b"vaultword7788"), "it is known after a restart"
            other.communicate()
        wait_until(lambda: client.status().erasing is None)
        assert not held(daemon, b"vaultword7788")
        with pytest.raises(DaemonError) as missing:
            client.forget(source="vault")
        assert missing.value.failed.code == "not_found"


def test_a_job_that_a_request_and_the_start_of_the_daemon_begin_at_once_runs_once_and_ends_for_both(
    tmp_path: Path, static: Embedder, caplog: pytest.LogCaptureFixture
) -> None:
    with Memory.open(tmp_path / "memory.db", embedder=static) as memory:
        memory.ingest.remember("The letter says that Ada is coming.", source="letter")
        memory.ingest.remember("The letter says that nobody is coming.", source="letter")
        writer, tasks = Writer(), Tasks(lambda event: None)
        erasure = Erasure(memory, writer, tasks, lambda *_: None)
        writer.start()
        spec = Erasure.job_of_retired("")
        memory.jobs.enqueue([spec])
        erasure.resume()
        requested = erasure.forget(spec)
        erasure.resume()
        tasks.start()
        assert requested.result(60).episodes == 1
        assert tasks.close(60) and writer.close(60)
    assert "the end of a task" not in caplog.text
