"""The kinds of synchronised items: how each is read from the memory, and how the memory is updated to match.

`adopt` is idempotent. If what an item refers to is missing, such as a note in a folder that another program is still
copying, the item waits."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple

from memory.errors import InvalidInputError, NotFoundError
from memory.facts.extraction import OWNER, ExtractedRelation, ExtractedThesis, Extraction
from memory.memory import Memory
from memory.nouns import BY_HAND, DISPUTED, Document, FactRelation, Trace
from memory.revisions import Decision
from memory.store import conversations, revisions, shared, synced, traces
from memory.store.connect import Connection
from memory.sync.document import ResolvedItem, draft_note, pack_note
from memory.text.predicates import statement
from memory.time.timestamps import from_wall
from memory.trace import OPINIONS, opinion

WITHHELD = "[This answer stays on {}: it cites a folder that is not synchronised. To allow it there: pal sync allow]"
WORDS_OF = {"supersedes": "supersedes", "negates": "ends", "contradicts": "contradicts", "duplicates": "duplicates"}

AT_ONCE = 200  # passages whose facts are asserted in one unit of writing

GONE, NOTHING, DROPPED = object(), object(), object()
"""What became of an item that is missing: it was forgotten; nothing that others should know; its text must go."""


def name_disputed(key: str, value: str) -> str:
    """Returns the uri of the note that holds a concurrent value of an item from another computer."""
    return f"{DISPUTED}{shared.hash_text(key)}/{shared.hash_text(value)}"


class Item(NamedTuple):
    """An item of this memory. `mark` changes with it; `row` is the input of `SharedKind.describe`."""

    mark: str
    row: Any


class SharedKind(ABC):
    """A kind of items. `machine` is this computer's name."""

    name: ClassVar[str]
    missing: ClassVar[object] = NOTHING  # what became of an item that was here and is not

    def __init__(self, memory: Memory, secret: bytes, machine: str) -> None:
        self.memory = memory
        self.secret = secret
        self.machine = machine

    @abstractmethod
    def list_here(self, conn: Connection) -> dict[str, Item]:
        """Lists the items of this memory by key."""

    @abstractmethod
    def describe(self, conn: Connection, row: Any) -> Any:
        """Returns the item's value for other computers, as JSON."""

    @abstractmethod
    def adopt(self, items: Mapping[str, ResolvedItem]) -> set[str]:
        """Updates the memory to match these items; returns the keys that now match."""

    def miss(self, conn: Connection, value: Any) -> Any:
        """Returns the deletion or other value to state for an item that no longer exists here."""
        return self.missing

    def forget(self, rows: Collection[Any]) -> None:  # noqa: B027 - of most kinds nothing is left to remove
        """Deletes items for good that were deleted on another computer."""

    def key(self, *parts: object) -> str:
        return synced.make_key(self.secret, self.name, *parts)

    def other_values(self, item: ResolvedItem) -> list[str]:
        """Returns concurrent values of other computers, for kinds whose conflicts are reviewed."""
        return []

    def dispute(self, key: str, fact: int, item: ResolvedItem) -> None:
        """Queues other computers' concurrent values for review."""
        values = self.other_values(item)
        stated = self.memory.knowledge.fact(fact)
        for row in self.memory.knowledge.revisions("open"):  # this computer's own value was replaced a moment ago
            if row.relation == "supersedes" and row.new.uri == row.old.uri == stated.uri:
                self.memory.knowledge.undo(row.id)
        for value in values:
            text = statement(stated.objects[0], stated.predicate or "is", value)
            note = Document(name_disputed(key, value), text, title="Said by hand", at=stated.valid_from)
            if self.memory.sources.get(note.uri) is None:
                (receipt,) = self.memory.ingest.remember_many([note])
                self.memory.knowledge.dispute(fact, value, receipt.episode_ids[0])


