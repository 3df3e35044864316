"""Ranking: one order over the results of all stages, from named features.

Discovery and ranking are separate: a traverser measures distance, this module decides what counts.

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
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from memory.graph.arrays import Bools, Floats, Graph, Ints
from memory.graph.postings import flatten_slices
from memory.graph.walk import Walk, Walkable, top_k
from memory.nouns import Episode, Hit, Visit
from memory.retrieval.question_type import episode_count
from memory.retrieval.state import Retrieval, TextScores
from memory.retrieval.traversers import add_parents, transition_steps
from memory.settings import RecallSettings
from memory.stages import LinksNote, RankNote
from memory.store import episodes
from memory.store import graph as stored

MASS_POWER = 0.7  # below 1: distant episodes lose less, so that the second of two subjects is not lost
LEAST_GRAPH_SHARE, MOST_GRAPH_SHARE = 0.3, 0.8  # of the walk in the final score: without links, with many
COMMON_OF_FEW = 2  # passages that may mention an object of a small memory too
MANY_LINKS = 0.3  # per passage, from which the walk counts as much as it can
MAX_PAGES = 2  # episodes that one object titles and that count as pages of it, those with the best text
MAX_PASSAGES = 5  # best passages that lead on as well, each with the square of its score
MAX_COPIES = 4  # of a file in several folders; they do not displace other hits
MAX_SHORT_TURN_WORDS = 60
MAX_SHOWN_OBJECTS = 12  # objects of a walk that the trace names
SCORE_DIGITS = 4  # of a score in the trace


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
    rounded = {
        str(hit.episode.id): {name: round(score, SCORE_DIGITS) for name, score in hit.channels.items()} for hit in hits
    }
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
        columns += [int(c) for c in top_k(walk.objects, everything, MAX_SHOWN_OBJECTS) if int(c) not in seeds]
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
    leads_on = (titles > 0) & ~graph.leads_nowhere & (mentions <= settings.common_share * graph.n_alive + COMMON_OF_FEW)
    links = float((mentions - titles)[leads_on].sum()) / max(1, graph.n_alive)
    return LEAST_GRAPH_SHARE + (MOST_GRAPH_SHARE - LEAST_GRAPH_SHARE) * min(1.0, links / MANY_LINKS)


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
    lifted[rows] = ordered + weight * (graph.words[rows] < MAX_SHORT_TURN_WORDS) * np.maximum(before, after)
    return lifted
