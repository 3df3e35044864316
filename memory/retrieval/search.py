"""Search: the passages for any words, as recall finds those for the question, among what the question may see."""

from __future__ import annotations

from memory.graph.arrays import Bools, Floats
from memory.retrieval import traversers
from memory.retrieval.analyse import analyse
from memory.retrieval.links import links
from memory.retrieval.pipeline import NO_STRATEGY, Found
from memory.retrieval.rank import final_scores
from memory.retrieval.seed import seed
from memory.retrieval.text_search import text_scores
from memory.retrieval.traversers import Seeds
from memory.store.connect import Connection


def search(conn: Connection, found: Found, query: str, allowed: Bools) -> tuple[Floats, list[int]]:
    """(n,) how well each `allowed` episode fits `query`, and the columns of the objects that it names.

    A time that is named is only words here: what may be seen is the question's. InvalidInputError for an empty query.
    """
    graph, settings = found.graph, found.settings
    asked = analyse(query, found.names)
    scores = text_scores(conn, found.snapshot, found.embedder, settings, asked, allowed)
    named = seed(conn, graph, asked, allowed)
    if settings.strategy == NO_STRATEGY:
        return scores.fused, list(named)
    start = Seeds(scores.fused, named, when=found.start.when)
    walk = traversers.by_name(settings.strategy)(graph, start, allowed, settings)
    linked = links(graph, named, scores.fused, allowed, settings)
    return final_scores(scores, walk, linked, graph, settings), list(named)
