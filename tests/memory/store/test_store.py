from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from daemon.lock import give_back
from memory.errors import StoreBusyError, StoreError, StoreMovedError
from memory.store import check, sources
from memory.store.connect import driver
from memory.store.store import Store
from tests.examples import rounds
from tests.memory.store.building import remember

pytestmark = pytest.mark.usefixtures("new_stores")


def paths(store: Store) -> list[str]:
    with store.reading() as conn:
        return [path for path, _, _ in sources.list_folders(conn)]


def test_a_unit_is_kept_when_it_ends(tmp_path: Path) -> None:
    with Store.open(tmp_path / "memory.db") as store, store.writing() as conn:
        sources.watch_folder(conn, "/notes", 1)
    with Store.open(tmp_path / "memory.db") as again:
        assert paths(again) == ["/notes"]


def test_of_a_unit_that_fails_nothing_is_kept(store: Store) -> None:
    with pytest.raises(KeyError), store.writing() as conn:
        sources.watch_folder(conn, "/notes", 1)
        raise KeyError
    assert paths(store) == []
    with store.writing() as conn:
        sources.watch_folder(conn, "/mail", 1)
    assert paths(store) == ["/mail"]


def test_refused_rows_undo_the_unit_as_a_store_error(store: Store) -> None:
    with pytest.raises(StoreError, match=r"which was undone: .*constraint"), store.writing() as conn:
        sources.watch_folder(conn, "/notes", 1)
        conn.execute("INSERT INTO node(id, kind, t_created) VALUES (1, 'Q', 1)")
    assert paths(store) == []


def test_reading_sees_one_moment(store: Store) -> None:
    with store.reading() as conn:
        assert sources.list_folders(conn) == []
        with store.writing() as writer:
            sources.watch_folder(writer, "/notes", 1)
        assert sources.list_folders(conn) == [], "the snapshot began before"
    assert paths(store) == ["/notes"]


def test_reading_within_reading_is_the_same_snapshot(store: Store) -> None:
    with store.reading() as outer, store.reading() as inner:
        assert outer is inner
    with store.reading() as outer:
        sources.list_folders(outer)
        with store.writing() as writer:
            sources.watch_folder(writer, "/notes", 1)
        assert paths(store) == []


def test_a_reader_cannot_write(store: Store) -> None:
    with pytest.raises(StoreError, match="may not be written"), store.reading() as conn:
        sources.watch_folder(conn, "/notes", 1)


def test_generation_grows_with_each_unit_that_changes_something(store: Store) -> None:
    before = store.generation
    with store.writing() as conn:
        sources.list_folders(conn)
    assert store.generation == before
    with store.writing() as conn:
        sources.watch_folder(conn, "/notes", 1)
        sources.watch_folder(conn, "/mail", 1)
    assert store.generation == before + 1
    with store.reading() as conn:
        sources.list_folders(conn)
        with store.writing() as writer:
            sources.watch_folder(writer, "/music", 1)
        assert store.generation == before + 1, "of the snapshot"
    assert store.generation == before + 2


def test_a_unit_inside_a_unit_is_a_mistake_that_is_reported(store: Store) -> None:
    with pytest.raises(RuntimeError, match="inside another"), store.writing(), store.writing():
        pass


def test_units_of_many_threads_come_one_after_the_other(store: Store) -> None:
    with ThreadPoolExecutor(4) as pool:

        def unit(n: int) -> None:
            with store.writing() as conn:
                remember(conn, f"note {n}", f"Episode {n} of Ana.", f"More of Ana and Bo {n}.")

        list(pool.map(unit, range(40)))
    assert check.check(store).problems == ()
    assert store.generation == 40


def test_readers_never_see_half_a_unit(store: Store) -> None:
    with store.writing() as conn:
        remember(conn, "start", "Ana came.")
    stop = threading.Event()

    def read() -> int:
        looks = 0
        while not stop.is_set() or looks == 0:
            with store.reading() as conn:
                counts = [
                    conn.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                    for table in ("episode", "episode_text_docsize", "vec")
                ]
            assert len(set(counts)) == 1, counts
            looks += 1
        return looks

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        for n in range(60):
            with store.writing() as conn:
                remember(conn, f"note {n}", "Ana spoke.", "Bo listened.")
        stop.set()
        assert all(reader.result(timeout=60) > 0 for reader in readers)


