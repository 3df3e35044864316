"""What the disk changes is noticed, and what we change ourselves is no damage."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memory import Memory
from memory.errors import StoreError
from memory.nouns import Document
from memory.protocols import Embedder
from memory.store import check, schema, seals
from memory.store.store import Store
from tests.memory.store.building import remember_in_older

pytestmark = pytest.mark.usefixtures("new_stores")

PAGE = 8192


def content(path: Path) -> object:
    """What is sealed, as bytes; an error's words if it cannot be read."""
    with closing(sqlite3.connect(path)) as conn:
        conn.text_factory = bytes
        try:
            return [
                conn.execute(
                    f"SELECT {one.columns} FROM {one.table} WHERE {one.rows or 1} ORDER BY {one.order}"
                ).fetchall()
                for one in seals.SEALED
            ]
        except sqlite3.Error as error:
            return str(error)


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A memory of some notes, sealed and closed."""
    from plugins.manager import load

    path = tmp_path_factory.mktemp("sealed") / "memory.db"
    with Memory.open(path, embedder=load().embedder("static")) as memory:
        memory.remember_many([
            Document(f"crate {n}", f"# Crate {n}\n\nOwner: Ana Weber\nRent: {n * 7} euros\n\nIt came from Harbour {n}.")
            for n in range(60)
        ])  # fmt: skip
        memory.remember("Rent of Crate 9: 900 euros from today.", source="later")
        assert memory.maintenance.scrub() == () == memory.maintenance.scrub()
        assert memory.store.read(seals.list_unsealed) == []
    return path.read_bytes()


def test_a_flipped_bit_of_what_was_written_is_noticed(sealed: bytes, tmp_path: Path) -> None:
    path, changed, unnoticed = tmp_path / "memory.db", 0, []
    path.write_bytes(sealed)
    truth, rng = content(path), random.Random(5)
    for _ in range(120):
        data = bytearray(sealed)
        place = rng.randrange(PAGE, len(data))
        data[place] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        if content(path) == truth:
            continue
        changed += 1
        try:
            with Store.open_read_only(path) as store:
                if not check.check(store).problems:
                    unnoticed.append(place)
        except StoreError:
            pass
    assert changed > 10 and unnoticed == []


def test_what_is_written_is_no_damage(sealed: bytes, tmp_path: Path, static: Embedder) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(sealed)
    with Memory.open(path, embedder=static) as memory:
        memory.forget(source="crate 3")
        memory.ingest.retire("crate 4")
        memory.remember("Crate 5 has gone to Oslo.", source="crate 5")
        memory.knowledge.join_names("Ana Weber", "Crate 7")
        for _ in range(2):
            assert memory.check().problems == () == memory.maintenance.scrub()
        assert memory.store.read(seals.list_unsealed) == []


def test_damage_is_told_until_it_is_mended_and_part_by_part(sealed: bytes, tmp_path: Path, static: Embedder) -> None:
    path = tmp_path / "memory.db"
    at = sealed.index(b"It came from Harbour 33.")
    path.write_bytes(sealed[:at] + b"I" + bytes([sealed[at + 1] ^ 1]) + sealed[at + 2 :])
    with Memory.open(path, embedder=static) as memory:
        damage = [memory.maintenance.scrub(part, 7) for part in range(7)]
        assert sorted(map(len, damage)) == [0, 0, 0, 0, 0, 0, 1]
        (found,) = memory.maintenance.scrub()
        assert found.startswith("Something among passages ")
        assert any(found in problem and "pal restore" in problem for problem in memory.check().problems)


def test_a_file_from_before_there_were_seals_gets_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = schema.STEPS[: schema.STEPS.index(schema.seal_rows)]
    with monkeypatch.context() as then:
        then.setattr(schema, "STEPS", before)
        with Store.open(tmp_path / "memory.db") as store, store.writing() as conn:
            remember_in_older(conn, "notes/a.md", "Ana lives in Oslo.")
    with Store.open(tmp_path / "memory.db") as store:
        blocks = store.read(seals.list_unsealed)
        assert {seals.SEALED[kind].table for kind, _ in blocks} >= {"source", "node", "episode"}
        store.write(seals.seal, blocks)
        assert store.read(seals.list_unsealed) == [] and check.check(store).problems == ()
