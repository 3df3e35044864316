"""Recall: one question through the stages, each of which writes what it did into the trace (DESIGN section 7).

analyse -> scope -> text -> seed -> graph -> links -> context -> rank
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

import numpy as np

from memory.edge_memory.activation import Remembered
from memory.edge_memory.replay import beginnings
from memory.edge_memory.replay_stage import NOTHING_BROUGHT, Brought, bring
from memory.graph.adjacency import Moment
from memory.graph.arrays import NO_END, Bools, Floats, Graph, Ints
from memory.graph.snapshot import Snapshot
from memory.nouns import Episode, Hit, Recall, Scope, Step, Trace, Visit
from memory.protocols import Embedder
from memory.retrieval import anchors, traversers
from memory.retrieval.analyse import Question, analyse
from memory.retrieval.edge_embeddings import wording
from memory.retrieval.edge_features import EdgeScorer
from memory.retrieval.links import links
from memory.retrieval.neighbours import smoothed
from memory.retrieval.rank import best, final_scores
from memory.retrieval.relevance import Meaning, Relevance
from memory.retrieval.scope import View, allowed, view
from memory.retrieval.seed import seed
from memory.retrieval.synergy import Synergy, synergy
from memory.retrieval.text_search import TextScores, text_scores
from memory.retrieval.traversers import Seeds, Walk
from memory.settings import RecallSettings
from memory.store import episodes
from memory.store import graph as stored
from memory.store.connect import Connection
from memory.text.unicode import replace_surrogates
from memory.time.expressions import TimeExpression
from memory.time.timestamps import to_ms

NO_STRATEGY = "none"
DIGITS = 4  # of a score in the trace
SHOWN_OBJECTS = 12  # objects of a walk that the trace names
COLLECTED = 0.10  # of the best score: what an episode gains that was gathered on purpose


@dataclass(slots=True)
class Recorder:
    """Collects a question's steps and visits."""

    question: str
    steps: list[Step] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)

    @contextmanager
    def step(self, stage: str) -> Iterator[dict[str, Any]]:
        """Times a stage; what is put into the dict becomes the step's detail."""
        detail: dict[str, Any] = {}
        start = perf_counter()
        yield detail
        self.steps.append(Step(stage, (perf_counter() - start) * 1000, detail))

    def trace(self) -> Trace:
        return Trace(self.question, tuple(self.steps), tuple(self.visits))


@dataclass(frozen=True, slots=True)
class Found:
    """A recall with what later stages need of it: the snapshot and embedder it used, the analysed question, the names
    of the objects it seeded by node id, how many episodes it was allowed to see and how many there are, when facts must
    hold to be shown, the time that is asked of (ms UTC), and whether a time is all that was asked for, and there is
    something of it.

    `allowed` (n,): the episodes that may be seen; `ranking` (n,) >= 0: the score by which all of them are ranked;
    `start`: where walks begin and what leads them; `names`: those of the person whose memory it is. `collected`: ids of
    the episodes that were gathered on top of what recall gave by itself; `brought`: what is remembered of earlier
    questions.
    """

    recall: Recall
    snapshot: Snapshot
    embedder: Embedder
    question: Question
    seeds: Mapping[int, str]
    n_allowed: int
    n_alive: int
    holds: Moment
    at: int
    only_time: bool
    allowed: Bools
    ranking: Floats
    start: Seeds
    settings: RecallSettings
    names: tuple[str, ...] = ()
    brought: Brought = NOTHING_BROUGHT
    collected: frozenset[int] = frozenset()

    @property
    def graph(self) -> Graph:
        """The graph that was walked."""
        return self.snapshot.graph

    def sees(self, episode: int) -> bool:
        """Whether the question may see an episode, by its id."""
        return episode in self.graph.row_of and bool(self.allowed[self.graph.row_of[episode]])

    def best(self, k: int) -> Found:
        """The same with its `k` best hits only."""
        hits = self.recall.hits[:k]
        kept = self.collected & {hit.episode.id for hit in hits}
        return replace(self, recall=replace(self.recall, hits=hits), collected=kept)

    def only(self, conn: Connection, ids: Collection[int]) -> Found:
        """The same with these episodes (ids) as its hits and no others, as far as the question may see them."""
        every = self.collecting(conn, ids)
        hits = tuple(hit for hit in every.recall.hits if hit.episode.id in ids)
        return replace(every, recall=replace(every.recall, hits=hits), collected=every.collected & set(ids))

    def collecting(self, conn: Connection, gathered: Iterable[int]) -> Found:
        """The same with these episodes among its hits, as far as the question may see them: all are ranked as before,
        and what was gathered gains COLLECTED of the best score. `conn` must see what the recall saw."""
        new = {id for id in gathered if self.sees(id)} | self.collected
        if new == self.collected:
            return self
        scores = {hit.episode.id: hit for hit in self.recall.hits}
        missing = episodes.by_ids(conn, sorted(new - scores.keys()))
        top = float(self.ranking[self.allowed].max(initial=0.0)) or 1.0

        def worth(id: int) -> float:
            return float(self.ranking[self.graph.row_of[id]]) / top + COLLECTED * (id in new)

        hits = [replace(hit, score=worth(id)) for id, hit in scores.items()]
        hits += [Hit(episode, worth(episode.id)) for episode in missing]
        hits.sort(key=lambda hit: (-hit.score, hit.episode.id))
        visits = [Visit(one.id, "episode", one.title, worth(one.id), "collected") for one in missing]
        trace = replace(self.recall.trace, visits=(*self.recall.trace.visits, *visits))
        return replace(self, recall=Recall(tuple(hits), trace), collected=frozenset(new))


