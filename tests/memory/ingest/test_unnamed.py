"""What a note is about if its file has no name of its own."""

from __future__ import annotations

from memory.ingest.draft import draft_document
from memory.nouns import Document
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
