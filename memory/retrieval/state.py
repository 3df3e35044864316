"""The values of one retrieval: the analysed question, and the results of the pipeline's stages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memory.edge_memory.edges import EdgeMemory
from memory.edge_memory.replay import NOT_ASKED_BEFORE, ReplayResult
from memory.errors import ModelError, NotAvailableError
from memory.events import drop_letters
from memory.graph.arrays import Bools, Floats, Graph
from memory.graph.snapshot import Snapshot
from memory.graph.walk import ANY_TIME, Moment, Walk, Walkable, top_k
from memory.nouns import Episode, Hit, Recall, Scope, Step, Visit
from memory.protocols import Embedder, Vectors, Write
from memory.retrieval.question_type import FACT, QuestionType
from memory.retrieval.traversers import SPREAD, EdgeScorer, Seeds, Strategy, add_parents
from memory.settings import RecallSettings
from memory.store import episodes
from memory.store.connect import Connection
from memory.store.queries import Model
from memory.store.store import Store
from memory.text.languages import ENGLISH
from memory.text.mentions import Mention
from memory.time.expressions import TimeExpression
from memory.time.timestamps import from_ms, to_ms
from memory.trace import TrainingReport

FEEDBACK_WEIGHT, FEEDBACK_EPISODES = 0.5, 3  # of the first hits beside the question; how many they are
LEXICAL_WEIGHT = 0.5  # share of full text with static vectors
COLLECTED_SHARE = 0.10  # of the best score: what an episode gains that was gathered on purpose


@dataclass(frozen=True, slots=True)
class Serving:
    """The data that answers questions, replaced as a whole on each write. `usable`: (nearly) every episode has a
    vector; `owner`: the names of the owner of the mailbox; `scorer`: the trained ranker, if one is in use."""

    embedder: Embedder
    embedder_id: int
    snapshot: Snapshot
    usable: bool
    owner: tuple[str, ...]
    scorer: EdgeScorer | None = None


class EdgeRanker(Protocol):
    """Learns which edges questions need, from those that were answered well."""

    def load(self, conn: Connection, embedder: Embedder) -> EdgeScorer | None:
        """Returns the scorer in use with the vectors of this embedder."""
        ...

    def train(
        self,
        store: Store,
        serving: Serving,
        settings: RecallSettings,
        *,
        names: Sequence[str],
        write: Write,
        progress: Callable[[int, int, str], None],
        cancelled: Callable[[], bool],
    ) -> TrainingReport:
        """Trains a scorer, and uses it if it finds more. `names` are the owner's; `write` runs each unit; `progress`
        gets (done, total, the current work in a word)."""
        ...

    def undo(self, conn: Connection, embedder: str) -> tuple[Model, Model | None] | None:
        """Removes the scorer in use; returns it and the earlier one now in use, if any. None if no scorer was in
        use."""
        ...


class CachedEmbedder:
    """Embeds each text of one question once. Several threads may use it; they may embed the same text twice. If
    embedding fails, because a server is down or a model cannot be loaded, the question has no vector, and is answered
    by full text and the graph."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.batch = embedder.batch
        self.query_prefix, self.document_prefix = embedder.query_prefix, embedder.document_prefix
        self.lexical_weight = getattr(embedder, "lexical_weight", LEXICAL_WEIGHT)
        self._queries: dict[str, Vectors] = {}
        self._documents: dict[str, Vectors] = {}

    @property
    def name(self) -> str:
        return self.embedder.name

    @property
    def dimension(self) -> int:
        return self.embedder.dimension

    def embed_query(self, text: str) -> Vectors:
        """text -> (d,)."""
        vector = self._queries.get(text)
        if vector is None:
            try:
                vector = self.embedder.embed_query(text)
            except (ModelError, NotAvailableError):
                vector = np.zeros(self.dimension, np.float32)
            self._queries[text] = vector
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """(n,) texts -> (n, d)."""
        new = [text for text in dict.fromkeys(texts) if text not in self._documents]
        if new:
            spoken = [drop_letters(text) if "‹" in text else text for text in new]
            self._documents.update(zip(new, self.embedder.embed_documents(spoken), strict=True))
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return np.stack([self._documents[text] for text in texts])


