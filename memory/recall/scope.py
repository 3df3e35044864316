"""Scope: which episodes a question may see at all. Every stage gets the result and none can widen it."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from memory.graph import Bools, Graph
from memory.nouns import Scope
from memory.store import episodes
from memory.store.connect import Connection
from memory.times import to_ms


def allowed(conn: Connection, graph: Graph, as_of: datetime | None, within: Scope | None) -> Bools:
    """(n,) alive, written by `as_of`, and within the scope. An episode without a time is always in time."""
    mask = graph.alive.copy()
    if as_of is not None:
        mask &= graph.event_from <= to_ms(as_of)
    if within is not None and within != Scope():
        mask &= np.isin(graph.episode_ids, episodes.within(conn, within))
    return mask
