"""A backup in the place of a memory: what was damaged is told, what is replaced is kept, and no two files mix."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import Memory
from memory.errors import InvalidInputError, StoreDamagedError, StoreError
from memory.protocols import Embedder
from memory.store.files import known_copies
from memory.store.restore import CHECKSUM, LOGS
from memory.store.store import Store

EARLY, LATE = "The spare key hangs behind the clock.", "The ferry leaves at noon."


@pytest.fixture
def places(tmp_path: Path, static: Embedder) -> tuple[Path, Path, Path]:
    """The memory, its backup, and where the memory goes; the memory has gained a note since."""
    memory, backup = tmp_path / "memory.db", tmp_path / "backups" / "one.db"
    with Memory.open(memory, embedder=static) as open_memory:
        open_memory.ingest.remember(EARLY)
        open_memory.maintenance.backup(backup)
        open_memory.ingest.remember(LATE)
    return memory, backup, tmp_path / "backups" / "replaced.db"


def held(file: Path, static: Embedder) -> set[str]:
    with Memory.open(file, embedder=static) as memory:
        assert memory.maintenance.check().problems == ()
        return {hit.episode.text for hit in memory.questions.retrieve("key clock ferry noon").recall.hits}


def test_the_memory_is_as_the_backup_and_what_it_was_is_kept(places: tuple[Path, Path, Path], static: Embedder) -> None:
    memory, backup, kept = places
    Memory.restore(backup, memory, kept)
    assert held(memory, static) == {EARLY} and held(kept, static) == {EARLY, LATE}
    assert memory.stat().st_mode & 0o777 == 0o600 or os.name == "nt"
    assert {file.name for file in memory.parent.iterdir()} == {"memory.db", "backups"}


def test_the_log_of_a_crash_goes_with_its_file(places: tuple[Path, Path, Path], static: Embedder) -> None:
    memory, backup, kept = places
    crashed = memory.with_name("crashed.db")
    with Memory.open(memory, embedder=static) as open_memory:
        open_memory.ingest.remember("The pier is closed.")
        for log in ("", *LOGS):  # as a crash leaves them
            crashed.with_name(crashed.name + log).write_bytes(memory.with_name(memory.name + log).read_bytes())
    assert crashed.with_name(crashed.name + "-wal").stat().st_size
    Memory.restore(backup, crashed, kept)
    assert held(crashed, static) == {EARLY} and "The pier is closed." in held(kept, static)


@pytest.fixture(scope="module")
def backed_up(tmp_path_factory: pytest.TempPathFactory, static: Embedder) -> Path:
    """The folder of a memory with a backup."""
    folder = tmp_path_factory.mktemp("flip")
    with Memory.open(folder / "memory.db", embedder=static) as memory:
        memory.ingest.remember(EARLY)
        memory.maintenance.backup(folder / "one.db")
    return folder


@given(seed=st.integers(0, 1 << 30))
def test_a_flipped_bit_of_a_backup_is_seen(backed_up: Path, seed: int) -> None:
    memory, backup, kept = (backed_up / name for name in ("memory.db", "one.db", "kept.db"))
    whole, before = backup.read_bytes(), memory.read_bytes()
    data = bytearray(whole)
    place = random.Random(seed).randrange(len(data) * 8)
    data[place // 8] ^= 1 << place % 8
    backup.write_bytes(data)
    try:
        with pytest.raises(StoreDamagedError, match="checksum differs"):
            Memory.restore(backup, memory, kept)
    finally:
        backup.write_bytes(whole)
    assert memory.read_bytes() == before and not kept.exists()


def test_what_is_no_memory_is_not_restored(places: tuple[Path, Path, Path], static: Embedder) -> None:
    memory, backup, kept = places
    Path(f"{backup}{CHECKSUM}").unlink()
    backup.write_bytes(b"Dear Ana" * 1000)
    with pytest.raises(StoreError):
        Memory.restore(backup, memory, kept)
    with pytest.raises(InvalidInputError, match="no backup"):
        Memory.restore(kept, memory, kept)
    assert held(memory, static) == {EARLY, LATE}
    assert {file.name for file in memory.parent.iterdir()} == {"memory.db", "backups"}


@pytest.mark.parametrize("which", ["a backup", "an older copy"])
def test_the_log_of_a_crash_is_not_played_into_another_file(tmp_path: Path, static: Embedder, which: str) -> None:
    """What somebody does who copies a backup over the memory by hand."""
    memory, other, crashed = tmp_path / "memory.db", tmp_path / "one.db", tmp_path / "crashed.db"
    with Memory.open(memory, embedder=static) as open_memory:
        open_memory.ingest.remember(EARLY)
        if which == "a backup":
            open_memory.maintenance.backup(other)
    if which == "an older copy":
        other.write_bytes(memory.read_bytes())
    with Memory.open(memory, embedder=static) as open_memory:
        open_memory.ingest.remember("The pier is closed.")
    with Memory.open(memory, embedder=static) as open_memory:
        open_memory.ingest.remember(LATE)
        for log in ("", *LOGS):  # as a crash leaves them
            crashed.with_name(crashed.name + log).write_bytes(memory.with_name(memory.name + log).read_bytes())
    assert not memory.with_name("memory.db-owner").exists(), "it was closed"
    left = {log: crashed.with_name(crashed.name + log).read_bytes() for log in LOGS}
    assert LATE in held(crashed, static), "its own log is played"
    for log in LOGS:
        crashed.with_name(crashed.name + log).write_bytes(left[log])
    crashed.write_bytes(other.read_bytes())
    with pytest.raises(StoreError, match="the log of another file"):
        Memory.open(crashed, embedder=static, read_only=True)
    assert held(crashed, static) == {EARLY}
    (log,) = tmp_path.glob("crashed.db.*.log.bak")
    with Store.open(crashed) as store, store.reading() as conn:
        assert log in known_copies(conn, crashed, tmp_path / "none"), "forgetting names it"
    assert not crashed.with_name("crashed.db-owner").exists()


def test_a_memory_that_is_gone_is_there_again(places: tuple[Path, Path, Path], static: Embedder) -> None:
    memory, backup, kept = places
    memory.unlink()
    Memory.restore(backup, memory, kept)
    assert held(memory, static) == {EARLY} and not kept.exists()
