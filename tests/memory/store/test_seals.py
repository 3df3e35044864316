"""What the disk changes is noticed and taken from a backup, and what we change ourselves is no damage."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

import pytest

from memory import Memory
from memory.errors import StoreError
from memory.nouns import Document
from memory.protocols import Embedder
from memory.store import check, connect, facts, seals
from memory.store.store import Store
from tests.examples import rounds

pytestmark = pytest.mark.usefixtures("new_stores")

PAGE = 8192


def read_rows(path: Path) -> object:
    """All rows, as bytes; the words of an error if they cannot be read."""
    try:
        with closing(connect.connect(path, read_only=True)) as conn:
            conn.text_factory = bytes
            tables = [*seals.SEALED, "vec_fact"]
            return [conn.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in tables]
    except connect.driver().Error as error:
        return str(error)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A memory of some notes and questions, closed."""
    from plugins.manager import load

    path = tmp_path_factory.mktemp("written") / "memory.db"
    with Memory.open(path, embedder=load().embedder("static")) as memory:
        memory.ingest.remember_many([
            Document(f"crate {n}", f"# Crate {n}\n\nOwner: Ana Weber\nRent: {n * 7} euros\n\nIt came from Harbour {n}.")
            for n in range(60)
        ])  # fmt: skip
        memory.ingest.remember("Rent of Crate 9: 900 euros from today.", source="later")
        for n in range(3):
            list(memory.questions.ask(f"What is the rent of crate {n}?"))
        assert memory.maintenance.check().problems == () == memory.maintenance.scrub()
    return path.read_bytes()


@pytest.mark.soak
def test_a_flipped_bit_of_what_was_just_written_is_noticed(written: bytes, tmp_path: Path) -> None:
    path, changed, unnoticed = tmp_path / "memory.db", 0, []
    path.write_bytes(written)
    truth, rng = read_rows(path), random.Random(5)
    for _ in range(rounds(200)):
        data = bytearray(written)
        place = rng.randrange(PAGE, len(data))
        data[place] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        if read_rows(path) == truth:
            continue
        changed += 1
        try:
            with Store.open_read_only(path) as store:
                if not check.check(store).problems:
                    unnoticed.append(place)
        except StoreError:
            pass
    assert changed > rounds(22) and unnoticed == []


def test_what_is_written_is_no_damage(written: bytes, tmp_path: Path, static: Embedder) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(written)
    with Memory.open(path, embedder=static) as memory:
        memory.forgetting.forget(source="crate 3")
        memory.ingest.retire("crate 4")
        memory.ingest.remember("Crate 5 has gone to Oslo.", source="crate 5")
        memory.knowledge.join_names("Ana Weber", "Crate 7")
        list(memory.questions.ask("Where is Crate 5?"))
        assert memory.maintenance.check().problems == () == memory.maintenance.scrub()
        memory.maintenance.rebuild_vectors()
        memory.maintenance.rebuild_edge_memory()
        memory.maintenance.rebuild_text()
        memory.maintenance.consolidate()
        assert memory.maintenance.check().problems == () == memory.maintenance.scrub()


def test_damage_is_reported_part_by_part_and_a_later_change_does_not_hide_it(
    written: bytes, tmp_path: Path, static: Embedder
) -> None:
    path = tmp_path / "memory.db"
    at = written.index(b"It came from Harbour 33.")
    path.write_bytes(written[:at] + b"I" + bytes([written[at + 1] ^ 1]) + written[at + 2 :])
    with Memory.open(path, embedder=static) as memory:
        damage = [memory.maintenance.scrub(part, 7) for part in range(7)]
        assert sorted(map(len, damage)) == [0, 0, 0, 0, 0, 0, 1]
        memory.ingest.retire("crate 33")
        (sentence,) = memory.maintenance.scrub()
        assert sentence.startswith("Rows of the table episode are not as written")


def test_lost_and_changed_rows_of_every_table_are_named_and_taken_from_a_backup(
    written: bytes, tmp_path: Path, static: Embedder
) -> None:
    path, backups = tmp_path / "memory.db", tmp_path / "backups"
    path.write_bytes(written)
    backups.mkdir()
    with Memory.open(path, embedder=static) as memory:
        memory.maintenance.backup(backups / "one.db")
    lost: dict[str, list[int]] = {}
    with closing(connect.connect(path)) as conn:  # without our triggers, as another program writes
        conn.execute("PRAGMA foreign_keys = OFF")
        for table, key in seals.SEALED.items():
            lost[table] = [id for (id,) in conn.execute(f"SELECT DISTINCT {key} FROM {table} ORDER BY 1 LIMIT 100")]
            conn.executemany(f"DELETE FROM {table} WHERE {key} = ?", [(id,) for id in lost[table]])
        damage = {table: lost for table, _, lost in seals.find_damage(conn)}
        assert damage == {table: ids for table, ids in lost.items() if ids} and len(damage) > 15
    with Memory.open(path, embedder=static) as memory:
        repaired = memory.maintenance.repair_rows(backups)
        assert repaired == sum(len(ids) for ids in damage.values()) - 1, "the embedder has entered itself again"
        assert memory.maintenance.check().problems == ()
        assert list(memory.questions.ask("What is the rent of Crate 9?"))
    assert read_rows(path)[:3] == read_rows(backups / "one.db")[:3]  # type: ignore[index]


def test_missing_and_damaged_vectors_of_facts_are_rebuilt(written: bytes, tmp_path: Path, static: Embedder) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(written)
    with Memory.open(path, embedder=static) as memory:
        with memory.store.writing() as conn:
            first, second = [id for (id,) in conn.execute("SELECT id FROM vec_fact LIMIT 2")]
            facts.delete_vectors(conn, [first])
            conn.execute("UPDATE vec_fact SET slot_bytes = zeroblob(1) WHERE id = ?", (second,))
        problems = memory.maintenance.check().problems
        assert [str(first) in problems[0], str(second) in problems[1]] == [True, True]
        memory.maintenance.rebuild_vectors()
        assert memory.maintenance.check().problems == ()
