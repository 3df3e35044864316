"""What was read since a time."""

from __future__ import annotations

from memory.store.browse import find_first_after
from memory.store.store import Store
from tests.memory.store.building import remember


def test_the_first_row_after_a_time_is_found_by_its_id() -> None:
    with Store.open(":memory:") as store, store.writing() as conn:
        assert find_first_after(conn, 0) == 1
        for at in (100, 200, 200, 300):
            remember(conn, f"{at}.md", "Ana sang.", now=at)
        rows = conn.execute("SELECT id, t_created FROM node ORDER BY id").fetchall()
        for since in (0, 99, 100, 199, 200, 300):
            after = [id for id, made in rows if made > since]
            assert find_first_after(conn, since) == (after[0] if after else rows[-1][0] + 1)
