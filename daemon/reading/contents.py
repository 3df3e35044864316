"""A file that is handed to the reading process, and what comes back of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from plugins.readers import Reader

if TYPE_CHECKING:
    from daemon.reading.frames import Contents, Reply
    from memory.ingest.draft import DocumentDraft

NO_TEXT = "its reader answered something else than text"


class ReaderDiedError(Exception):
    """The process ended while it read a file; the message says how, in words for a person."""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that is open at `descriptor`, with the name, `size` in bytes and reader it has; `tags` are those that its
    documents get besides their own. `known`: the hashes of documents in it, by uri; these need not be read again. The
    time of one that `is_copied` does not tell when it was written."""

    descriptor: int
    path: Path
    size: int
    reader: Reader
    tags: tuple[str, ...] = ()
    known: Mapping[str, str] = field(default_factory=dict)
    is_copied: bool = False


class FileDrafts:
    """What is in a file. Its `pieces` come from the process as they are taken, each once and in order; `unread` are
    documents in it that cannot be kept, by uri, with the reason, and `left_out` says what of it is not kept. `uris` are
    those of the others, which have so many `episodes`, and `same` of those that are as they are known. Of a file that
    `comes_in_parts` all this is whole when the last piece was taken."""

    def __init__(self, contents: Contents, replies: Iterator[Reply]) -> None:
        self.uris: set[str] = set()
        self.same: set[str] = set()
        self.episodes = 0
        self.unread: dict[str, str] = {}
        self.left_out = ""
        self.comes_in_parts = contents.more
        self._replies = replies
        self._take(contents)

    def _take(self, contents: Contents) -> None:
        self.uris |= {draft.document.uri for draft in contents.documents}
        self.same |= set(contents.same)
        self.episodes += sum(len(draft.hashes) for draft in contents.documents)
        self.unread |= contents.unread
        self.left_out = self.left_out or contents.left_out
        self._documents = contents.documents

    def pieces(self) -> Iterator[DocumentDraft]:
        """Each document, or one piece of it after the other. ReaderDiedError."""
        from daemon.reading.frames import Contents, Piece

        at = [0] * len(self._documents)
        for reply in self._replies:
            if isinstance(reply, Contents) and self.comes_in_parts:
                self._take(reply)
                at = [0] * len(self._documents)
                continue
            if not isinstance(reply, Piece) or not 0 <= reply.document < len(at):
                raise ReaderDiedError(NO_TEXT)
            whole, first = self._documents[reply.document], at[reply.document]
            at[reply.document] += len(reply.episodes)
            yield replace(whole, episodes=reply.episodes, first=first)
