"""The same notes in two folders: each passage is found and cited once, from one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from memory import Memory
from memory.nouns import Answer, Document, Scope
from plugins.embedders.static import StaticEmbedder

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
NOTES = {
    "Mara Quill": "phone: 0161 496 07\nemployer: Saltworks\n\nMara Quill keeps the ferry and is allergic to epoxy.",
    "Ferry": "The ferry leaves at nine.\n\n- [ ] Paint the ferry\n- [ ] Grease the ferry's winch",
    **{f"Boat {n}": f"Boat {n} is moored behind the ferry, in berth {n}." for n in range(9)},
}


@pytest.fixture(scope="module")
def notes() -> Iterator[Memory]:
    with Memory.open(":memory:", embedder=StaticEmbedder()) as memory:
        for days, folder in enumerate(("notes", "backup", "synced")):
            stamp = AT + timedelta(days=days)  # a copy may have made it anew
            memory.ingest.remember_many(
                Document(
                    f"/{folder}/{title}.md", f"# {title}\n\n{text}", title=title, kind="file", at=stamp,
                    mtime_ns=int(stamp.timestamp() * 1e9),
                )
                for title, text in NOTES.items()
            )  # fmt: skip
        yield memory


def test_a_passage_is_found_once_and_as_many_as_without_copies(notes: Memory) -> None:
    found = [hit.episode.title for hit in notes.questions.retrieve("ferry", k=10).recall.hits]
    assert len(found) == len({*found}) == 10, found


@pytest.mark.parametrize(
    "question",
    [
        "What is Mara Quill allergic to?",
        "What is Mara Quill's phone number?",
        "Who is Mara Quill?",
        "Which tasks are open?",
    ],
)
def test_an_answer_cites_each_line_once(notes: Memory, question: str) -> None:
    *_, answer = notes.questions.ask(question)
    assert isinstance(answer, Answer) and answer.citations
    twice = [key for key, n in Counter((one.title, one.quote) for one in answer.citations).items() if n > 1]
    folders = {title: {one.uri for one in answer.citations if one.title == title} for title in NOTES}
    assert not twice and all(len(uris) < 2 for uris in folders.values()), answer.citations


def test_within_the_folder_of_the_copy_the_copy_is_cited(notes: Memory) -> None:
    *_, answer = notes.questions.ask("What is Mara Quill allergic to?", within=Scope(folders=("/backup",)))
    assert isinstance(answer, Answer)
    assert {one.uri for one in answer.citations} == {"/backup/Mara Quill.md"}
