from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from memory.errors import StoreDamagedError, StoreError
from memory.store import check, files, schema
from memory.store.connect import Connection, connect, driver
from memory.store.store import Store
from tests.memory.store.building import remember, use_steps

pytestmark = pytest.mark.usefixtures("new_stores")


def add_mood(conn: Connection) -> None:
    conn.execute("ALTER TABLE source ADD COLUMN mood TEXT")
    conn.execute("UPDATE source SET mood = 'calm'")


def break_off(conn: Connection) -> None:
    conn.execute("DELETE FROM thesis")
    raise RuntimeError("power cut")


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A memory with a source in it."""
    path = tmp_path / "memory.db"
    with Store.open(path) as store, store.writing() as conn:
        remember(conn, "notes/a.md", "Ana lives in Oslo. She likes tea.")
    return path


def versions(path: Path) -> tuple[int, int]:
    conn = connect(path, read_only=True)
    try:
        application = conn.execute("PRAGMA application_id").fetchone()[0]
        return application, conn.execute("PRAGMA user_version").fetchone()[0] - schema.BASE
    finally:
        conn.close()


def test_a_new_file_is_at_the_newest_version(tmp_path: Path) -> None:
    Store.open(tmp_path / "memory.db").close()
    assert versions(tmp_path / "memory.db") == (schema.APPLICATION_ID, len(schema.STEPS))
    assert [file.name for file in tmp_path.iterdir()] == ["memory.db"]


def test_an_older_file_is_copied_and_then_migrated(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newest = len(schema.STEPS) + 1
    use_steps(monkeypatch, *schema.STEPS, add_mood)
    with Store.open(older) as store:
        assert check.check(store).problems == ()
        with store.reading() as conn:
            assert conn.execute("SELECT uri, mood FROM source").fetchall() == [("notes/a.md", "calm")]
    copy = older.with_name(f"memory.db.before-v{newest}.bak")
    assert (versions(older)[1], versions(copy)[1]) == (newest, 1)
    use_steps(monkeypatch, schema.create_memory)
    with Store.open(copy) as before, before.reading() as conn:
        assert conn.execute("SELECT text FROM episode").fetchall() == [("Ana lives in Oslo. She likes tea.",)]


def test_a_file_from_before_files_had_names_is_migrated(older: Path) -> None:
    conn = connect(older)
    conn.execute("DELETE FROM meta WHERE key = ?", (files.NAME,))
    conn.close()
    with Store.open(older) as store:
        assert check.check(store).problems == ()
        with store.reading() as conn:
            assert [uri for (uri,) in conn.execute("SELECT uri FROM source")] == ["notes/a.md"]


def test_a_step_that_breaks_off_leaves_the_version_before_it(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_steps(monkeypatch, schema.create_memory, add_mood, break_off)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="power cut"):
            Store.open(older)
        assert versions(older)[1] == 2
    use_steps(monkeypatch, schema.create_memory, add_mood)
    with Store.open(older) as store, store.reading() as conn:
        assert conn.execute("SELECT count(*) FROM thesis").fetchone() == (2,)
    copies = {copy.name: versions(copy)[1] for copy in older.parent.glob("*.bak")}
    assert copies == {"memory.db.before-v3.bak": 1, "memory.db.before-v3.2.bak": 2}


def test_a_newer_file_is_refused_and_not_touched(older: Path) -> None:
    conn = connect(older)
    conn.execute(f"PRAGMA user_version = {schema.BASE + 99}")
    conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    conn.close()
    before = older.read_bytes()
    with pytest.raises(StoreError, match=r"newer Palimpsest .* Update Palimpsest"):
        Store.open(older)
    assert older.read_bytes() == before


RECORDS = "CREATE TABLE _sqlite_migrations(id INTEGER PRIMARY KEY, migration_set TEXT, name TEXT, applied_at TEXT)"


def record_former_steps(path: Path, last: str) -> None:
    """Makes the file one of the time before the first release, whose last step was that."""
    with closing(connect(path)) as conn:
        conn.execute("PRAGMA user_version = 0")
        conn.execute(RECORDS)
        names = ("0001_create_memory", last)
        conn.executemany("INSERT INTO _sqlite_migrations(name) VALUES (?)", [(name,) for name in names])
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def test_a_file_whose_steps_are_in_a_table_is_the_same_memory(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record_former_steps(older, schema.LAST_STEP)
    with Store.open_read_only(older) as store:
        assert store.read(lambda conn: conn.execute("SELECT uri FROM source").fetchall()) == [("notes/a.md",)]
    with Store.open(older) as store:
        assert check.check(store).problems == () and [*older.parent.glob("*.bak")] == []
    use_steps(monkeypatch, *schema.STEPS, add_mood)
    with Store.open(older) as store, store.reading() as conn:
        assert conn.execute("SELECT uri, mood FROM source").fetchall() == [("notes/a.md", "calm")]


@pytest.mark.parametrize("last", ["", "0013_keep_agreements"], ids=["numbers", "an earlier step"])
def test_a_file_from_before_the_first_release_is_refused_and_not_touched(older: Path, last: str) -> None:
    record_former_steps(older, last)
    before = older.read_bytes()
    with pytest.raises(StoreError, match=r"before the first release.* pal add"):
        Store.open(older)
    assert older.read_bytes() == before and [*older.parent.glob("*.bak")] == []


def test_another_programs_database_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    conn = driver().connect(str(path))
    conn.execute("CREATE TABLE bookmarks(url)")
    conn.commit()
    conn.close()
    before = path.read_bytes()
    with pytest.raises(StoreDamagedError, match="belongs to another program"):
        Store.open(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"# Shopping\n- tea\n" * 300, b"\0" * 5000, b"SQLite format 3\0" + b"x" * 9000])
def test_what_is_no_database_is_refused_and_not_touched(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.md"
    path.write_bytes(content)
    with pytest.raises(StoreDamagedError, match=r"notes\.md"):
        Store.open(path)
    assert path.read_bytes() == content


def test_an_empty_file_becomes_a_memory(tmp_path: Path) -> None:
    (tmp_path / "memory.db").touch()
    with Store.open(tmp_path / "memory.db") as store:
        assert check.check(store).problems == ()


def test_a_memory_whose_making_broke_off_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_steps(monkeypatch, break_off)
    with pytest.raises(StoreError):
        Store.open(tmp_path / "memory.db")
    monkeypatch.undo()
    with Store.open(tmp_path / "memory.db") as store:
        assert check.check(store).problems == ()


def test_any_name_will_do(tmp_path: Path) -> None:
    path = tmp_path / "Ana's notes? 100% #1 ✓.db"
    Store.open(path).close()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("path", ["", "file/below.db"])
def test_a_path_that_cannot_be_a_file_is_a_clear_error(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be opened"):
        Store.open(tmp_path / path)
