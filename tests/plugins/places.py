"""Where a citation of words in a file would point."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memory.ingest.draft import draft_document
from memory.nouns import Document, line_at, name_place
from memory.settings import ChunkSettings


def find_place(documents: Sequence[Document], words: str) -> str:
    """The place of the first passage that says `words`, by its file's name: `report.pdf, page 3`."""
    for document in documents:
        for draft in draft_document(document, ChunkSettings()).episodes:
            if (offset := draft.text.find(words)) >= 0:
                line = line_at(draft.line, draft.line_map, draft.text, offset)
                assert line is not None
                return name_place(Path(document.uri).name, line)
    raise AssertionError(f"no passage says {words!r}")


def find_facts(documents: Sequence[Document]) -> set[tuple[str, str, str]]:
    """(subject, predicate, object) of what rules read in them."""
    drafts = (draft for document in documents for draft in draft_document(document, ChunkSettings()).episodes)
    return {(one.subject, one.predicate, one.object) for draft in drafts for one in draft.extraction.relations}