def recall(
    conn: Connection,
    snapshot: Snapshot,
    embedder: Embedder,
    settings: RecallSettings,
    text: str,
    k: int,
    as_of: datetime | None = None,
    within: Scope | None = None,
    names: Sequence[str] = (),
    now: datetime | None = None,
    remembered: Remembered | None = None,
    scorer: EdgeScorer | None = None,
    sketches: Sequence[Sequence[str]] = (),
) -> Found:
    """The `k` best episodes for a question, best first. `conn` reads; `snapshot` is kept for the whole question.

    `names` are those of the person whose memory it is; `now` is when the question is asked, by default the clock's time
    or `as_of`. `remembered` is what edges remember of earlier questions; without it none is replayed.
    `scorer`: what was learnt at night about edges, for the strategies that use it; `sketches`: over which relations an
    answer may be reached, for those that use them.
    """
    recorder = Recorder(replace_surrogates(text))
    graph = snapshot.graph
    with recorder.step("analyse") as detail:
        question = analyse(text, names, now or as_of)
        detail["terms"] = list(question.terms)
        when = question.when if settings.time_cues else None
        if when is not None:
            detail["time"] = _told(when)
    with recorder.step("scope") as detail:
        may_see = allowed(conn, graph, as_of, within)
        whole = question
        if settings.time_cues and question.anchor is not None:
            asked_on = now or as_of or datetime.now(UTC)
            dated = anchors.resolved(conn, graph, may_see, question.anchor, names, asked_on)
            detail["time"] = {"kind": "unknown", "words": question.anchor.words}
            if dated is not None:
                when = dated.when
                detail["time"] = _told(when) | {"line": dated.line, "episode": dated.episode.id}
                question = analyse(question.anchor.rest, names, now or as_of, when)
        if as_of is not None and when is not None and when.kind == "as_of":
            when = None  # whoever asks as of a time means that one
        spoken_of = when
        looks_at = view(conn, graph, may_see, when, only=not question.topic)
        detail["episodes"] = int(looks_at.seen.sum())
    with recorder.step("text") as detail:
        scores = text_scores(conn, snapshot, embedder, settings, question, looks_at.seen)
        if looks_at.seen is not may_see and question.topic and not scores.best_lexical:
            # nothing of that time is about the question
            looks_at, when, question = View(may_see), None, whole
            scores = text_scores(conn, snapshot, embedder, settings, question, may_see)
        detail.update(lexical=round(scores.best_lexical, 3), cosine=round(scores.best_cosine, 3))
        if spoken_of is not None and spoken_of.kind != "now" and looks_at.weight is None:
            detail["any_time"] = True
        mask = looks_at.seen
    with recorder.step("seed") as detail:
        seeds = seed(conn, graph, question, mask)
        labels = stored.object_labels(conn, [int(graph.object_ids[column]) for column in seeds])
        detail["objects"] = list(labels.values())
    holds = _moment(as_of, when, now or datetime.now(UTC))
    brought = NOTHING_BROUGHT
    if remembered is not None and settings.replay:
        with recorder.step("replay") as detail:
            starts = [int(graph.object_ids[column]) for column in seeds]
            starts += beginnings(graph, Seeds(scores.fused, seeds), mask)
            timeless = when is None and question.when is None and question.anchor is None
            brought = bring(conn, graph, remembered, embedder.embed_query(question.text), starts, mask, holds,
                            as_of, timeless)  # fmt: skip
            detail.update(brought.told())
    walk: Walk | None = None
    start = _start(conn, snapshot, embedder, settings, question, scores, seeds, mask, holds, sketches)
    start = replace(
        start, memory=brought.replayed.fires, scorer=scorer, at=to_ms(as_of or now or datetime.now(UTC)) or 0
    )
    if settings.strategy != NO_STRATEGY:
        with recorder.step("graph") as detail:
            walk = traversers.by_name(settings.strategy)(graph, start, mask, settings)
            detail["strategy"] = settings.strategy
    agreed: Synergy | None = None
    if walk is not None and walk.visit and settings.synergy_weight:
        with recorder.step("synergy") as detail:
            agreed = synergy(graph, walk, start, mask, settings)
            detail["paths"] = len(agreed.paths)
            bridges = [one.path.vertices for one in agreed.paths if one.path.tag == "bridge"]
            detail["bridged"] = sorted({vertex for way in bridges for vertex in way if vertex in graph.row_of})
    with recorder.step("links") as detail:
        linked = links(graph, seeds, scores.fused, mask, settings)
        detail["episodes"] = int(np.count_nonzero(linked))
    with recorder.step("context"):
        ranking = final_scores(scores, walk, linked, graph, settings)
        if agreed is not None:
            ranking = (1 - settings.synergy_weight) * ranking + settings.synergy_weight * agreed.episodes
        ranking = smoothed(graph, ranking, settings.neighbour_weight)
        if looks_at.weight is not None:
            ranking = ranking * looks_at.weight
        ranking = ranking + settings.replay_weight * float(ranking.max(initial=0.0)) * brought.worth(graph)
    with recorder.step("rank") as detail:
        rows = best(ranking, mask, k)
        found = episodes.by_ids(conn, [int(node) for node in graph.episode_ids[rows]])
        hits = _hits(graph, rows, found, ranking, scores, walk, linked, agreed)
        detail["episodes"] = len(hits)
        detail["text_only"] = [int(node) for node in graph.episode_ids[_text_only(rows, walk, k)]]
        detail["channels"] = {
            str(hit.episode.id): {name: round(score, DIGITS) for name, score in hit.channels.items()} for hit in hits
        }
    _record_visits(recorder, conn, graph, seeds, walk, hits)
    if as_of is None:  # a later note may tell of the time asked of
        holds = holds._replace(begun_by=NO_END)
    return Found(
        Recall(hits, recorder.trace()),
        snapshot,
        embedder,
        question,
        labels,
        int(may_see.sum()),
        graph.n_alive,
        holds,
        _asked_of(as_of, spoken_of, now or datetime.now(UTC)),
        only_time=not question.topic and looks_at.weight is not None,
        allowed=may_see,
        ranking=ranking,
        start=start,
        settings=settings,
        names=tuple(names),
        brought=brought,
    )


