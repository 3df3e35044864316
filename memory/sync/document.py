"""The statements of all computers as one pycrdt document, the rule that resolves conflicts (docs/sync.md), and notes
without a file as JSON: their passages keep their hashes, to which decisions refer.

The document has a map per kind of item. Each computer has its own entry per item, so no computer overwrites another's;
`resolve` picks the value from these entries. pycrdt merges updates in any order, repeatedly or late, with the same
result."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import msgspec
from pycrdt import Doc, Map, merge_updates

from memory.facts.rules.extract import extract_by_rules
from memory.facts.rules.fields import find_headings
from memory.ingest.chunk import Draft
from memory.ingest.draft import DocumentDraft
from memory.nouns import TOLD, Document, TurnStart
from memory.store import shared
from memory.store.connect import Connection
from memory.text import mentions as mention_rules
from memory.text.sentences import sentences
from memory.time.timestamps import from_wall, to_wall

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


class ResolvedItem(msgspec.Struct, frozen=True):
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


def resolve(entries: Mapping[str, SharedEntry]) -> ResolvedItem:
    """Resolves the entries of an item: a deletion wins over entries that did not know of it; otherwise the highest
    counter wins, on ties the greater name of a computer."""
    forgotten = max(entry.n if entry.gone else entry.after for entry in entries.values())
    alive = {name: entry for name, entry in entries.items() if not entry.gone and entry.after >= forgotten}
    dead = tuple(name for name, entry in entries.items() if not entry.gone and name not in alive)
    if not alive:
        name = max(entries, key=lambda name: (entries[name].n, name))
        return ResolvedItem(None, name, entries[name].n, True, forgotten, (), dead)
    machine = max(alive, key=lambda name: (alive[name].n, name))
    best = alive[machine]
    others = {
        msgspec.json.encode(entry.value): entry.value
        for name, entry in sorted(alive.items())
        if name != machine and best.seen.get(name, 0) < entry.n and entry.value != best.value
    }
    return ResolvedItem(best.value, machine, best.n, False, forgotten, tuple(others.values()), dead)


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


FIELDS = ("kind", "reader", "ref", "conversation", "policy", "properties")


def pack_note(conn: Connection, source: int) -> dict[str, Any]:
    """Returns the note as JSON; times are ms of wall time, which is the same in every zone."""
    document = shared.read_document(conn, source)
    passages = [
        {
            "title": row.title, "text": row.text, "at": to_wall(row.at), "until": to_wall(row.until),
            "speaker": row.speaker, "refs": list(row.refs), "sha": sha, "line": row.line, "end_line": row.end_line,
            "turns": [[turn.start, turn.number, turn.speaker, to_wall(turn.at)] for turn in row.turns],
        }
        for row, sha in shared.read_passages(conn, source)
    ]  # fmt: skip
    fields = {name: getattr(document, name) for name in FIELDS}
    rest = {"at": to_wall(document.at), "tags": list(document.tags), "title": document.title}
    return {"uri": document.uri, "document": fields | rest, "passages": passages}


def draft_note(note: Any, rules: bool) -> DocumentDraft:
    """Drafts the note for a memory. `rules`: also extract facts by rules."""
    fields = dict(note["document"])
    at, tags, title = from_wall(fields.pop("at")), tuple(fields.pop("tags")), fields.pop("title")
    document = Document(note["uri"], title=title, at=at, tags=tags, **fields)
    passages = note["passages"]
    opening = passages[0]["text"] if passages else ""
    is_titled = not opening.startswith(title.rstrip("…")) and (document.reader != TOLD or bool(document.properties))
    drafts = tuple(
        _draft_passage(document, passage, number, is_titled, rules) for number, passage in enumerate(passages)
    )
    shared_mentions = tuple(mention_rules.property_mentions(document.properties))
    return DocumentDraft(document, title, drafts, shared_mentions, tuple(draft.sha256 for draft in drafts))


def _draft_passage(document: Document, passage: Any, number: int, is_titled: bool, rules: bool) -> Draft:
    text, title = passage["text"], passage["title"] if is_titled else ""
    turns = tuple(TurnStart(start, count, speaker, from_wall(at)) for start, count, speaker, at in passage["turns"])
    spans, at = tuple(sentences(text)), from_wall(passage["at"])
    draft = Draft(
        passage["title"], text, passage["line"], passage["end_line"], at, from_wall(passage["until"]),
        passage["speaker"], tuple(passage["refs"]), passage["sha"], spans,
        tuple(mention_rules.mentions(text, title, "columns" in document.properties)), turns=turns,
    )  # fmt: skip
    if not rules:
        return draft
    facts = extract_by_rules(
        text, title, at, passage["speaker"], document.properties, number == 0, chat=bool(turns), spans=spans,
        headings=find_headings(text, document.title or ""), typed=document.reader == TOLD,
    )  # fmt: skip
    return replace(draft, extraction=facts)