@dataclass(frozen=True, slots=True)
class QuestionState:
    """An analysed question, computed once and passed through retrieval and answering.

    `original` is the unmodified text; `terms`: search words, lower case, unique; `topic`: those that are not about
    time, possibly none. `names`: norms that may be objects -> certainty by form (1 for a capitalised name, less for a
    word that may be one), without the asker's own names. `when`: the time it refers to.
    `language` is a guess. `of_owner`: it asks about the owner of the memory, who has the `person_names`.
    `mentions` are the named entities of the text. `writer`: the name of the person whose words it asks for, or "".
    `asks_all`: it asks for no single thing, and may ask for everything of a time or name.

    `asked_on`: the reference for "last week"; `as_of`: only what was known then counts; `within`: the part of the
    memory to search. `type` is the form of the answer, set in stage `seed`.
    """

    text: str
    original: str
    terms: tuple[str, ...]
    topic: tuple[str, ...]
    names: dict[str, float]
    asked_on: datetime
    when: TimeExpression | None = None
    language: str = ENGLISH
    of_owner: bool = False
    mentions: tuple[Mention, ...] = ()
    writer: str = ""
    asks_all: bool = False
    person_names: tuple[str, ...] = ()
    as_of: datetime | None = None
    within: Scope | None = None
    type: QuestionType = FACT

    @property
    def today(self) -> date:
        """The local day of the question, or of `as_of`."""
        return from_ms(to_ms(self.as_of or self.asked_on)).date()

    @property
    def asks_entries(self) -> bool:
        """Whether entries of lists or calendars may answer."""
        return bool(self.type.of) or self.type.asks_list or (self.when is not None and not self.topic)


NO_SEEDS = Seeds(np.zeros(0, np.float32), {})


@dataclass(frozen=True, slots=True)
class TextScores:
    """Per episode row (n,): `lexical` BM25 >= 0, `vector` cosine, `fused` in [0, 1]; 0 where not allowed. `best_cosine`
    and `best_lexical` are the raw maxima, which fusion loses and NoAnswer needs."""

    lexical: Floats
    vector: Floats
    fused: Floats
    best_lexical: float
    best_cosine: float

    def scatter(self, rows: NDArray[np.integer[Any]], n: int) -> TextScores:
        """These scores, of rows (r,), among n episodes; all others 0."""

        def dense(values: Floats) -> Floats:
            scores = np.zeros(n, np.float32)  # untouched pages cost nothing
            scores[rows] = values
            return scores

        return TextScores(
            dense(self.lexical), dense(self.vector), dense(self.fused), self.best_lexical, self.best_cosine
        )