def test_memory_lives_in_a_private_folder_until_it_is_closed() -> None:
    store = Store.open(":memory:")
    with store.writing() as conn:
        sources.watch_folder(conn, "/notes", 1)
    assert paths(store) == ["/notes"]
    assert store.path.exists()
    store.close()
    assert not store.path.parent.exists()


def test_after_close_every_use_says_so_and_the_log_is_gone(store: Store) -> None:
    with store.writing() as conn:
        sources.watch_folder(conn, "/notes", 1)
    closing = threading.Thread(target=store.close)
    closing.start()
    closing.join()
    store.close()
    for use in (store.reading, store.writing, store.quiet):
        with pytest.raises(StoreError, match="is closed"), use():
            pass
    assert [file.name for file in store.path.parent.iterdir()] == ["memory.db"]


def test_a_reader_in_use_outlives_close(store: Store) -> None:
    with store.reading() as conn:
        sources.list_folders(conn)
        store.close()
        assert sources.list_folders(conn) == []
    with pytest.raises(driver().ProgrammingError, match="closed"):
        conn.execute("SELECT 1")
    assert [file.name for file in store.path.parent.iterdir()] == ["memory.db"]


def test_a_checkpoint_empties_the_log_unless_a_reader_holds_it(store: Store) -> None:
    log = store.path.with_name("memory.db-wal")
    with store.writing() as conn:
        sources.watch_folder(conn, "/notes", 1)
    assert log.stat().st_size > 0
    store.checkpoint()
    assert log.stat().st_size == 0
    with store.quiet() as conn:
        conn.execute("PRAGMA busy_timeout = 20")
    with store.reading() as conn:
        sources.list_folders(conn)
        with store.writing() as writer:
            sources.watch_folder(writer, "/mail", 1)
        with pytest.raises(StoreBusyError, match="is being read"):
            store.checkpoint()


@pytest.mark.skipif(os.name == "nt", reason="there a file that is open cannot be moved")
@pytest.mark.parametrize("what", ["the file", "its log", "its folder"])
def test_nothing_is_written_to_a_file_that_was_replaced(tmp_path: Path, what: str) -> None:
    home = tmp_path / "home"
    path = home / "memory.db"
    with Store.open(path) as store:
        with store.writing() as conn:
            sources.watch_folder(conn, "/notes", 1)
        with pytest.raises(StoreMovedError, match="pal daemon restart"), store.writing() as conn:
            sources.watch_folder(conn, "/mail", 1)
            match what:
                case "the file":
                    shutil.copy(path, home / "copy.db")
                    path.rename(home / "aside.db")
                    (home / "copy.db").rename(path)
                case "its log":
                    path.with_name("memory.db-wal").unlink()
                case _:
                    home.rename(tmp_path / "elsewhere")
        for use in (store.reading, store.writing, store.quiet):
            with pytest.raises(StoreMovedError), use():
                pass
        assert store.is_elsewhere == (what == "its folder")


@pytest.mark.skipif(os.name == "nt", reason="there a file that is open cannot be moved")
def test_what_was_written_before_a_file_was_replaced_is_kept(tmp_path: Path) -> None:
    path, kept = tmp_path / "memory.db", tmp_path / "backups" / "kept.db"
    Store.open(tmp_path / "other.db").close()
    other = (tmp_path / "other.db").read_bytes()
    with Store.open(path) as store:
        with store.writing() as conn:
            sources.watch_folder(conn, "/notes", 1)
        (tmp_path / "other.db").rename(path)
        with pytest.raises(StoreMovedError):
            store.verify_place()
        store.rescue(kept)
    assert path.read_bytes() == other
    with Store.open(path) as replacing, Store.open(kept) as rescued:
        assert (paths(replacing), paths(rescued)) == ([], ["/notes"])


