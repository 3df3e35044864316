"""Exports a memory: all rows that cannot be derived, or a page for each thing."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from memory.services.state import State
from memory.store import browse, export


class Exporting:
    """Reads a whole memory from one snapshot, as lines of JSON in pieces of whole lines: a header, the others, an end.
    To be read to its end by one thread."""

    def __init__(self, state: State) -> None:
        self._store = state.store

    def read(self, version: str, unmask: bool = False) -> Iterator[bytes]:
        """All rows from which `Memory.load` recreates the memory. Masked text stays masked, with the secrets in
        separate lines if `unmask`."""
        kinds = [kind for kind in export.KINDS if unmask or not kind.is_secret]
        with self._store.reading() as conn:
            yield export.write_header(
                version, {kind.name: export.count_rows(conn, kind, unmask) for kind in kinds}, unmask
            )
            lines = 1
            for kind in kinds:
                for piece, number in export.read_pieces(conn, kind, unmask):
                    lines += number
                    yield piece
            yield export.write_end(lines)

    def read_pages(self, version: str, make_page: Callable[[str], dict[str, Any]]) -> Iterator[bytes]:
        """What `make_page` returns for the name of each thing that has a page."""
        encode = msgspec.json.Encoder().encode
        with self._store.reading() as conn:
            things = browse.list_notable_things(conn)
            yield export.write_header(version, {"page": len(things)})
            lines = (encode({"type": "page", "id": id} | make_page(name)) + b"\n" for id, name in things)
            for piece, _ in export.join_lines(lines):
                yield piece
            yield export.write_end(len(things) + 1)
