"""The retrieval pipeline: one question through a list of stages over one state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter

from memory.edge_memory.activation import EdgeMemory
from memory.graph.arrays import NO_END, Bools, Floats
from memory.graph.snapshot import Snapshot
from memory.nouns import Recall, Trace
from memory.protocols import Embedder
from memory.retrieval.analyse import analyse, note_analysis
from memory.retrieval.embeddings import CachedEmbedder
from memory.retrieval.pagerank import SPREAD
from memory.retrieval.rank import combine_scores, final_scores, link_scores, rank_episodes, score_links
from memory.retrieval.replay import replay_edges
from memory.retrieval.scope import asked_time_ms, limit_scope
from memory.retrieval.state import QuestionState, Retrieval, RetrievalResult
from memory.retrieval.text_search import find_named_objects, link_objects, search_text, text_scores
from memory.retrieval.traversers import EdgeScorer, Lookup, PropagatedRelevance, Seeds, Strategy
from memory.settings import RecallSettings
from memory.stages import GraphNote, Note, step
from memory.store.connect import Connection
from memory.time.timestamps import to_ms


def guide_walk(retrieval: Retrieval) -> None:
    """Stage: where a walk starts, and what leads it; without vectors the text scores alone. Nothing for the trace."""
    question, scores = retrieval.question, retrieval.scores
    lookup = Lookup(retrieval.conn, retrieval.snapshot, retrieval.embedder, question.text)
    retrieval.seeds = Seeds(
        scores.fused,
        retrieval.objects,
        PropagatedRelevance(retrieval.graph, scores.fused, retrieval.view.seen),
        activation=retrieval.replay.replayed.fires,
        when=retrieval.valid_time,
        lookup=lookup if scores.best_cosine else None,
        scorer=retrieval.scorer,
        at_ms=to_ms(question.as_of or question.asked_on),
        outline=retrieval.outline,
    )


def walk_graph(retrieval: Retrieval) -> GraphNote | None:
    """Stage: the strategy's walk through the graph."""
    strategy, graph = retrieval.strategy, retrieval.graph
    if strategy.traverse is None:
        return None
    walk = retrieval.walk = strategy.traverse(graph, retrieval.seeds, retrieval.view.seen, retrieval.settings)
    retrieval.seeds = replace(retrieval.seeds, lookup=None)  # its connection is open for as long as it walks
    if walk.votes is None:
        return GraphNote(strategy.name)
    bridges = [path.vertices for path in walk.paths if path.tag == "bridge"]
    bridged = sorted({vertex for path in bridges for vertex in path if vertex in graph.row_of})
    return GraphNote(strategy.name, tuple(bridged))


STAGES: tuple[tuple[str, Callable[[Retrieval], Note | None]], ...] = (
    ("analyse", note_analysis),
    ("scope", limit_scope),
    ("text", search_text),
    ("seed", link_objects),
    ("replay", replay_edges),
    ("guide", guide_walk),
    ("graph", walk_graph),
    ("links", score_links),
    ("context", combine_scores),
    ("rank", rank_episodes),
)
"""Name in the trace, and function: it adds to the state, and gives what the trace says of it, None for nothing."""


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
    """The `k` best episodes for a question, best first; with `by_type` more of them where the type of the question
    takes many. `conn` reads; `snapshot` is kept for the whole question.

    `remembered` is what edges remember of earlier questions; without it none is replayed. `scorer` is the trained edge
    scorer in use. `strategy` walks the graph, and what it changes is in `settings` already; `outline`: the relations
    over which a model expects the answer, where it was asked.
    """
    state = Retrieval(
        conn, snapshot, CachedEmbedder.wrap(embedder), settings, question, question, k, by_type, remembered, scorer,
        strategy, outline,
    )  # fmt: skip
    for _, stage in STAGES:
        start = perf_counter()
        note = stage(state)
        if note is not None:
            state.steps.append(step(note, (perf_counter() - start) * 1000))
    return _result(state)


def _result(state: Retrieval) -> RetrievalResult:
    question, valid_time = state.question, state.valid_time
    if question.as_of is None:  # a later note may tell of the time asked of
        valid_time = valid_time._replace(begun_by=NO_END)
    return RetrievalResult(
        Recall(state.hits, Trace(question.original, tuple(state.steps), tuple(state.visits))),
        state.snapshot,
        state.embedder,
        state.settings,
        question,
        state.labels,
        n_allowed=int(state.allowed.sum()),
        n_alive=state.graph.n_alive,
        valid_time=valid_time,
        time_ms=asked_time_ms(question, state.spoken_of),
        only_time=not question.topic and state.view.weight is not None,
        allowed=state.allowed,
        ranking=state.ranking,
        seeds=state.seeds,
        strategy=state.strategy,
        replay=state.replay,
    )


def search_passages(conn: Connection, found: RetrievalResult, query: str, allowed: Bools) -> tuple[Floats, list[int]]:
    """(n,) how well each `allowed` episode fits other words, as for the question, and the columns of the objects that
    they name.

    A time that is named is only words here: what may be seen is the question's. InvalidInputError for an empty query.
    """
    graph, settings = found.graph, found.settings
    asked = analyse(query, found.question.person_names)
    scores = text_scores(conn, found.snapshot, found.embedder, settings, asked, allowed)
    named = find_named_objects(conn, graph, asked, allowed)
    if found.strategy.traverse is None:
        return scores.fused, list(named)
    start = Seeds(scores.fused, named, when=found.seeds.when)
    walk = found.strategy.traverse(graph, start, allowed, settings)
    linked = link_scores(graph, named, scores.fused, allowed, settings)
    return final_scores(scores, walk, linked, graph, settings), list(named)