class Notes(SharedKind):
    """Notes without a file: remembered ones, statements in the chat, the profile, notes and sessions of agents."""

    name, missing = "note", GONE

    def list_here(self, conn: Connection) -> dict[str, Item]:
        notes = reversed(shared.list_notes(conn))
        return {self.key(uri): Item(mark, (id, uri, mark)) for id, uri, mark in notes}

    def describe(self, conn: Connection, row: tuple[int, str, str]) -> Any:
        id, uri, mark = row
        return pack_note(conn, id) if mark else {"uri": uri, "retired": True}

    def adopt(self, items: Mapping[str, ResolvedItem]) -> set[str]:
        stated = [item for item in items.values() if "retired" not in item.value]
        drafts = [draft_note(item.value, self.memory.state.settings.rules) for item in stated]
        if drafts:
            self.memory.ingest.remember_many(self.memory.ingest.embed_drafts(drafts))
        for item in items.values():
            if "retired" in item.value:
                with suppress(NotFoundError):
                    self.memory.ingest.retire(item.value["uri"])
        for key, item in items.items():
            if self.other_values(item):  # an entry of the profile
                facts = [fact for entry in self.memory.knowledge.profile().entries for fact in entry.facts]
                if fact := next((fact for fact in facts if fact.uri == item.value["uri"]), None):
                    self.dispute(key, fact.id, item)
        return set(items)

    def other_values(self, item: ResolvedItem) -> list[str]:
        values = [other.get("document", {}).get("properties", {}).values() for other in item.others]
        return [str(value) for each in values for value in each] if "document" in item.value else []

    def forget(self, rows: Collection[tuple[int, str, str]]) -> None:
        for _, uri, _ in rows:
            with suppress(NotFoundError):
                self.memory.forgetting.forget_sources([uri])


class Reads(SharedKind):
    """Facts that a model extracted from a passage, so that other computers need not extract them again."""

    name, missing = "read", DROPPED

    def list_here(self, conn: Connection) -> dict[str, Item]:
        rows = shared.list_read(conn)
        return {self.key(sha): Item(mark, (passage, sha, model)) for passage, sha, model, mark in rows}

    def describe(self, conn: Connection, row: tuple[int, str, str]) -> Any:
        passage, sha, model = row
        relations, theses = shared.read_relations(conn, passage, model), shared.read_theses(conn, passage)
        return {"passage": sha, "model": model, "relations": relations, "theses": theses}

    def adopt(self, items: Mapping[str, ResolvedItem]) -> set[str]:
        with self.memory.store.reading() as conn:
            here = shared.passages_by_hash(conn, {item.value["passage"] for item in items.values()})
            read = shared.read_among(conn, {id for ids in here.values() for id in ids})
        extractions: dict[str, dict[int, Extraction]] = defaultdict(dict)
        done = {key for key, item in items.items() if read.issuperset(here.get(item.value["passage"], [-1]))}
        for key in [key for key, item in items.items() if key not in done and item.value["passage"] in here][:AT_ONCE]:
            value = items[key].value
            extraction = _read_extraction(value)
            extractions[value["model"]] |= {id: extraction for id in here[value["passage"]] if id not in read}
            done.add(key)
        for model, by_episode in sorted(extractions.items()):
            with self.memory.knowledge.transaction() as asserter:  # what replaces what comes from there, too
                asserter.assert_extractions(by_episode, model)
        return done


def _read_extraction(value: Any) -> Extraction:
    relations = tuple(
        ExtractedRelation(
            subject=OWNER if subject is None else subject, predicate=predicate,
            object=OWNER if named is None else named,
            start=-1 if start is None else start, end=-1 if end is None else end, modality=modality,
            valid_from=from_wall(begin), valid_to=from_wall(until), conf=conf,
        )
        for subject, predicate, named, start, end, modality, begin, until, conf in value["relations"]
    )  # fmt: skip
    theses = tuple(
        ExtractedThesis(
            text=text, objects=tuple(names), start=start, end=end, modality=modality, valid_from=from_wall(begin),
            valid_to=from_wall(until),
        )
        for text, start, end, modality, begin, until, names in value["theses"]
    )  # fmt: skip
    return Extraction(relations, theses)


