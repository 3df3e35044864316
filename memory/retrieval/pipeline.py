"""The retrieval pipeline: one question through a list of stages over one state."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from types import MappingProxyType

import numpy as np

from memory.edge_memory.edges import EdgeMemory
from memory.edge_memory.reinforce import Credit, assign_credit
from memory.edge_memory.replay import replay_earlier, text_starts
from memory.graph.arrays import NO_END, Bools, Floats
from memory.graph.snapshot import Snapshot
from memory.graph.walk import Walkable, scale
from memory.nouns import Answer, Recall, Trace
from memory.protocols import Embedder
from memory.retrieval.analyse import analyse, note_analysis
from memory.retrieval.rank import combine_scores, final_scores, link_scores, rank_episodes
from memory.retrieval.state import CachedEmbedder, QuestionState, Retrieval, RetrievalRequest, RetrievalResult
from memory.retrieval.text_search import (
    asked_time_ms,
    find_named_objects,
    limit_scope,
    link_objects,
    search_text,
    text_scores,
)
from memory.retrieval.traversers import SPREAD, EdgeScorer, Guidance, Lookup, PropagatedRelevance, Seeds, Strategy
from memory.settings import RecallSettings
from memory.stages import GraphNote, Note, ReplayNote, step
from memory.store.connect import Connection
from memory.time.timestamps import to_wall

NOTHING_QUOTED: Mapping[int, Sequence[int]] = MappingProxyType({})


def replay_edges(retrieval: Retrieval) -> ReplayNote | None:
    """Stage: the edges activated for the question, and the evidence of an earlier, nearly identical question."""
    request, scope = retrieval.request, retrieval.scope
    if request.remembered is None or not request.settings.replay:
        return None
    graph, question = retrieval.graph, retrieval.question
    starts = [int(graph.object_ids[column]) for column in retrieval.objects]
    starts += text_starts(graph, retrieval.scores.fused, scope.seen)
    retrieval.replay = replay_earlier(
        request.conn,
        graph,
        request.remembered,
        request.embedder.embed_query(question.text),
        starts,
        scope.seen,
        retrieval.valid_time,
        to_wall(question.as_of),
        question.text if scope.when is None and question.when is None else "",
    )
    return retrieval.replay.note()


def guide_walk(retrieval: Retrieval) -> None:
    """Stage: the starts of the walk and its guidance; without vectors text scores alone. Adds nothing to the trace."""
    request, scores = retrieval.request, retrieval.scores
    lookup = Lookup(request.conn, request.snapshot, request.embedder, retrieval.question.text)
    guidance = Guidance(
        PropagatedRelevance(retrieval.graph, scores.fused, retrieval.scope.seen),
        when=retrieval.valid_time,
        lookup=lookup if scores.best_cosine else None,
        scorer=request.scorer,
        outline=request.outline,
        vertices=request.settings.vertices,
    )
    retrieval.seeds = Seeds(scores.fused, retrieval.objects, guidance)


def walk_graph(retrieval: Retrieval) -> GraphNote | None:
    """Stage: the strategy's walk through the graph."""
    request, strategy = retrieval.request, retrieval.request.strategy
    if strategy.traverse is None:
        return None
    retrieval.walk = strategy.traverse(retrieval.graph, retrieval.seeds, retrieval.scope.seen, request.settings)
    # the connection of a lookup is open for as long as it walks
    retrieval.seeds = replace(retrieval.seeds, guidance=replace(retrieval.seeds.guidance, lookup=None))
    return GraphNote(strategy.name)


STAGES: tuple[tuple[str, Callable[[Retrieval], Note | None]], ...] = (
    ("analyse", note_analysis),
    ("scope", limit_scope),
    ("text", search_text),
    ("seed", link_objects),
    ("replay", replay_edges),
    ("guide", guide_walk),
    ("graph", walk_graph),
    ("links", combine_scores),
    ("rank", rank_episodes),
)
"""Name in the trace, and function: it updates the state and returns a note for the trace, or None."""


