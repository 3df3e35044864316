from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.store.connect import driver, visible

moments = st.integers(-3, 12)
ends = st.none() | moments

conn = driver().connect(":memory:")
QUERY = f"""
SELECT {visible("r", ":t", ":v")} FROM
(SELECT :created AS t_created, :expired AS t_expired, :begin AS valid_from, :end AS valid_to) r
"""


def seen(created: int, expired: int | None, begin: int | None, end: int | None, t: int, v: int) -> bool:
    names = ("created", "expired", "begin", "end", "t", "v")
    return bool(conn.execute(QUERY, dict(zip(names, (created, expired, begin, end, t, v), strict=True))).fetchone()[0])


@given(moments, ends, ends, ends, moments, moments)
def test_visible_is_inside_both_half_open_intervals(created, expired, begin, end, t, v) -> None:
    never = 10**9
    believed = t in range(created, never if expired is None else expired)
    held = v in range(-never if begin is None else begin, never if end is None else end)
    assert seen(created, expired, begin, end, t, v) == (believed and held)


def test_a_replaced_home_answers_for_its_own_time() -> None:
    old_home = {"created": 10, "expired": None, "begin": 100, "end": 200}
    new_home = {"created": 20, "expired": None, "begin": 200, "end": None}
    for v, expected in [(99, (False, False)), (150, (True, False)), (199, (True, False)), (200, (False, True))]:
        assert (seen(**old_home, t=30, v=v), seen(**new_home, t=30, v=v)) == expected
    assert not seen(**new_home, t=19, v=300), "the memory did not know it yet"
