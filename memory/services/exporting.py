"""Exports a memory: all rows that cannot be derived, or views made of them for other programs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from memory.errors import InvalidInputError
from memory.services.state import State
from memory.store import export, listing, secrets
from memory.store.connect import Connection
from memory.store.export import KINDS, Kind
from memory.text.placeholders import fill_placeholders, find_placeholders


@dataclass(frozen=True, slots=True)
class View:
    """Nouns built from rows, such as facts: about how many there are, and all of them as dataclasses or dicts."""

    count: Callable[[], int]
    read: Callable[[], Iterable[Any]]


class Exporting:
    """Reads a whole memory from one snapshot."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._store = state.store

    def read(
        self, version: str, kinds: Sequence[str] = (), unmask: bool = False, views: Mapping[str, View] | None = None
    ) -> Iterator[bytes]:
        """Lines of JSON, in pieces of whole lines: a header, those of each kind in this order, an end. Without `kinds`
        all rows from which `Memory.load` recreates the memory. Kinds are the rows of tables and `views`. Masked text
        stays masked in rows, with the secrets in separate lines if `unmask`; in views it is filled in.
        InvalidInputError for an unknown kind. To be read to its end by one thread."""
        known: Mapping[str, Kind | View] = {**{kind.name: kind for kind in KINDS}, **(views or {})}
        chosen = {name: known[name] for name in kinds or (kind.name for kind in KINDS) if name in known}
        if unknown := [name for name in kinds if name not in known]:
            raise InvalidInputError(f"There is no kind {unknown[0][:40]!r}. Kinds: {', '.join(known)}.")
        if not unmask:
            chosen = {name: item for name, item in chosen.items() if not (isinstance(item, Kind) and item.is_secret)}
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
                name: export.count_rows(conn, item, unmask) if isinstance(item, Kind) else item.count()
                for name, item in chosen.items()
            }
            yield export.write_header(version, counts, unmask)
            lines = 1
            for name, item in chosen.items():
                pieces = (
                    export.read_pieces(conn, item, unmask)
                    if isinstance(item, Kind)
                    else self._read_view(name, item, unmask)
                )
                for piece, number in pieces:
                    lines += number
                    yield piece
            yield export.write_end(lines)

    def _read_view(self, name: str, view: View, unmask: bool) -> Iterator[tuple[bytes, int]]:
        encode, begin = msgspec.json.Encoder().encode, f'{{"type":"{name}",'.encode()
        lines = (begin + encode(noun)[1:] + b"\n" for noun in view.read())
        return export.join_lines(map(self._fill, lines) if unmask else lines)

    def _fill(self, line: bytes) -> bytes:
        """A line with its placeholders filled in."""
        text = line.decode()
        secrets_by_name = self._store.read(secrets.find, find_placeholders(text)) if "‹" in text else {}
        if not secrets_by_name:
            return line
        spelled = {name: msgspec.json.encode(value)[1:-1].decode() for name, value in secrets_by_name.items()}
        return fill_placeholders(text, spelled).encode()
