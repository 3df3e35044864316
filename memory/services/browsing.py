"""Browsing a memory: search by words, the surroundings of an object, the text of a note; and exporting all of it."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec
import numpy as np

from memory.nouns import Fact
from memory.revisions import Revision
from memory.services import read_by
from memory.services.knowledge import Knowledge
from memory.services.state import State
from memory.store import browse, check, episodes, export, facts, neighbourhood, relations, sources
from memory.store.connect import Connection
from memory.text.mentions import is_name
from memory.time.timestamps import now_ms, wall_of
from memory.views import (
    GraphReply,
    ListedSource,
    MentionedIn,
    Neighbour,
    Stats,
)

MAX_FACTS = 500  # of an object or a note, that are looked at
MAX_REVISIONS = 500
MAX_NOTES = 100
MAX_NEIGHBOURS = 40
MAX_PASSAGES = 300  # the newest, from which recent notes and names are taken
CANDIDATES = 3  # frequent objects for each that is wanted: some are no things
TASK_STATES = ("open", "done", "dropped")  # as rules read them


class ObjectView(NamedTuple):
    """An object, by `name` as asked for: all relations with their history, and the newest notes that mention it."""

    name: str
    names: tuple[str, ...]
    facts: list[Fact]
    revisions: list[Revision]
    notes: tuple[MentionedIn, ...]
    notes_total: int
    neighbours: tuple[Neighbour, ...]


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

    def object(self, name: str) -> ObjectView:
        """Returns all that is known of an object, by any of its names. NotFoundError."""
        with self._store.reading() as conn:
            objects, now = self._knowledge.objects_named(conn, name), now_ms()
            names = browse.names_of(conn, objects)
            mentions, total = browse.list_mentioning(conn, objects, MAX_NOTES)
            return ObjectView(
                next((spelling for spelling in names if spelling.casefold() == name.casefold()), name),
                tuple(names),
                facts.list_about(conn, objects, now, wall_of(now), history=True, relations=True)[:MAX_FACTS],
                self._knowledge.revisions("all", MAX_REVISIONS, name),
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

    def facts_of(self, episodes: Iterable[int]) -> list[Fact]:
        """Returns the relations extracted from these passages, in order."""
        with self._store.reading() as conn:
            ids = [id for id, *_ in relations.list_by_episodes(conn, list(episodes))]
            return facts.get_many(conn, list(dict.fromkeys(ids))[:MAX_FACTS])

    def list_tasks(self) -> list[Fact]:
        """Lists the tasks in notes with their state, newest first."""
        with self._store.reading() as conn:
            ids = relations.list_labelled(conn, ["status"])[-MAX_FACTS:]
            tasks = facts.get_many(conn, ids[::-1])
        return [task for task in tasks if task.superseded_by is None and task.objects[-1] in TASK_STATES]

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

    def export_pages(self, version: str, make_page: Callable[[str], dict[str, Any]]) -> Iterator[bytes]:
        """Yields what `make_page` returns for the name of each thing with a page, as lines, like `export_rows`."""
        encode = msgspec.json.Encoder().encode
        with self._store.reading() as conn:
            things = browse.list_notable_things(conn)
            yield export.write_header(version, {"page": len(things)})
            lines = (encode({"type": "page", "id": id} | make_page(name)) + b"\n" for id, name in things)
            for piece, _ in export.join_lines(lines):
                yield piece
            yield export.write_end(len(things) + 1)


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
