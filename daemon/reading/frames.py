"""What the daemon and its reading process say to each other: JSON of known types, each with its length before it.

What the process answers is a stranger's data as much as the file is: it is decoded into these types or refused, and
nothing in it is ever executed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import msgspec

from memory.ingest.chunk import Draft
from memory.ingest.draft import DocumentDraft
from memory.ingest.masking import Masker
from memory.settings import ChunkSettings

LENGTH = struct.Struct("!I")  # bytes of the JSON that follows
MAX_FRAME_BYTES = 64 << 20
PIECE = 64  # episodes that are sent, embedded and written at a time


class ReadRequest(msgspec.Struct, frozen=True):
    """A file to read, whose descriptor comes with it. `path` lends its name (as the system writes it), `size` is what
    it had when it was opened. `seconds` of the processor and `memory` (bytes) are what it may take. With `count` it is
    asked only how much there is in it. Its documents get the `tags`, too; with a `masker` their secrets are masked.
    `known`: the hashes of documents in it, by uri; one that has the same is not sent again. The time of a
    file that `is_copied` does not tell when it was written."""

    path: bytes
    reader: str
    size: int
    seconds: int
    memory: int
    chunk: ChunkSettings
    rules: bool = True
    count: bool = False
    tags: tuple[str, ...] = ()
    masker: Masker | None = None
    known: dict[str, str] = {}
    is_copied: bool = False


class Refusal(msgspec.Struct, frozen=True, tag=True):
    """The file cannot be read, for this reason."""

    reason: str


class Contents(msgspec.Struct, frozen=True, tag=True):
    """What is in a file: its documents, without their episodes. `unread` are those that cannot be kept, by uri, with
    the reason; `left_out` says what of the file is not kept, where it is not all; `same` are the uris of those that are
    as they are known. With `more` it is the first part of a long file: behind its pieces there are more Contents."""

    documents: tuple[DocumentDraft, ...]
    unread: dict[str, str]
    left_out: str = ""
    same: tuple[str, ...] = ()
    more: bool = False


class Piece(msgspec.Struct, frozen=True, tag=True):
    """The next episodes of the document of that number in the Contents before it."""

    document: int
    episodes: tuple[Draft, ...]


class Amount(msgspec.Struct, frozen=True, tag=True):
    """How much there is in a file, where no more was asked."""

    episodes: int
    words: int


class End(msgspec.Struct, frozen=True, tag=True):
    """All has been said of this file; with `leaves` by a process that ends now."""

    leaves: bool = False


Reply = Refusal | Contents | Piece | Amount | End

_encode = msgspec.json.Encoder().encode
_requests = msgspec.json.Decoder(ReadRequest)
_replies = msgspec.json.Decoder(Reply)


class FrameError(Exception):
    """What came is no frame of these: too long, broken off, or of another shape."""


def pack(message: ReadRequest | Reply) -> bytes:
    """A message as its frame."""
    body = _encode(message)
    return LENGTH.pack(len(body)) + body


def unpack_request(receive: Callable[[int], bytes]) -> ReadRequest:
    """The next request; `receive(n)` gives n bytes."""
    return _requests.decode(_body(receive))


def unpack_reply(receive: Callable[[int], bytes]) -> tuple[Reply, int]:
    """The next reply and its bytes. FrameError."""
    body = _body(receive)
    try:
        return _replies.decode(body), len(body)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise FrameError(str(error)) from error


def _body(receive: Callable[[int], bytes]) -> bytes:
    (length,) = LENGTH.unpack(receive(LENGTH.size))
    if length > MAX_FRAME_BYTES:
        raise FrameError(f"a frame of {length:,} bytes")
    return receive(length)
