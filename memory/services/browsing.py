"""Browsing a memory: search by words, the surroundings of an object, the text of a note; and exporting all of it."""

import re
from collections.abc import Hashable, Iterable, Iterator, Set
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

import msgspec
import numpy as np

from memory.errors import NotFoundError
from memory.nouns import Fact
from memory.revisions import FactTimeline, Revision, TimelineValue
from memory.services import read_by
from memory.services.knowledge import Knowledge
from memory.services.state import State
from memory.store import browse, check, episodes, export, facts, neighbourhood, relations, sources
from memory.store.connect import Connection
from memory.text.mentions import is_name
from memory.time.timestamps import from_ms, now_ms, wall_of
from memory.views import (
    FactsReply,
    GraphReply,
    HistoryReply,
    ListedSource,
    MentionedIn,
    Neighbour,
    NoteReply,
    ObjectReply,
    Stats,
)

MAX_FACTS = 500  # of an object or a note, that are looked at
MAX_REVISIONS, MAX_CHANGES = 500, 1000  # of an object that are looked at, and for its facts alone
SAME_WORDS = 0.6  # share of a sentence's words that its relations have, so that it says no more than they
WORD = re.compile(r"\w+")
MAX_NOTES = 100
MAX_SHOWN = 200  # passages of a note
MAX_NEIGHBOURS = 40
MAX_PASSAGES = 300  # the newest, from which recent notes and names are taken
CANDIDATES = 3  # frequent objects for each that is wanted: some are no things


