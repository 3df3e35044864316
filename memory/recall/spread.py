"""Spread: personalised PageRank over episodes and objects (SPEC 7.4 S3f; after HippoRAG 2 and LinearRAG).

A question's best passages and the objects it names hold all mass at the start. In every round an episode
passes its mass to the objects it mentions (rare ones get more), an object to the episodes that mention it, most
of it to those it titles; a share always returns to the start. What has mass at the end is near to the question.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse

from memory.graph import Bools, Floats, Graph
from memory.recall.rank import best
from memory.recall.traversers import Seeds, Walk, traverser
from memory.settings import RecallSettings

TEMPERATURE = 1 / 25  # of the softmax over the best text scores, in [0, 1] units
NEVER_COMMON = 20  # in a small memory every object is in a large share of the episodes


@dataclass(frozen=True, slots=True)
class Transitions:
    """The matrices of one Graph that spread multiplies with; made once for each Graph.

    `weights` (n, m) = (1 + ln count) * idf, common objects and dates left out; `per_episode` (n,) and
    `per_object` (m,) the inverse sums over its rows and columns; `titles` (n, m) columns summing to 1;
    `has_title` (m,) 1 where an object titles an episode.
    """

    weights: sparse.csr_matrix
    per_episode: Floats
    per_object: Floats
    titles: sparse.csr_matrix
    has_title: Floats
    idf: Floats


def transitions(graph: Graph, settings: RecallSettings) -> Transitions:
    """The transition matrices of a graph; cached on it, since they follow from it and the settings."""
    cache = graph.__dict__.setdefault("_transitions", {})
    key = settings.common_share
    if key not in cache:
        cache[key] = _transitions(graph, settings)
    made: Transitions = cache[key]
    return made


def _transitions(graph: Graph, settings: RecallSettings) -> Transitions:
    idf = graph.idf.copy()
    idf[(graph.document_frequency > max(NEVER_COMMON, settings.common_share * graph.n_alive)) | graph.is_date] = 0
    rows = np.repeat(np.arange(len(graph.alive)), np.diff(graph.counts.indptr))
    weights = graph.counts.copy()
    weights.data = (1 + np.log(weights.data)) * idf[weights.indices] * graph.alive[rows]
    titles = graph.titled.copy()
    rows = np.repeat(np.arange(len(graph.alive)), np.diff(titles.indptr))
    titles.data = titles.data * graph.alive[rows]
    per_title = np.bincount(titles.indices, weights=titles.data, minlength=titles.shape[1])
    titles.data = (titles.data / np.maximum(per_title, 1)[titles.indices]).astype(np.float32)
    return Transitions(
        weights=weights,
        per_episode=_inverse(np.asarray(weights.sum(axis=1)).ravel()),
        per_object=_inverse(np.asarray(weights.sum(axis=0)).ravel()),
        titles=titles,
        has_title=(per_title > 0).astype(np.float32),
        idf=idf,
    )


def _inverse(sums: Floats) -> Floats:
    return np.divide(1, sums, out=np.zeros_like(sums, dtype=np.float32), where=sums > 0).astype(np.float32)


@traverser("spread")
def spread(graph: Graph, seeds: Seeds, allowed: Bools, settings: RecallSettings) -> Walk:
    """Mass of every episode (n,) and object (m,) after `settings.iterations` rounds; sums to at most 1.

    `allowed` (n,) are the episodes that are visible and in scope: no mass ever enters another one.
    """
    step = transitions(graph, settings)
    start_episodes = _start(seeds.episode_scores, allowed, settings.reset_episodes)
    start_objects = np.zeros(len(graph.object_ids), np.float32)
    for column, weight in seeds.objects.items():
        start_objects[column] = weight * (step.idf[column] > 0)
    total = start_objects.sum()
    share = settings.seed_weight if total > 0 else 0.0
    start_episodes *= 1 - share
    start_objects *= share / total if total > 0 else 0
    to_titles = settings.title_weight * step.has_title
    to_mentions = (1 - to_titles) * step.per_object
    backwards = step.weights.T  # a view
    episodes, objects = start_episodes, start_objects
    for _ in range(settings.iterations):
        arriving = backwards @ (episodes * step.per_episode)
        leaving = step.weights @ (objects * to_mentions) + step.titles @ (objects * to_titles)
        episodes = (1 - settings.damping) * start_episodes + settings.damping * leaving * allowed
        objects = (1 - settings.damping) * start_objects + settings.damping * arriving
    return Walk(episodes=episodes.astype(np.float32), objects=objects.astype(np.float32))


def _start(scores: Floats, allowed: Bools, top: int) -> Floats:
    """Softmax over the `top` best allowed episodes that scored at all."""
    start = np.zeros(len(scores), np.float32)
    rows = best(scores, allowed, top)
    if len(rows):
        weight = np.exp((scores[rows] - scores[rows[0]]) / TEMPERATURE)
        start[rows] = weight / weight.sum()
    return start
