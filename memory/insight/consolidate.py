"""Consolidate: what puts a memory in order while nobody asks. Nothing is lost by it, and all of it can be taken back.

    rows of edge memory on edges that are gone -> removed      facts that say the same -> one, with all who tell it
    questions, episodes without a vector -> embedded           what all questions have in common -> seen anew
    names that may be one -> listed, never merged

Doing it again changes nothing. Every unit is one small transaction, so it can break off between any two.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory.graph.arrays import Graph
from memory.insight.aliases import alike
from memory.insight.diagnose import COMPARED, SUSPECTS
from memory.insight.diagnosis import AliasSuspect
from memory.store import graph as stored
from memory.store.connect import Connection
from memory.text.mentions import norm

GROUPS = 50  # groups of the same fact that are joined at once


class StoppedError(Exception):
    """Nobody wants it any more."""


def suspects(conn: Connection, graph: Graph) -> tuple[AliasSuspect, ...]:
    """Pairs of names that are nearly the same, of those that most passages mention; without the pairs that are one
    already."""
    ids = _mentioned(graph)
    labels = stored.object_labels(conn, ids)
    found = alike(list(labels.values()), SUSPECTS)
    return tuple(pair for pair in found if not _are_one(conn, pair))


def _mentioned(graph: Graph) -> Sequence[int]:
    chosen = graph.document_frequency * ~graph.is_date
    order = chosen.argsort(kind="stable")[::-1][:COMPARED]
    ids: list[int] = graph.object_ids[order[chosen[order] > 0]].tolist()
    return ids


def _are_one(conn: Connection, pair: AliasSuspect) -> bool:
    ones, others = stored.all_by_norm(conn, norm(pair.one)), stored.all_by_norm(conn, norm(pair.other))
    return bool(set(ones) & set(others))
