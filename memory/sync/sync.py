"""Synchronisation in rounds: each writes this computer's changes and adopts those of the others.

A round reads new files, compares the memory with the last agreement (`memory.store.synced`), writes this computer's
changes into the document, updates the memory to match it, stores the new agreement, and writes a file. The next round
completes an interrupted one: it states nothing twice, and states what was lost again with its earlier counter."""

from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from memory.errors import InvalidInputError, NotFoundError
from memory.memory import Memory
from memory.nouns import DISPUTED
from memory.protocols import Write, write_directly
from memory.store import shared, synced
from memory.store.synced import FORGOTTEN_HERE, Agreement
from memory.sync.document import FORGETTINGS, MACHINE, ResolvedItem, SharedEntry, SyncDocument, resolve
from memory.sync.folder import MOST_FILES, SharedFolder
from memory.sync.kinds import DROPPED, GONE, KINDS, NOTHING, Item, SharedKind, name_disputed
from memory.time.timestamps import from_ms, now_ms
from memory.views import SyncComputer, SyncState

MALFORMED = (KeyError, TypeError, ValueError, AttributeError)  # what a value of another shape raises
MOST_PASSES = 1000  # units of writing in a round: what is taken over may let more be taken over


class ComputerStatement(msgspec.Struct, frozen=True):
    """A computer's statement: the number of deletions applied to its files, and its first file."""

    name: str
    erased: int
    first: str = ""


