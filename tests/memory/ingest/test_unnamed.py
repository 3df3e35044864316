"""What a note is about if nobody gave it a name."""

from __future__ import annotations

import pytest

from memory.ingest.draft import draft_document
from memory.nouns import TOLD, Document, Turn
from memory.settings import ChunkSettings


def test_a_file_without_a_suffix_is_the_subject_of_nothing() -> None:
    def subjects(uri: str, title: str, mtime_ns: int | None = 10**18) -> set[str]:
        document = Document(uri, "Price: 640\n", title=title, mtime_ns=mtime_ns)
        return {
            fact.subject for episode in draft_document(document, ChunkSettings()).episodes
            for fact in episode.extraction.relations
        }  # fmt: skip

    assert subjects("/notes/boat/README", "README") == set()
    assert subjects("/notes/boat/boat.md", "boat") == {"boat"}
    assert subjects("boat", "boat", mtime_ns=None) == {"boat"}, "no file"


@pytest.mark.parametrize(
    ("document", "objects"),
    [
        (Document("n:1", "Ana works at Nordlys since May."), {"ana", "nordlys"}),
        (Document("n:1", "Ana works at Nordlys since May.", title="Jobs"), {"ana", "nordlys", "jobs"}),
        (Document("n:1", "# Jobs\n\nAna works at Nordlys since May."), {"ana", "nordlys", "jobs"}),
        (Document("n:1", turns=(Turn("Bo", "the key is with Ana"),)), {"ana"}),
        (Document("n:1", turns=(Turn("me", "the key is with Ana"),), title="Where is it?", reader=TOLD), {"ana"}),
    ],
)
def test_a_title_that_nobody_gave_is_no_object(document: Document, objects: set[str]) -> None:
    draft = draft_document(document, ChunkSettings())
    assert draft.title
    assert objects == {one.norm for episode in draft.episodes for one in episode.mentions if one.norm != "bo"}


def test_a_title_that_nobody_gave_is_no_subject() -> None:
    draft = draft_document(Document("n:1", "Rent: 715 euros\nLandlord: Odd Farrow"), ChunkSettings())
    assert not draft.episodes[0].extraction.relations