NO_TEXT_SCORES = TextScores(np.zeros(0, np.float32), np.zeros(0, np.float32), np.zeros(0, np.float32), 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    """The input of a retrieval: `k` episodes are wanted, more with `by_type` if the type of the question needs many.
    `snapshot` is used for the whole question, and `conn` reads it. `remembered` is the edge memory; without it nothing
    is replayed. `scorer`: the trained edge scorer in use. `strategy` walks the graph; its overrides are already in
    `settings`. `outline`: relations over which a model expects the answer, if it was asked."""

    conn: Connection
    snapshot: Snapshot
    embedder: CachedEmbedder
    settings: RecallSettings
    k: int
    by_type: bool = False
    remembered: EdgeMemory | None = None
    scorer: EdgeScorer | None = None
    strategy: Strategy = SPREAD
    outline: Sequence[Sequence[str]] = ()


@dataclass(frozen=True, slots=True)
class SearchScope:
    """Where to search: `allowed` (n,) are the visible episodes, `seen` (n,) those to search, with `time_weights` (n,)
    unless equal. `when` is the time that limits the search and `spoken_of` the one in the question."""

    allowed: Bools
    seen: Bools
    time_weights: Floats | None = None
    when: TimeExpression | None = None
    spoken_of: TimeExpression | None = None


NO_SCOPE = SearchScope(np.zeros(0, np.bool_), np.zeros(0, np.bool_))


@dataclass(slots=True)
class Retrieval:
    """The working state of one retrieval: its request, and what each stage adds for the next ones.

    `valid_time`: when facts must hold. `objects`: column -> weight of the named objects, `labels` their names by node
    id. `channels`: named scores (n,) that each hit shows."""

    request: RetrievalRequest
    question: QuestionState
    scope: SearchScope = NO_SCOPE
    scores: TextScores = NO_TEXT_SCORES
    objects: dict[int, float] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)
    valid_time: Moment = ANY_TIME
    replay: ReplayResult = NOT_ASKED_BEFORE
    seeds: Seeds = NO_SEEDS
    walk: Walk | None = None
    channels: dict[str, Floats] = field(default_factory=dict)
    ranking: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    hits: tuple[Hit, ...] = ()
    steps: list[Step] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)

    @property
    def graph(self) -> Graph:
        """The graph that is walked."""
        return self.request.snapshot.graph


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """A recall with the data that later stages need: its snapshot and embedder, the analysed `question`, the names of
    its objects by node id, the time at which facts must hold (`valid_time`), the time in question (`time_ms`, UTC), and
    whether the question asks only for a time that has episodes (`only_time`).

    `allowed` (n,): the visible episodes; `ranking` (n,) >= 0: their scores; `seeds`: starts and guidance of walks;
    `walked` (m,) in [0, 1]: how much of the walk each object got, relative to the best.
    `collected`: ids of episodes gathered after retrieval; `replay`: what earlier questions contributed.
    """

    recall: Recall
    snapshot: Snapshot
    embedder: CachedEmbedder
    settings: RecallSettings
    question: QuestionState
    named_objects: Mapping[int, str]
    valid_time: Moment
    time_ms: int
    only_time: bool
    allowed: Bools
    ranking: Floats
    seeds: Seeds
    walked: Floats
    strategy: Strategy
    replay: ReplayResult = NOT_ASKED_BEFORE
    collected: frozenset[int] = frozenset()

    @property
    def is_of_empty_time(self) -> bool:
        """Whether the question asks only for a time, and that has no episodes."""
        when = self.question.when
        return not self.only_time and not self.question.topic and when is not None and when.kind == "range"

    @property
    def graph(self) -> Graph:
        """The graph that was walked."""
        return self.snapshot.graph

    @property
    def n_allowed(self) -> int:
        """The number of episodes that the question might see."""
        return int(self.allowed.sum())

    def relevance(self, allowed: Bools) -> Floats:
        """(n,) the ranking relative to the best `allowed` episode (n,); 0 if none is ranked."""
        best = float(self.ranking[allowed].max(initial=0.0))
        return self.ranking / np.float32(best) if best > 0 else np.zeros_like(self.ranking)

    def sees(self, episode: int) -> bool:
        """Whether the question may see an episode, by its id."""
        return episode in self.graph.row_of and bool(self.allowed[self.graph.row_of[episode]])

    def widen(self, conn: Connection, k: int) -> RetrievalResult:
        """Returns the result with those of the `k` best episodes that are not hits yet; no new hit scores above the
        last one. `conn` must see the snapshot of the retrieval."""
        ids_present = {hit.episode.id for hit in self.recall.hits}
        contents = {hit.episode.content for hit in self.recall.hits}
        ids = self.graph.episode_ids[top_k(self.ranking, self.allowed, k)].tolist()
        candidates = episodes.get_many(conn, [id for id in ids if id not in ids_present])
        more = {episode.id: episode for episode in candidates if episode.content not in contents}
        least = min((hit.score for hit in self.recall.hits), default=0.0)
        hits = (*self.recall.hits, *(Hit(more[id], least) for id in ids if id in more))
        return replace(self, recall=replace(self.recall, hits=hits)) if more else self

    def order_by_feedback(self) -> list[Episode]:
        """Returns the hits by their closeness to the question and the first hit together (Rocchio's feedback)."""
        hits = [hit.episode for hit in self.recall.hits if hit.episode.id in self.graph.row_of]
        if not hits:
            return []
        vectors = self.snapshot.read_vectors(np.array([self.graph.row_of[episode.id] for episode in hits]))
        asked = self.embedder.embed_query(self.question.text)
        cosines = vectors @ (asked + FEEDBACK_WEIGHT * vectors[:FEEDBACK_EPISODES].mean(axis=0))
        return [hits[place] for place in np.argsort(-cosines, kind="stable").tolist()]

    def restricted_to(self, conn: Connection, ids: Collection[int]) -> RetrievalResult:
        """Returns the result with only these episodes (ids) as its hits, if visible."""
        every = self.with_collected(conn, ids)
        hits = tuple(hit for hit in every.recall.hits if hit.episode.id in ids)
        return replace(every, recall=replace(every.recall, hits=hits), collected=every.collected & set(ids))

    def with_collected(self, conn: Connection, gathered: Iterable[int]) -> RetrievalResult:
        """Returns the result with these episodes among its hits, if visible: the ranking stays, and collected ones gain
        COLLECTED_SHARE of the best score. `conn` must see the snapshot of the retrieval."""
        new = {id for id in gathered if self.sees(id)} | self.collected
        if new == self.collected:
            return self
        scores = {hit.episode.id: hit for hit in self.recall.hits}
        missing = episodes.get_many(conn, sorted(new - scores.keys()))
        best = float(self.ranking[self.allowed].max(initial=0.0)) or 1.0

        def score(id: int) -> float:
            return float(self.ranking[self.graph.row_of[id]]) / best + COLLECTED_SHARE * (id in new)

        hits = [replace(hit, score=score(id)) for id, hit in scores.items()]
        hits += [Hit(episode, score(episode.id)) for episode in missing]
        hits.sort(key=lambda hit: (-hit.score, hit.episode.id))
        visits = [Visit(episode.id, "episode", episode.title, score(episode.id), "collected") for episode in missing]
        walk = Walkable(self.graph, self.allowed, when=self.seeds.guidance.when)
        before = self.recall.trace.visits
        trace = replace(self.recall.trace, visits=(*before, *add_parents(conn, walk, visits, before)))
        return replace(self, recall=Recall(tuple(hits), trace), collected=frozenset(new))