@pytest.mark.parametrize("what", ["another", "an older state", "no memory", "nothing"])
def test_a_file_that_is_overwritten_in_place_gets_nothing_more(tmp_path: Path, what: str) -> None:
    """`cp backup memory.db` under a daemon: the inode stays. What is there is not ruined by the log at the end."""
    path = tmp_path / "memory.db"
    Store.open(tmp_path / "other.db").close()
    with Store.open(path) as store:
        for number in range(3):
            with store.writing() as conn:
                sources.watch_folder(conn, f"/notes{number}", 1)
            store.checkpoint()
            if number == 1:
                shutil.copy(path, tmp_path / "older.db")
        with store.writing() as conn:
            sources.watch_folder(conn, "/mail", 1)
        store.verify_place()
        match what:
            case "another":
                shutil.copyfile(tmp_path / "other.db", path)
            case "an older state":
                shutil.copyfile(tmp_path / "older.db", path)
            case "no memory":
                path.write_bytes(b"I am a text. " * 5000)
            case _:
                path.write_bytes(b"")
        there = path.read_bytes()
        for use in (store.writing, store.reading, store.quiet):
            with pytest.raises(StoreMovedError), use():
                pass
        kept = store.rescue(tmp_path / "rescued.db")
    assert path.read_bytes() == there and b"/mail" in kept.read_bytes()
    if what == "an older state":
        with Store.open(path) as again:
            assert paths(again) == ["/notes0", "/notes1"]


def test_checkpoints_of_ones_own_are_no_alarm(tmp_path: Path) -> None:
    with Store.open(tmp_path / "memory.db") as store:
        with store.quiet() as conn:
            conn.execute("PRAGMA wal_autocheckpoint = 2")
        for number in range(60):
            with store.reading() as reader:
                sources.list_folders(reader)
                with store.writing() as conn:
                    sources.watch_folder(conn, f"/notes{number}", 1)
        assert len(paths(store)) == 60


OPENING = """
import sys
from memory.store.store import Store
print("ready", flush=True)
for path in sys.stdin:
    with Store.open(path.rstrip()) as store, store.writing() as conn:
        conn.execute("INSERT INTO meta(key, value) VALUES (?, 1)", ("opened by " + sys.argv[1],))
    print("opened", flush=True)
"""


def test_a_new_memory_is_opened_by_eight_processes_at_once(tmp_path: Path) -> None:
    """Each would make its tables; and where one makes them, another finds it held or half made."""
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    opening = [subprocess.Popen([sys.executable, "-c", OPENING, str(name)], **pipes, text=True) for name in range(8)]
    for one in opening:
        one.stdout.readline()
    for number in range(rounds(3)):
        path = tmp_path / f"{number}.db"
        for one in opening:
            one.stdin.write(f"{path}\n")
            one.stdin.flush()
        said = [one.stdout.readline() for one in opening]
        assert said == ["opened\n"] * 8, [one.communicate(timeout=60)[1] for one in opening]
        with Store.open(path) as store, store.reading() as conn:
            opened = conn.execute("SELECT count(*) FROM meta WHERE key GLOB 'opened by *'").fetchone()
            assert opened == (8,)
    assert [one.communicate(timeout=60)[1] for one in opening] == [""] * 8


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_the_connections_keep_of_the_file_is_released(store: Store) -> None:
    """Up to 16 MB each, of the one that writes and of those that read."""

    def resident() -> int:
        give_back()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    with store.writing() as conn:
        conn.execute("CREATE TABLE large(n INTEGER PRIMARY KEY, content BLOB)")
        conn.executemany("INSERT INTO large VALUES (?, randomblob(8000))", ((n,) for n in range(4000)))
    with store.reading() as conn:
        assert conn.execute("SELECT sum(length(content)) FROM large").fetchone() == (32_000_000,)
        held = resident()
        store.release_pages()
        assert held - resident() > 8_000_000, "of the one that writes"
    held = resident()
    store.release_pages()
    assert held - resident() > 8_000_000, "of the one that read"
    with store.reading() as conn:
        assert conn.execute("SELECT count(*) FROM large").fetchone() == (4000,)
    store.close()
    store.release_pages()