def _told(when: TimeExpression) -> dict[str, Any]:
    """The time a question speaks of, as the trace shows it."""
    return {
        "kind": when.kind,
        "since": when.since.isoformat() if when.since else None,
        "until": when.until.isoformat() if when.until else None,
        "words": when.words,
    }


def _start(
    conn: Connection,
    snapshot: Snapshot,
    embedder: Embedder,
    settings: RecallSettings,
    question: Question,
    scores: TextScores,
    objects: dict[int, float],
    mask: Bools,
    holds: Moment,
    sketches: Sequence[Sequence[str]],
) -> Seeds:
    """Where a walk starts, and what leads it; without vectors the text scores alone."""
    if not scores.best_cosine:
        return Seeds(scores.fused, objects, when=holds)

    def texts(nodes: Sequence[int]) -> dict[int, str]:
        return stored.object_labels(conn, nodes) | stored.thesis_texts(conn, nodes)

    budget = settings.walk_embedded
    meaning = Meaning(snapshot.graph, snapshot.vectors, embedder.dimension, embedder.embed_documents, texts, budget)
    relevance = Relevance(
        snapshot.graph, scores.fused, scores.vector, mask, lambda: embedder.embed_query(question.text), meaning
    )
    words = wording(conn, snapshot, embedder, question.text, sketches=sketches)
    return Seeds(scores.fused, objects, relevance, meaning, when=holds, wording=words)


