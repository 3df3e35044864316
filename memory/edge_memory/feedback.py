"""The lesson of a question that is over: what its recall and its answer say about edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from memory.edge_memory.credit import NOT_REPLAYED, Credit, Used, credit
from memory.edge_memory.replay import Replayed, beginnings
from memory.graph.adjacency import Walkable
from memory.nouns import Answer
from memory.retrieval.pipeline import Found

NOTHING_QUOTED: Mapping[int, Sequence[int]] = MappingProxyType({})


def lesson(
    found: Found,
    said: Answer,
    replayed: Replayed = NOT_REPLAYED,
    expanded: Iterable[int] = (),
    quoted: Mapping[int, Sequence[int]] = NOTHING_QUOTED,
) -> Credit:
    """What is to be learnt. `expanded`: the edges that a model chose to follow; `quoted`: number of a citation -> the
    relations that are read out of its words.

    Of an answer that a model wrote, and that was checked, all citations count. The lines of memory are cited because
    they look alike, so of these only the first one is noted, and it counts when a person calls the answer good: or
    memory would learn its own mistakes. Costs some milliseconds; no connection is needed, so it is worked out before
    the transaction.
    """
    walk = Walkable(found.graph, found.allowed, when=found.start.when)
    counting = said.citations if said.model else said.citations[:1]
    used = Used(
        named=tuple(sorted(found.seeds)),
        starts=beginnings(found.graph, found.start, found.allowed),
        shown=tuple(hit.episode.id for hit in found.recall.hits),
        useful=tuple(dict.fromkeys(citation.episode_id for citation in counting)),
        facts=tuple(dict.fromkeys(fact for citation in counting for fact in quoted.get(citation.n, ()))),
        replayed=replayed,
        expanded=tuple(dict.fromkeys(expanded)),
    )
    return credit(walk, used, grounded=bool(counting) and bool(said.model), no_answer=said.no_answer)
