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

from memory.errors import InvalidInputError, StoreError, StoreFullError
from memory.store import check, files, text
from memory.store.store import Store
from tests.memory.store.building import HashEmbedder, nearest, remember

pytestmark = pytest.mark.usefixtures("new_stores")


def content(store: Store) -> list[object]:
    with store.reading() as conn:
        tables = [name for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        rows = [sorted(conn.execute(f'SELECT * FROM "{table}"').fetchall(), key=repr) for table in tables]
        rows[tables.index("meta")] = [row for row in rows[tables.index("meta")] if row[0] != "file"]  # each has its own
        found = text.search(conn, ["ana"], 50)[0].tolist()
        near = nearest(conn, 1, HashEmbedder().embed_query("Ana"), 20)[0].tolist()
    return [*zip(tables, rows, strict=True), found, near]


def test_a_backup_is_the_same_memory(store: Store, tmp_path: Path) -> None:
    with store.writing() as conn:
        for n in range(20):
            remember(conn, f"note {n}", f"Ana wrote letter {n}. Bo read it.")
    to = tmp_path / "backups" / "one.db"
    assert store.backup(to) == to.stat().st_size > 0
    assert [file.name for file in to.parent.iterdir()] == ["one.db"]
    assert to.stat().st_mode & 0o777 == 0o600 or os.name == "nt"
    with Store.open(to) as copy:
        assert content(copy) == content(store)
        assert check.check(copy).problems == ()


def test_a_backup_never_overwrites(store: Store, tmp_path: Path) -> None:
    to = tmp_path / "letter.txt"
    to.write_text("Dear Ana")
    with pytest.raises(InvalidInputError, match="exists already"):
        store.backup(to)
    assert to.read_text() == "Dear Ana"


def test_a_backup_that_fails_leaves_nothing(store: Store, tmp_path: Path) -> None:
    with store.quiet() as conn:
        conn.execute("PRAGMA writable_schema = ON")
        conn.execute("UPDATE sqlite_master SET rootpage = 2 WHERE name = 'folder'")
        conn.execute("PRAGMA writable_schema = RESET")
    with pytest.raises(StoreError):
        store.backup(tmp_path / "out" / "copy.db")
    assert list((tmp_path / "out").iterdir()) == []


def test_others_write_while_a_backup_is_made(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One writes between the snapshot and the copy, so it is copied again; one while the copy is compared."""
    store.write(remember, "note 1", "Ana wrote a letter.")
    begin, compare = files.create_private, files._compare
    waiting = ["note 2", "note 3"]

    def write() -> None:
        thread = threading.Thread(target=store.write, args=(remember, waiting.pop(0), "Bo wrote a letter."))
        thread.start()
        thread.join(60)
        assert not thread.is_alive(), "it waits for the backup"

    def write_and_begin(path: Path) -> None:
        if len(waiting) == 2:
            write()
        begin(path)

    def write_and_compare(*args: Any) -> None:
        write()
        compare(*args)

    monkeypatch.setattr(files, "create_private", write_and_begin)
    monkeypatch.setattr(files, "_compare", write_and_compare)
    store.backup(tmp_path / "copy.db")
    assert count_sources(store) == 3
    with Store.open(tmp_path / "copy.db") as copy:
        assert count_sources(copy) == 2 and check.check(copy).problems == ()


def count_sources(store: Store) -> int:
    return int(store.read(lambda conn: conn.execute("SELECT count(*) FROM source").fetchone()[0]))


KILLED = """
import os, signal, sys
from pathlib import Path
from memory.store import files
from memory.store.store import Store

store, to = Store.open(sys.argv[1]), Path(sys.argv[2])
store.write(files.note_copy, to)

def die_when_written():
    if any(part.stat().st_size for part in to.parent.glob(f".{to.name}.*.part")):
        os.kill(os.getpid(), signal.SIGKILL)

with store.quiet() as conn:
    conn.set_progress_handler(die_when_written, 100)
    files.verified_copy(conn, store.path, to)
"""


def test_what_a_killed_backup_leaves_is_named_and_swept(store: Store, tmp_path: Path) -> None:
    """It holds what is forgotten until then, in the backup folder, beside the memory, or where a person put it."""
    with store.writing() as conn:
        for n in range(50):
            remember(conn, f"note {n}", f"The vaultword{n} is Ana's. " * 50)
    backups = tmp_path / "backups"
    wanted = [backups / "memory-1.db", tmp_path / "memory.db.before-v9.bak", tmp_path / "elsewhere" / "mine.db"]
    for to in wanted:
        subprocess.run([sys.executable, "-c", KILLED, str(store.path), str(to)], check=False)
        assert not to.exists()
        [part] = to.parent.glob(f".{to.name}.*.part")
        assert b"vaultword" in part.read_bytes()
    with store.reading() as conn:
        query = files.find_rows(conn, ["note 1"])
        copies = files.known_copies(conn, store.path, backups)
        assert len(copies) == 3 and files.copies_with(copies, *query) == copies, "an unfinished copy may hold it"
        assert files.discard_unfinished(conn, store.path, backups) == 3
        assert files.known_copies(conn, store.path, backups) == []
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and not file.name.startswith("memory.db")]


def test_a_copy_that_will_not_fit_is_not_begun(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=store.path.stat().st_size))
    with pytest.raises(StoreFullError, match="pal backup TO"):
        store.backup(tmp_path / "out" / "copy.db")
    assert not (tmp_path / "out").exists()


def test_backups_under_load_are_whole(store: Store, tmp_path: Path) -> None:
    with store.writing() as conn:
        remember(conn, "start", "Ana began.")

    def write(n: int) -> None:
        with store.writing() as conn:
            remember(conn, f"note {n}", f"Ana wrote letter {n}. Bo read it.", "They slept.")

    with ThreadPoolExecutor(1) as pool:
        writes = [pool.submit(write, n) for n in range(100)]
        for n in range(4):
            store.backup(tmp_path / f"{n}.db")
        for one in writes:
            one.result()
    for n in range(4):
        with Store.open(tmp_path / f"{n}.db") as copy:
            assert check.check(copy).problems == ()
