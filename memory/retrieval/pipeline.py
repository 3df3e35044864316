"""The retrieval pipeline: one question through a list of stages over one state, at last the ranking.

Discovery and ranking are separate: a traverser measures distance, the ranking decides what counts.

Links are targets one step from the pages that a question names, scored apart from the walk. A walk shares its mass
among all objects of a page and starts with the best passage, so of two subjects it reaches the surroundings of only
one. Here every named page counts the same, and only the best path to an episode counts. All else equal, this moves
recall at 5 from 88.5 to 93.8 on 2wiki, where two things are compared, from 69.2 to 67.0 on musique (within the margin
of its 100 questions), and changes nothing on hotpotqa and chats.

Context: in a chat the turn that answers is found through its neighbours. A short turn gains a share of its better
neighbour's score: `s + w * max(s_before, s_after)` along `next`. A long one contains its own context: lifting groups of
240 words as well lowered LoCoMo's recall at 5 from 78.9 to 75.3.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from types import MappingProxyType

import numpy as np

from memory.edge_memory.edges import EdgeMemory
from memory.edge_memory.reinforce import Credit, assign_credit
from memory.edge_memory.replay import replay_earlier, text_starts
from memory.graph.arrays import NO_END, Bools, Floats, Graph, Ints
from memory.graph.postings import flatten_slices
from memory.graph.snapshot import Snapshot
from memory.graph.walk import Walk, Walkable, scale, top_k
from memory.nouns import Answer, Episode, Hit, Recall, Trace, Visit
from memory.protocols import Embedder
from memory.retrieval.analyse import analyse, note_analysis
from memory.retrieval.question_type import episode_count
from memory.retrieval.state import (
    CachedEmbedder,
    QuestionState,
    Retrieval,
    RetrievalRequest,
    RetrievalResult,
    TextScores,
)
from memory.retrieval.text_search import (
    asked_time_ms,
    find_named_objects,
    limit_scope,
    link_objects,
    search_text,
    text_scores,
)
from memory.retrieval.traversers import (
    SPREAD,
    EdgeScorer,
    Guidance,
    Lookup,
    PropagatedRelevance,
    Seeds,
    Strategy,
    add_parents,
    transition_steps,
)
from memory.settings import RecallSettings
from memory.stages import GraphNote, LinksNote, Note, RankNote, ReplayNote, step
from memory.store import episodes
from memory.store import graph as stored
from memory.store.connect import Connection
from memory.time.timestamps import to_wall

MASS_POWER = 0.7  # below 1: distant episodes lose less, so that the second of two subjects is not lost
LEAST_GRAPH_SHARE, MOST_GRAPH_SHARE = 0.3, 0.8  # of the walk in the final score: without links, with many
MAX_PAGES = 2  # episodes that one object titles and that count as pages of it, those with the best text
MAX_PASSAGES = 5  # best passages that lead on as well, each with the square of its score
MAX_COPIES = 4  # of a file in several folders; they do not displace other hits


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


def combine_scores(retrieval: Retrieval) -> LinksNote:
    """Stage: one score per episode from text, walk, links, chat neighbours, the time in question, and earlier
    credit."""
    graph, settings, walk = retrieval.graph, retrieval.request.settings, retrieval.walk
    scope = retrieval.scope
    links = link_scores(graph, retrieval.objects, retrieval.scores.fused, scope.seen, settings)
    if walk is not None:
        retrieval.channels |= {"graph": walk.episodes, "links": links}
    ranking = final_scores(retrieval.scores, walk, links, graph, settings)
    if walk is not None and walk.votes is not None:
        votes, share = walk.votes
        retrieval.channels["votes"] = votes
        ranking = (1 - share) * ranking + share * votes
    ranking = smooth_chat_scores(graph, ranking, settings.neighbour_weight)
    if scope.time_weights is not None:
        ranking = ranking * scope.time_weights
    gain = settings.replay_weight * float(ranking.max(initial=0.0))
    retrieval.ranking = ranking + gain * retrieval.replay.scores(graph)
    return LinksNote(int(np.count_nonzero(links)))


def rank_episodes(retrieval: Retrieval) -> RankNote:
    """Stage: the best episodes, as many as the type of the question needs."""
    request, graph, k = retrieval.request, retrieval.graph, retrieval.request.k
    if request.by_type:
        k = episode_count(retrieval.question.type, k)
    best = _best_unlike(retrieval, k)
    rows = np.array([graph.row_of[episode.id] for episode in best], np.int64)
    hits = []
    for episode, row in zip(best, rows.tolist(), strict=True):
        channels = {name: float(scores[row]) for name, scores in retrieval.channels.items()}
        hits.append(Hit(episode, float(retrieval.ranking[row]), channels))
    retrieval.hits = tuple(hits)
    ranked = [Visit(hit.episode.id, "episode", hit.episode.title, hit.score, "rank") for hit in hits]
    walk = Walkable(graph, retrieval.scope.allowed, when=retrieval.valid_time)
    retrieval.visits = add_parents(request.conn, walk, [*_object_visits(retrieval), *ranked])
    rounded = {str(hit.episode.id): {name: round(score, 4) for name, score in hit.channels.items()} for hit in hits}
    text_only = tuple(int(node) for node in graph.episode_ids[rows_of_text_only(rows, retrieval.walk, k)])
    return RankNote(len(hits), text_only, rounded)


def _best_unlike(retrieval: Retrieval, k: int) -> list[Episode]:
    """Returns the `k` best episodes, one of each group of copies. Looks for more only if there are copies."""
    unlike: dict[object, Episode] = {}
    for most in (k, MAX_COPIES * k):
        rows = top_k(retrieval.ranking, retrieval.scope.seen, most)
        candidates = episodes.get_many(retrieval.request.conn, retrieval.graph.episode_ids[rows].tolist())
        for episode in candidates:
            unlike.setdefault(episode.content, episode)
        if len(unlike) == len(candidates):
            break
    return list(unlike.values())[:k]


def rows_of_text_only(rows: Ints, walk: Walk | None, k: int) -> Ints:
    """Returns the found rows that are not among the `k` best of the walk alone."""
    if walk is None:
        return rows
    mass, reached = walk.episodes, walk.episodes[walk.episodes > 0]
    floor = np.partition(reached, len(reached) - k)[len(reached) - k] if len(reached) > k else 0
    only: Ints = rows[(mass[rows] < floor) | (mass[rows] == 0)]
    return only


def _object_visits(retrieval: Retrieval) -> list[Visit]:
    """Returns the named objects, and the best that the walk reached."""
    graph, walk, seeds = retrieval.graph, retrieval.walk, retrieval.objects
    columns = list(seeds)
    if walk is not None and len(walk.objects):
        everything = np.ones(len(walk.objects), np.bool_)
        columns += [int(c) for c in top_k(walk.objects, everything, 12) if int(c) not in seeds]
    labels = stored.object_labels(retrieval.request.conn, [int(graph.object_ids[column]) for column in columns])
    visits = []
    for column in columns:
        node = int(graph.object_ids[column])
        if node not in labels:
            continue
        score = float(walk.objects[column]) if walk is not None else seeds[column]
        visit = Visit(node, "object", labels[node], score, "graph")
        visits.append(replace(visit, stage="seed", status="seed") if column in seeds else visit)
    return visits


def final_scores(text: TextScores, walk: Walk | None, links: Floats, graph: Graph, settings: RecallSettings) -> Floats:
    """(n,) in [0, 1]: `g * mass^0.7 + (1 - g) * fused text`, and with links `(that + l * links) / (1 + l)`. The walk
    finds passages several steps away; the text's share keeps direct ones on top."""
    if walk is None or not walk.episodes.any():
        return text.fused
    share = np.float32(graph_share(graph, settings))
    scores: Floats = (1 - share) * text.fused
    reached = np.flatnonzero(walk.episodes)
    scores[reached] += share * (walk.episodes[reached] / walk.episodes.max()) ** MASS_POWER
    if links.any():
        scores += np.float32(settings.link_weight) * links
        scores /= np.float32(1 + settings.link_weight)
    return scores


