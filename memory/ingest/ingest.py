"""Ingest: documents become episodes, theses and objects, in one transaction (SPEC 7.3 I1-I4).

`read` everything that can be worked out from the text alone (`Draft`s, sentences, mentions); then, as the only
writer, compare with what is stored and write the difference. An episode whose words are unchanged keeps its id and
all that was learnt on it, wherever in its source it now stands.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from memory.errors import InvalidInputError
from memory.facts.extraction import Extraction
from memory.facts.rules.extract import extract_by_rules
from memory.graph.change import EpisodeVertex, GraphChange, Link, ThesisVertex
from memory.ingest.chunk import Draft, episodes_of, title_of
from memory.ingest.embed import embedded_text
from memory.nouns import Document, Receipt
from memory.protocols import Vectors
from memory.settings import ChunkSettings
from memory.store import episodes, graph, sources, text, vectors
from memory.store.connect import Connection
from memory.text import mentions as mention_rules
from memory.text.mentions import Mention
from memory.text.sentences import sentences
from memory.text.unicode import replace_surrogates, to_nfc
from memory.time.timestamps import to_ms


@dataclass(frozen=True, slots=True)
class ReadEpisode:
    """A draft and what its words say: spans of its sentences, its mentions, and what rules read there; `sha256` names
    the words."""

    draft: Draft
    sha256: str
    sentences: tuple[tuple[int, int], ...]
    mentions: tuple[Mention, ...]
    extraction: Extraction

    @property
    def embedded_text(self) -> str:
        """What the vector is made of."""
        return embedded_text(self.draft.title, self.draft.text)


@dataclass(frozen=True, slots=True)
class ReadDocument:
    document: Document
    title: str
    episodes: tuple[ReadEpisode, ...]
    shared: tuple[Mention, ...]  # of its properties and tags: mentioned by each of its episodes

    def all_mentions(self) -> Iterator[Mention]:
        for episode in self.episodes:
            yield from episode.mentions
        yield from self.shared


@dataclass(frozen=True, slots=True)
class Plan:
    """What a newer version changes: `kept` has for each of its episodes the stored one with the same words, or
    None; `removed` are the stored ones that are no longer there, `redated` (ids) those of them that were taken to be
    from a time at which no part of the source was written, as it says now."""

    kept: tuple[episodes.Placed | None, ...]
    removed: tuple[episodes.Placed, ...]
    redated: tuple[int, ...] = ()


def read(document: Document, settings: ChunkSettings, rules: bool = True) -> ReadDocument:
    """The document cut and read; `rules`: facts, too. Raises InvalidInputError if it holds no words or has no uri."""
    document = _clean(document)
    if not document.uri:
        raise InvalidInputError("A document needs a uri: it is the source's identity.")
    read_episodes: list[ReadEpisode] = []
    for draft in episodes_of(document, settings):
        spans = tuple(sentences(draft.text))
        told = _told(document, draft, not read_episodes, spans) if rules else Extraction("rule")
        words = "\0".join([draft.title, draft.text, draft.speaker or "", *_stated(document, draft)])
        read_episodes.append(
            ReadEpisode(
                draft,
                hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest(),
                spans,
                tuple(mention_rules.mentions(draft.text, draft.title)),
                told,
            )
        )
    if not read_episodes:
        raise InvalidInputError(f"There are no words in {document.uri}.")
    shared = mention_rules.property_mentions(document.properties, document.tags)
    return ReadDocument(document, title_of(document), tuple(read_episodes), tuple(shared))


def _told(document: Document, draft: Draft, first: bool, spans: tuple[tuple[int, int], ...]) -> Extraction:
    speaker, is_chat = draft.speaker or document.speaker, bool(document.turns)
    properties = document.properties
    return extract_by_rules(draft.text, draft.title, draft.at, speaker, properties, first, chat=is_chat, spans=spans)


def _stated(document: Document, draft: Draft) -> tuple[str, ...]:
    """The time of a part, where the text says it: the same words of another time are another episode."""
    return (draft.at.isoformat() if draft.at else "",) if document.parts else ()


def _clean(document: Document) -> Document:
    """The document without what a database cannot hold, its accents on their letters."""
    given = (document.text, document.title or "", document.speaker or "")
    named = (document.uri, document.ref or "")
    spoken = [part for turn in document.turns for part in (turn.speaker, turn.text)]
    if all(_tidy(part) is part for part in (*given, *spoken)) and all(
        replace_surrogates(part) is part for part in named
    ):
        return document
    return replace(
        document,
        uri=replace_surrogates(document.uri),
        text=_tidy(document.text),
        title=document.title and _tidy(document.title),
        speaker=document.speaker and _tidy(document.speaker),
        ref=document.ref and replace_surrogates(document.ref),
        turns=tuple(replace(t, speaker=_tidy(t.speaker), text=_tidy(t.text)) for t in document.turns),
    )


def _tidy(text: str) -> str:
    return to_nfc(replace_surrogates(text))


def plan(conn: Connection, batch: Sequence[ReadDocument]) -> list[Plan]:
    """Compares each document with the stored version of its source, by the words of its episodes."""
    plans = []
    for document in batch:
        source = sources.get(conn, document.document.uri)
        stored = episodes.of_source(conn, source.id) if source else []
        same_words: dict[str, deque[episodes.Placed]] = defaultdict(deque)
        for placed in stored:
            same_words[placed.sha256].append(placed)
        kept = tuple(same_words[e.sha256].popleft() if same_words[e.sha256] else None for e in document.episodes)
        removed = tuple(placed for left in same_words.values() for placed in left)
        stated = {to_ms(at) for _, at in document.document.parts}
        times = episodes.times_of(conn, [placed.id for placed in removed]) if stated else ()
        plans.append(Plan(kept, removed, tuple(row.id for row in times if row.event_from not in stated)))
    return plans


def new_texts(batch: Sequence[ReadDocument], plans: Sequence[Plan]) -> list[str]:
    """What is to be embedded: the texts of the episodes that are not stored yet, in order."""
    return [
        episode.embedded_text
        for document, one in zip(batch, plans, strict=True)
        for episode, placed in zip(document.episodes, one.kept, strict=True)
        if placed is None
    ]


class Writer:
    """Writes read documents inside one transaction and collects what changed.

    `now` is the store's time in ms UTC. Objects that the batch brings are known to its later documents.
    """

    def __init__(self, conn: Connection, embedder_id: int, now: int) -> None:
        self._conn = conn
        self._embedder_id = embedder_id
        self._now = now
        self.change = GraphChange()
        self.redated: list[int] = []
        self.extractions: dict[
            int, Extraction
        ] = {}  # what the new episodes tell, and those whose properties may be others
        self._objects: dict[str, int] = {}
        self._nodes: Iterator[int] = iter(())
        self._episode_rows: list[episodes.EpisodeRow] = []
        self._theses: list[graph.ThesisRow] = []
        self._edges: list[tuple[graph.EdgeKind, int, int, int, str | None]] = []
        self._first_edge = 0

    def write(self, batch: Sequence[ReadDocument], plans: Sequence[Plan], matrix: Vectors) -> list[Receipt]:
        """Writes the batch; `matrix` holds a vector for each new episode of the plans, in their order."""
        new = [
            e for d, p in zip(batch, plans, strict=True) for e, old in zip(d.episodes, p.kept, strict=True) if not old
        ]
        self._nodes = self._allocated(len(new) + sum(len(episode.sentences) for episode in new))
        self._first_edge = graph.allocate(self._conn, "edge", 0)  # nobody else takes any until this unit ends
        self._meet(batch)
        receipts = [self._source(document, plan) for document, plan in zip(batch, plans, strict=True)]
        episodes.insert_many(self._conn, self._episode_rows, self._now)
        graph.insert_theses(self._conn, self._theses, self._now)
        graph.retire_edges(self._conn, self.change.unlinked, self._now, "source_changed")
        first = graph.allocate(self._conn, "edge", len(self._edges))
        rows = [graph.EdgeRow(first + i, *edge) for i, edge in enumerate(self._edges)]
        graph.insert_edges(self._conn, rows, self._now)
        text.add_episodes(self._conn, [row.id for row in self._episode_rows])
        hashes = [row.sha256 for row in self._episode_rows]
        ids = [row.id for row in self._episode_rows]
        vectors.put_many(self._conn, self._embedder_id, "episode", ids, matrix, hashes)
        self.change.retired.extend(placed.id for plan in plans for placed in plan.removed)
        self.redated = [id for plan in plans for id in plan.redated]
        episodes.retire_many(self._conn, self.redated, self._now, "source_changed")
        return receipts

    def retire(self) -> None:
        """Takes out of sight what newer versions no longer hold: after it is learnt what these tell, so that a fact
        which both tell stays the same fact, and one which took its place has something to replace. What was only taken
        to be from another time has gone before, and is learnt anew."""
        episodes.retire_many(self._conn, self.change.retired, self._now, "source_changed")

    def _allocated(self, n: int) -> Iterator[int]:
        """`n` free node ids, asked for at once: one statement for each would cost more than the rows themselves."""
        first = graph.allocate(self._conn, "node", n)
        return iter(range(first, first + n))

    def _meet(self, batch: Sequence[ReadDocument]) -> None:
        """Gives every norm of the batch its object: the one that is known, or a new one."""
        surfaces: dict[str, Mention] = {}
        aliases: dict[str, list[str]] = {}
        for document in batch:
            for mention in document.all_mentions():
                met = surfaces.setdefault(mention.norm, mention)
                if mention_rules.norm(met.surface) != met.norm == mention_rules.norm(mention.surface):
                    surfaces[mention.norm] = mention  # it is called by its whole name
            for alias in document.document.aliases:
                if mention_rules.norm(alias):
                    aliases.setdefault(mention_rules.norm(document.title), []).append(alias)
        known = graph.objects_by_norm(self._conn, list(surfaces))
        self._objects = {name: nodes[0] for name, nodes in known.items()}
        new = [name for name in surfaces if name not in self._objects]
        first = graph.allocate(self._conn, "node", len(new))
        self._objects.update({name: first + i for i, name in enumerate(new)})
        kinds = {name: "date" if mention_rules.is_date(name) else surfaces[name].kind for name in new}
        graph.insert_objects(
            self._conn,
            [graph.ObjectRow(self._objects[name], surfaces[name].surface, kinds[name]) for name in new],
            self._now,
        )
        rows = [graph.AliasRow(name, surfaces[name].surface, self._objects[name], "mention") for name in new]
        for name, given in aliases.items():
            if name in self._objects:
                node = self._objects[name]
                # Surer than a mention, so that the short name finds the one it was declared for.
                rows += [graph.AliasRow(mention_rules.norm(a), a, node, "frontmatter", 2.0) for a in given]
        graph.insert_aliases(self._conn, rows)
        self.change.objects.extend((self._objects[name], kinds[name] == "date") for name in new)

    def _source(self, read_document: ReadDocument, plan: Plan) -> Receipt:
        document = read_document.document
        source_id = sources.upsert(self._conn, document, read_document.title, self._now)
        ids: list[int] = []
        moved: list[episodes.Restated] = []
        for seq, (episode, placed) in enumerate(zip(read_document.episodes, plan.kept, strict=True)):
            row = self._episode_row(read_document, episode, placed.id if placed else next(self._nodes), source_id, seq)
            ids.append(row.id)
            if placed is None:
                self._add(row, read_document, episode)
            else:
                moved.append(episodes.Restated(row.id, seq, row.event_from, row.event_to, *row[10:]))
                self.change.moved[row.id] = seq
                self._keep(row, read_document, episode)
        episodes.restate_many(self._conn, moved)
        self._link(ids, {placed.id for placed in plan.kept if placed})
        added = sum(placed is None for placed in plan.kept)
        return Receipt(source_id, tuple(ids), added, len(ids) - added, len(plan.removed))

    def _episode_row(
        self, read_document: ReadDocument, episode: ReadEpisode, id: int, source_id: int, seq: int
    ) -> episodes.EpisodeRow:
        document, draft = read_document.document, episode.draft
        refs = draft.refs or ((document.ref,) if document.ref else ())
        return episodes.EpisodeRow(
            id, source_id, seq, draft.title, draft.text, episode.sha256, len(draft.text.split()),
            draft.speaker or document.speaker, to_ms(draft.at), to_ms(draft.until or draft.at),
            draft.line, draft.end_line, refs, _line_map(document, draft),
        )  # fmt: skip

    def _edge(self, kind: graph.EdgeKind, src: int, dst: int, support: int = 1, role: str | None = None) -> int:
        """Takes an edge down to be written and returns its id."""
        self._edges.append((kind, src, dst, support, role))
        return self._first_edge + len(self._edges) - 1

    def _add(self, row: episodes.EpisodeRow, read_document: ReadDocument, episode: ReadEpisode) -> None:
        self._episode_rows.append(row)
        counts, titles = self._counted(read_document, episode)
        edges = {
            node: self._edge("mention", row.id, node, count, "title" if node in titles else None)
            for node, count in counts.items()
        }
        self.change.added.append(_graph_row(row, read_document, counts, titles, edges))
        if episode.extraction:
            self.extractions[row.id] = episode.extraction
        self._theses_of(row, episode)

    def _counted(self, read_document: ReadDocument, episode: ReadEpisode) -> tuple[dict[int, int], frozenset[int]]:
        counts = Counter(self._objects[m.norm] for m in (*episode.mentions, *read_document.shared))
        return dict(counts), frozenset(self._objects[m.norm] for m in episode.mentions if m.titles)

    def _theses_of(self, row: episodes.EpisodeRow, episode: ReadEpisode) -> None:
        nodes = [next(self._nodes) for _ in episode.sentences]
        starts = [start for start, _ in episode.sentences]
        members: dict[int, set[int]] = defaultdict(set)
        for mention in episode.mentions:
            place = bisect_right(starts, mention.start) - 1
            if mention.start >= 0 and place >= 0 and mention.start < episode.sentences[place][1]:
                members[place].add(self._objects[mention.norm])
        for place, (start, end) in enumerate(episode.sentences):
            self._theses.append(graph.ThesisRow(nodes[place], row.id, start, end, valid_from=row.event_from))
            asserts = self._edge("asserts", row.id, nodes[place])
            edges = {object: self._edge("member", nodes[place], object) for object in sorted(members[place])}
            self.change.theses.append(ThesisVertex(nodes[place], row.id, asserts, edges, row.event_from))

    def _keep(self, row: episodes.EpisodeRow, read_document: ReadDocument, episode: ReadEpisode) -> None:
        """A kept episode mentions and tells what its source's properties now say, and no longer what they said."""
        if row.seq == 0:
            self.extractions[row.id] = episode.extraction
        counts, titles = self._counted(read_document, episode)
        wanted = {(node, count, "title" if node in titles else None) for node, count in counts.items()}
        stored = {
            (edge.dst, edge.n_support, edge.role): edge.id for edge in graph.edges_from(self._conn, [row.id], "mention")
        }
        if stored.keys() != wanted:
            self.change.unlinked += [id for key, id in stored.items() if key not in wanted]
            edges = {key[0]: id for key, id in stored.items() if key in wanted}
            new = sorted(wanted - stored.keys(), key=lambda key: key[0])
            edges |= {key[0]: self._edge("mention", row.id, *key) for key in new}
            self.change.remade.append(_graph_row(row, read_document, counts, titles, edges))

    def _link(self, ids: list[int], kept: set[int]) -> None:
        """`next` edges along the source, and no others."""
        wanted = set(pairwise(ids))
        edges = graph.edges_from(self._conn, sorted(kept), "next") if kept else []
        stored = {(edge.src, edge.dst): edge.id for edge in edges}
        self.change.unlinked += [id for pair, id in stored.items() if pair not in wanted]
        new = [pair for pair in pairwise(ids) if pair not in stored]
        self.change.links += [Link(self._edge("next", a, b), "next", a, b) for a, b in new]


def _line_map(document: Document, draft: Draft) -> tuple[int, ...]:
    """The original's line of each line of the draft, where the reader made the text and they do not run on."""
    if document.lines is None or draft.line is None or draft.line not in document.lines:
        return ()
    written = document.text.split("\n")
    place = document.lines.index(draft.line)
    found = []
    for line in draft.text.split("\n"):
        while place < len(written) and line.strip() not in written[place]:
            place += 1
        if place == len(written):
            return ()
        found.append(document.lines[place])
        place += 1
    return () if found == list(range(found[0], found[0] + len(found))) else tuple(found)


def _graph_row(
    row: episodes.EpisodeRow,
    read_document: ReadDocument,
    counts: dict[int, int],
    titles: frozenset[int],
    edges: dict[int, int],
) -> EpisodeVertex:
    is_chat = read_document.document.kind == "chat"
    return EpisodeVertex(row.id, row.source_id, row.seq, row.event_from, is_chat, row.words, counts, titles, edges)
