"""The result of a retrieval: ranked episodes, with all that answering needs of how they were found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from memory.graph.adjacency import Moment
from memory.graph.arrays import Bools, Floats, Graph
from memory.graph.snapshot import Snapshot
from memory.nouns import Hit, Recall, Visit
from memory.retrieval.embeddings import CachedEmbedder
from memory.retrieval.state import NOT_ASKED_BEFORE, QuestionState, ReplayResult
from memory.retrieval.traversers import Seeds, Strategy
from memory.settings import RecallSettings
from memory.store import episodes
from memory.store.connect import Connection

COLLECTED_SHARE = 0.10  # of the best score: what an episode gains that was gathered on purpose


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """A recall with what later stages need of it: the snapshot and embedder it used, the `question` as it was analysed,
    the names of the objects that it names by node id, how many episodes it was allowed to see and how many there are,
    when facts must hold to be shown (`valid_time`), the time that is asked of (`time_ms`, UTC), and whether a time is
    all that was asked for, and there is something of it (`only_time`).

    `allowed` (n,): the episodes that may be seen; `ranking` (n,) >= 0: the score by which all of them are ranked;
    `start`: where walks begin and what leads them. `collected`: ids of the episodes that were gathered on top of what
    retrieval gave by itself; `replay`: what is remembered of earlier questions.
    """

    recall: Recall
    snapshot: Snapshot
    embedder: CachedEmbedder
    settings: RecallSettings
    question: QuestionState
    named_objects: Mapping[int, str]
    n_allowed: int
    n_alive: int
    valid_time: Moment
    time_ms: int
    only_time: bool
    allowed: Bools
    ranking: Floats
    start: Seeds
    strategy: Strategy
    replay: ReplayResult = NOT_ASKED_BEFORE
    collected: frozenset[int] = frozenset()

    @property
    def graph(self) -> Graph:
        """The graph that was walked."""
        return self.snapshot.graph

    def sees(self, episode: int) -> bool:
        """Whether the question may see an episode, by its id."""
        return episode in self.graph.row_of and bool(self.allowed[self.graph.row_of[episode]])

    def top(self, k: int) -> RetrievalResult:
        """The same with its `k` best hits only."""
        hits = self.recall.hits[:k]
        kept = self.collected & {hit.episode.id for hit in hits}
        return replace(self, recall=replace(self.recall, hits=hits), collected=kept)

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
        trace = replace(self.recall.trace, visits=(*self.recall.trace.visits, *visits))
        return replace(self, recall=Recall(tuple(hits), trace), collected=frozenset(new))
