"""The hypergraph in memory: what a question walks instead of SQL.

A `Graph` never changes once it is built: a write makes a new one out of the old one's arrays and what was
added, and a question keeps the one it started with. Rows are episodes, columns are objects; both only grow,
so that a row or column number stays what it is from one Graph to the next. A retired episode keeps its row
with `alive` false.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

TITLE_BONUS = 2  # a mention in a title counts as so many more (SPEC 7.4 S3f)
NO_TIME = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """One episode to be put into the graph. `event_from` in ms UTC or None. `mentions`: object node id -> count;
    `titles`: the objects that give it its title."""

    node_id: int
    source_id: int
    seq: int
    event_from: int | None
    is_chat: bool
    words: int
    mentions: dict[int, int]
    titles: frozenset[int]


@dataclass(frozen=True)
class Graph:
    """Episodes x objects. n episodes, m objects, z mentions.

    `episode_ids` (n,), `source_ids` (n,), `seqs` (n,), `event_from` (n,) ms UTC or NO_TIME, `is_chat` (n,),
    `words` (n,), `alive` (n,); `object_ids` (m,), `is_date` (m,); `counts` (n, m) sparse: how often an episode
    mentions an object, a title counting more; `titled` (n, m) sparse 0/1: the object gives the episode its title.
    """

    episode_ids: Ints
    source_ids: Ints
    seqs: Ints
    event_from: Ints
    is_chat: Bools
    words: Ints
    alive: Bools
    object_ids: Ints
    is_date: Bools
    counts: sparse.csr_matrix
    titled: sparse.csr_matrix

    @classmethod
    def empty(cls) -> Graph:
        """The graph of a memory that holds nothing."""
        ints, bools = np.empty(0, np.int64), np.empty(0, np.bool_)
        nothing = sparse.csr_matrix((0, 0), dtype=np.float32)
        return cls(ints, ints, ints, ints, bools, ints, bools, ints, bools, nothing, nothing)

    @property
    def n_alive(self) -> int:
        """How many episodes can be found."""
        return int(self.alive.sum())

    @cached_property
    def row_of(self) -> dict[int, int]:
        """Episode node id -> row, of the living."""
        return {int(node): row for row, node in enumerate(self.episode_ids) if self.alive[row]}

    @cached_property
    def column_of(self) -> dict[int, int]:
        """Object node id -> column."""
        return {int(node): column for column, node in enumerate(self.object_ids)}

    @cached_property
    def document_frequency(self) -> Ints:
        """(m,) in how many living episodes an object is mentioned."""
        weights = self.alive[np.repeat(np.arange(len(self.alive)), np.diff(self.counts.indptr))]
        return np.bincount(self.counts.indices, weights=weights, minlength=len(self.object_ids)).astype(np.int64)

    @cached_property
    def idf(self) -> Floats:
        """(m,) ln(N/df), 0 for an object that nothing mentions."""
        frequency = self.document_frequency
        with np.errstate(divide="ignore"):
            value = np.log(max(1, self.n_alive) / frequency, where=frequency > 0, out=np.zeros(len(frequency)))
        return value.astype(np.float32)

    def added(self, episodes: Sequence[EpisodeRow], new_objects: Sequence[tuple[int, bool]]) -> Graph:
        """This graph and some more episodes, and the objects `(node id, is a date)` that they bring."""
        object_ids = np.concatenate([self.object_ids, np.array([o for o, _ in new_objects], np.int64)])
        is_date = np.concatenate([self.is_date, np.array([d for _, d in new_objects], np.bool_)])
        known = self.column_of
        first = len(self.object_ids)
        columns = {**known, **{node: first + i for i, (node, _) in enumerate(new_objects)}} if new_objects else known
        counts, titled = _rows(episodes, columns)

        def longer(old: Ints, values: list[int]) -> Ints:
            return np.concatenate([old, np.array(values, np.int64)])

        grown = replace(
            self,
            episode_ids=longer(self.episode_ids, [e.node_id for e in episodes]),
            source_ids=longer(self.source_ids, [e.source_id for e in episodes]),
            seqs=longer(self.seqs, [e.seq for e in episodes]),
            event_from=longer(self.event_from, [NO_TIME if e.event_from is None else e.event_from for e in episodes]),
            is_chat=np.concatenate([self.is_chat, np.array([e.is_chat for e in episodes], np.bool_)]),
            words=longer(self.words, [e.words for e in episodes]),
            alive=np.concatenate([self.alive, np.ones(len(episodes), np.bool_)]),
            object_ids=object_ids,
            is_date=is_date,
            counts=_stacked(self.counts, counts, len(object_ids)),
            titled=_stacked(self.titled, titled, len(object_ids)),
        )
        if new_objects:
            grown.__dict__["column_of"] = columns
        return grown

    def retired(self, episode_ids: Sequence[int]) -> Graph:
        """This graph without those episodes."""
        rows = [self.row_of[node] for node in episode_ids if node in self.row_of]
        alive = self.alive.copy()
        alive[rows] = False
        return replace(self, alive=alive)

    def moved(self, seqs: dict[int, int]) -> Graph:
        """This graph with new positions in their source for some episodes (node id -> seq)."""
        changed = self.seqs.copy()
        for node, seq in seqs.items():
            if node in self.row_of:
                changed[self.row_of[node]] = seq
        return replace(self, seqs=changed)


def _rows(episodes: Sequence[EpisodeRow], columns: dict[int, int]) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    count_values: list[float] = []
    count_columns: list[int] = []
    count_ends = [0]
    title_columns: list[int] = []
    title_ends = [0]
    for episode in episodes:
        for node in sorted(episode.mentions):
            bonus = TITLE_BONUS if node in episode.titles else 0
            count_values.append(episode.mentions[node] + bonus)
            count_columns.append(columns[node])
        count_ends.append(len(count_columns))
        title_columns.extend(columns[node] for node in sorted(episode.titles))
        title_ends.append(len(title_columns))
    shape = (len(episodes), len(columns))
    counts = sparse.csr_matrix((np.array(count_values, np.float32), count_columns, count_ends), shape=shape)
    titled = sparse.csr_matrix((np.ones(len(title_columns), np.float32), title_columns, title_ends), shape=shape)
    return counts, titled


def _stacked(top: sparse.csr_matrix, bottom: sparse.csr_matrix, width: int) -> sparse.csr_matrix:
    """Rows of `bottom` under those of `top`, `width` columns; cheaper than scipy's general vstack."""
    return sparse.csr_matrix(
        (
            np.concatenate([top.data, bottom.data]).astype(np.float32),
            np.concatenate([top.indices, bottom.indices]),
            np.concatenate([top.indptr, bottom.indptr[1:] + top.indptr[-1]]),
        ),
        shape=(top.shape[0] + bottom.shape[0], width),
    )
