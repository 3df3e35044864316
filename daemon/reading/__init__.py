"""A file passed to the parser process, and its parsed contents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from plugins.readers import Reader

if TYPE_CHECKING:
    from daemon.reading.frames import Contents, Reply
    from memory.ingest.draft import DocumentDraft

NO_TEXT = "its reader sent an invalid reply"


class ReaderDiedError(Exception):
    """The process died while reading a file; the message explains it to a person."""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file open at `descriptor`, with name, `size` in bytes and reader; `tags` are added to its documents. `known`:
    hashes of its documents by uri, which are not read again if equal. The time of one that `is_copied` is ignored."""

    descriptor: int
    path: Path
    size: int
    reader: Reader
    tags: tuple[str, ...] = ()
    known: Mapping[str, str] = field(default_factory=dict)
    is_copied: bool = False


class FileDrafts:
    """The contents of a file. `pieces` arrive from the process while they are taken, once and in order; `unread`:
    reasons of documents that cannot be stored, by uri; `left_out`: what was not stored. `uris` of the other documents,
    their number of `episodes`, and `same`: uris of unchanged ones. If the file `comes_in_parts`, these are complete
    after the last piece."""

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
        """Yields the documents, in pieces, in order. ReaderDiedError."""
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
