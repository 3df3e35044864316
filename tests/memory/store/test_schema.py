from __future__ import annotations

from pathlib import Path

import pytest

from memory.errors import StoreDamagedError, StoreError
from memory.nouns import FORGOTTEN, Step, Trace
from memory.store import check, forget, ownership, schema, sources, traces
from memory.store.connect import Connection, connect, driver
from memory.store.store import Store
from tests.memory.store.building import remember_in_older, use_steps

pytestmark = pytest.mark.usefixtures("new_stores")


def add_mood(conn: Connection) -> None:
    conn.execute("ALTER TABLE source ADD COLUMN mood TEXT")
    conn.execute("UPDATE source SET mood = 'calm'")


def break_off(conn: Connection) -> None:
    conn.execute("DELETE FROM thesis")
    raise RuntimeError("power cut")


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A memory of version 1 with a source in it."""
    path = tmp_path / "memory.db"
    with pytest.MonkeyPatch.context() as then:
        use_steps(then, schema.create_memory)
        with Store.open(path) as store, store.writing() as conn:
            remember_in_older(conn, "notes/a.md", "Ana lives in Oslo. She likes tea.")
    return path


def versions(path: Path) -> tuple[int, int]:
    conn = connect(path, read_only=True)
    try:
        application = conn.execute("PRAGMA application_id").fetchone()[0]
        return application, conn.execute("SELECT count(*) FROM _sqlite_migrations").fetchone()[0]
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
    conn.execute("DELETE FROM meta WHERE key = ?", (ownership.NAME,))
    conn.close()
    with Store.open(older) as store:
        assert check.check(store).problems == ()
        with store.reading() as conn:
            assert [uri for (uri,) in conn.execute("SELECT uri FROM source")] == ["notes/a.md"]


def test_what_was_forgotten_before_there_were_marks_is_told_by_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = schema.STEPS[: schema.STEPS.index(schema.keep_marks_of_forgotten)]
    with monkeypatch.context() as then:
        use_steps(then, *before)
        with Store.open(tmp_path / "memory.db") as store, store.writing() as conn:
            sources.skip(conn, "/diary.md", "forgotten on request; `pal add` reads it again", 1)
            sources.skip(conn, "/photo.jpg", "there is no reader for it", 1)
    with Store.open(tmp_path / "memory.db") as store, store.reading() as conn:
        reasons = {skip.uri: skip.reason for skip in sources.list_skipped(conn)}
        assert reasons == {"/diary.md": FORGOTTEN, "/photo.jpg": "there is no reader for it"}
        assert not forget.is_marked(conn, "00" * 32)


def test_lines_that_dated_an_event_leave_the_traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dated = Step("scope", 1.0, {"episodes": 3, "time": {"kind": "range", "line": "Qqqzwickl moved.", "episode": 7}})
    with monkeypatch.context() as then:
        use_steps(then, *schema.STEPS[: schema.STEPS.index(schema.drop_lines_of_events)])
        with Store.open(tmp_path / "memory.db") as store, store.writing() as conn:
            traces.store(conn, Trace("Before I moved?", (dated,)), None, 1)
    with Store.open(tmp_path / "memory.db") as store:
        assert check.check(store).problems == ()
        with store.reading() as conn:
            assert conn.execute("SELECT detail FROM trace_step").fetchall() == [('{"episodes":3}',)]


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
    conn.execute(
        "INSERT INTO _sqlite_migrations(migration_set, name, applied_at) VALUES (?, '9999_later', '')",
        (schema.MIGRATIONS,),
    )
    conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    conn.close()
    before = older.read_bytes()
    with pytest.raises(StoreError, match=r"newer Palimpsest .* Update Palimpsest"):
        Store.open(older)
    assert older.read_bytes() == before


@pytest.mark.parametrize(
    "change",
    ["PRAGMA user_version = 5", "UPDATE _sqlite_migrations SET name = '0001_create_tables'"],
    ids=["numbers", "another first step"],
)
def test_a_file_from_before_the_first_release_is_refused_and_not_touched(older: Path, change: str) -> None:
    conn = connect(older)
    conn.execute(change)
    conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    conn.close()
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


def test_indexes_of_episodes_that_nothing_asks_are_dropped(older: Path) -> None:
    tables = "SELECT name FROM sqlite_master WHERE name LIKE 'vec%' AND type = 'table' ORDER BY name"
    conn = connect(older)
    with conn:
        conn.execute("CREATE VIRTUAL TABLE vec_fact USING vec0(id INTEGER PRIMARY KEY, slot bit[8])")
        kept = conn.execute(tables).fetchall()
        for embedder in (1, 12):
            name = f"vec_episode_{embedder}"
            conn.execute(f"CREATE VIRTUAL TABLE {name} USING vec0(id INTEGER PRIMARY KEY, data float[4])")
            conn.execute(f"INSERT INTO {name}(id, data) VALUES (7, ?)", (b"\0" * 16,))
    conn.close()
    with Store.open(older) as store, store.reading() as read:
        assert read.execute(tables).fetchall() == kept
        assert read.execute("SELECT text FROM episode").fetchall() == [("Ana lives in Oslo. She likes tea.",)]