def graph_share(graph: Graph, settings: RecallSettings) -> float:
    """Returns the weight of the walk in the final score; it grows with the share of passages that mention another
    passage's title. Pages of an encyclopaedia do, those of a diary hardly ever: there words say more than steps."""
    if settings.graph_weight != "auto":
        return settings.graph_weight
    mentions, titles = graph.degrees.mentions, graph.degrees.titles
    leads_on = (titles > 0) & ~graph.leads_nowhere & (mentions <= settings.common_share * graph.n_alive + 2)
    links = float((mentions - titles)[leads_on].sum()) / max(1, graph.n_alive)
    return LEAST_GRAPH_SHARE + (MOST_GRAPH_SHARE - LEAST_GRAPH_SHARE) * min(1.0, links / 0.3)


def link_scores(
    graph: Graph, objects: Mapping[int, float], fused: Floats, allowed: Bools, settings: RecallSettings
) -> Floats:
    """(n,) in [0, 1]: `max over pages p and objects o of w(p) * idf(o) / ln N / (1 + ln |episodes that o titles|)`,
    where p mentions o and o titles the episode.

    Pages are episodes titled by one of `objects` (column -> weight) with weight 1, with w = 1, and the best passages by
    `fused` (n,), with w = (score / best score)^2. All zero if the question names no page. Common objects and dates lead
    nowhere, and nothing leads outside `allowed` (n,).
    """
    best = np.zeros(len(graph.alive), np.float32)
    steps = transition_steps(graph, allowed, settings)
    sure = np.array(sorted(column for column, weight in objects.items() if weight == 1), np.int64)
    weights = dict.fromkeys(_pages(graph, sure[~graph.leads_nowhere[sure]], fused, steps.allowed), 1.0)
    if not weights:
        return best
    passages = top_k(fused, steps.allowed, MAX_PASSAGES)
    for row in passages.tolist():
        weights[row] = max(weights.get(row, 0.0), float(fused[row] / fused[passages[0]]) ** 2)
    pages = np.array(list(weights), np.int64)
    begin = graph.counts.indptr[pages]
    of_page, entries = flatten_slices(begin, graph.counts.indptr[pages + 1] - begin)
    columns = graph.counts.indices[entries]
    origins, rows, _ = graph.titles.find(columns)
    leads = steps.allowed[rows] & (rows != pages[of_page[origins]])
    origins, rows = origins[leads], rows[leads]
    titled = np.bincount(origins, minlength=len(columns))
    score = np.array(list(weights.values()))[of_page] * steps.rarity(columns) / math.log(max(2, graph.n_alive))
    np.maximum.at(best, rows, (score / (1 + np.log(np.maximum(titled, 1))))[origins].astype(np.float32))
    return best


