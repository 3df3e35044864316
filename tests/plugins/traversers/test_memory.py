"""A memory that is asked through each traverser."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory import Memory
from memory.nouns import Document
from memory.settings import MemorySettings, RecallSettings
from memory.store import graph as stored
from memory.store.graph import EdgeRow
from memory.time.timestamps import to_ms
from plugins.manager import Plugins
from plugins.settings import TraverserSettings, WalkSettings


def opened(path: Path, plugins: Plugins, settings: TraverserSettings | None = None, **recall: Any) -> Memory:
    return Memory.open(
        path,
        embedder=plugins.embedder("static"),
        settings=MemorySettings(recall=RecallSettings(**recall)),
        find_strategy=plugins.strategies(settings),
    )


NOTES = [
    Document("a", "Ana Silva works at the Lumen Institute.", title="Ana Silva"),
    Document("b", "The Lumen Institute stands in Porto Novo.", title="Lumen Institute"),
    Document("c", "Bread is baked with flour and water.", title="Bread"),
    *(Document(f"d{n}", f"Stone number {n} is grey, and nobody named it.", title=f"Stone {n}") for n in range(30)),
]
STRATEGIES = ("beam", "circles", "paths", "spread+beam", "spread+beam+circles+paths")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_passage_is_found_over_another_one(tmp_path: Path, plugins: Plugins, strategy: str) -> None:
    chosen = TraverserSettings(walk=WalkSettings(episodes=2))
    with opened(tmp_path / "m.db", plugins, chosen, strategy=f"{strategy}+synergy") as memory:
        memory.ingest.remember_many(NOTES)
        found = memory.questions.retrieve("Where does Ana Silva work?", k=2).recall
    assert {hit.episode.source.uri for hit in found.hits} == {"a", "b"}
    assert found.hits[0].channels["votes"] > 0


def test_a_relation_leads_on_while_it_holds(tmp_path: Path, plugins: Plugins) -> None:
    fresh = opened(tmp_path / "m.db", plugins)
    fresh.ingest.remember_many([replace(NOTES[0], text="Ana Silva has moved."), *NOTES[1:]])
    with fresh.store.writing() as conn:
        found = stored.objects_by_norm(conn, ["ana silva", "lumen institute"])
        (ana,), (lumen,) = found["ana silva"], found["lumen institute"]
        start, end = to_ms(datetime(2020, 1, 1, tzinfo=UTC)), to_ms(datetime(2024, 1, 1, tzinfo=UTC))
        row = EdgeRow(stored.allocate(conn, "edge", 1), "rel", ana, lumen, valid_from=start, valid_to=end)
        stored.insert_edges(conn, [row], start)
    fresh.close()

    def graph_score(memory: Memory, year: int | None) -> float:
        as_of = datetime(year, 1, 1, tzinfo=UTC) if year else None
        hits = memory.questions.retrieve("Where does Ana Silva work?", k=40, as_of=as_of).recall.hits
        return max((hit.channels["graph"] for hit in hits if hit.episode.source.uri == "b"), default=0.0)

    with opened(tmp_path / "m.db", plugins, strategy="beam", vertices="eO", graph_weight=1.0) as memory:
        assert graph_score(memory, 2022) > 0
        assert graph_score(memory, 2019) == graph_score(memory, 2025) == graph_score(memory, None) == 0
