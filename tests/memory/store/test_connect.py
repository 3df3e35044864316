from __future__ import annotations

import os
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.errors import StoreBusyError, StoreDamagedError, StoreError, StoreFullError
from memory.store.connect import connect, create_private, driver, driver_errors
from memory.store.store import Store
from tests.memory.store.building import remember

pytestmark = pytest.mark.usefixtures("new_stores")


@pytest.fixture
def fresh_driver() -> Iterator[None]:
    driver.cache_clear()
    yield
    driver.cache_clear()


def module_of(name: str, version: tuple[int, ...], loads: bool) -> types.ModuleType:
    module = types.ModuleType(name)
    module.sqlite_version_info = version
    module.Connection = type("Connection", (), {"enable_load_extension": None} if loads else {})
    return module


@pytest.mark.parametrize(
    ("pysqlite3", "sqlite3", "chosen"),
    [
        (((3, 50, 0), True), ((3, 50, 0), True), "pysqlite3"),
        (None, ((3, 50, 0), True), "sqlite3"),
        (((3, 50, 0), False), ((3, 50, 0), True), "sqlite3"),
        (((3, 41, 0), True), ((3, 42, 0), True), "sqlite3"),
    ],
)
def test_the_first_module_that_can_load_extensions_is_used(
    fresh_driver: None, monkeypatch: pytest.MonkeyPatch, pysqlite3, sqlite3, chosen: str
) -> None:
    for name, offered in (("pysqlite3", pysqlite3), ("sqlite3", sqlite3)):
        monkeypatch.setitem(sys.modules, name, module_of(name, *offered) if offered else None)
    assert driver().__name__ == chosen


def test_without_any_the_error_names_the_remedy(fresh_driver: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysqlite3", None)
    monkeypatch.setitem(sys.modules, "sqlite3", module_of("sqlite3", (3, 40, 1), False))
    with pytest.raises(StoreError, match="pip install pysqlite3"):
        driver()


def test_every_connection_is_set_for_safety(store: Store) -> None:
    expected = {
        "synchronous": 2, "foreign_keys": 1, "secure_delete": 1, "trusted_schema": 0, "busy_timeout": 5000,
        "journal_size_limit": 67108864, "mmap_size": 0, "cell_size_check": 1, "journal_mode": "wal",
    }  # fmt: skip
    with store.reading() as reader, store.quiet() as writer:
        for conn in (reader, writer):
            assert {name: conn.execute(f"PRAGMA {name}").fetchone()[0] for name in expected} == expected
            with pytest.raises(driver().OperationalError, match="not authorized"):
                conn.execute("SELECT load_extension('vec0')")


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps permissions otherwise")
def test_the_statements_that_a_passage_needs_are_prepared_once(store: Store) -> None:
    prepared: list[object] = []
    queries = [f"SELECT value + {number} FROM meta" for number in range(300)]
    with store.reading() as conn:
        conn.set_authorizer(lambda *asked: prepared.append(asked) or driver().SQLITE_OK)  # asked while preparing
        for query in queries:
            conn.execute(query).fetchall()
        assert len(prepared) >= len(queries)
        prepared.clear()
        for query in queries:
            conn.execute(query).fetchall()
        assert prepared == []
        conn.set_authorizer(None)


def test_the_file_its_log_and_new_folders_are_the_owners_alone(tmp_path: Path) -> None:
    os.umask(0o022)
    path = tmp_path / "new" / "deeper" / "memory.db"
    with Store.open(path) as store:
        with store.writing() as conn:
            remember(conn, "a", "Some words.")
        modes = [file.stat().st_mode & 0o777 for file in path.parent.iterdir()]
        assert modes == [0o600] * len(modes)
        assert len(modes) >= 2
    assert [folder.stat().st_mode & 0o777 for folder in (path.parent, path.parent.parent)] == [0o700, 0o700]


def test_a_file_that_is_there_keeps_its_mode_and_content(tmp_path: Path) -> None:
    path = tmp_path / "there"
    path.write_bytes(b"words")
    before = path.stat().st_mode
    create_private(path)
    assert (path.read_bytes(), path.stat().st_mode) == (b"words", before)


def test_another_programs_lock_is_a_busy_store(store: Store) -> None:
    other = connect(store.path)
    other.execute("BEGIN IMMEDIATE")
    with store.quiet() as conn:
        conn.execute("PRAGMA busy_timeout = 20")
    with pytest.raises(StoreBusyError, match=r"Another program holds .*memory\.db"), store.writing():
        pass
    other.close()
    with store.writing() as conn:
        remember(conn, "a", "Free again.")


def test_a_full_disk_keeps_nothing_of_the_unit_and_all_before_it(store: Store) -> None:
    with store.writing() as conn:
        kept = remember(conn, "kept", "What was there before.")
    with store.quiet() as conn:
        pages = conn.execute("PRAGMA page_count").fetchone()[0]
        conn.execute(f"PRAGMA max_page_count = {pages + 20}")
    with pytest.raises(StoreFullError, match="is full"), store.writing() as conn:
        for n in range(200):
            remember(conn, f"big{n}", "Very many words. " * 100)
    with store.reading() as conn:
        assert conn.execute("SELECT node_id FROM episode").fetchall() == [(kept[0],)]


def test_a_broken_page_is_a_damaged_store(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Store.open(path) as store, store.writing() as conn:
        remember(conn, "a", *[f"Episode {n}." for n in range(50)])
    content = bytearray(path.read_bytes())
    for page in range(2, len(content) // 8192):
        content[page * 8192 : page * 8192 + 64] = b"\xff" * 64
    path.write_bytes(content)
    with pytest.raises(StoreDamagedError, match="restore a backup"), Store.open(path) as store, store.reading() as conn:
        conn.execute("SELECT * FROM node").fetchall()


def test_what_is_no_driver_error_passes_unchanged(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), driver_errors(tmp_path):
        raise ZeroDivisionError
