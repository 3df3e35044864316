"""Resolve: which object a told name means (SPEC 7.3 I6).

A name means the object that has it as an alias; a short name of a person the one whose longer name the same passage,
or else the whole memory, knows, if there is only one. What a model calls an alias becomes one, so that both objects
are found under it: nothing is moved, and taking the alias away undoes it. A person is never taken for anything else,
and never for a person with another family name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from memory.facts.extraction import OWNER, Extraction
from memory.store import graph
from memory.store.connect import Connection
from memory.text.mentions import is_date, norm
from memory.text.relation_sentences import NAMELESS

PERSON = "person"
SAID = 0.9  # how sure an alias is that a model tells; a mention is 1
FEW = 4  # objects whose names begin alike
LONGEST = 200  # characters of a name or value

_NOISE = re.compile(r"[*_`\"“”]+")
_OF_MENTIONS = frozenset(("name", "link", "tag", "email", "title", "property"))  # not what a thing is, but how written
_NO_ALIAS = frozenset("i me my he she it they we you him her them us owner user".split())


class Resolver:
    """Names to objects within one transaction; `new_objects` are the objects it made: (node id, is a date)."""

    def __init__(self, conn: Connection, now: int, owner: Sequence[str]) -> None:
        self.conn = conn
        self._now = now
        self._owner_names = tuple(dict.fromkeys(norm(name) for name in owner if norm(name)))
        self._owner_label = owner[0] if self._owner_names else NAMELESS
        self._owner: int | None = None
        self._kinds: dict[str, str] = {}
        self._persons: dict[str, set[str]] = {}  # first and last words of names -> the names
        self._names: dict[str, set[str]] = {}
        self.new_objects: list[tuple[int, bool]] = []

    def begin_episode(self, extraction: Extraction, mentioned: Iterable[tuple[str, str | None]]) -> None:
        """Goes on to another passage: what it says of its objects, and the names that it mentions with their kinds."""
        self._kinds = {norm(one.name): one.kind for one in extraction.objects if one.kind}
        told = [(norm(name), one.kind) for one in extraction.objects for name in (one.name, *one.aliases)]
        read = [(norm(name), kind) for name, kind in mentioned if name == name.title()]
        self._persons = _by_word(name for name, kind in (*told, *read) if kind == PERSON)
        self._names = _by_word(name for name, _ in (*told, *read))
        for one in extraction.objects:
            if one.aliases and norm(one.name):
                self._add_aliases(self.resolve(one.name), one.name, one.kind, one.aliases)

    def resolve(self, name: str) -> int:
        """The object that a name of this passage means; made if there is none. OWNER is the one whose memory it is."""
        surface = _NOISE.sub("", name).strip()[:LONGEST]
        key = norm(surface) or surface
        if name == OWNER or key in self._owner_names:
            return self.owner_object()
        kind = self._kinds.get(key)
        if " " not in key:
            longer = self._persons.get(key) or (self._names.get(key, set()) if kind == PERSON else set())
            if len(longer) == 1:
                key = next(iter(longer))
                kind = self._kinds.get(key, kind)
                surface = surface if key == norm(surface) else key.title()
            elif self._owner_names and not longer and key == self._owner_names[0].split()[0]:
                return self.owner_object()
            if key in self._owner_names:
                return self.owner_object()
        known = graph.objects_by_norm(self.conn, [key]).get(key, [])
        for node in known:
            if self._fits(node, kind):
                return node
        if kind == PERSON and " " not in key and (one := self._only_person(key)) is not None:
            return one
        return self._create(surface, key, kind)

    def owner_object(self) -> int:
        """The object that stands for the person whose memory it is."""
        if self._owner is None:
            row = self.conn.execute(
                "SELECT m.value FROM meta m JOIN node n ON n.id = m.value WHERE m.key = 'owner' AND n.t_expired IS NULL"
            ).fetchone()
            named = graph.objects_by_norm(self.conn, self._owner_names[:1])
            if self._owner_names and named:
                self._owner = named[self._owner_names[0]][0]
            elif row and not self._owner_names:
                self._owner = int(row[0])
            else:
                key = self._owner_names[0] if self._owner_names else None
                self._owner = self._create(self._owner_label, key, PERSON)
            self.conn.execute("INSERT OR REPLACE INTO meta(key, value) VALUES ('owner', ?)", (self._owner,))
            if row and int(row[0]) != self._owner:
                self._adopt(int(row[0]), self._owner)
        return self._owner

    def namesakes(self, node: int) -> list[int]:
        """The object and those that share a name with it."""
        rows = self.conn.execute(
            "SELECT DISTINCT b.node_id FROM alias a JOIN alias b ON b.norm = a.norm JOIN node n ON n.id = b.node_id"
            " WHERE a.node_id = ? AND n.t_expired IS NULL",
            (node,),
        )
        return sorted({node, *(id for (id,) in rows)})

    def candidates(self, node: int) -> list[int]:
        """The object and those that it may be, by its names: the same, or one with more or fewer words at the end
        ("Orbit", "Orbit v2"; "Ana R", "Ana Ruiz"), where there are only a few of these."""
        found = set(self.namesakes(node))
        for (name,) in self.conn.execute("SELECT norm FROM alias WHERE node_id = ?", (node,)).fetchall():
            words = name.split()
            shorter = json.dumps([" ".join(words[:n]) for n in range(1, len(words))])
            bounds = (name, f"{name}\U0010ffff") if len(words[-1]) == 1 else (f"{name} ", f"{name}!")
            rows = self.conn.execute(
                "SELECT DISTINCT a.node_id FROM alias a JOIN node n ON n.id = a.node_id AND n.t_expired IS NULL WHERE"
                " a.norm > ? AND a.norm < ? OR a.norm IN (SELECT value FROM json_each(?)) LIMIT ?",
                (*bounds, shorter, FEW + 1),
            ).fetchall()
            if len(rows) <= FEW:
                found.update(id for (id,) in rows)
        return sorted(found)

    def _adopt(self, nameless: int, owner: int) -> None:
        """What was told of the owner before a name was known."""
        for end in ("src", "dst"):
            self.conn.execute(
                f"UPDATE OR IGNORE edge SET {end} = ? WHERE {end} = ? AND kind = 'rel'", (owner, nameless)
            )

    def _fits(self, node: int, kind: str | None) -> bool:
        """Whether an object may be of that kind: a person is nothing else. What it is becomes known by it."""
        (known,) = self.conn.execute("SELECT type FROM object WHERE node_id = ?", (node,)).fetchone()
        if kind is None or known == "date":
            return True
        if known is None or known in _OF_MENTIONS:
            self.conn.execute("UPDATE object SET type = ? WHERE node_id = ?", (kind, node))
            return True
        return bool((known == PERSON) == (kind == PERSON))

    def _only_person(self, first: str) -> int | None:
        """The one person whose longer name begins with that word."""
        rows = self.conn.execute(
            "SELECT DISTINCT a.node_id FROM alias a JOIN object o ON o.node_id = a.node_id AND o.type = ?"
            " JOIN node n ON n.id = a.node_id AND n.t_expired IS NULL WHERE a.norm > ? AND a.norm < ? LIMIT 2",
            (PERSON, f"{first} ", f"{first}!"),
        ).fetchall()
        return int(rows[0][0]) if len(rows) == 1 else None

    def _create(self, surface: str, key: str | None, kind: str | None) -> int:
        node = graph.allocate(self.conn, "node", 1)
        dated = key is not None and is_date(key)
        row = graph.ObjectRow(node, surface, "date" if dated else kind)
        graph.insert_objects(self.conn, [row], self._now)
        if key is not None:
            graph.insert_aliases(self.conn, [graph.AliasRow(key, surface, node, "told")])
        self.new_objects.append((node, dated))
        return node

    def _add_aliases(self, node: int, name: str, kind: str | None, aliases: Iterable[str]) -> None:
        """Puts other names beside the object's, but none of somebody else."""
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
            rows.append(graph.AliasRow(key, alias, node, "told", SAID))
        graph.insert_aliases(self.conn, rows)


def _by_word(names: Iterable[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name in names:
        words = name.split()
        if len(words) > 1:
            for part in (words[0], words[-1]):
                found.setdefault(part, set()).add(name)
    return found
