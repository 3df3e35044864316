"""Entity linking: the objects of the graph that a question names, from which walks begin (SPEC 7.4 S1).

A name that is no object is left unlinked, never forced onto its nearest neighbour.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from memory.graph.arrays import Bools, Graph
from memory.retrieval.question_type import question_type
from memory.retrieval.scope import fact_time
from memory.retrieval.state import QuestionState, Retrieval
from memory.store import graph as stored
from memory.store.connect import Connection
from memory.text.words import UNSPACED

MAX_SEEDS = 10


def link_objects(retrieval: Retrieval) -> dict[str, Any]:
    """Stage: the objects that the question names, and with them what type of question it is."""
    conn, graph, question = retrieval.conn, retrieval.graph, retrieval.question
    objects = find_named_objects(conn, graph, question, retrieval.view.seen)
    labels = stored.object_labels(conn, [int(graph.object_ids[column]) for column in objects])
    retrieval.objects, retrieval.labels = objects, labels
    type = question_type(question.text, question.language, labels.values())
    retrieval.question = replace(question, type=type)
    retrieval.valid_time = fact_time(question, retrieval.when)
    return {"objects": list(labels.values())}


def find_named_objects(conn: Connection, graph: Graph, question: QuestionState, allowed: Bools) -> dict[int, float]:
    """Column of `graph` -> weight in (0, 1] for each object named; the rarest MAX_SEEDS of them.

    An object that only episodes outside `allowed` (n,) mention is not there for this question.

    The longest name wins: a word that only stands inside a longer name that was found ("lake" in "Lake Kivu") seeds
    nothing by itself.
    """
    nodes = stored.objects_by_norm(conn, list(question.names))
    seeds: dict[int, float] = {}
    covered: list[str] = []
    for name in sorted(nodes, key=lambda name: (-len(name.split()), -len(name), name)):
        if any(f" {name} " in f" {longer} " or (UNSPACED.match(name) and name in longer) for longer in covered):
            continue
        columns = [graph.column_of[node] for node in nodes[name] if node in graph.column_of]
        columns = [column for column in columns if _is_seen(graph, column, allowed)]
        if not columns:
            continue
        covered.append(name)
        for column in columns:
            seeds[column] = max(seeds.get(column, 0.0), question.names[name])
    if any(weight == 1 for weight in seeds.values()):  # words that merely could be names only count alone
        seeds = {column: weight for column, weight in seeds.items() if weight == 1}
    rarity = dict(zip(seeds, graph.rarity(np.array(list(seeds), np.int64)), strict=True))
    rarest = sorted(seeds, key=lambda column: (-seeds[column] * rarity[column], column))[:MAX_SEEDS]
    return {column: seeds[column] for column in rarest}


def _is_seen(graph: Graph, column: int, allowed: Bools) -> bool:
    return bool(allowed[graph.mentioned.find(np.array([column])).rows].any())
