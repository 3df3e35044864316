"""Browsing a memory: search by words, the surroundings of an object, the text of a note."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

import numpy as np

from memory.errors import NotFoundError
from memory.nouns import Fact, ListedSource, Revision
from memory.services.knowledge import Knowledge
from memory.services.state import State
from memory.store import browse, browse_graph, facts, neighbourhood, recent, relations, sources
from memory.store.browse import FoundObject, MentionedIn, Neighbour, ReadSource
from memory.store.browse_graph import Edge, Vertex
from memory.store.connect import Connection
from memory.store.neighbourhood import Joined
from memory.store.store import read_by
from memory.text.mentions import norm
from memory.text.words import strip_accents
from memory.time.timestamps import now_ms, to_wall, wall_of

MAX_FACTS = 500  # of an object or a note, that are looked at
MAX_REVISIONS = 500
MAX_NOTES = 100
MAX_NEIGHBOURS = 40
MAX_PASSAGES = 300  # the newest, from which recent notes and names are taken
CANDIDATES = 3  # frequent objects for each that is wanted: some are no things
TASK_STATES = ("open", "done", "dropped")  # as rules read them


class ObjectView(NamedTuple):
    """An object: all its relations with their history, and the notes that mention it. `notes` are the newest of
    them."""

    names: tuple[str, ...]
    told: list[Fact]
    revisions: list[Revision]
    notes: list[MentionedIn]
    notes_total: int
    neighbours: list[Neighbour]


class GraphView(NamedTuple):
    """A part of the graph. `center` are the vertices around which it was chosen, empty for the whole."""

    center: tuple[int, ...]
    vertices: list[Vertex]
    edges: list[Edge]


class Neighbourhood(NamedTuple):
    """The surroundings of an object, which has these `names` and is the first of `steps`: object id -> distance in
    steps; the edges; and about how many more objects there are."""

    names: list[str]
    vertices: dict[int, Vertex]
    steps: dict[int, int]
    joined: list[Joined]
    left_out: int


class RecentActivity(NamedTuple):
    """The notes that were read last, newest first, and the names that occur most in them."""

    notes: list[ListedSource]
    names: list[str]


class Browsing:
    """Read-only views for a person."""

    def __init__(self, state: State, knowledge: Knowledge) -> None:
        self._state = state
        self._store = state.store
        self._knowledge = knowledge

    source = read_by(browse.read_source)

    def find_objects(self, words: str, limit: int, offset: int) -> tuple[list[FoundObject], int]:
        """Objects by words of their names, and how many there are."""
        return self._store.read(browse.find_objects, _fold(words), limit, offset)

    def find_facts(self, words: str, limit: int, offset: int) -> tuple[list[Fact], int]:
        """Current and former relations by their words, newest first; and how many there are."""
        with self._store.reading() as conn:
            ids, total = browse.find_facts(conn, _fold(words), limit, offset)
            return facts.by_id(conn, ids), total

    def find_sources(self, words: str, limit: int, offset: int) -> tuple[list[ListedSource], int]:
        """Sources by words of their titles and passages, and how many there are."""
        return self._store.read(browse.find_sources, _fold(words), limit, offset)

    def list_recent(self, limit: int) -> RecentActivity:
        """At most `limit` notes that were read last, and as many of the things that they mention most."""
        with self._store.reading() as conn:
            newest = recent.list_newest_episodes(conn, MAX_PASSAGES)
            names = [label for _, label in recent.list_mentioned_things(conn, newest, limit)]
            return RecentActivity(recent.list_read_last(conn, newest, limit), names)

    def object(self, name: str) -> ObjectView:
        """What is known of an object, by any of its names. NotFoundError."""
        with self._store.reading() as conn:
            objects = self._knowledge.objects_named(conn, name)
            now = now_ms()
            fact_list = facts.list_about(conn, objects, now, wall_of(now), history=True, relations=True)[:MAX_FACTS]
            notes, total = browse.list_mentioning(conn, objects, MAX_NOTES)
            return ObjectView(
                tuple(browse.names_of(conn, objects)),
                fact_list,
                self._knowledge.revisions("all", MAX_REVISIONS, name),
                notes,
                total,
                browse.list_neighbours(conn, objects, MAX_NEIGHBOURS),
            )

    def graph(self, about: str, limit: int) -> GraphView:
        """At most `limit` vertices: the best connected ones of the whole memory, or those around an object, by any of
        its names, or a source, by its uri. NotFoundError."""
        with self._store.reading() as conn:
            center, objects, notes = self._choose_vertices(conn, about, limit)
            return GraphView(
                tuple(center),
                browse_graph.read_vertices(conn, objects, notes),
                browse_graph.read_edges(conn, objects, notes),
            )

    def _choose_vertices(self, conn: Connection, about: str, limit: int) -> tuple[list[int], list[int], list[int]]:
        """The vertices in the middle, all objects, and all sources."""
        if not about:
            objects = browse_graph.list_things(conn, self._list_frequent(CANDIDATES * limit), limit * 2 // 3)
            return [], objects, browse_graph.list_sources(conn, objects, limit - len(objects))
        if (source := sources.get(conn, about)) is not None:
            return [-source.id], browse_graph.list_mentioned(conn, source.id, limit - 1), [source.id]
        center = list(self._knowledge.objects_named(conn, about))
        objects = center + browse_graph.list_joined(conn, center, limit // 2)
        return center, objects, browse_graph.list_sources(conn, center, limit - len(objects))

    def explore(self, about: str, depth: int, limit: int, as_of: datetime | None) -> Neighbourhood:
        """The surroundings of an object, by any of its names, up to `depth` steps: facts valid at `as_of`, by default
        now, and shared mentions. NotFoundError."""
        with self._state.past.state_at(as_of).store.reading() as conn:
            center = self._knowledge.objects_named(conn, about)
            now = now_ms()
            at = wall_of(now) if as_of is None else to_wall(as_of)
            steps, joined, left_out = neighbourhood.explore(conn, center, now, at, depth, limit)
            vertices = {vertex.id: vertex for vertex in browse_graph.read_vertices(conn, list(steps), [])}
            return Neighbourhood(browse.names_of(conn, center), vertices, steps, joined, left_out)

    def _list_frequent(self, limit: int) -> list[int]:
        """Ids of the objects mentioned in the most passages, most frequent first."""
        graph = self._state.serving.snapshot.graph
        frequency = np.where(graph.leads_nowhere, 0, graph.document_frequency)
        ids: list[int] = graph.object_ids[np.argsort(-frequency, kind="stable")[:limit]].tolist()
        return ids

    def facts_of(self, episodes: Iterable[int]) -> list[Fact]:
        """The relations extracted from these passages, in order."""
        with self._store.reading() as conn:
            ids = [id for id, *_ in relations.of_episodes(conn, list(episodes))]
            return facts.by_id(conn, list(dict.fromkeys(ids))[:MAX_FACTS])

    def list_tasks(self) -> list[Fact]:
        """The tasks of notes with the state in which each is, the newest first."""
        with self._store.reading() as conn:
            ids = relations.list_labelled(conn, ["status"])[-MAX_FACTS:]
            tasks = facts.by_id(conn, ids[::-1])
        return [task for task in tasks if task.superseded_by is None and task.objects[-1] in TASK_STATES]

    def read_source(self, uri: str) -> ReadSource:
        """A live source with its passages' ids. NotFoundError."""
        source = self.source(uri)
        if source is None:
            raise NotFoundError(f"{uri} is not in memory. It may have been forgotten or deleted.")
        return source


def _fold(words: str) -> list[str]:
    """The words as names are looked up."""
    return strip_accents(norm(words)).split()