class Browsing:
    """Read-only views for a person."""

    def __init__(self, state: State, knowledge: Knowledge) -> None:
        self._state = state
        self._store = state.store
        self._knowledge = knowledge

    find_objects = read_by(browse.find_objects)
    find_facts = read_by(browse.find_facts)
    find_sources = read_by(browse.find_sources)
    read_source = read_by(browse.read_source)

    def stats(self) -> Stats:
        """Counts live rows and measures the file."""
        return self._store.read(check.count_live, self._store.path, self._state.serving.embedder.name)

    def list_recent(self, limit: int) -> tuple[list[ListedSource], list[str]]:
        """Returns (up to `limit` of the notes read last, newest first; as many of the names they mention most)."""
        with self._store.reading() as conn:
            newest = browse.list_newest_episodes(conn, MAX_PASSAGES)
            things = [label for _, label in browse.list_mentioned_things(conn, newest, MAX_PASSAGES)]
            names = list(filter(is_name, things))[:limit]  # a file that is called "todo" is not named
            return browse.list_newest_notes(conn, newest, limit), names

    def facts(
        self, about: str, as_of: datetime | None = None, known_on: datetime | None = None, history: bool = False
    ) -> FactsReply:
        """Lists the relations, then the sentences that add something. Sentences that add hardly anything to their
        relations, or state a relation that is no longer valid, are left out. NotFoundError."""
        knowledge = self._knowledge
        with self._store.reading() as conn:
            listed = knowledge.facts(about, as_of=as_of, history=history, known_on=known_on)
            ever = listed if history else knowledge.facts(about, history=True)
            open_ones = knowledge.revisions("open", MAX_CHANGES, about)
            sentences = [fact for fact in listed if fact.origin == "sentence"]
            known = [fact for fact in ever if known_on is None or fact.recorded <= known_on]
            stated = _list_relations(conn, sentences, known)
        holding = {fact.id for fact in listed}
        covered = {fact.id for fact in sentences if _is_covered(fact, stated[fact.episode_id], holding)}
        listed = sorted((fact for fact in listed if fact.id not in covered), key=lambda fact: fact.kind != "relation")
        shown = {fact.id for fact in listed}
        disputes = [
            pair for pair in open_ones if pair.relation == "contradicts" and {pair.old.id, pair.new.id} <= shown
        ]
        return FactsReply(about, tuple(listed), tuple(disputes))

    def history(self, about: str) -> HistoryReply:
        """Returns how the facts about an object changed. NotFoundError."""
        with self._store.reading():
            listed = self._knowledge.facts(about, history=True)
            known = self._knowledge.revisions("all", MAX_CHANGES, about)
        return HistoryReply(about, make_timelines(listed, known))

    def object(self, name: str) -> ObjectReply:
        """Returns all that is known of an object, by any of its names. NotFoundError."""
        with self._store.reading() as conn:
            objects, now = self._knowledge.objects_named(conn, name), now_ms()
            names = browse.names_of(conn, objects)
            mentions, total = browse.list_mentioning(conn, objects, MAX_NOTES)
            ever = facts.list_about(conn, objects, now, wall_of(now), history=True, relations=True)[:MAX_FACTS]
            return ObjectReply(
                next((spelling for spelling in names if spelling.casefold() == name.casefold()), name),
                tuple(names),
                tuple(fact for fact in ever if fact.holds),
                make_timelines(ever, self._knowledge.revisions("all", MAX_REVISIONS, name)),
                tuple(_quote_mentions(conn, mentions, names)),
                total,
                tuple(_list_neighbours(conn, objects, now)),
            )

    def graph(self, about: str, limit: int) -> GraphReply:
        """Returns up to `limit` vertices: the best connected ones of the whole memory, or those around an object, by
        any of its names, or a source, by its uri. NotFoundError."""
        with self._store.reading() as conn:
            center, objects, notes = self._choose_vertices(conn, about, limit)
            vertices = neighbourhood.read_vertices(conn, objects, notes)
            return GraphReply(tuple(center), vertices, neighbourhood.read_edges(conn, objects, notes))

    def _choose_vertices(self, conn: Connection, about: str, limit: int) -> tuple[list[int], list[int], list[int]]:
        """Returns the central vertices, all objects, and all sources."""
        if not about:
            objects = neighbourhood.list_things(conn, self._list_frequent(CANDIDATES * limit), limit * 2 // 3)
            return [], objects, neighbourhood.list_sources(conn, objects, limit - len(objects))
        if (source := sources.get(conn, about)) is not None:
            return [-source.id], neighbourhood.list_mentioned(conn, source.id, limit - 1), [source.id]
        center = list(self._knowledge.objects_named(conn, about))
        objects = center + neighbourhood.list_joined(conn, center, limit // 2)
        return center, objects, neighbourhood.list_sources(conn, center, limit - len(objects))

    def _list_frequent(self, limit: int) -> list[int]:
        """Returns ids of the objects mentioned in the most passages, most frequent first."""
        graph = self._state.serving.snapshot.graph
        frequency = np.where(graph.leads_nowhere, 0, graph.document_frequency)
        ids: list[int] = graph.object_ids[np.argsort(-frequency, kind="stable")[:limit]].tolist()
        return ids

    def note(self, uri: str) -> NoteReply:
        """Returns a source, its first passages, and the relations extracted from them. NotFoundError."""
        with self._store.reading() as conn:
            source, read, tags, models, ids = browse.read_source(conn, uri)
            passages = episodes.get_many(conn, ids[:MAX_SHOWN])
            stated = [id for id, *_ in relations.list_by_episodes(conn, list(ids[:MAX_SHOWN]))]
            listed = facts.get_many(conn, list(dict.fromkeys(stated))[:MAX_FACTS])
            shown = tuple(passage.to_passage() for passage in passages)
            return NoteReply(source, from_ms(read), tags, models, shown, tuple(listed))

    # Export ---------------------------------------------------------------------------------------

    def export_rows(self, version: str, unmask: bool = False) -> Iterator[bytes]:
        """Yields all rows from which `Memory.load` recreates the memory, as lines of JSON in pieces of whole lines: a
        header, the rows, an end. One thread must read it to the end. Masked text stays masked, with the secrets in
        separate lines if `unmask`."""
        kinds = [kind for kind in export.KINDS if unmask or kind.table != "secret"]
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

    def export_pages(self, version: str) -> Iterator[bytes]:
        """Yields all that is known of each thing, as lines, like `export_rows`."""
        encode = msgspec.json.Encoder().encode
        with self._store.reading() as conn:
            things = browse.list_notable_things(conn)
            yield export.write_header(version, {"page": len(things)})
            lines = (encode({"type": "page", "id": id} | self._read_page(name)) + b"\n" for id, name in things)
            for piece, _ in export.join_lines(lines):
                yield piece
            yield export.write_end(len(things) + 1)

    def _read_page(self, name: str) -> dict[str, Any]:
        """Returns what is known of a thing; {} if nothing is known."""
        try:
            page = self.object(name)
        except NotFoundError:
            return {}
        return {item.name: getattr(page, item.name) for item in fields(page)}


def make_timelines(listed: Iterable[Fact], known: Iterable[Revision]) -> tuple[FactTimeline, ...]:
    """Groups relations of one subject and predicate into timelines in chronological order, last changed first.
    Predicates connected by revisions ("works at", "moved to") share a timeline under the newest name; so do edited
    versions of a sentence, under the name of their note."""
    ended = {pair.old.id: pair for pair in sorted(known, key=lambda pair: pair.id) if _is_ending(pair)}
    relations = {fact.id: fact for fact in listed if fact.kind == "relation" and fact.predicate}
    relations |= {
        fact.id: fact for pair in ended.values() for fact in (pair.old, pair.new) if fact.origin == "sentence"
    }
    for id in [id for id, fact in relations.items() if fact.retired and fact.predicate and id not in ended]:
        del relations[id]  # a duplicate, or never true: it has no time
    of: dict[int, Hashable] = {
        id: (fact.objects[0], fact.predicate) if fact.predicate else id for id, fact in relations.items()
    }
    for pair in ended.values():
        if pair.old.id in of and pair.new.id in of and of[pair.old.id] != of[pair.new.id]:
            old, new = of[pair.old.id], of[pair.new.id]
            of = {id: new if timeline == old else timeline for id, timeline in of.items()}
    woven: dict[Hashable, list[Fact]] = {}
    for id, fact in relations.items():
        woven.setdefault(of[id], []).append(fact)
    rows = [sorted(row, key=_find_begin) for row in woven.values()]
    rows.sort(key=lambda row: _find_begin(row[-1]), reverse=True)
    return tuple(
        FactTimeline(
            row[-1].objects[0] if row[-1].predicate else row[-1].uri.rpartition("/")[2],
            row[-1].predicate or "",
            tuple(TimelineValue(fact, ended.get(fact.id)) for fact in row),
        )
        for row in rows
    )


def _list_relations(
    conn: Connection, sentences: Iterable[Fact], known: Iterable[Fact]
) -> dict[int, list[tuple[str, Fact]]]:
    """Returns, by the episodes of these sentences, the relations each states, with the stating words."""
    stated = {fact.id: fact for fact in known if fact.kind == "relation"}
    ids = sorted({fact.episode_id for fact in sentences})
    by_episode: dict[int, list[tuple[str, Fact]]] = {id: [] for id in ids}
    texts = {episode.id: episode.text for episode in episodes.get_many(conn, ids)}
    for id, episode, start, end in relations.list_by_episodes(conn, ids):
        if id in stated and episode in texts:
            by_episode[episode].append((texts[episode][start:end], stated[id]))
    for fact in stated.values():  # retired ones are not among those
        if fact.episode_id in by_episode:
            by_episode[fact.episode_id].append((fact.quote, fact))
    return by_episode


def _is_covered(sentence: Fact, relations: Iterable[tuple[str, Fact]], holding: Set[int]) -> bool:
    """Whether a sentence adds hardly anything to the relations extracted from it, or states one that is no longer
    valid."""
    read = [(quote, fact) for quote, fact in relations if quote.strip() and quote.strip() in sentence.text]
    if any(fact.id not in holding and (fact.valid_to or fact.retired or fact.superseded_by) for _, fact in read):
        return True
    shown = [(quote, fact) for quote, fact in read if fact.id in holding]
    sentence_words = WORD.findall(sentence.text.lower())
    words = {word for quote, fact in shown for word in WORD.findall(f"{fact.text} {quote}".lower())}
    return bool(shown) and sum(word in words for word in sentence_words) >= SAME_WORDS * len(sentence_words)


def _is_ending(revision: Revision) -> bool:
    """Whether the revision ended the old fact; not if a person decided that the new one was never true."""
    stands = revision.state == "open" or (revision.state == "kept" and revision.new.retired is None)
    return stands and revision.relation in ("supersedes", "negates")


def _find_begin(fact: Fact) -> tuple[datetime, int]:
    return fact.valid_from or fact.valid_to or fact.recorded, fact.id


def _list_neighbours(conn: Connection, center: list[int], now: int) -> Iterator[Neighbour]:
    """Yields the objects around one object: by current relations, newest first, then by mentions."""
    edges = neighbourhood.explore(conn, center, now, MAX_NEIGHBOURS)
    ids = {id for edge in edges for id in (edge.source, edge.target)}
    names = {vertex.id: vertex.name for vertex in neighbourhood.read_vertices(conn, list(ids), [])}
    for edge in edges:
        forward = edge.source == center[0]
        yield Neighbour(names[edge.target if forward else edge.source], edge.relation, forward, edge.passages)


def _quote_mentions(
    conn: Connection, mentions: list[tuple[int, MentionedIn]], names: Iterable[str]
) -> list[MentionedIn]:
    """Returns the mentions, first in notes of that title, with the line of the first passage that contains one of the
    names, or the line below a heading that does."""
    by_id = {episode.id: episode for episode in episodes.get_many(conn, [id for id, _ in mentions])}
    called = {name.casefold() for name in names}
    quoted = []
    for id, mention in mentions:
        text = by_id[id].text
        lines = [(match.start(), match[0].strip()) for match in re.finditer(r".*\S.*", text)]
        naming = [line for line in lines if any(name in line[1].casefold() for name in called)] or lines
        below = (line for line in lines if line >= naming[0])
        start, quote = next((line for line in (*naming, *below) if not line[1].startswith("#")), naming[0])
        quoted.append(replace(mention, line=by_id[id].line_at(start), quote=quote))
    return sorted(quoted, key=lambda mention: mention.title.casefold() not in called)
