"""Which passages belong to the time of a question, and which objects it names."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from memory import Memory
from memory.nouns import Document
from memory.retrieval.analyse import analyse
from memory.retrieval.text_search import MENTIONED_WEIGHT, OUTSIDE_WEIGHT, find_named_objects, limit_to_time
from memory.time.expressions import TimeExpression


def test_what_was_written_soon_after_a_time_counts_more_the_longer_that_was(fresh: Memory) -> None:
    """Of a year what is written in the year after, of a day what is written in the week after."""
    new_year, later = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 5, tzinfo=UTC)
    for name, at in (("soon", later), ("late", datetime(2024, 3, 1, tzinfo=UTC))):
        fresh.ingest.remember_many([Document(f"{name}.md", "The barge was painted green.", at=at)])
    graph = fresh.state.serving.snapshot.graph
    weights = []
    with fresh.store.reading() as conn:
        for since, until in ((datetime(2023, 1, 1, tzinfo=UTC), new_year), (datetime(2024, 1, 4, tzinfo=UTC), later)):
            when = TimeExpression("range", since, until, "")
            weights.append(limit_to_time(conn, graph, graph.alive, when, only=False)[1])
    assert np.allclose(weights, [[MENTIONED_WEIGHT, MENTIONED_WEIGHT], [MENTIONED_WEIGHT, OUTSIDE_WEIGHT]])


def test_a_word_inside_a_longer_name_is_no_name_of_its_own(fresh: Memory) -> None:
    fresh.ingest.remember("Lake Kivu is deep. Kivu is a province.", title="Lake Kivu", source="/a.md")
    fresh.ingest.remember("The province Kivu has two towns.", title="Kivu", source="/b.md")
    graph = fresh.state.serving.snapshot.graph
    with fresh.store.reading() as conn:
        asked = (analyse(f"How deep is {name}?") for name in ("Kivu", "Lake Kivu"))
        short, long = ([*find_named_objects(conn, graph, question, graph.alive)] for question in asked)
    assert len(short) == len(long) == 1 and short != long
