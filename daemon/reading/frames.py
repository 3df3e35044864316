"""The messages between daemon and parser process: typed JSON, prefixed by its length.

Replies are untrusted data like the files: decoded into these types or refused, never executed."""

from __future__ import annotations

import struct
from collections.abc import Callable

import msgspec

from memory.ingest.chunk import Draft
from memory.ingest.draft import DocumentDraft, Masker
from memory.settings import ChunkSettings

LENGTH = struct.Struct("!I")  # bytes of the following JSON
MAX_FRAME_BYTES = 64 << 20
PIECE = 64  # episodes sent, embedded and written at once


class ReadRequest(msgspec.Struct, frozen=True):
    """A file to read, sent with its descriptor. `path` supplies the name (as the system encodes it), `size` is that at
    opening. `seconds` of processor time and `memory` (bytes) limit it. Documents get the `tags`; a `masker` masks
    secrets. `known`: hashes of documents by uri; equal ones are not sent again. The time of a file that `is_copied` is
    ignored."""

    path: bytes
    reader: str
    size: int
    seconds: int
    memory: int
    chunk: ChunkSettings
    rules: bool = True
    tags: tuple[str, ...] = ()
    masker: Masker | None = None
    known: dict[str, str] = {}
    is_copied: bool = False


class Refusal(msgspec.Struct, frozen=True, tag=True):
    """The file cannot be read, for this reason."""

    reason: str


class Contents(msgspec.Struct, frozen=True, tag=True):
    """The documents of a file without their episodes. `unread`: reasons of those that cannot be stored, by uri;
    `left_out`: what was not stored; `same`: uris of unchanged ones. With `more`, further Contents follow after the
    pieces."""

    documents: tuple[DocumentDraft, ...]
    unread: dict[str, str]
    left_out: str = ""
    same: tuple[str, ...] = ()
    more: bool = False


class Piece(msgspec.Struct, frozen=True, tag=True):
    """The next episodes of a document, by its index in the preceding Contents."""

    document: int
    episodes: tuple[Draft, ...]


class End(msgspec.Struct, frozen=True, tag=True):
    """The end of the reply; `leaves`: the process exits."""

    leaves: bool = False


Reply = Refusal | Contents | Piece | End

_encode = msgspec.json.Encoder().encode
_requests = msgspec.json.Decoder(ReadRequest)
_replies = msgspec.json.Decoder(Reply)


def pack(message: ReadRequest | Reply) -> bytes:
    """Encodes a message as a frame."""
    body = _encode(message)
    return LENGTH.pack(len(body)) + body


def unpack_request(receive: Callable[[int], bytes]) -> ReadRequest:
    """Returns the next request; `receive(n)` returns n bytes."""
    return _requests.decode(_read_body(receive))


def unpack_reply(receive: Callable[[int], bytes]) -> tuple[Reply, int]:
    """Returns (next reply, its bytes). ValueError for an invalid frame."""
    body = _read_body(receive)
    try:
        return _replies.decode(body), len(body)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from error


def _read_body(receive: Callable[[int], bytes]) -> bytes:
    (length,) = LENGTH.unpack(receive(LENGTH.size))
    if length > MAX_FRAME_BYTES:
        raise ValueError(f"a frame of {length:,} bytes")
    return receive(length)