def _pages(graph: Graph, columns: Ints, fused: Floats, allowed: Bools) -> list[int]:
    """Returns rows of the episodes that objects title: of each the MAX_PAGES best by text."""
    origins, rows, _ = graph.titles.find(columns)
    pages: list[int] = []
    for place in range(len(columns)):
        titled = rows[(origins == place) & allowed[rows]]
        pages += titled[np.lexsort((titled, -fused[titled]))][:MAX_PAGES].tolist()
    return pages


def smooth_chat_scores(graph: Graph, scores: Floats, weight: float) -> Floats:
    """Returns `scores` (n,) with every short chat episode lifted by its neighbours in the same chat; others
    unchanged."""
    if weight <= 0:
        return scores
    rows = graph.chat_order
    if len(rows) < 2:
        return scores
    ordered = scores[rows]
    same = graph.source_ids[rows][1:] == graph.source_ids[rows][:-1]
    before, after = np.zeros_like(ordered), np.zeros_like(ordered)
    before[1:] = np.where(same, ordered[:-1], 0)
    after[:-1] = np.where(same, ordered[1:], 0)
    lifted = scores.copy()
    lifted[rows] = ordered + weight * (graph.words[rows] < 60) * np.maximum(before, after)
    return lifted


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
    quoted: Mapping[int, Sequence[int]] = MappingProxyType({}),
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
