"""Random small memories in a real file: notes and chats, some retired, with facts that hold for a while only, and
relations that somebody tells of. What a question may see of them is worked out here by SQL, not as recall does it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from hypothesis import strategies as st

from memory import Memory
from memory.nouns import Document, Scope, Turn
from memory.store import graph as stored
from memory.store.connect import Connection, is_recorded
from memory.store.graph import EdgeRow
from memory.time.timestamps import to_ms

FIRST = datetime(2024, 1, 1, tzinfo=UTC)
NAMES = ("Ana Silva", "Bo Chen", "Porto", "Ghent", "[[Lumen]]", "#goat", "Café Nero", "2024-01-03")
SAYINGS = ("{} met {}.", "{} left {} for good.", "The key of {} is with {}.", "{} pays {} 40 euros.", "{} lives in {}.")
QUESTIONS = (
    "Who met Ana Silva?",
    "Where does Bo Chen live?",
    "Who has the key of Lumen?",
    "What did Ana pay Bo in Ghent?",
    "What happened in January 2024?",
    "Where did Bo live as of 3 January 2024?",
    "goat",
)
STRATEGIES = ("spread", "beam+synergy", "spread+beam+circles+paths+synergy")


def day(number: int) -> datetime:
    """The n-th day of these memories."""
    return FIRST + timedelta(days=number)


class Note(NamedTuple):
    """`at`: its day, if it has one; a chat's turns are a day apart each. `said`: (saying, name, name)."""

    folder: str
    said: tuple[tuple[int, int, int], ...]
    at: int | None
    tags: tuple[str, ...]
    chat: bool

    def document(self, number: int) -> Document:
        sentences = [SAYINGS[saying].format(NAMES[one], NAMES[two]) for saying, one, two in self.said]
        uri, at = f"{self.folder}{number}.md", None if self.at is None else day(self.at)
        if not self.chat:
            return Document(uri, " ".join(sentences), title=f"Note {number}", at=at, tags=self.tags)
        turns = [
            Turn(("Ana", "Rui")[place % 2], sentence, at and at + timedelta(days=place))
            for place, sentence in enumerate(sentences)
        ]
        return Document(uri, turns=tuple(turns), kind="chat", title="Talk", conversation=self.folder, tags=self.tags)


class Relation(NamedTuple):
    """Places among the live objects and episodes; the days between which it holds."""

    src: int
    dst: int
    told: int | None
    since: int | None
    until: int | None


class Vault(NamedTuple):
    notes: tuple[Note, ...]
    retired: frozenset[int]  # notes
    closed: tuple[tuple[int, int], ...]  # a place among the theses, the day it ends
    relations: tuple[Relation, ...]


days = st.integers(0, 9)
notes = st.builds(
    Note,
    st.sampled_from(["/office/", "/home/", "/home/garden/"]),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=4).map(tuple),
    st.none() | days,
    st.sampled_from([(), ("red",), ("red", "blue")]),
    st.booleans(),
)
relations = st.builds(
    Relation, st.integers(0, 50), st.integers(0, 50), st.none() | st.integers(0, 50), st.none() | days, st.none() | days
)
vaults = st.builds(
    Vault,
    st.lists(notes, min_size=2, max_size=7).map(tuple),
    st.frozensets(st.integers(0, 6), max_size=2),
    st.lists(st.tuples(st.integers(0, 50), days), max_size=6).map(tuple),
    st.lists(relations, max_size=4).map(tuple),
)
scopes = st.none() | st.builds(
    Scope,
    sources=st.sampled_from([(), ("/office/0.md", "/home/1.md")]),
    folders=st.sampled_from([(), ("/home/",), ("/home/garden/", "/office/")]),
    tags=st.sampled_from([(), ("blue",), ("red",)]),
    conversation=st.none() | st.just("/office/"),
    since=st.none() | st.just(day(2)),
    until=st.none() | st.just(day(6)),
)


def fill(memory: Memory, vault: Vault, order: Sequence[int] | None = None) -> None:
    """Writes the vault, its notes in this order, each by itself."""
    for number in order or range(len(vault.notes)):
        memory.ingest.remember_many([vault.notes[number].document(number)])
    for number in sorted(vault.retired):
        if number < len(vault.notes):
            memory.ingest.retire(vault.notes[number].document(number).uri)
    with memory.store.writing() as conn:
        _change(conn, vault)
    memory.state.serving = memory.state.load(memory.state.serving.embedder, memory.state.serving.embedder_id)


