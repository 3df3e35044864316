"""kill -9 at a random moment: what was acknowledged is there, what was not is there wholly or not at all."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from memory.store import check, episodes, sources
from memory.store.store import Store

WRITER = """
import sys
from memory.store import episodes, sources
from memory.store.store import Store
from tests.memory.store.building import remember

store = Store.open(sys.argv[1])
for n in range(int(sys.argv[2]), 10**9):
    with store.writing() as conn:
        remember(conn, f"unit {n}", *[f"Ana wrote page {page} of unit {n}. Bo read it." for page in range(1 + n % 20)])
        if n % 3 == 2:
            episodes.retire_source(conn, sources.get(conn, f"unit {n - 1}").id, 2000)
    print(n, flush=True)
"""


def test_no_acknowledged_unit_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    chance = random.Random(7)
    done = -1
    for _ in range(8):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(done + 1)], stdout=subprocess.PIPE, text=True
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
                    assert len(episodes.of_source(conn, id)) == 1 + n % 20, f"unit {n} is there in part"
        done = max(acknowledged[-1], *units)  # a unit that was committed but not acknowledged is no loss
    assert done > 30
