"""What leaves a memory: all that is true in it, row by row, or what is made of that for whoever reads it elsewhere."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from memory.errors import InvalidInputError
from memory.services.state import State
from memory.store import export, listing, secrets
from memory.store.connect import Connection
from memory.store.records import KINDS, Kind
from memory.text.placeholders import fill_placeholders, find_placeholders

PIECE_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class View:
    """Nouns that are made of rows, such as facts: how many there are, about, and all of them as dataclasses."""

    count: Callable[[], int]
    read: Callable[[], Iterable[Any]]


class Exporting:
    """Reads a memory from beginning to end, as it was at one moment."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._store = state.store

    def read(
        self, version: str, kinds: Sequence[str] = (), unmask: bool = False, views: Mapping[str, View] | None = None
    ) -> Iterator[bytes]:
        """Lines of JSON, in pieces of whole ones: a header, those of each kind in this order, an end. Without `kinds`
        all that is true, of which `Memory.load` makes the same memory again. Kinds are the rows of tables and `views`.
        Of rows what is masked in the texts stays so, but stands in lines of its own with `unmask`; in views it is
        filled in. InvalidInputError for a kind that is not there. To be read to its end by one thread."""
        known: Mapping[str, Kind | View] = {**{kind.name: kind for kind in KINDS}, **(views or {})}
        chosen = {name: known[name] for name in kinds or (kind.name for kind in KINDS) if name in known}
        if unknown := [name for name in kinds if name not in known]:
            raise InvalidInputError(f"There are no lines of the kind {unknown[0][:40]!r}. Kinds: {', '.join(known)}.")
        if not unmask:
            chosen = {name: one for name, one in chosen.items() if not (isinstance(one, Kind) and one.is_secret)}
        return self._read(version, chosen, unmask)

    def views(self) -> dict[str, View]:
        """Nouns by their kinds: thing, note, passage, fact (`memory.store.listing`)."""
        readers: dict[str, Callable[[Connection], Iterable[Any]]] = {
            "thing": listing.list_things,
            "note": listing.list_notes,
            "passage": listing.list_passages,
            "fact": listing.list_facts,
        }
        return {name: View(partial(self._count, name), partial(self._list, read)) for name, read in readers.items()}

    def _count(self, name: str) -> int:
        return self._store.read(listing.count).get(name, 0)

    def _list(self, read: Callable[[Connection], Iterable[Any]]) -> Iterator[Any]:
        with self._store.reading() as conn:
            yield from read(conn)

    def _read(self, version: str, chosen: Mapping[str, Kind | View], unmask: bool) -> Iterator[bytes]:
        with self._store.reading() as conn:
            counts = {
                name: export.count_rows(conn, one, unmask) if isinstance(one, Kind) else one.count()
                for name, one in chosen.items()
            }
            yield export.write_header(version, counts, unmask)
            lines = 1
            for name, one in chosen.items():
                pieces = (
                    export.read_pieces(conn, one, unmask)
                    if isinstance(one, Kind)
                    else self._read_view(name, one, unmask)
                )
                for piece, number in pieces:
                    lines += number
                    yield piece
            yield export.write_end(lines)

    def _read_view(self, name: str, view: View, unmask: bool) -> Iterator[tuple[bytes, int]]:
        encode, begin, piece, number = msgspec.json.Encoder().encode, f'{{"type":"{name}",'.encode(), bytearray(), 0
        for one in view.read():
            line = begin + encode(one)[1:] + b"\n"
            piece += self._fill(line) if unmask else line
            number += 1
            if len(piece) > PIECE_BYTES:
                yield bytes(piece), number
                piece, number = bytearray(), 0
        if piece:
            yield bytes(piece), number

    def _fill(self, line: bytes) -> bytes:
        """A line with what its placeholders stand for."""
        text = line.decode()
        found = self._store.read(secrets.find, find_placeholders(text)) if "‹" in text else {}
        if not found:
            return line
        spelled = {name: msgspec.json.encode(value)[1:-1].decode() for name, value in found.items()}
        return fill_placeholders(text, spelled).encode()
