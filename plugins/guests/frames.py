"""What this process and a guest say to each other, each with its length before it.

What goes to the guest is ours, and pickled. What comes from it is a stranger's: it is decoded into these types or
refused, and nothing in it is ever executed.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import msgspec

LENGTH = struct.Struct("!I")  # bytes of what follows
MAX_FRAME_BYTES = 256 << 20
RECEIVE_BYTES = 64 << 10  # at least, at a time
CUT_OFF = 78  # exit code of a guest that went on with a call that nobody wanted any more


class Request(NamedTuple):
    """A call: of what the plug-in registered with this `hook` under this `name`, made of what was `given` to it (what
    stands behind the colon of its name, its section of config.toml), this `method` with these `arguments`."""

    hook: str
    name: str
    given: tuple[Any, ...]
    method: str
    arguments: tuple[Any, ...] = ()


class Value(msgspec.Struct, frozen=True, tag=True):
    """What the call gives, or the next part of it."""

    value: Any = None


class Wanted(msgspec.Struct, frozen=True, tag=True):
    """More of what the call works on."""


class End(msgspec.Struct, frozen=True, tag=True):
    """No more parts come."""


class Raised(msgspec.Struct, frozen=True, tag=True):
    """The call raised an error of this class; the other fields are those of `memory.errors`."""

    kind: str
    message: str = ""
    retry_after: float | None = None
    lasting: bool = False
    text: str = ""


class About(msgspec.Struct, frozen=True):
    """What an embedder says of itself, beside its name."""

    is_served: bool = False
    batch: Annotated[int, msgspec.Meta(ge=1)] = 32
    query_prefix: str = ""
    document_prefix: str = ""
    lexical_weight: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None


Answer = Value | Wanted | End | Raised

_encode = msgspec.msgpack.Encoder().encode
_answers = msgspec.msgpack.Decoder(Answer)


class FrameError(Exception):
    """What came is no frame of these: too long, or of another shape."""


def pack_answer(answer: Answer) -> bytes:
    """An answer as its frame. TypeError for a value that is none of plain ones."""
    return _frame(_encode(answer))


def pack(message: Any) -> bytes:
    """What the guest is told, as its frame."""
    return _frame(pickle.dumps(message))


def unpack_answer(receive: Callable[[int], bytes]) -> Answer:
    """The next answer; `receive(n)` gives n bytes. FrameError."""
    try:
        answer: Answer = _answers.decode(_body(receive))
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise FrameError(type(error).__name__) from error
    return answer


def unpack(receive: Callable[[int], bytes]) -> Any:
    """What the guest is told next. Only for what comes from the process that started this one."""
    return pickle.loads(_body(receive))  # noqa: S301  # see above


def _frame(body: bytes) -> bytes:
    if len(body) > MAX_FRAME_BYTES:
        raise TypeError(f"more than {MAX_FRAME_BYTES >> 20} MiB at once")
    return LENGTH.pack(len(body)) + body


def _body(receive: Callable[[int], bytes]) -> bytes:
    (length,) = LENGTH.unpack(receive(LENGTH.size))
    if length > MAX_FRAME_BYTES:
        raise FrameError(f"a frame of {length:,} bytes")
    return receive(length)
