"""Links: what the pages that a question names lead to, one step off, apart from how near a walk comes.

A walk shares its mass among all that a page mentions and starts with the best passage, so of two things asked about
only the surroundings of one are found. Here every page that is named counts alike, and of all ways to an episode only
the best one. With all else equal it moves recall at 5 from 88.5 to 93.8 on 2wiki, where two things are compared, from
69.2 to 67.0 on musique (within the margin of its 100 questions), and changes nothing on hotpotqa and chats.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from memory.graph.arrays import Bools, Floats, Graph, Ints
from memory.graph.postings import slices
from memory.retrieval.pagerank import around
from memory.retrieval.rank import best
from memory.settings import RecallSettings

PAGES = 2  # episodes that one object titles and that count as pages of it, those with the best text
PASSAGES = 5  # best passages that lead on as well, each with the square of its score


def links(
    graph: Graph, objects: Mapping[int, float], fused: Floats, allowed: Bools, settings: RecallSettings
) -> Floats:
    """(n,) in [0, 1]: `max over pages p and objects o of w(p) * idf(o) / ln N / (1 + ln |episodes that o titles|)`,
    where p mentions o and o titles the episode.

    Pages are episodes that one of `objects` (column -> weight) that is certain, of weight 1, gives its title, with
    w = 1, and the best passages by `fused` (n,), with w = (score / best score)^2. All is 0 if the question names no
    page. What is common or a date leads nowhere, and nothing leads to what is not `allowed` (n,).
    """
    found = np.zeros(len(graph.alive), np.float32)
    steps = around(graph, allowed, settings)
    sure = np.array(sorted(column for column, weight in objects.items() if weight == 1), np.int64)
    weights = dict.fromkeys(_pages(graph, sure[~graph.is_date[sure]], fused, steps.allowed), 1.0)
    if not weights:
        return found
    passages = best(fused, steps.allowed, PASSAGES)
    for row in passages.tolist():
        weights[row] = max(weights.get(row, 0.0), float(fused[row] / fused[passages[0]]) ** 2)
    pages = np.array(list(weights), np.int64)
    begin = graph.counts.indptr[pages]
    of_page, entries = slices(begin, graph.counts.indptr[pages + 1] - begin)
    columns = graph.counts.indices[entries]
    of, rows, _ = graph.titles.find(columns)
    leads = steps.allowed[rows] & (rows != pages[of_page[of]])
    of, rows = of[leads], rows[leads]
    titled = np.bincount(of, minlength=len(columns))
    worth = np.array(list(weights.values()))[of_page] * steps.rarity(columns) / math.log(max(2, graph.n_alive))
    np.maximum.at(found, rows, (worth / (1 + np.log(np.maximum(titled, 1))))[of].astype(np.float32))
    return found


def _pages(graph: Graph, columns: Ints, fused: Floats, allowed: Bools) -> list[int]:
    """Rows of the episodes that objects title: of each the PAGES best by text."""
    of, rows, _ = graph.titles.find(columns)
    pages: list[int] = []
    for place in range(len(columns)):
        titled = rows[(of == place) & allowed[rows]]
        pages += titled[np.lexsort((titled, -fused[titled]))][:PAGES].tolist()
    return pages
