"""Entity resolution: finds the object that a name means.

A name means the object that has it as an alias; a person's short name means the one whose longer name the same passage,
or else the whole memory, contains, if it is the only one. An alias given by a model becomes one, so that both objects
are found by it: nothing is moved, and removing the alias undoes it. A person is never merged with another kind of
object, and never with a person of another family name.

Theses in a model's words, which are added to the sentences of an episode, are about such objects."""

import re
from collections.abc import Iterable, Sequence

from memory.facts.extraction import OWNER, ExtractedThesis, Extraction
from memory.graph.change import ThesisVertex
from memory.store import episodes, graph, sources
from memory.store.connect import Connection
from memory.text.mentions import STATE, TASK, VALUE, is_date, norm
from memory.time.timestamps import to_wall

PERSON = "person"
ALIAS_CONFIDENCE = 0.9  # of a model's alias; a mention has 1
MAX_NAME_CHARS = 200  # also of a value

_NOISE = re.compile(r"[*`\"“”]+|(?<!\w)_+|_+(?!\w)")  # an underscore within a word is a part of it
_OF_MENTIONS = frozenset(("name", "link", "email", "title", "property", VALUE))  # not what a thing is, but how written
_NO_ALIAS = frozenset("i me my he she it they we you him her them us owner user".split())


class Resolver:
    """Resolves names to objects within one transaction; `new_objects`: the created ones: (node id, leads nowhere)."""

    def __init__(self, conn: Connection, now: int, owner: Sequence[str]) -> None:
        self.conn = conn
        self._now = now
        self._owner_names = tuple(dict.fromkeys(norm(name) for name in owner if norm(name)))
        self._called = {norm(name): name for name in owner if norm(name)}
        self._owner: int | None = None
        self._kinds: dict[str, str] = {}
        self._persons: dict[str, set[str]] = {}  # first and last words of names -> the names
        self._names: dict[str, set[str]] = {}
        self._places: dict[tuple[int, str], int] = {}
        self.new_objects: list[tuple[int, bool]] = []

    def begin_episode(self, extraction: Extraction, mentioned: Iterable[tuple[str, str | None]]) -> None:
        """Starts the next passage, with its extracted objects, and the names in it with their kinds."""
        self._kinds = {norm(object.name): object.kind for object in extraction.objects if object.kind}
        named = [(norm(name), object.kind) for object in extraction.objects for name in (object.name, *object.aliases)]
        read = [(norm(name), kind) for name, kind in mentioned if name == name.title()]
        self._persons = _group_by_word(name for name, kind in (*named, *read) if kind == PERSON)
        self._names = _group_by_word(name for name, _ in (*named, *read))
        for object in extraction.objects:
            if object.aliases and norm(object.name):
                self._add_aliases(self.resolve(object.name), object.name, object.kind, object.aliases)

    def resolve(self, name: str) -> int:
        """Returns the object that a name in this passage means, created if new. OWNER is the memory's owner."""
        surface = _NOISE.sub("", name).strip()[:MAX_NAME_CHARS]
        key = norm(surface) or surface
        if name == OWNER:
            return self.owner_object()
        kind = self._kinds.get(key)
        if " " not in key:
            longer = self._persons.get(key) or (self._names.get(key, set()) if kind == PERSON else set())
            if len(longer) == 1:
                key = next(iter(longer))
                kind = self._kinds.get(key, kind)
                surface = surface if key == norm(surface) else key.title()
            elif self._owner_names and not longer and key == self._owner_names[0].split()[0]:
                key, kind = self._owner_names[0], PERSON
        if key in self._owner_names:
            self.owner_object()  # which has that name, too
        known = graph.objects_by_norm(self.conn, [key]).get(key, [])
        for node in known:
            if self._fits(node, kind):
                return node
        if kind == PERSON and " " not in key and (person := self._only_person(key)) is not None:
            return person
        return self._create(surface, key, kind)

    def resolve_place(self, name: str, source: int) -> int:
        """Returns the object for a note, heading or row of a source called `name`, created if new. It is the object
        that is already the subject of facts in this source, or in another version of its document; otherwise the object
        of that name, unless it is the subject of another source: two notes of one name are two objects. A contact and a
        page of the same name are one."""
        surface = _NOISE.sub("", name).strip()[:MAX_NAME_CHARS]
        key = norm(surface) or surface
        if (known := self._places.get((source, key))) is not None:
            return known
        candidates = graph.objects_by_norm(self.conn, [key]).get(key, [])
        own, taken = graph.find_subjects(self.conn, candidates, sources.list_versions(self.conn, source))
        node = next((node for node in candidates if node in own), None)
        if node is None:
            node = next((node for node in candidates if node not in taken and self._fits(node, None)), None)
        if node is None:
            node = self._create(surface, key, self._kinds.get(key), "place" if taken else "told")
        self._places[source, key] = node
        return node

    def owner_object(self) -> int:
        """Returns the object that stands for the person whose memory it is."""
        if self._owner is None:
            self._owner, made = graph.name_owner(self.conn, self._called, self._now)
            self.new_objects += [(self._owner, False)] if made else []
        return self._owner

    def namesakes(self, node: int) -> list[int]:
        """Returns the object and those that share a name with it."""
        return sorted({node, *graph.namesakes(self.conn, node)})

    def _fits(self, node: int, kind: str | None) -> bool:
        """Whether an object may be of that kind: a person is nothing else. Records the kind if it was unknown."""
        known = graph.object_type(self.conn, node)
        if kind in (None, STATE, TASK, VALUE) or known == "date":
            return True
        if known is None or known in _OF_MENTIONS:
            graph.set_object_type(self.conn, node, kind)
            return True
        return bool((known == PERSON) == (kind == PERSON))

    def _only_person(self, first: str) -> int | None:
        """Returns the only person whose longer name begins with that word, or None."""
        persons = graph.persons_called(self.conn, first, 2)
        return persons[0] if len(persons) == 1 else None

    def _create(self, surface: str, key: str | None, kind: str | None, origin: str = "told") -> int:
        node = graph.allocate(self.conn, "node", 1)
        type = "date" if key is not None and is_date(key) else kind
        graph.insert_objects(self.conn, [(node, surface, type)], self._now)
        if key is not None:
            graph.insert_aliases(self.conn, [graph.AliasRow(key, surface, node, origin)])
        self.new_objects.append((node, type in graph.NO_THINGS))
        return node

    def _add_aliases(self, node: int, name: str, kind: str | None, aliases: Iterable[str]) -> None:
        """Adds aliases to the object, except names of another person."""
        rows = []
        for alias in aliases:
            key = norm(alias)
            if len(key) < 2 or key in _NO_ALIAS or is_date(key) or not any(c.isupper() or c.isdigit() for c in alias):
                continue
            ours, theirs = norm(name).split(), key.split()
            if kind == PERSON and len(ours) > 1 and len(theirs) > 1 and ours[-1] != theirs[-1]:
                continue
            if any(not self._fits(other, kind) for other in graph.objects_by_norm(self.conn, [key]).get(key, [])):
                continue
            rows.append(graph.AliasRow(key, alias, node, "told", ALIAS_CONFIDENCE))
        graph.insert_aliases(self.conn, rows)


