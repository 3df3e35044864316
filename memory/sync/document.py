"""The statements of all computers as one pycrdt document, and the rule that resolves conflicts (docs/sync.md).

The document has a map per kind of item. Each computer has its own entry per item, so no computer overwrites another's;
`resolve` picks the value from these entries. pycrdt merges updates in any order, repeatedly or late, with the same
result."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import msgspec
from pycrdt import Doc, Map, merge_updates

MACHINE = "machine"
FORGETTINGS = ("file", "passage", "object", "fact")
ITEMS = ("note", "read", "correction", "decision", "verdict", "chat", "message")  # in the order they are taken in


class SharedEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One computer's statement about an item. `n`: its Lamport counter; `t`: its clock in ms UTC, for display only;
    `seen`: the entries of the item that it knew ({computer: counter}); `after`: the counter of the last deletion that
    it knew. `gone`: the item was deleted."""

    n: int
    t: int
    seen: dict[str, int] = {}
    after: int = 0
    gone: bool = False
    value: Any = None


class Resolved(msgspec.Struct, frozen=True):
    """The current value of an item, or None if it is `gone`. `others`: values stated concurrently; `machine` and `n`:
    the winning entry; `forgotten`: the counter of the last deletion (0: never deleted); `dead`: the computers whose
    entries have text of a deleted item."""

    value: Any
    machine: str
    n: int
    gone: bool
    forgotten: int
    others: tuple[Any, ...] = ()
    dead: tuple[str, ...] = ()


def resolve(entries: Mapping[str, SharedEntry]) -> Resolved:
    """Resolves the entries of an item: a deletion wins over entries that did not know of it; otherwise the highest
    counter wins, on ties the greater name of a computer."""
    forgotten = max(entry.n if entry.gone else entry.after for entry in entries.values())
    alive = {name: entry for name, entry in entries.items() if not entry.gone and entry.after >= forgotten}
    dead = tuple(name for name, entry in entries.items() if not entry.gone and name not in alive)
    if not alive:
        name = max(entries, key=lambda name: (entries[name].n, name))
        return Resolved(None, name, entries[name].n, True, forgotten, (), dead)
    machine = max(alive, key=lambda name: (alive[name].n, name))
    best = alive[machine]
    others = {
        msgspec.json.encode(entry.value): entry.value
        for name, entry in sorted(alive.items())
        if name != machine and best.seen.get(name, 0) < entry.n and entry.value != best.value
    }
    return Resolved(best.value, machine, best.n, False, forgotten, tuple(others.values()), dead)


class SyncDocument:
    """One computer's copy of the CRDT document."""

    def __init__(self) -> None:
        self._doc: Doc[Any] = Doc()
        self._written = self._doc.get_state()
        self.is_changed = False  # since `note_written`
        self._is_kept = True  # all own changes are in `_own`
        self._own: list[bytes] = []

    def merge(self, update: bytes) -> None:
        """Merges another computer's update. ValueError for invalid bytes."""
        self._keep_own()
        self._doc.apply_update(update)
        self._written = self._doc.get_state()

    def list_entries(self, kinds: Iterable[str] = (*FORGETTINGS, *ITEMS)) -> dict[str, dict[str, SharedEntry]]:
        """Returns {key of an item: {computer: its entry}}; skips invalid entries."""
        entries: dict[str, dict[str, SharedEntry]] = {}
        for kind in kinds:
            for place, text in self._map(kind).items():
                hash, _, machine = place.partition("/")
                with suppress(msgspec.MsgspecError, TypeError):
                    entries.setdefault(f"{kind}:{hash}", {})[machine] = msgspec.json.decode(text, type=SharedEntry)
        return entries

    def put(self, key: str, machine: str, entry: SharedEntry) -> None:
        kind, hash = key.split(":")
        self.is_changed, self._is_kept = True, False
        self._map(kind)[f"{hash}/{machine}"] = msgspec.json.encode(entry).decode()

    def remove(self, key: str, machine: str) -> None:
        """Removes an entry; later updates and snapshots do not contain its text."""
        kind, hash = key.split(":")
        self.is_changed, self._is_kept = True, False
        del self._map(kind)[f"{hash}/{machine}"]

    def own_update(self) -> bytes:
        """Encodes the changes since `note_written`."""
        self._keep_own()
        return bytes(merge_updates(*self._own))

    def snapshot(self) -> bytes:
        """Encodes the whole document as one update."""
        return bytes(self._doc.get_update())

    def note_written(self) -> None:
        """Marks all changes as written to a file."""
        self._keep_own()
        self._own, self.is_changed = [], False

    def _keep_own(self) -> None:
        if not self._is_kept:
            self._own.append(self._doc.get_update(self._written))
            self._is_kept = True
        self._written = self._doc.get_state()

    def _map(self, kind: str) -> "Map[str]":
        entries: Map[str] = self._doc.get(kind, type=Map)
        return entries
