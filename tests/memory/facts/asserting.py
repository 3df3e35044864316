"""A memory that learns only what it is told, and words for telling it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory import Memory
from memory.facts.extraction import ExtractedRelation, Extraction
from memory.nouns import AGENT_NOTES
from memory.protocols import Embedder
from memory.settings import MemorySettings

UNTOLD = MemorySettings(rules=False)


@pytest.fixture
def fresh(tmp_path: Path, static: Embedder) -> Iterator[Memory]:
    """A memory that learns only what it is told."""
    with Memory.open(tmp_path / "memory.db", embedder=static, settings=UNTOLD) as memory:
        yield memory


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def written(memory: Memory, text: str, at: str, source: str | None = None) -> int:
    """The id of a new note's one episode."""
    receipt = memory.ingest.remember(text, source=source or f"note {at} {text}", at=day(at))
    return receipt.episode_ids[0]


def relation(text: str, quote: str, subject: str, predicate: str, object: str, **more: Any) -> ExtractedRelation:
    start = text.index(quote)
    more.setdefault("single", True)
    return ExtractedRelation(
        subject=subject, predicate=predicate, object=object, start=start, end=start + len(quote), **more
    )


def tell(memory: Memory, at: str, text: str, *told: tuple[str, str, str], model: str | None = None, **more: Any) -> Any:
    """A note of that day that asserts these relations with its whole text; without a model, as the owner's own words,
    which say what there is one of."""
    episode = written(memory, text, at)
    more.setdefault("single", model is None)
    relations = tuple(relation(text, text, *one, **more) for one in told)
    return memory.knowledge.assert_facts({episode: Extraction(relations)}, model)


def assert_quoted(memory: Memory, quote: str, subject: str, predicate: str, object: str, **more: Any) -> None:
    """That relation, told in these words by every passage that has them."""
    with memory.store.reading() as conn:
        texts = conn.execute(
            "SELECT e.node_id, e.text FROM episode e JOIN node n ON n.id = e.node_id"
            " WHERE n.t_expired IS NULL AND instr(e.text, ?)",
            (quote,),
        ).fetchall()
    assert texts
    told = {id: Extraction((relation(text, quote, subject, predicate, object, **more),)) for id, text in texts}
    memory.knowledge.assert_facts(told)


def state_home(memory: Memory, at: str, name: str, place: str, agent: bool = True) -> None:
    """An agent, or the owner, says where somebody lives now."""
    text, uri = f"{name} lives in {place} now.", f"{AGENT_NOTES}bot/{place}" if agent else f"/n/{place}.md"
    receipt = memory.ingest.remember(text, None, uri, day(at), speaker="bot (agent)" if agent else None)
    fact = relation(text, text, name, "lives in", place)
    memory.knowledge.assert_facts({receipt.episode_ids[0]: Extraction((fact,))})


def held(memory: Memory, name: str, **how: Any) -> list[str]:
    """What is known of the relations of `name`, as "predicate object", by name."""
    return sorted(f"{f.predicate} {f.objects[1]}" for f in memory.knowledge.facts(name, **how) if f.kind == "relation")


def state(memory: Memory) -> list[tuple[Any, ...]]:
    """All relations with all that a revision may change."""
    with memory.store.reading() as conn:
        return conn.execute(
            "SELECT id, src, dst, pred_id, valid_from, valid_to, superseded_by, t_expired FROM edge"
            " WHERE kind = 'rel' ORDER BY id"
        ).fetchall()
