"""What a question may see: the bi-temporal predicate, in its one place.

Each fact has two times. *Valid* time is when it held in the world, [valid_from, valid_to); an end that is NULL is
open. *Transaction* time is when this memory believed it, [t_created, t_expired). A question asks about the world at
time v as the memory knew it at time t.
"""

from __future__ import annotations

LIVE = "t_expired IS NULL"  # SQL: this memory believes the row now


def is_live(alias: str) -> str:
    """SQL: this memory believes the row `alias` (of node or edge) now."""
    return f"{alias}.{LIVE}"


def is_recorded(alias: str, t_param: str) -> str:
    """SQL: the row `alias` (with t_created, t_expired) was believed at the store's time `t_param`."""
    return f"({alias}.t_created <= {t_param} AND ({is_live(alias)} OR {alias}.t_expired > {t_param}))"


def valid(alias: str, v_param: str) -> str:
    """SQL: the row `alias` (with valid_from, valid_to) held in the world at time `v_param`."""
    return (
        f"(({alias}.valid_from IS NULL OR {alias}.valid_from <= {v_param})"
        f" AND ({alias}.valid_to IS NULL OR {alias}.valid_to > {v_param}))"
    )


def visible(alias: str, t_param: str, v_param: str, valid_alias: str | None = None) -> str:
    """SQL: visible at store time `t_param` and world time `v_param`.

    `valid_alias` names the row with valid_from and valid_to where that is another one: a thesis keeps them beside its
    node. Parameters are placeholders such as ":known_on".
    """
    return f"({is_recorded(alias, t_param)} AND {valid(valid_alias or alias, v_param)})"
