"""Exports a memory: all rows that cannot be derived, or nouns made of them for other programs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from memory.errors import InvalidInputError
from memory.services.state import State
from memory.store import export, listing, secrets
from memory.store.connect import Connection
from memory.store.export import KINDS, Kind
from memory.store.listing import Noun
from memory.text.placeholders import fill_placeholders, find_placeholders

PAGE = "page"  # the kind of noun that a caller makes of each thing


class Exporting:
    """Reads a whole memory from one snapshot."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._store = state.store

    def read(
        self,
        version: str,
        kinds: Sequence[str] = (),
        unmask: bool = False,
        make_page: Callable[[str], dict[str, Any]] = lambda name: {},
    ) -> Iterator[bytes]:
        """Lines of JSON, in pieces of whole lines: a header, those of each kind in this order, an end. Without `kinds`
        all rows from which `Memory.load` recreates the memory. Kinds are the rows of tables, the nouns of
        `memory.store.listing`, and "page": what `make_page` returns for the name of a thing; {} is left out. Masked
        text stays masked in rows, with the secrets in separate lines if `unmask`; in nouns it is filled in.
        InvalidInputError for an unknown kind. To be read to its end by one thread."""
        known: dict[str, Kind | Noun] = {**{kind.name: kind for kind in KINDS}, **listing.NOUNS}
        things = listing.NOUNS["thing"]
        known[PAGE] = Noun(things.counting, lambda conn: self._list_pages(conn, make_page))
        if unknown := [name for name in kinds if name not in known]:
            raise InvalidInputError(f"There is no kind {unknown[0][:40]!r}. Kinds: {', '.join(known)}.")
        chosen = {name: known[name] for name in kinds or (kind.name for kind in KINDS)}
        if not unmask:
            chosen = {name: item for name, item in chosen.items() if not (isinstance(item, Kind) and item.is_secret)}
        return self._read(version, chosen, unmask)

    def _list_pages(self, conn: Connection, make_page: Callable[[str], dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for thing in listing.list_things(conn):
            if thing["page"] == thing["id"] and (page := make_page(thing["name"])):
                yield {"id": thing["id"]} | page

    def _read(self, version: str, chosen: Mapping[str, Kind | Noun], unmask: bool) -> Iterator[bytes]:
        with self._store.reading() as conn:
            counts = {
                name: export.count_rows(conn, item, unmask) if isinstance(item, Kind) else item.read_count(conn)
                for name, item in chosen.items()
            }
            yield export.write_header(version, counts, unmask)
            lines = 1
            for name, item in chosen.items():
                pieces = (
                    export.read_pieces(conn, item, unmask)
                    if isinstance(item, Kind)
                    else self._read_nouns(conn, name, item, unmask)
                )
                for piece, number in pieces:
                    lines += number
                    yield piece
            yield export.write_end(lines)

    def _read_nouns(self, conn: Connection, name: str, noun: Noun, unmask: bool) -> Iterator[tuple[bytes, int]]:
        encode, begin = msgspec.json.Encoder().encode, f'{{"type":"{name}",'.encode()
        lines = (begin + encode(item)[1:] + b"\n" for item in noun.list(conn))
        return export.join_lines(map(self._fill, lines) if unmask else lines)

    def _fill(self, line: bytes) -> bytes:
        """A line with its placeholders filled in."""
        text = line.decode()
        secrets_by_name = self._store.read(secrets.find, find_placeholders(text)) if "‹" in text else {}
        if not secrets_by_name:
            return line
        spelled = {name: msgspec.json.encode(value)[1:-1].decode() for name, value in secrets_by_name.items()}
        return fill_placeholders(text, spelled).encode()
