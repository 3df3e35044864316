"""Replay: what earlier questions bring to this one, and what this one is to teach."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from memory.edge_memory.activation import EdgeMemory
from memory.edge_memory.credit import NOT_REPLAYED, Credit, QuestionUsage, assign_credit
from memory.edge_memory.replay import Replayed, answered_before, asked_before, most_alike, replay_walk, text_starts
from memory.graph.adjacency import Moment, Walkable
from memory.graph.arrays import Bools, Graph
from memory.nouns import Answer
from memory.protocols import Vectors
from memory.retrieval.state import ReplayResult, Retrieval, RetrievalResult
from memory.stages import ReplayNote
from memory.store.connect import Connection
from memory.time.timestamps import to_ms

NOTHING_QUOTED: Mapping[int, Sequence[int]] = MappingProxyType({})


def replay_edges(retrieval: Retrieval) -> ReplayNote | None:
    """Stage: the edges whose memory fires for the question, and the evidence of one that was all but the same."""
    if retrieval.remembered is None or not retrieval.settings.replay:
        return None
    graph, question, mask = retrieval.graph, retrieval.question, retrieval.view.seen
    starts = [int(graph.object_ids[column]) for column in retrieval.objects]
    starts += text_starts(graph, retrieval.scores.fused, mask)
    retrieval.replay = replay_earlier(
        retrieval.conn,
        graph,
        retrieval.remembered,
        retrieval.embedder.embed_query(question.text),
        starts,
        mask,
        retrieval.valid_time,
        question.as_of,
        timeless=retrieval.when is None and question.when is None and question.anchor is None,
    )
    return retrieval.replay.note()


def replay_earlier(
    conn: Connection,
    graph: Graph,
    remembered: EdgeMemory,
    query: Vectors,
    starts: Iterable[int],
    allowed: Bools,
    valid_time: Moment,
    as_of: datetime | None,
    timeless: bool,
) -> ReplayResult:
    """What is remembered for a question with the vector `query` (d,) that begins at `starts` (node ids) and may see
    `allowed` (n,). Only one that is `timeless`, that speaks of no time itself, is taken for an earlier one."""
    key = remembered.key(query) if query.any() else None
    if key is None:
        return ReplayResult(query, Replayed())
    fires = remembered.activate(key)
    replayed = Replayed()
    if len(fires.edges):
        replayed = replay_walk(Walkable(graph, allowed, when=valid_time), starts, fires)

    def sees(episode: int) -> bool:
        return episode in graph.row_of and bool(allowed[graph.row_of[episode]])

    if not timeless:
        return ReplayResult(query, replayed)
    asked = asked_before(conn, remembered, key, to_ms(as_of), sees)
    earlier = answered_before(asked)
    return ReplayResult(query, replayed, earlier, most_alike(asked) if earlier is None else None)


def training_signal(
    found: RetrievalResult,
    said: Answer,
    replayed: Replayed = NOT_REPLAYED,
    expanded: Iterable[int] = (),
    quoted: Mapping[int, Sequence[int]] = NOTHING_QUOTED,
) -> Credit:
    """The credit that a question which is over gives to edges. `expanded`: the edges that a model chose to follow;
    `quoted`: number of a citation -> the relations that are read out of its words.

    Of an answer that a model wrote, and that was checked, all citations count. The lines of memory are cited because
    they look alike, so of these only the first one is noted, and it counts when a person calls the answer good: or
    memory would learn its own mistakes. Costs some milliseconds; no connection is needed, so it is worked out before
    the transaction.
    """
    walk = Walkable(found.graph, found.allowed, when=found.seeds.when)
    counting = said.citations if said.model else said.citations[:1]
    used = QuestionUsage(
        named=tuple(sorted(found.named_objects)),
        starts=text_starts(found.graph, found.seeds.episode_scores, found.allowed),
        shown=tuple(hit.episode.id for hit in found.recall.hits),
        useful=tuple(dict.fromkeys(citation.episode_id for citation in counting)),
        facts=tuple(dict.fromkeys(fact for citation in counting for fact in quoted.get(citation.n, ()))),
        replayed=replayed,
        expanded=tuple(dict.fromkeys(expanded)),
    )
    return assign_credit(walk, used, grounded=bool(counting) and bool(said.model), no_answer=said.no_answer)
