"""A long document that is written in pieces is the same in the end as one that is written at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memory import Memory
from memory.ingest import draft
from memory.ingest.draft import DocumentDraft, Drafting, draft_document
from memory.nouns import Document
from memory.settings import ChunkSettings
from plugins import manager

URI = "/notes/book.md"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder=manager.load().embedder("static")) as memory:
        yield memory


def book(*chapters: str) -> Document:
    text = "".join(f"# Chapter {name}\n\n{f'Anna met Crate {name} in Riga. ' * 30}\n\n" for name in chapters)
    return Document(URI, text, title="Book", kind="file", sha256="x", size=len(text), mtime_ns=len(text) * 10**9)


def pieces(document: Document, size: int) -> Iterator[DocumentDraft]:
    whole = draft_document(document, ChunkSettings())
    for first in range(0, len(whole.episodes), size):
        yield replace(whole, episodes=whole.episodes[first : first + size], first=first)


def write(memory: Memory, document: Document, size: int, most: int = 1000) -> list[int]:
    """Writes at most so many pieces; the ids of the episodes."""
    ids: list[int] = []
    for number, piece in enumerate(pieces(document, size)):
        if number < most:
            (receipt,) = memory.ingest.remember_many(memory.ingest.embed_drafts([piece]))
            ids += receipt.episode_ids
    return ids


def stored(memory: Memory) -> list[tuple[object, ...]]:
    """The live episodes in order, how many edges lead to the next one, and what the source says of its file."""
    with memory.store.reading() as conn:
        return conn.execute(
            "SELECT e.seq, e.text, e.since, e.line_from, s.sha256, (SELECT count(*) FROM edge x WHERE x.src = e.node_id"
            " AND x.kind = 'next' AND x.t_expired IS NULL) FROM episode e JOIN node n ON n.id = e.node_id"
            " JOIN source s ON s.id = e.source_id WHERE n.t_expired IS NULL ORDER BY e.seq"
        ).fetchall()


@pytest.mark.parametrize("size", [1, 2, 100])
def test_pieces_are_the_whole(memory: Memory, size: int) -> None:
    first = write(memory, book(*"abcdef"), size)
    assert [(row[0], row[5]) for row in stored(memory)] == [(seq, int(seq < 5)) for seq in range(6)]
    assert {row[4] for row in stored(memory)} == {"x"} and all(row[2] is None for row in stored(memory))

    second = write(memory, book(*"abXdefg"), size)
    assert [second[place] == first[place] for place in (0, 1, 3, 4, 5)] == [True] * 5, "what is the same stays itself"
    assert second[2] not in first and len(second) == 7
    assert [(row[0], row[5]) for row in stored(memory)] == [(seq, int(seq < 6)) for seq in range(7)]
    assert [row[2] is not None for row in stored(memory)] == [seq in (2, 6) for seq in range(7)], "what an edit brought"
    assert not memory.maintenance.check().problems
    assert write(memory, book(*"abXdefg"), size) == second


def test_a_sentence_edited_in_the_middle_of_pieces_is_an_edit(memory: Memory) -> None:
    def note(amount: int) -> Document:
        document = book(*"abcdef")
        text = document.text.replace("# Chapter d\n", f"# Chapter d\n\nThe rent of the boat house is {amount} euros.\n")
        return replace(document, text=text, sha256=str(amount), mtime_ns=amount * 10**18)

    write(memory, note(1), 2)
    write(memory, note(2), 2)
    with memory.store.reading() as conn:
        assert conn.execute("SELECT count(*) FROM revision").fetchone() == (1,)


def test_a_document_of_which_a_piece_is_missing_is_read_again_as_its_first_version(memory: Memory) -> None:
    write(memory, book(*"abcdef"), 2, most=2)
    source = memory.sources.get(URI)
    assert source is not None and (source.sha256, source.size, source.mtime_ns) == (None, None, None)
    assert len(stored(memory)) == 4
    write(memory, book(*"abcdef"), 2)
    assert len(stored(memory)) == 6 and all(row[2] is None for row in stored(memory)), "nothing of it was edited"
    assert not memory.maintenance.check().problems


def test_of_what_is_too_long_the_beginning_is_kept_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft, "MAX_LINES", 4000)
    document = Document(URI, "word\n" * 4005, title="Long", lines=tuple(range(1, 4006)))
    drafting = Drafting(document, ChunkSettings(), None, rules=False, most=3)
    episodes = [*drafting.episodes()]
    assert len(episodes) == 3
    assert "its first 3 of" in drafting.close(episodes).left_out

    drafting = Drafting(document, ChunkSettings(), None, rules=False, most=10_000)
    assert max(episode.end_line or 0 for episode in drafting.episodes()) == 4000
    assert "its first 4,000 of 4,006 lines" in drafting.close().left_out
    whole = draft_document(replace(document, text="word\n" * 10), ChunkSettings())
    assert whole.left_out == "" and whole.is_last


def test_the_facts_of_a_machines_file_are_limited_and_its_text_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft, "MAX_FACTS", 20)
    text = "\n\n".join(f"# Bike {n}\n\nColour: blue {n}\nWheels: {n}" for n in range(300))
    document = Document(URI, text, title="Dump")
    whole = draft_document(document, ChunkSettings())
    facts = [len(episode.extraction.relations) for episode in whole.episodes]
    assert 20 <= sum(facts) < 300 and facts[-1] == 0 and facts[0]
    assert "blue 299" in whole.episodes[-1].text and "first 20 of its facts" in whole.left_out
