"""The values of one retrieval: the question as it was analysed, and what the stages of the pipeline compute from it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memory.edge_memory.edges import EdgeMemory
from memory.edge_memory.replay import NOT_ASKED_BEFORE, ReplayResult
from memory.errors import ModelError, NotAvailableError
from memory.graph.arrays import Bools, Floats, Graph
from memory.graph.snapshot import Snapshot
from memory.graph.walk import ANY_TIME, Moment, Walk, Walkable, top_k
from memory.nouns import Hit, Recall, Scope, Step, Visit
from memory.protocols import Embedder, Vectors
from memory.retrieval.pagerank import SPREAD
from memory.retrieval.question_type import FACT, QuestionType
from memory.retrieval.traversers import EdgeScorer, Seeds, Strategy
from memory.retrieval.visits import add_parents
from memory.settings import RecallSettings
from memory.store import episodes
from memory.store.connect import Connection
from memory.text.languages import ENGLISH
from memory.text.mentions import Mention
from memory.text.placeholders import drop_letters
from memory.time.expressions import TimeExpression

LEXICAL_WEIGHT = 0.5  # share of full text beside static vectors
COLLECTED_SHARE = 0.10  # of the best score: what an episode gains that was gathered on purpose


@dataclass(frozen=True, slots=True)
class Anchor:
    """What a question names a time by. `words` are those of the question, `side` which side of it is meant; `who` did
    it ("i" for the asker and theirs), `verb` what, and `about` the other words that tell it from the like. `rest` is
    the question without it."""

    side: str
    words: str
    who: str
    verb: str
    about: tuple[str, ...]
    rest: str


class CachedEmbedder:
    """An embedder that embeds each text of one question once. Several threads may use it; they may embed the same text
    twice. A question that it cannot embed, as its server is away or its model cannot be loaded, has no vector, and is
    answered by full text and the graph."""

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
        found = self._queries.get(text)
        if found is None:
            try:
                found = self.embedder.embed_query(text)
            except (ModelError, NotAvailableError):
                found = np.zeros(self.dimension, np.float32)
            self._queries[text] = found
        return found

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """(n,) texts -> (n, d)."""
        new = [text for text in dict.fromkeys(texts) if text not in self._documents]
        if new:
            spoken = [drop_letters(text) for text in new]
            self._documents.update(zip(new, self.embedder.embed_documents(spoken), strict=True))
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return np.stack([self._documents[text] for text in texts])


@dataclass(frozen=True, slots=True)
class QuestionState:
    """A question with all that follows from its words, computed once and handed through retrieval and answering.

    `original` is the text as it came; `terms`: the words to search for, lower case, each once; `topic`: those of them
    that do not say when, possibly none. `names`: norms that may be objects -> how sure the form alone makes us (1 for a
    name written as one, less for a word that merely could be). The asker's own names are in none of them. `when`: the
    time it speaks of, or `anchor`: what it names that time by. `language` is a guess. `of_owner`: it asks of the person
    whose memory it is, who has the `person_names`. `mentions` are the named entities of the text. `writer`: the name of
    whom it asks what they wrote or said, or "". `asks_all`: it asks for no one thing, and may ask for all that happened
    or was written, of a time or of what it names.

    `asked_on`: what "last week" is seen from; `as_of`: only what was known then counts; `within`: the part of the
    memory that is asked. `type` is what an answer looks like, known once the named objects are (stage `seed`).
    """

    text: str
    original: str
    terms: tuple[str, ...]
    topic: tuple[str, ...]
    names: dict[str, float]
    asked_on: datetime
    when: TimeExpression | None = None
    language: str = ENGLISH
    anchor: Anchor | None = None
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
        """The local day on which it is asked, or as of which."""
        return (self.as_of or self.asked_on).astimezone().date()

    @property
    def asks_entries(self) -> bool:
        """Whether entries of lists or of calendars may answer, by its type or as it asks of a time as a whole."""
        return bool(self.type.of) or self.type.asks_list or (self.when is not None and not self.topic)


class Reranks(Protocol):
    """Reads passages with the question (`memory.retrieval.rerank`). `problem`: why it did not, the last time."""

    problem: str

    def score(self, question: str, texts: Sequence[str]) -> list[float] | None:
        """How well each text answers; None if it cannot say."""
        ...


NO_SEEDS = Seeds(np.zeros(0, np.float32), {})


@dataclass(frozen=True, slots=True)
class TextScores:
    """Per episode row (n,): `lexical` BM25 >= 0, `vector` cosine, `fused` in [0, 1]; 0 where not allowed. `best_cosine`
    and `best_lexical` are the channels' raw maxima, which fusion takes away and NoAnswer needs."""

    lexical: Floats
    vector: Floats
    fused: Floats
    best_lexical: float
    best_cosine: float

    def scatter(self, rows: NDArray[np.integer[Any]], n: int) -> TextScores:
        """These scores, of rows (r,), among n episodes, of which the others score nothing."""

        def dense(values: Floats) -> Floats:
            found = np.zeros(n, np.float32)  # pages that nobody writes to cost nothing
            found[rows] = values
            return found

        return TextScores(
            dense(self.lexical), dense(self.vector), dense(self.fused), self.best_lexical, self.best_cosine
        )


