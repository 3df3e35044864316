"""kill -9 at a random moment, disks that report errors: what was acknowledged is there, what was not is there wholly or
not at all."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from memory.store import check, episodes, sources
from memory.store.store import Store
from tests.examples import rounds
from tests.memory.store.building import remember

pytestmark = pytest.mark.soak

WRITER = """
import sys
from memory.store import episodes, sources
from memory.store.store import Store
from tests.memory.store.building import remember

store = Store.open(sys.argv[1])
if pages := int(sys.argv[3]):  # so often what was written is carried over into the file
    store._writer.execute(f"PRAGMA wal_autocheckpoint = {pages}")
for n in range(int(sys.argv[2]), 10**9):
    with store.writing() as conn:
        remember(conn, f"unit {n}", *[f"Ana wrote page {page} of unit {n}. Bo read it." for page in range(1 + n % 20)])
        if n % 3 == 2:
            episodes.retire_source(conn, sources.get(conn, f"unit {n - 1}").id, 2000)
    print(n, flush=True)
"""


@pytest.mark.parametrize("pages", [0, 10], ids=["", "while it checkpoints"])
def test_no_acknowledged_unit_is_lost(tmp_path: Path, pages: int) -> None:
    path = tmp_path / "memory.db"
    chance = random.Random(7)
    done = -1
    for _ in range(rounds(8)):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(done + 1), str(pages)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        acknowledged = [int(child.stdout.readline()) for _ in range(chance.randint(2, 10))]
        time.sleep(chance.uniform(0.0, 0.02))
        child.kill()
        acknowledged += [int(line) for line in child.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
        child.wait()
        with Store.open(path) as store:
            assert check.check(store).problems == ()
            with store.reading() as conn:
                units = {int(source.uri.split()[1]): source.id for source in sources.list_under(conn, "unit ")}
                retired = [n - 1 for n in range(acknowledged[-1] + 2) if n % 3 == 2]
                assert {*range(acknowledged[-1] + 1)} - {*units} <= {*retired}
                for n, id in units.items():
                    assert len(episodes.list_by_source(conn, id)) == 1 + n % 20, f"unit {n} is there in part"
        done = max(acknowledged[-1], *units)  # a unit that was committed but not acknowledged is no loss
    assert done > rounds(24)


def test_a_torn_log_leaves_whole_units(tmp_path: Path) -> None:
    whole = tmp_path / "whole.db"
    chance = random.Random(11)
    with Store.open(whole) as store:
        for n in range(40):
            with store.writing() as conn:
                remember(conn, f"unit {n}", *[f"Ana wrote page {page} of unit {n}." for page in range(1 + n % 5)])
        log = whole.with_name("whole.db-wal").stat().st_size
        assert log > 100_000
        for number in range(rounds(20)):
            torn = tmp_path / f"torn{number}.db"
            shutil.copy(whole, torn)
            beside = Path(shutil.copy(f"{whole}-wal", f"{torn}-wal"))
            place = chance.randrange(log)
            if number % 2:
                os.truncate(beside, place)
            else:
                with beside.open("r+b") as file:
                    file.seek(place)
                    file.write(chance.randbytes(64))
            with Store.open(torn) as copy:
                assert check.check(copy).problems == ()
                with copy.reading() as conn:
                    units = [(int(one.uri.split()[1]), one.id) for one in sources.list_under(conn, "unit ")]
                    assert sorted(n for n, _ in units) == list(range(len(units))), "what is there has a gap"
                    assert all(len(episodes.list_by_source(conn, id)) == 1 + n % 5 for n, id in units)
            for file in tmp_path.glob(f"{torn.name}*"):
                file.unlink()


LIMITED = """
import random, resource, sys
from pathlib import Path
from memory.errors import StoreError
from memory.store import sources
from memory.store.store import Store
path, rounds = Path(sys.argv[1]), int(sys.argv[2])
log, dice, none = path.with_name(path.name + "-wal"), random.Random(7), resource.RLIM_INFINITY
with Store.open(path) as store:
    for number in range(rounds):
        names = [f"/{number}/{part}/" + "x" * 3000 for part in range(8)]
        resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size + dice.randrange(300_000), none))
        try:
            with store.writing() as conn:
                for name in names:
                    sources.watch_folder(conn, name, number)
            if number % 4 == 0:
                resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + dice.randrange(100_000), none))
                store.checkpoint()
            said = "kept"
        except StoreError as error:
            said = str(error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (none, none))
        print(number, said, flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of bytes in a file, as an error of the disk")
def test_a_disk_that_reports_errors_leaves_whole_units(tmp_path: Path) -> None:
    """Writing fails somewhere in the log or in a checkpoint, and works again: what was kept is there, and goes on."""
    path, count = tmp_path / "memory.db", 50 * rounds(1)
    done = subprocess.run([sys.executable, "-c", LIMITED, str(path), str(count)], capture_output=True, text=True)
    assert done.stderr == ""
    said = [line.partition(" ")[2] for line in done.stdout.splitlines()]
    kept, failed = [n for n in range(count) if said[n] == "kept"], [text for text in said if text != "kept"]
    assert len(said) == count and len(kept) > 5 and len(failed) > 5
    assert {text.partition(" at ")[0] for text in failed} == {"The disk reported an error"}
    with Store.open(path) as store, store.reading() as conn:
        there = Counter(path.split("/")[1] for path, _, _ in sources.list_folders(conn))
        assert set(there.values()) == {8}, "half a unit"
        assert {*map(str, kept)} <= set(there)
    with Store.open(path) as store:
        assert check.check(store).problems == ()