class Sync:
    """Synchronises a memory through a folder, given the words of its key and this computer's name."""

    def __init__(self, memory: Memory, path: Path, machine: str, words: str) -> None:
        self.memory = memory
        self.folder = SharedFolder(path, machine, words)
        self._document = SyncDocument()
        self._kinds = {kind.name: kind(memory, self.folder.secret, machine) for kind in KINDS}
        self._generation = -1  # of the memory at the end of the last round
        self._checked = 0, 0  # the newest node and edge that were compared with what is forgotten
        self._waiting = 0
        self._forgotten = 0  # items that were ever forgotten
        self.state = SyncState(str(path), machine)
        memory.store.write(synced.set_secret, self.folder.secret)

    @property
    def is_due(self) -> bool:
        """Whether the memory or the folder changed since the last round. NotAvailableError."""
        changed = bool(self.folder.find_changes()) or not self.folder.has_all() or self._document.is_changed
        return changed or self.memory.store.generation != self._generation

    def run(self, write: Write = write_directly) -> None:
        """Runs one round; `write` runs its unit of writing. NotAvailableError if the folder is missing,
        InvalidInputError if this computer was removed from it."""
        self.folder.read(self.folder.find_changes(again=True), self._document.merge)
        self._leave_if_removed()
        for _ in range(MOST_PASSES):
            if not write(self._agree):
                break
        self._write_files()
        self._generation = self.memory.store.generation
        self._note_state()

    def _note_state(self) -> None:
        """Updates `state`, which other threads read; they must not touch the document during a round."""
        computers = tuple(
            SyncComputer(name, from_ms(entry.t), entry.value["erased"] < self._forgotten)
            for name, entry in sorted(self._list_computers().items())
            if not entry.gone
        )
        skipped = tuple(sorted(self.folder.problems.items()))
        self.state = SyncState(
            self.state.folder, self.folder.machine, computers, self._waiting, skipped, from_ms(now_ms())
        )

    def forget_machine(self, machine: str) -> None:
        """Removes a computer's files from the folder; its statements stay. NotFoundError, InvalidInputError."""
        if machine == self.folder.machine:
            raise InvalidInputError("That is this computer. Remove it from another one.")
        if machine not in self._list_computers():
            raise NotFoundError(f"There is no computer {machine} in {self.folder.path}. To see them: pal sync")
        self._state_computer(machine, gone=True)
        self._rewrite()
        self.folder.remove_machine(machine)
        self._note_state()

    # The unit -------------------------------------------------------------------------------------

    def _agree(self) -> bool:
        """States this memory's changes and adopts those of others; returns whether the memory changed."""
        entries = self._document.list_entries()
        with self.memory.store.reading() as conn:
            agreed = synced.list_agreed(conn)
            here = {key: item for kind in self._kinds.values() for key, item in kind.list_here(conn).items()}
            rows = self._state_changes(conn, entries, agreed, here)
        adopted: dict[str, dict[str, ResolvedItem]] = defaultdict(dict)
        forgotten: dict[str, set[str]] = defaultdict(set)
        disputed: set[str] = set()
        self._forgotten = 0
        for key, places in entries.items():
            item = resolve(places)
            self._forgotten += item.forgotten > 0
            if item.others:
                with suppress(*MALFORMED):
                    disputed |= {name_disputed(key, value) for value in self._kinds[_kind(key)].other_values(item)}
            for machine in item.dead:
                self._document.remove(key, machine)
                del places[machine]
            if (rows.get(key) or agreed.get(key, Agreement({}, ""))).seen != _count(places):
                name = _kind(key)
                if item.gone:
                    forgotten[name].add(key)
                else:
                    adopted[name][key] = item
        changed = self._forget(forgotten, agreed, here)
        rows |= {key: Agreement(_count(entries[key]), FORGOTTEN_HERE) for keys in forgotten.values() for key in keys}
        changed |= self._erase_late({*agreed, *rows}, forgotten)
        if settled := [note.uri for note in self.memory.sources.list_under(DISPUTED) if note.uri not in disputed]:
            self.memory.forgetting.forget_sources(settled)
        self._waiting = 0
        for name, kind in self._kinds.items():
            if not adopted[name]:
                continue
            done = self._adopt(kind, adopted[name])
            self._waiting += len(adopted[name]) - len(done)
            with self.memory.store.reading() as conn:
                now = kind.list_here(conn)
            rows |= {key: Agreement(_count(entries[key]), now[key].mark if key in now else "") for key in done}
            changed |= bool(done)
        if rows:
            self.memory.store.write(synced.put, rows)
        return changed

    def _adopt(self, kind: SharedKind, items: Mapping[str, ResolvedItem]) -> set[str]:
        """Adopts items; skips those with an invalid value and notes their computers as a problem."""
        try:
            return kind.adopt(items)
        except MALFORMED as error:
            if len(items) > 1:
                pairs = [*items.items()]
                half = len(pairs) // 2
                return self._adopt(kind, dict(pairs[:half])) | self._adopt(kind, dict(pairs[half:]))
            [item] = items.values()
            self.folder.problems[item.machine] = (
                f"an item of the kind {kind.name} is malformed ({type(error).__name__})"
            )
            return set()

    def _state_changes(
        self,
        conn: Any,
        entries: dict[str, dict[str, SharedEntry]],
        agreed: Mapping[str, Agreement],
        here: Mapping[str, Item],
    ) -> dict[str, Agreement | None]:
        """Writes this memory's changes since the last agreement into the document; returns the new agreements."""
        own = self.folder.machine
        clock = max((n for row in agreed.values() for n in row.seen.values()), default=0)
        rows: dict[str, Agreement | None] = {}

        def state(key: str, mark: str, value: Any, gone: bool = False, n: int = 0) -> None:
            places, row = entries.setdefault(key, {}), agreed.get(key, Agreement({}, ""))
            known = [entry for name, entry in places.items() if row.seen.get(name, 0) >= entry.n]
            after = max((entry.n if entry.gone else entry.after for entry in known), default=0)
            n = n or max(clock, places[own].n if own in places else 0) + 1
            places[own] = SharedEntry(n, now_ms(), row.seen, 0 if gone else after, gone, value)
            self._document.put(key, own, places[own])
            if len(places) == 1 or row.seen | {own: n} == _count(places):
                rows[key] = Agreement(_count(places), mark)

        for key, item in here.items():
            kind, row, places = self._kinds[_kind(key)], agreed.get(key), entries.get(key)
            if row is not None and row.local == item.mark:
                if not places and row.seen:  # the files that had it were lost
                    state(key, item.mark, _plain(kind.describe(conn, item.row)), n=max(row.seen.values()))
                continue
            value = _plain(kind.describe(conn, item.row))
            current = resolve(places) if places else None
            if current is not None and not current.gone and current.value == value and not current.others:
                rows[key] = Agreement(_count(entries[key]), item.mark)  # stated elsewhere, or before a crash
            else:
                state(key, item.mark, value)
        for key, row in agreed.items():
            name, places = _kind(key), entries.get(key, {})
            if row.local == FORGOTTEN_HERE:
                is_stated = any(entry.gone or entry.after for entry in places.values())
                if key not in here and not is_stated:
                    state(key, FORGOTTEN_HERE, None, gone=True, n=max(row.seen.values(), default=0))
            elif key not in here and row.local:
                current = resolve(places) if places else None
                value = current.value if current is not None else None
                became: Any = NOTHING
                with suppress(*MALFORMED):
                    became = self._kinds[name].miss(conn, value) if value is not None else NOTHING
                if became is GONE:
                    state(key, FORGOTTEN_HERE, None, gone=True)
                elif became is DROPPED:
                    for machine in [*places]:
                        self._document.remove(key, machine)
                    entries.pop(key, None)
                    rows[key] = None
                elif became is NOTHING:
                    rows[key] = Agreement(row.seen, "")
                else:
                    state(key, "", became)
        return rows

    # Forgetting -----------------------------------------------------------------------------------

    def _forget(
        self, forgotten: Mapping[str, set[str]], agreed: Mapping[str, Agreement], here: Mapping[str, Item]
    ) -> bool:
        """Deletes items that were deleted on another computer; returns whether there were any."""
        memory, secret = self.memory, self.folder.secret
        for name, kind in self._kinds.items():
            if rows := [here[key].row for key in forgotten.get(name, ()) if key in here]:
                kind.forget(rows)
        fresh = {kind: {key for key in forgotten.get(kind, ()) if key not in agreed} for kind in FORGETTINGS}
        with memory.store.reading() as conn:
            names = shared.objects_with_key(conn, secret, fresh["object"]) if fresh["object"] else []
            uris = shared.files_with_key(conn, secret, fresh["file"]) if fresh["file"] else []
        for name in names:
            with suppress(NotFoundError):
                memory.forgetting.forget(object=name)
        if uris:
            memory.forgetting.forget_sources(uris)
        return any(forgotten.values())

    def _erase_late(self, keys: set[str], forgotten: Mapping[str, set[str]]) -> bool:
        """Deletes passages and facts of these keys, including those of files that arrived after the deletion."""
        if any(forgotten.get(kind) for kind in ("passage", "fact")):
            self._checked = 0, 0
        node, edge = self._checked
        with self.memory.store.reading() as conn:
            newest = shared.last_ids(conn)
            passages = facts = []
            if any(key.startswith("passage:") for key in keys):
                hashes = shared.hashes_of(conn, (), after=node)
                passages = [id for id, sha in hashes.items() if self._make_key("passage", sha) in keys]
            if any(key.startswith("fact:") for key in keys):
                refs = shared.fact_refs(conn, shared.facts_after(conn, node, edge))
                facts = [id for id, ref in refs.items() if self._make_key("fact", *ref) in keys]
        for id in facts:
            with suppress(NotFoundError):  # it went with one that it duplicates
                self.memory.forgetting.forget(fact=id)
        for id in passages:
            self.memory.forgetting.forget(episode=id)
        self._checked = newest  # not before: after an error all of them are looked at again
        return bool(facts or passages)

    def _make_key(self, kind: str, *parts: object) -> str:
        return synced.make_key(self.folder.secret, kind, *parts)

    # Computers and files --------------------------------------------------------------------------

    def _list_computers(self) -> dict[str, SharedEntry]:
        """Returns {computer: its latest statement}."""
        stated = [entry for places in self._document.list_entries([MACHINE]).values() for entry in places.values()]
        computers: dict[str, SharedEntry] = {}
        for entry in sorted(stated, key=lambda entry: (entry.gone, entry.n)):
            with suppress(msgspec.ValidationError):
                computers[msgspec.convert(entry.value, ComputerStatement).name] = entry
        return computers

    def _state_computer(self, machine: str, gone: bool = False, first: str = "") -> None:
        """Writes a statement about a computer. `first`: its first file, "" if unchanged."""
        before = self._list_computers().get(machine)
        first = first or (before.value.get("first", "") if before else "")
        value = {"name": machine, "erased": 0 if gone else self._forgotten, "first": first}
        entry = SharedEntry(before.n + 1 if before else 1, now_ms(), gone=gone, value=value)
        self._document.put(self._make_key(MACHINE, machine), self.folder.machine, entry)

    def _leave_if_removed(self) -> None:
        for name, entry in self._list_computers().items():
            if entry.gone and name == self.folder.machine:
                raise InvalidInputError(
                    "This computer was removed from the folder by another one. To take part again: pal sync init"
                )
            if entry.gone:
                self.folder.remove_machine(name)

    def _write_files(self) -> None:
        """Writes this computer's changes, or the whole document if there are too many files, one is missing, or text
        must be erased. Files older than the last rewrite are left from a crash and may have deleted text."""
        own, current = self.folder.list_own(), self._list_computers().get(self.folder.machine)
        has_forgotten = current is None or current.value["erased"] < self._forgotten
        is_whole = current is not None and own[:1] == [current.value.get("first")] and self.folder.has_all()
        if has_forgotten or not is_whole or len(own) >= MOST_FILES:
            self._rewrite()
        elif self._document.is_changed:
            self._state_computer(self.folder.machine)
            self.folder.write(self._document.own_update())
            self._document.note_written()

    def _rewrite(self) -> None:
        """Writes the whole document as this computer's first file."""
        self._state_computer(self.folder.machine, first=self.folder.next_name())
        self.folder.rewrite(self._document.snapshot())
        self._document.note_written()


def _count(places: Mapping[str, SharedEntry]) -> dict[str, int]:
    return {name: entry.n for name, entry in sorted(places.items())}


def _kind(key: str) -> str:
    return key.partition(":")[0]


def _plain(value: Any) -> Any:
    """Returns the value after a round trip through JSON."""
    return msgspec.json.decode(msgspec.json.encode(value))