NO_TEXT_SCORES = TextScores(np.zeros(0, np.float32), np.zeros(0, np.float32), np.zeros(0, np.float32), 0.0, 0.0)


@dataclass(slots=True)
class Retrieval:
    """The working state of one retrieval: what it was asked, and what each stage adds for those behind it.

    `whole` is the question as it was asked, `question` what is searched for, without an event whose time is known. `k`
    episodes are wanted, more with `by_type` where the type of the question takes many. `allowed` (n,) are the episodes
    that may be seen, `seen` (n,) those of them that are looked at, with `time_weights` (n,) if they do not count alike.
    `when` is the time that limits the search and `spoken_of` the one that the question speaks of; `valid_time` when
    facts must hold. `objects`: column -> weight of the named objects, `labels` their names by node id. `channels`:
    named scores (n,) that each hit shows.
    """

    conn: Connection
    snapshot: Snapshot
    embedder: CachedEmbedder
    settings: RecallSettings
    whole: QuestionState
    question: QuestionState
    k: int
    by_type: bool = False
    remembered: EdgeMemory | None = None
    scorer: EdgeScorer | None = None
    strategy: Strategy = SPREAD
    outline: Sequence[Sequence[str]] = ()
    reranking: Reranks | None = None
    allowed: Bools = field(default_factory=lambda: np.zeros(0, np.bool_))
    seen: Bools = field(default_factory=lambda: np.zeros(0, np.bool_))
    time_weights: Floats | None = None
    when: TimeExpression | None = None
    spoken_of: TimeExpression | None = None
    scores: TextScores = NO_TEXT_SCORES
    objects: dict[int, float] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)
    valid_time: Moment = ANY_TIME
    replay: ReplayResult = NOT_ASKED_BEFORE
    seeds: Seeds = NO_SEEDS
    walk: Walk | None = None
    channels: dict[str, Floats] = field(default_factory=dict)
    links: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    ranking: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    hits: tuple[Hit, ...] = ()
    steps: list[Step] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)

    @property
    def graph(self) -> Graph:
        """The graph that is walked."""
        return self.snapshot.graph


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """A recall with what later stages need of it: the snapshot and embedder it used, the `question` as it was analysed,
    the names of the objects that it names by node id, when facts must hold to be shown (`valid_time`), the time that is
    asked of (`time_ms`, UTC), and whether a time is all that was asked for, and there is something of it (`only_time`).

    `allowed` (n,): the episodes that may be seen; `ranking` (n,) >= 0: the score by which all of them are ranked;
    `seeds`: where walks begin and what leads them. `collected`: ids of the episodes that were gathered on top of what
    retrieval gave by itself; `replay`: what is remembered of earlier questions.
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
    strategy: Strategy
    replay: ReplayResult = NOT_ASKED_BEFORE
    collected: frozenset[int] = frozenset()

    @property
    def is_of_empty_time(self) -> bool:
        """Whether a time is all that was asked for, and there is nothing of it."""
        when = self.question.when
        return not self.only_time and not self.question.topic and when is not None and when.kind == "range"

    @property
    def graph(self) -> Graph:
        """The graph that was walked."""
        return self.snapshot.graph

    @property
    def n_allowed(self) -> int:
        """How many episodes the question might see."""
        return int(self.allowed.sum())

    def relevance(self, allowed: Bools) -> Floats:
        """(n,) the ranking as a share of the best of the `allowed` episodes (n,); 0 if none of them is ranked."""
        best = float(self.ranking[allowed].max(initial=0.0))
        return self.ranking / np.float32(best) if best > 0 else np.zeros_like(self.ranking)

    def sees(self, episode: int) -> bool:
        """Whether the question may see an episode, by its id."""
        return episode in self.graph.row_of and bool(self.allowed[self.graph.row_of[episode]])

    def top(self, k: int) -> RetrievalResult:
        """The same with its `k` best hits only."""
        hits = self.recall.hits[:k]
        kept = self.collected & {hit.episode.id for hit in hits}
        return replace(self, recall=replace(self.recall, hits=hits), collected=kept)

    def widen(self, conn: Connection, k: int) -> RetrievalResult:
        """The same with those of the `k` best episodes behind its hits that are not among them; none counts more than
        the last hit. `conn` must see what the retrieval saw."""
        there = {hit.episode.id for hit in self.recall.hits}
        known = {hit.episode.content for hit in self.recall.hits}
        ids = self.graph.episode_ids[top_k(self.ranking, self.allowed, k)].tolist()
        behind = episodes.by_ids(conn, [id for id in ids if id not in there])
        more = {one.id: one for one in behind if one.content not in known}
        least = min((hit.score for hit in self.recall.hits), default=0.0)
        hits = (*self.recall.hits, *(Hit(more[id], least) for id in ids if id in more))
        return replace(self, recall=replace(self.recall, hits=hits)) if more else self

    def restricted_to(self, conn: Connection, ids: Collection[int]) -> RetrievalResult:
        """The same with these episodes (ids) as its hits and no others, as far as the question may see them."""
        every = self.with_collected(conn, ids)
        hits = tuple(hit for hit in every.recall.hits if hit.episode.id in ids)
        return replace(every, recall=replace(every.recall, hits=hits), collected=every.collected & set(ids))

    def with_collected(self, conn: Connection, gathered: Iterable[int]) -> RetrievalResult:
        """The same with these episodes among its hits, as far as the question may see them: all are ranked as before,
        and what was gathered gains COLLECTED_SHARE of the best score. `conn` must see what the retrieval saw."""
        new = {id for id in gathered if self.sees(id)} | self.collected
        if new == self.collected:
            return self
        scores = {hit.episode.id: hit for hit in self.recall.hits}
        missing = episodes.by_ids(conn, sorted(new - scores.keys()))
        best = float(self.ranking[self.allowed].max(initial=0.0)) or 1.0

        def score(id: int) -> float:
            return float(self.ranking[self.graph.row_of[id]]) / best + COLLECTED_SHARE * (id in new)

        hits = [replace(hit, score=score(id)) for id, hit in scores.items()]
        hits += [Hit(episode, score(episode.id)) for episode in missing]
        hits.sort(key=lambda hit: (-hit.score, hit.episode.id))
        visits = [Visit(one.id, "episode", one.title, score(one.id), "collected") for one in missing]
        walk = Walkable(self.graph, self.allowed, when=self.seeds.guidance.when)
        before = self.recall.trace.visits
        trace = replace(self.recall.trace, visits=(*before, *add_parents(conn, walk, visits, before)))
        return replace(self, recall=Recall(tuple(hits), trace), collected=frozenset(new))