def _change(conn: Connection, vault: Vault) -> None:
    """Closes facts and adds relations; places are by what is said, so that the order of writing does not matter. Notes
    that went count as if they had never been, so that earlier days are asked of this file and not of a copy of it."""
    conn.execute("UPDATE episode SET until = NULL")
    theses = [id for (id,) in conn.execute(
        "SELECT c.id FROM thesis_content c JOIN thesis t ON t.node_id = c.id JOIN episode e ON e.node_id = t.episode_id"
        " JOIN source s ON s.id = e.source_id ORDER BY s.uri, e.seq, t.span_from"
    )]  # fmt: skip
    for place, until in vault.closed:
        if theses:
            conn.execute(
                "UPDATE thesis SET valid_to = ? WHERE node_id = ?", (to_ms(day(until)), theses[place % len(theses)])
            )
    objects = [id for (id,) in conn.execute(
        "SELECT n.id FROM node n JOIN alias a ON a.node_id = n.id WHERE n.kind = 'O' AND n.t_expired IS NULL"
        " ORDER BY a.norm"
    )]  # fmt: skip
    episodes = [id for (id,) in conn.execute(
        "SELECT e.node_id FROM episode e JOIN source s ON s.id = e.source_id ORDER BY s.uri, e.seq"
    )]  # fmt: skip
    seen = set()
    for src, dst, told, since, until in vault.relations:
        if not objects or (ends := (objects[src % len(objects)], objects[dst % len(objects)])) in seen:
            continue
        seen.add(ends)
        first = stored.allocate(conn, "edge", 1)
        start, end = (None if one is None else to_ms(day(one)) for one in (since, until))
        stored.insert_edges(conn, [EdgeRow(first, "rel", *ends, valid_from=start, valid_to=end)], 1000)
        if told is not None:
            episode = episodes[told % len(episodes)]
            conn.execute(
                "INSERT INTO provenance(item_kind, item_id, episode_id) VALUES ('edge', ?, ?)", (first, episode)
            )


class Sight(NamedTuple):
    """What a question may see: ids."""

    episodes: frozenset[int]
    theses: frozenset[int]
    objects: frozenset[int]
    edges: frozenset[int]


def sight(
    conn: Connection,
    as_of: datetime | None,
    within: Scope | None,
    begun_by: datetime | None = None,
    ends_after: datetime | None = None,
) -> Sight:
    """What may be seen as of a time and within a scope, of facts those that began by then and end after then; None:
    those that begin at any time, and end after now."""
    now = to_ms(datetime.now(UTC))
    times = {"t": now, "by": 2**62 if begun_by is None else to_ms(begun_by)}
    times["after"] = now if ends_after is None else to_ms(ends_after)

    def ids(sql: str) -> frozenset[int]:
        return frozenset(id for (id,) in conn.execute(sql, times))

    def fact(alias: str, valid: str) -> str:
        begun = f"ifnull({valid}.valid_from <= :by, 1)"
        return f"({is_recorded(alias, ':t')} AND {begun} AND ifnull({valid}.valid_to > :after, 1))"

    episodes = frozenset(
        id
        for id, start, end, uri, folder in conn.execute(
            "SELECT e.node_id, e.event_from, ifnull(e.event_to, e.event_from), s.uri, s.conversation FROM episode e"
            f" JOIN node n ON n.id = e.node_id JOIN source s ON s.id = e.source_id WHERE {is_recorded('n', ':t')}",
            {"t": now},
        )
        if (as_of is None or start is None or start <= to_ms(as_of))
        and (within is None or _inside(conn, within, start, end, uri, folder))
    )
    listed = ",".join(map(str, episodes))
    theses = ids(
        "SELECT t.node_id FROM thesis t JOIN node n ON n.id = t.node_id"
        f" WHERE t.episode_id IN ({listed}) AND {fact('n', 't')}"
    )
    speaking = ",".join(map(str, [*episodes, *theses]))
    objects = ids(f"SELECT dst FROM edge WHERE kind IN ('mention', 'member') AND src IN ({speaking})")
    nodes = ",".join(map(str, [*episodes, *theses, *objects]))
    edges = ids(
        f"SELECT e.id FROM edge e WHERE e.src IN ({nodes}) AND e.dst IN ({nodes}) AND {fact('e', 'e')}"
        " AND (NOT EXISTS (SELECT 1 FROM provenance WHERE item_id = e.id)"
        f" OR EXISTS (SELECT 1 FROM provenance WHERE item_id = e.id AND episode_id IN ({listed})))"
    )
    return Sight(episodes, theses, objects, edges)


def _inside(conn: Connection, scope: Scope, start: int | None, end: int | None, uri: str, folder: str | None) -> bool:
    tags = {tag for (tag,) in conn.execute(
        "SELECT tag FROM source_tag JOIN source s ON s.id = source_id WHERE s.uri = ?", (uri,)
    )}  # fmt: skip
    return (
        (not scope.sources + scope.folders or uri in scope.sources or uri.startswith(scope.folders or ("\0",)))
        and (not scope.tags or not tags.isdisjoint(scope.tags))
        and (scope.conversation is None or folder == scope.conversation)
        and (scope.since is None or (end is not None and end >= to_ms(scope.since)))
        and (scope.until is None or (start is not None and start < to_ms(scope.until)))
    )
