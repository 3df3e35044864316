"""Text channel: full text (BM25) and vectors, each over all episodes, and the two fused (SPEC 7.4 S3a).

Scores are min-max fused, not by rank: spread starts from them, and it matters there how much better one
passage is than the next.

In a large memory neither channel looks at everything. Full text looks for the rarest words only, as many as it can
afford (`memory.store.text.affordable`); of the vectors the nearest are compared, and those of what full text found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.graph.arrays import Bools, Floats, Ids
from memory.graph.snapshot import Snapshot, cosines
from memory.protocols import Embedder, Weighed
from memory.retrieval.analyse import Question
from memory.settings import RecallSettings
from memory.store import text as full_text
from memory.store.connect import Connection

LEXICAL_WEIGHT = 0.7  # share of full text beside static vectors
MANY = 10_000  # episodes of a scope beyond which it is cheaper to look everywhere and pass over what lies outside


DIGITS = 6  # of a scaled score: what lies behind them depends on where in a matrix a vector stands


@dataclass(frozen=True, slots=True)
class TextScores:
    """Per episode row (n,): `lexical` BM25 >= 0, `vector` cosine, `fused` in [0, 1]; 0 where not allowed.

    `best_cosine` and `best_lexical` are the channels' raw maxima, which fusion takes away and NoAnswer needs.
    """

    lexical: Floats
    vector: Floats
    fused: Floats
    best_lexical: float
    best_cosine: float

    def at(self, rows: NDArray[np.integer[Any]], n: int) -> TextScores:
        """These scores, of rows (r,), among n episodes, of which the others score nothing."""

        def spread(values: Floats) -> Floats:
            dense = np.zeros(n, np.float32)  # pages that nobody writes to cost nothing
            dense[rows] = values
            return dense

        return TextScores(
            spread(self.lexical), spread(self.vector), spread(self.fused), self.best_lexical, self.best_cosine
        )


def text_scores(
    conn: Connection,
    snapshot: Snapshot,
    embedder: Embedder,
    settings: RecallSettings,
    question: Question,
    allowed: Bools,
) -> TextScores:
    """How well each of the `allowed` episodes (n,) fits by its words."""
    weight = _lexical_weight(settings, embedder)
    rows, lexical = np.empty(0, np.int32), np.empty(0, np.float32)
    if weight > 0:
        rows, lexical = _lexical(conn, snapshot, settings, question.terms, allowed)
    query = np.zeros(embedder.dimension, np.float32)
    if weight < 1:
        query = embedder.embed_query(question.text)
    if snapshot.vectors is not None:
        everything = np.zeros(len(allowed), np.float32)
        everything[rows] = lexical
        vector = cosines(snapshot.vectors, query) if query.any() else np.zeros_like(everything)
        return fuse(everything, vector, allowed, weight)
    assert snapshot.signs is not None
    near, vector = snapshot.signs.near(query, allowed, rows)
    ours = np.zeros(len(near), np.float32)
    ours[np.searchsorted(near, rows)] = lexical
    few = fuse(ours, vector, np.ones(len(near), np.bool_), weight)
    return few.at(near, len(allowed))


def _lexical_weight(settings: RecallSettings, embedder: Embedder) -> float:
    if settings.lexical_weight != "auto":
        return settings.lexical_weight
    return embedder.lexical_weight if isinstance(embedder, Weighed) else LEXICAL_WEIGHT


def _lexical(
    conn: Connection, snapshot: Snapshot, settings: RecallSettings, terms: tuple[str, ...], allowed: Bools
) -> tuple[Ids, Floats]:
    """The rows of the best allowed episodes for these words, and their BM25 scores."""
    graph, most = snapshot.graph, settings.candidates
    n_allowed = int(np.count_nonzero(allowed))
    if not n_allowed:
        ids, values = np.empty(0, np.int64), np.empty(0)
    elif n_allowed < graph.n_alive and n_allowed <= MANY:
        ids, values = full_text.search(conn, terms, most, within=graph.episode_ids[allowed].tolist())
    else:
        wanted = most if n_allowed == graph.n_alive else graph.n_alive
        ids, values = full_text.search_affordably(conn, terms, wanted, graph.n_alive, snapshot.frequencies)
    rows = graph.row_of.find(ids)  # what is newer than the graph has no row
    seen = rows >= 0
    seen[seen] = allowed[rows[seen]]
    return rows[seen][:most], values[seen][:most].astype(np.float32)


def fuse(lexical: Floats, vector: Floats, allowed: Bools, lexical_weight: float) -> TextScores:
    """Both channels scaled to [0, 1] over the allowed episodes and mixed; a channel that says nothing is left out."""
    lexical = np.where(allowed, lexical, 0).astype(np.float32)
    vector = np.where(allowed, vector, 0).astype(np.float32)
    weight = lexical_weight
    if not lexical.any():
        weight = 0.0
    elif not vector.any():
        weight = 1.0
    fused = np.zeros(len(lexical), np.float32)
    fused[allowed] = weight * _scaled(lexical[allowed]) + (1 - weight) * _scaled(vector[allowed])
    return TextScores(lexical, vector, fused, float(lexical.max(initial=0.0)), float(vector.max(initial=0.0)))


def _scaled(values: Floats) -> Floats:
    """To [0, 1], from the least value or 0, whichever is lower, to the greatest: what is found alone is found, and
    rounding does not decide between two passages that say the same."""
    low, high = min(0.0, float(values.min(initial=0.0))), float(values.max(initial=0.0))
    if high <= low:
        return np.zeros_like(values)
    scaled: Floats = np.round((values - low) / (high - low), DIGITS).astype(np.float32)
    return scaled