def _moment(as_of: datetime | None, when: TimeExpression | None, now: datetime) -> Moment:
    """When facts must hold: then, or by default now. What is yet to begin is told of already."""
    if as_of is not None:
        then = to_ms(as_of)
    elif when is not None and when.kind == "as_of" and when.until is not None:
        then = to_ms(when.until) - 1
    else:
        return Moment(NO_END, to_ms(now))
    return Moment(then, then)


def _asked_of(as_of: datetime | None, when: TimeExpression | None, now: datetime) -> int:
    """The time whose facts a question is about: the one that it names, the middle of a span."""
    since, until = (when.since, when.until) if when is not None else (None, None)
    if since is not None and until is not None:
        return (to_ms(since) + to_ms(until)) // 2
    if when is not None and when.kind == "as_of" and until is not None:
        return to_ms(until) - 1
    return to_ms(as_of or now)


def _hits(
    graph: Graph,
    rows: Ints,
    found: list[Episode],
    ranking: Floats,
    scores: TextScores,
    walk: Walk | None,
    linked: Floats,
    agreed: Synergy | None,
) -> tuple[Hit, ...]:
    row_of = {int(graph.episode_ids[row]): int(row) for row in rows}
    hits = []
    for episode in found:
        row = row_of[episode.id]
        channels = {"lexical": float(scores.lexical[row]), "vector": float(scores.vector[row])}
        channels["text"] = float(scores.fused[row])
        if walk is not None:
            channels["graph"] = float(walk.episodes[row])
            channels["links"] = float(linked[row])
        if agreed is not None:
            channels["synergy"] = float(agreed.episodes[row])
        hits.append(Hit(episode, float(ranking[row]), channels))
    return tuple(hits)


def _text_only(rows: Ints, walk: Walk | None, k: int) -> Ints:
    """Of the found rows those that are not among the `k` which the walk alone scores best."""
    if walk is None:
        return rows
    mass, reached = walk.episodes, walk.episodes[walk.episodes > 0]
    floor = np.partition(reached, len(reached) - k)[len(reached) - k] if len(reached) > k else 0
    only: Ints = rows[(mass[rows] < floor) | (mass[rows] == 0)]
    return only


def _record_visits(
    recorder: Recorder,
    conn: Connection,
    graph: Graph,
    seeds: dict[int, float],
    walk: Walk | None,
    hits: tuple[Hit, ...],
) -> None:
    columns = list(seeds)
    if walk is not None and len(walk.objects):
        everything = np.ones(len(walk.objects), np.bool_)
        columns += [int(c) for c in best(walk.objects, everything, SHOWN_OBJECTS) if int(c) not in seeds]
    labels = stored.object_labels(conn, [int(graph.object_ids[column]) for column in columns])
    for column in columns:
        node = int(graph.object_ids[column])
        if node in labels:
            score = float(walk.objects[column]) if walk is not None else seeds[column]
            is_seed = column in seeds
            seen = walk.visit.get(node) if walk is not None else None
            status = "seed" if is_seed else seen.status if seen else "selected"
            way = seen.path.edges if seen else ()
            recorder.visits.append(
                Visit(node, "object", labels[node], score, "seed" if is_seed else "graph", status,
                      way[-1] if way else None, len(way))
            )  # fmt: skip
    recorder.visits.extend(Visit(hit.episode.id, "episode", hit.episode.title, hit.score, "rank") for hit in hits)
