"""The lesson of a question that is over: what its recall and its answer say about edges."""

from __future__ import annotations

from collections.abc import Iterable

from memory.learn.credit import NOT_REPLAYED, Credit, Used, credit
from memory.nouns import Answer
from memory.recall.adjacency import Walkable
from memory.recall.pipeline import Found
from memory.recall.replay import Replayed, beginnings


def lesson(
    found: Found,
    said: Answer,
    replayed: Replayed = NOT_REPLAYED,
    expanded: Iterable[int] = (),
) -> Credit:
    """What is to be learnt. `expanded`: the edges that a model chose to follow.

    Of an answer that a model wrote, and that was checked, all citations count. The lines of memory are cited because
    they look alike, so of these only the first one is noted, and it counts when a person calls the answer good: or
    memory would learn its own mistakes. Costs some milliseconds; no connection is needed, so it is worked out before
    the transaction.
    """
    walk = Walkable(found.graph, found.allowed, when=found.start.when)
    cited = dict.fromkeys(citation.episode_id for citation in said.citations)
    useful = tuple(cited) if said.model else tuple(cited)[:1]
    used = Used(
        named=tuple(sorted(found.seeds)),
        starts=beginnings(found.graph, found.start, found.allowed),
        shown=tuple(hit.episode.id for hit in found.recall.hits),
        useful=useful,
        replayed=replayed,
        expanded=tuple(dict.fromkeys(expanded)),
    )
    return credit(walk, used, grounded=bool(cited) and bool(said.model), no_answer=said.no_answer)