def retrieve(
    conn: Connection,
    snapshot: Snapshot,
    embedder: Embedder,
    settings: RecallSettings,
    question: QuestionState,
    k: int,
    *,
    by_type: bool = False,
    remembered: EdgeMemory | None = None,
    scorer: EdgeScorer | None = None,
    strategy: Strategy = SPREAD,
    outline: Sequence[Sequence[str]] = (),
) -> RetrievalResult:
    """Returns the best episodes for a question, best first. The other arguments are those of RetrievalRequest."""
    cached = CachedEmbedder(embedder)
    request = RetrievalRequest(conn, snapshot, cached, settings, k, by_type, remembered, scorer, strategy, outline)
    state = Retrieval(request, question)
    for _, stage in STAGES:
        start = perf_counter()
        note = stage(state)
        if note is not None:
            state.steps.append(step(note, (perf_counter() - start) * 1000))
    return _result(state)


def _result(state: Retrieval) -> RetrievalResult:
    request, question, scope, valid_time = state.request, state.question, state.scope, state.valid_time
    if question.as_of is None:  # a later note may be about the time in question
        valid_time = valid_time._replace(begun_by=NO_END)
    return RetrievalResult(
        Recall(state.hits, Trace(question.original, tuple(state.steps), tuple(state.visits))),
        request.snapshot,
        request.embedder,
        request.settings,
        question,
        state.labels,
        valid_time=valid_time,
        time_ms=asked_time_ms(question, scope.spoken_of),
        only_time=not question.topic and scope.time_weights is not None,
        allowed=scope.allowed,
        ranking=state.ranking,
        seeds=state.seeds,
        walked=np.zeros(len(state.graph.object_ids), np.float32) if state.walk is None else scale(state.walk.objects),
        strategy=request.strategy,
        replay=state.replay,
    )


def search_passages(conn: Connection, result: RetrievalResult, query: str, allowed: Bools) -> tuple[Floats, list[int]]:
    """(n,) how well each `allowed` episode fits another query, scored as for the question, and the columns of the
    objects that it names. Times in the query are only words: visibility is that of the question. InvalidInputError for
    an empty query."""
    graph, settings = result.graph, result.settings
    parsed = analyse(query, result.question.person_names)
    scores = text_scores(conn, result.snapshot, result.embedder, settings, parsed, allowed)
    objects = find_named_objects(conn, graph, parsed, allowed)
    if result.strategy.traverse is None:
        return scores.fused, list(objects)
    start = Seeds(scores.fused, objects, Guidance(when=result.seeds.guidance.when, vertices=settings.vertices))
    walk = result.strategy.traverse(graph, start, allowed, settings)
    linked = link_scores(graph, objects, scores.fused, allowed, settings)
    return final_scores(scores, walk, linked, graph, settings), list(objects)


def training_signal(
    result: RetrievalResult,
    answer: Answer,
    expanded: Iterable[int] = (),
    quoted: Mapping[int, Sequence[int]] = NOTHING_QUOTED,
) -> Credit:
    """Returns the credit that an answered question gives to edges. `expanded`: the edges that a model chose to follow;
    `quoted`: number of a citation -> the relations extracted from its words. All citations of a model's answer that
    prove it count. Lines of memory are cited by similarity, so only the first one is noted; it, and what an unproved
    answer cites, count once a person calls the answer good: otherwise memory would learn its own mistakes. Takes some
    milliseconds and no connection, so it runs before the transaction."""
    proving = tuple(citation for citation in answer.citations if citation.verdict == "proved")
    counting = proving or answer.citations if answer.model else answer.citations[:1]
    credit = assign_credit(
        Walkable(result.graph, result.allowed, when=result.seeds.guidance.when),
        grounded=bool(proving) and bool(answer.model),
        no_answer=answer.no_answer,
        named=sorted(result.named_objects),
        starts=text_starts(result.graph, result.seeds.episode_scores, result.allowed),
        shown=[hit.episode.id for hit in result.recall.hits],
        useful=[citation.episode_id for citation in counting],
        facts=dict.fromkeys(fact for citation in counting for fact in quoted.get(citation.n, ())),
        replayed=result.replay.followed,
        expanded=tuple(dict.fromkeys(expanded)),
    )
    return credit._replace(in_vain=credit.in_vain or (bool(answer.model) and not proving))