class Corrections(SharedKind):
    """Values of facts that the owner corrected by hand."""

    name = "correction"

    def list_here(self, conn: Connection) -> dict[str, Item]:
        rows = shared.list_corrections(conn)
        refs = shared.fact_refs(conn, [fact for _, fact, _, _ in rows])
        return {
            self.key(*refs[fact]): Item(value, (refs[fact], value, at)) for _, fact, value, at in rows if fact in refs
        }

    def describe(self, conn: Connection, row: tuple[shared.FactRef, str, int | None]) -> Any:
        ref, value, at = row
        return {"fact": list(ref), "value": value, "at": at}

    def miss(self, conn: Connection, value: Any) -> Any:
        facts = shared.find_facts(conn, [value["fact"]])
        return GONE if facts and self.memory.sources.get(f"{BY_HAND}{next(iter(facts.values()))}") is None else NOTHING

    def adopt(self, items: Mapping[str, ResolvedItem]) -> set[str]:
        with self.memory.store.reading() as conn:
            facts = shared.find_facts(conn, [item.value["fact"] for item in items.values()])
        done = set()
        for key, item in items.items():
            if (fact := facts.get((*item.value["fact"],))) is not None:
                done.add(key)
                self._correct(fact, item.value["value"], item.value["at"])
                now = self.memory.knowledge.fact(fact).superseded_by
                if self.other_values(item) and now is not None:
                    self.dispute(key, now, item)
        return done

    def other_values(self, item: ResolvedItem) -> list[str]:
        return [other["value"] for other in item.others if other["value"]] if item.value["value"] else []

    def _correct(self, fact: int, value: str, at: int | None) -> None:
        old, uri = self.memory.knowledge.fact(fact), f"{BY_HAND}{fact}"
        if not value:
            with suppress(NotFoundError):
                self.memory.ingest.retire(uri)
            return
        text = statement(old.objects[0], old.predicate or "is", value)
        (receipt,) = self.memory.ingest.remember_many([Document(uri, text, title="Said by hand", at=from_wall(at))])
        with suppress(InvalidInputError):  # it has that value
            self.memory.knowledge.correct(fact, value, receipt.episode_ids[0])


class Decisions(SharedKind):
    """The owner's decisions in the review, and a model's about pairs of facts; without text of notes."""

    name = "decision"

    def list_here(self, conn: Connection) -> dict[str, Item]:
        rows = shared.list_decisions(conn)
        refs = shared.fact_refs(conn, {fact for row in rows for fact in (row.old, row.new)})
        return {
            self.key(refs[row.old], refs[row.new]): Item(f"{row.relation} {row.verdict}", (row, refs))
            for row in rows
            if row.old in refs and row.new in refs
        }

    def describe(self, conn: Connection, row: tuple[shared.DecisionRow, dict[int, shared.FactRef]]) -> Any:
        decision, refs = row
        facts = {"old": list(refs[decision.old]), "new": list(refs[decision.new])}
        by_model = {"conf": decision.conf} if decision.author == "model" else {}
        return facts | {"relation": decision.relation, "verdict": decision.verdict} | by_model

    def miss(self, conn: Connection, value: Any) -> Any:
        row = self._find(conn, value)
        return value | {"verdict": "open"} if row is not None and row.state == "open" else NOTHING

    def adopt(self, items: Mapping[str, ResolvedItem]) -> set[str]:
        done = set()
        for key, item in items.items():
            with self.memory.store.reading() as conn:
                row = self._find(conn, item.value)
                facts = shared.find_facts(conn, [item.value["old"], item.value["new"]])
            if row is None and len(facts) == 2 and "conf" in item.value:
                old, new = facts[(*item.value["old"],)], facts[(*item.value["new"],)]
                relation: FactRelation = WORDS_OF[item.value["relation"]]  # type: ignore[assignment]
                decision = Decision(old, new, relation, item.value["conf"])
                self.memory.knowledge.apply_decisions([decision], "A model of another computer")
                with self.memory.store.reading() as conn:
                    row = self._find(conn, item.value)
            if row is not None:
                done.add(key)
                self._settle(row, item.value["verdict"])
        return done

    def _settle(self, row: revisions.Row, verdict: str) -> None:
        with self.memory.store.reading() as conn:
            now = {(each.old, each.new): each.verdict for each in shared.list_decisions(conn)}.get(
                (row.old, row.new), ""
            )
        if verdict == "undo" and now != "undo":
            self.memory.knowledge.undo(row.id)
        elif verdict not in ("", "undo", now) and not (verdict == "open" and row.state == "open"):
            self.memory.knowledge.settle(row.id, verdict)  # type: ignore[arg-type]

    def _find(self, conn: Connection, value: Any) -> revisions.Row | None:
        facts = shared.find_facts(conn, [value["old"], value["new"]])
        return revisions.find_between(conn, *facts.values()) if len(facts) == 2 else None