def _group_by_word(names: Iterable[str]) -> dict[str, set[str]]:
    longer: dict[str, set[str]] = {}
    for name in names:
        words = name.split()
        if len(words) > 1:
            for part in (words[0], words[-1]):
                longer.setdefault(part, set()).add(name)
    return longer


def assert_theses(
    conn: Connection, resolver: Resolver, row: episodes.EpisodeRef, theses: Sequence[ExtractedThesis], now: int
) -> list[ThesisVertex]:
    """Adds new theses to an episode at `now` (ms UTC); returns the added ones."""
    known = {thesis.text for thesis in episodes.theses_of(conn, [row.id]) if thesis.origin == "model"}
    new = {thesis.text: thesis for thesis in theses if thesis.text.strip() and thesis.text not in known}
    first = graph.allocate(conn, "node", len(new))
    rows, edges, vertices = [], [], []
    for node, (text, thesis) in enumerate(new.items(), first):
        start, end = to_wall(thesis.valid_from), to_wall(thesis.valid_to)
        if thesis.modality == "past":
            end = row.event_from if end is None else end
        elif start is None:
            start = row.event_from
        rows += [graph.Thesis(node, row.id, thesis.start, thesis.end, text, "model", thesis.modality, 1.0, start, end)]
        members = sorted({resolver.resolve(name) for name in thesis.objects if name.strip()})
        asserts = graph.allocate(conn, "edge", 1 + len(members))
        joined = {to: asserts + place for place, to in enumerate(members, 1)}
        edges.append(graph.EdgeRow(asserts, "asserts", row.id, node))
        edges += [graph.EdgeRow(id, "member", node, to) for to, id in joined.items()]
        vertices.append(ThesisVertex(node, row.id, asserts, joined, start, end))
    graph.insert_theses(conn, rows, now)
    graph.insert_edges(conn, edges, now)
    return vertices
