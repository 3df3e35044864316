"""Which episodes a question may see, and the search by its words: passages by full text and vectors, and the objects
that it names. No later stage can widen the scope.

The text channel fuses full text (BM25) and vectors, each over all episodes, by min-max scaling and not by rank: spread
starts from these scores, and the distance between passages matters there.

In a large memory neither channel scans everything. Full text searches the rarest words that fit a budget
(`memory.store.text.affordable`); vectors are compared for the nearest episodes and those found by full text.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

import numpy as np

from memory.graph.arrays import NO_END, NO_TIME, Bools, Floats, Graph, Ids, Ints
from memory.graph.snapshot import Snapshot
from memory.graph.walk import Moment, top_k
from memory.nouns import Scope
from memory.retrieval.question_type import question_type
from memory.retrieval.state import CachedEmbedder, QuestionState, Retrieval, SearchScope, TextScores
from memory.settings import RecallSettings
from memory.stages import ScopeNote, SeedNote, TextNote
from memory.store import calendars, episodes, vectors
from memory.store import graph as stored
from memory.store import text as full_text
from memory.store.connect import Connection
from memory.text.languages import stem
from memory.text.words import UNSPACED, words
from memory.time.expressions import TimeExpression, generic_verbs
from memory.time.timestamps import to_wall

MAX_LISTED_EPISODES = 10_000  # of a scope; beyond, searching everything and filtering is cheaper
MAX_NAMED_OBJECTS = 10
MAX_COMPARED_EPISODES = 200  # the best by full text and vectors, whose sentences are compared
SENTENCE_SHARE = 0.7  # of the cosine of the best sentence; the rest is that of the whole episode
LEAST_OF_TIME = np.float32(0.1)  # least score of a passage in a time that is asked for as a whole
SCORE_DIGITS = 6  # of a scaled score: further digits depend on a vector's place in the matrix


def search_text(retrieval: Retrieval) -> TextNote:
    """Stage: full text and vectors. If no result in the time in question is about the topic, all times are searched."""
    request, question, scope = retrieval.request, retrieval.question, retrieval.scope
    context = request.conn, request.snapshot, request.embedder, request.settings
    scores = text_scores(*context, question, scope.seen)
    if scope.seen is not scope.allowed and question.topic and not scores.best_lexical:
        retrieval.scope = scope = SearchScope(scope.allowed, scope.allowed, spoken_of=scope.spoken_of)
        scores = text_scores(*context, question, scope.seen)
    if not question.topic and scope.time_weights is not None:  # every passage about that time fits
        scores = replace(scores, fused=np.where(scope.seen, np.maximum(scores.fused, LEAST_OF_TIME), 0))
    retrieval.scores = scores
    retrieval.channels = {"lexical": scores.lexical, "vector": scores.vector, "text": scores.fused}
    has_time = scope.spoken_of is not None and scope.spoken_of.kind != "now"
    any_time = has_time and scope.time_weights is None and bool(question.topic)
    lexical = float(f"{scores.best_lexical:.4g}")  # 0 only without any word; some scores are close to it
    return TextNote(lexical, round(scores.best_cosine, 3), any_time or None)


def text_scores(
    conn: Connection,
    snapshot: Snapshot,
    embedder: CachedEmbedder,
    settings: RecallSettings,
    question: QuestionState,
    allowed: Bools,
) -> TextScores:
    """Scores how well each of the `allowed` episodes (n,) matches by its words."""
    weight = embedder.lexical_weight if settings.lexical_weight == "auto" else settings.lexical_weight
    rows, lexical = np.empty(0, np.int32), np.empty(0, np.float32)
    if weight > 0:
        rows, lexical = _search_lexical(conn, snapshot, settings, question.terms, allowed)
    query = np.zeros(embedder.dimension, np.float32)
    if weight < 1:
        query = embedder.embed_query(question.text)
    near: Ints
    if snapshot.vectors is not None:
        near = np.arange(len(allowed))
        vector = snapshot.vectors @ query if query.any() else np.zeros(len(allowed), np.float32)
    else:
        assert snapshot.quantized is not None
        near, vector = snapshot.quantized.nearest(query, allowed, rows)
    near_lexical = np.zeros(len(near), np.float32)
    near_lexical[np.searchsorted(near, rows)] = lexical
    scores = fuse(near_lexical, vector, allowed[near], weight)
    if query.any():
        scores = _add_sentences(conn, embedder, snapshot.graph.episode_ids[near], query, scores, weight)
    return scores if snapshot.vectors is not None else scores.scatter(near, len(allowed))


def _add_sentences(
    conn: Connection, embedder: CachedEmbedder, ids: Ints, query: Floats, scores: TextScores, lexical_weight: float
) -> TextScores:
    """Returns the scores with the cosine of each of the best episodes averaged with that of its best sentence."""
    best = top_k(scores.fused, scores.fused > 0, MAX_COMPARED_EPISODES)
    cosines = vectors.best_sentences(conn, vectors.find_embedder(conn, embedder), ids[best].tolist(), query)
    vector = scores.vector.copy()
    for row in best.tolist():
        if (cosine := cosines.get(int(ids[row]))) is not None:
            vector[row] = SENTENCE_SHARE * cosine + (1 - SENTENCE_SHARE) * vector[row]
    fused = fuse(scores.lexical, vector, scores.fused > 0, lexical_weight)
    return replace(fused, best_cosine=scores.best_cosine)


def _search_lexical(
    conn: Connection, snapshot: Snapshot, settings: RecallSettings, terms: tuple[str, ...], allowed: Bools
) -> tuple[Ids, Floats]:
    """Returns the rows of the best allowed episodes for these words, and their BM25 scores."""
    graph, most = snapshot.graph, settings.candidates
    n_allowed = int(np.count_nonzero(allowed))
    if not n_allowed:
        ids, values = np.empty(0, np.int64), np.empty(0)
    elif n_allowed < graph.n_alive and n_allowed <= MAX_LISTED_EPISODES:
        ids, values = full_text.search(conn, terms, most, within=graph.episode_ids[allowed].tolist())
    else:
        limit = most if n_allowed == graph.n_alive else graph.n_alive
        ids, values = full_text.search_affordably(conn, terms, limit, graph.n_alive, snapshot.frequencies)
    rows = graph.row_of.find(ids)  # what is newer than the graph has no row
    visible = rows >= 0
    visible[visible] = allowed[rows[visible]]
    return rows[visible][:most], values[visible][:most].astype(np.float32)


def fuse(lexical: Floats, vector: Floats, allowed: Bools, lexical_weight: float) -> TextScores:
    """Mixes both channels, scaled to [0, 1] over the allowed episodes; an all-zero channel is left out."""
    lexical = np.where(allowed, lexical, 0).astype(np.float32)
    vector = np.where(allowed, vector, 0).astype(np.float32)
    weight = lexical_weight
    if not lexical.any():
        weight = 0.0
    elif not vector.any():
        weight = 1.0
    fused = np.zeros(len(lexical), np.float32)
    fused[allowed] = weight * _scale(lexical[allowed]) + (1 - weight) * _scale(vector[allowed])
    return TextScores(lexical, vector, fused, float(lexical.max(initial=0.0)), float(vector.max(initial=0.0)))


def _scale(values: Floats) -> Floats:
    """Scales to [0, 1] from min(0, least value) to the greatest: a single hit scores 1, and rounding does not decide
    between equal passages."""
    low, high = min(0.0, float(values.min(initial=0.0))), float(values.max(initial=0.0))
    if high <= low:
        return np.zeros_like(values)
    scaled: Floats = np.round((values - low) / (high - low), SCORE_DIGITS).astype(np.float32)
    return scaled


def link_objects(retrieval: Retrieval) -> SeedNote:
    """Stage: the objects that the question names, and its type."""
    conn, graph, question, scope = retrieval.request.conn, retrieval.graph, retrieval.question, retrieval.scope
    objects = find_named_objects(conn, graph, question, scope.seen)
    labels = stored.object_labels(conn, [int(graph.object_ids[column]) for column in objects])
    retrieval.objects, retrieval.labels = objects, labels
    asks_all = question.asks_all and _is_all_named(question, labels.values())
    type = question_type(question.text, question.language, labels.values(), asks_all)
    retrieval.question = replace(question, type=type)
    retrieval.valid_time = fact_time(question, scope.when)
    return SeedNote(tuple(labels.values()))


def _is_all_named(question: QuestionState, labels: Iterable[str]) -> bool:
    """Whether a question consists of names, with these `labels` of objects or others."""
    language = question.language
    names = (*labels, *(mention.surface for mention in question.mentions))
    stems = {stem(word, language) for name in names for word in words(name)}
    terms = set(question.topic) - generic_verbs()
    return all(stem(term, language) in stems for term in terms)


def find_named_objects(conn: Connection, graph: Graph, question: QuestionState, allowed: Bools) -> dict[int, float]:
    """Returns {column of `graph`: weight in (0, 1]} for each object named; the rarest MAX_NAMED_OBJECTS of them.
    Objects mentioned only outside `allowed` (n,) are ignored. The longest name wins: a word inside a longer known name
    ("lake" in "Lake Kivu") seeds nothing by itself."""
    nodes = stored.objects_by_search(conn, list(question.names))
    seeds: dict[int, float] = {}
    covered: list[str] = []
    for name in sorted(nodes, key=lambda name: (-len(name.split()), -len(name), name)):
        if any(f" {name} " in f" {longer} " or (UNSPACED.match(name) and name in longer) for longer in covered):
            continue
        columns = [graph.column_of[node] for node in nodes[name] if node in graph.column_of]
        columns = [column for column in columns if allowed[graph.mentioned.find(np.array([column]))[1]].any()]
        if not columns:
            continue
        covered.append(name)
        for column in columns:
            seeds[column] = max(seeds.get(column, 0.0), question.names[name])
    if any(weight == 1 for weight in seeds.values()):  # words that merely could be names only count alone
        seeds = {column: weight for column, weight in seeds.items() if weight == 1}
    rarity = dict(zip(seeds, graph.rarity(np.array(list(seeds), np.int64)), strict=True))
    rarest = sorted(seeds, key=lambda column: (-seeds[column] * rarity[column], column))[:MAX_NAMED_OBJECTS]
    return {column: seeds[column] for column in rarest}


DAY_MS = 86_400_000
SOON_MS = 7 * DAY_MS  # events are recorded within a week, or within the length of the time in question
_LATEST_MS = np.iinfo(np.int64).max
MENTIONED_WEIGHT = 0.5  # of an episode written at another time but about the one in question
OUTSIDE_WEIGHT = 0.1  # and one that has nothing to do with it


def limit_scope(retrieval: Retrieval) -> ScopeNote:
    """Stage: the episodes that the question may see, and those of the time it refers to."""
    request, graph, question = retrieval.request, retrieval.graph, retrieval.question
    may_see = visible_episodes(request.conn, graph, question.as_of, question.within)
    if question.as_of is None and (outdated := request.snapshot.entry_versions(request.conn).outdated):
        may_see &= ~np.isin(graph.episode_ids, sorted(outdated))
    when = question.when if request.settings.time_cues else None
    if question.as_of is not None and when is not None and when.kind == "as_of":
        when = None  # whoever asks as of a time means that one
    seen, time_weights = limit_to_time(request.conn, graph, may_see, when, not question.topic)
    retrieval.scope = SearchScope(may_see, seen, time_weights, when, when)
    return ScopeNote(int(seen.sum()))


def fact_time(question: QuestionState, when: TimeExpression | None) -> Moment:
    """Returns the time at which facts must be valid: the one in question, by default now. Includes facts that begin
    later."""
    if question.as_of is not None:
        then = to_wall(question.as_of)
    elif when is not None and when.kind == "as_of" and when.until is not None:
        then = to_wall(when.until) - 1
    else:
        return Moment(NO_END, to_wall(question.asked_on))
    return Moment(then, then)


def asked_time_ms(question: QuestionState, when: TimeExpression | None) -> int:
    """Returns the time whose facts a question is about: the one it names, or the middle of a span."""
    since, until = (when.since, when.until) if when is not None else (None, None)
    if since is not None and until is not None:
        return (to_wall(since) + to_wall(until)) // 2
    if when is not None and when.kind == "as_of" and until is not None:
        return to_wall(until) - 1
    return to_wall(question.as_of or question.asked_on)


def visible_episodes(conn: Connection, graph: Graph, as_of: datetime | None, within: Scope | None) -> Bools:
    """(n,) alive, written by `as_of`, and in scope. An episode without a time always counts as in time."""
    mask = graph.alive.copy()
    if as_of is not None:
        mask &= graph.event_from <= to_wall(as_of)
    if within is not None and within != Scope():
        mask &= np.isin(graph.episode_ids, episodes.find_in_scope(conn, within))
    return mask


def limit_to_time(
    conn: Connection, graph: Graph, allowed: Bools, when: TimeExpression | None, only: bool
) -> tuple[Bools, Floats | None]:
    """Returns which `allowed` episodes (n,) belong to the time of a question, all if there are no such episodes; and
    the weight (n,) of each, None if equal. `as_of`: episodes written before the end of that time, and, with less
    weight, those that name it. `range`: episodes written in it come first, then those that name it or were written soon
    after, and last all others, which may contain another part of the answer. `only`, for a question about that time as
    a whole, drops episodes neither written in it nor naming it."""
    if when is None or when.kind == "now":
        return allowed, None
    written = graph.event_from
    since = NO_TIME + 1 if when.since is None else to_wall(when.since)  # what has no time is in no range
    until = _LATEST_MS if when.until is None else to_wall(when.until)
    inside = allowed & (written < until)
    aside = np.zeros_like(allowed)
    if when.kind == "range":
        inside &= written >= since
        if when.since is not None and when.until is not None and not only:
            aside |= allowed & (written >= until) & (written < until + max(SOON_MS, until - since))
    if when.since is not None and when.until is not None:
        naming = calendars.find_on_days(conn, when.since.date(), when.until.date())
        aside |= allowed & ~inside & np.isin(graph.episode_ids, naming)
    if not (inside | aside).any():
        return allowed, None
    weight = np.select([inside, aside], [1, MENTIONED_WEIGHT], OUTSIDE_WEIGHT).astype(np.float32)
    return (inside | aside if only or when.kind == "as_of" else allowed), weight