class Verdicts(SharedKind):
    """The owner's verdicts on answers, by question and time. Learned edge memory is not synchronised."""

    name = "verdict"

    def list_here(self, conn: Connection) -> dict[str, Item]:
        return {self.key(row[1], row[0]): Item(str(row[2]), row) for row in shared.list_verdicts(conn)}

    def describe(self, conn: Connection, row: tuple[int, str, int]) -> Any:
        t, question, feedback = row
        return {"question": question, "t": t, "verdict": opinion(feedback)}

    def miss(self, conn: Connection, value: Any) -> Any:
        is_there = shared.find_trace(conn, value["t"], value["question"]) is not None
        return value | {"verdict": None} if is_there else NOTHING

    def adopt(self, items: Mapping[str, ResolvedItem]) -> set[str]:
        with self.memory.store.writing() as conn:
            for item in items.values():
                question, t = item.value["question"], item.value["t"]
                id = shared.find_trace(conn, t, question)
                id = traces.store(conn, Trace(question), None, t) if id is None else id
                traces.set_feedback(conn, id, OPINIONS.get(item.value["verdict"]))
        return set(items)


class Chats(SharedKind):
    """Titles of chats with the memory."""

    name, missing = "chat", GONE

    def list_here(self, conn: Connection) -> dict[str, Item]:
        return {self.key(row[1]): Item(shared.hash_text(row[2]), row) for row in shared.list_chats(conn)}

    def describe(self, conn: Connection, row: tuple[int, int, str]) -> Any:
        return {"created": row[1], "title": row[2]}

    def adopt(self, items: Mapping[str, ResolvedItem]) -> set[str]:
        with self.memory.store.writing() as conn:
            for item in items.values():
                created, title = item.value["created"], item.value["title"]
                if (id := shared.find_chat(conn, created)) is None:
                    conversations.create(conn, title, created)
                else:
                    conversations.rename(conn, id, title)
        return set(items)

    def forget(self, rows: Collection[tuple[int, int, str]]) -> None:
        for id, _, _ in rows:
            self.memory.conversations.delete(id)


class Messages(SharedKind):
    """Messages of chats with the memory, one item each: two computers may continue one chat."""

    name, missing = "message", GONE

    def list_here(self, conn: Connection) -> dict[str, Item]:
        return {
            self.key(row.chat, row.role, row.t, row.words): Item(row.mark, row) for row in shared.list_messages(conn)
        }

    def describe(self, conn: Connection, row: shared.MessageRow) -> Any:
        content = shared.read_message(conn, row.id)
        if row.is_withheld:
            content |= {"text": WITHHELD.format(self.machine), "cited": []}
        return {"chat": row.chat, "role": row.role, "t": row.t, "asked": row.asked} | content

    def adopt(self, items: Mapping[str, ResolvedItem]) -> set[str]:
        done = set()
        with self.memory.store.writing() as conn:
            for key, item in sorted(
                items.items(), key=lambda pair: (pair[1].value["t"], pair[1].value["role"] != "user")
            ):
                message = item.value
                if (chat := shared.find_chat(conn, message["chat"])) is None:
                    continue
                done.add(key)
                role, t = message["role"], message["t"]
                id = shared.find_message(conn, chat, role, t, message["text"])
                if id is None:
                    id = conversations.append(conn, chat, role, message["text"], t)
                trace = message["asked"] and shared.find_trace(conn, message["asked"])
                shared.write_message(conn, id, message, trace)
        return done

    def forget(self, rows: Collection[shared.MessageRow]) -> None:
        with self.memory.store.writing() as conn:
            shared.delete_messages(conn, [row.id for row in rows])


KINDS = (Notes, Reads, Corrections, Decisions, Verdicts, Chats, Messages)
