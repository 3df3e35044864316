"""Ingestion: documents become episodes, theses and objects, in one transaction.

`embed_drafts` embeds drafts (`draft.py`) outside the transaction. An `Ingestion`, the only writer, then writes the
difference to the stored version. An episode with unchanged words keeps its id, facts and edge memory, even if it moved.
A long document may be written in pieces, each in its own transaction; its source counts as read with the last one."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from memory.errors import ModelError
from memory.events import drop_letters
from memory.facts.extraction import Extraction
from memory.graph.change import EpisodeVertex, GraphChange, Link, ThesisVertex
from memory.ingest.chunk import Draft
from memory.ingest.draft import DocumentDraft
from memory.ingest.versions import FormerSentence, VersionDiff, align_versions, compare_versions, find_version_begin
from memory.nouns import Receipt
from memory.protocols import Embedder, Vectors
from memory.store import episodes, graph, revisions, sources, text, vectors
from memory.store.connect import Connection
from memory.store.store import Store
from memory.text import mentions as mention_rules
from memory.text.mentions import Mention
from memory.time.timestamps import to_wall


class PreparedBatch(NamedTuple):
    """Documents ready to be written, of equal uris only the last. `places`: the index in `documents` of each given one.
    `vectors`: embedded text -> vector by `embedder`, for new texts."""

    places: tuple[int, ...]
    documents: tuple[DocumentDraft, ...]
    embedder: Embedder
    vectors: Mapping[str, Vectors]

    def embed(self, texts: Sequence[str], embedder: Embedder) -> Vectors:
        """Embeds (n,) texts -> (n, dimension); only those without a vector."""
        if embedder is not self.embedder:
            return embed_or_leave(embedder, texts)
        late = [text for text in texts if text not in self.vectors]
        vectors = {**self.vectors, **dict(zip(late, embed_or_leave(embedder, late) if late else (), strict=True))}
        return np.array([vectors[text] for text in texts], np.float32).reshape(len(texts), embedder.dimension)


def embed_drafts(store: Store, drafts: Sequence[DocumentDraft], embedder: Embedder) -> PreparedBatch:
    """Embeds new texts of documents with different uris."""
    with store.reading() as conn:
        texts = texts_to_embed(drafts, compare_versions(conn, drafts), sentence_window(embedder))
    vectors = dict(zip(texts, embed_or_leave(embedder, texts), strict=True)) if texts else {}
    return PreparedBatch(tuple(range(len(drafts))), tuple(drafts), embedder, vectors)


def _list_new_episodes(batch: Sequence[DocumentDraft], diffs: Sequence[VersionDiff]) -> list[Draft]:
    pairs = [
        pair for draft, diff in zip(batch, diffs, strict=True) for pair in zip(draft.episodes, diff.kept, strict=True)
    ]
    return [episode for episode, placed in pairs if placed is None]


def texts_to_embed(batch: Sequence[DocumentDraft], diffs: Sequence[VersionDiff], window: int) -> list[str]:
    """Returns the texts of new episodes, in order, then those of their sentences."""
    new = _list_new_episodes(batch, diffs)
    sentences = chain(*(sentence_texts(episode.title, episode.text, episode.sentences, window) for episode in new))
    return [*(embedded_text(episode.title, episode.text) for episode in new), *sentences]


def embedded_text(title: str, text: str) -> str:
    """Returns the text embedded for an episode or a sentence."""
    return drop_letters(f"{title}. {text}")


def sentence_texts(title: str, text: str, spans: Sequence[tuple[int, int]], window: int) -> list[str]:
    """Returns the texts embedded for the sentences at `spans` of an episode: the title, and `window` sentences (an odd
    number) around each."""
    around = window // 2
    parts = [text[start:end] for start, end in spans]
    return [
        embedded_text(title, " ".join(parts[max(0, place - around) : place + around + 1]))
        for place in range(len(parts))
    ]


def split_sentences(matrix: Vectors, counts: Sequence[int]) -> list[Vectors]:
    """Returns (sum of counts, dimension) vectors of sentences -> those of each episode."""
    return np.split(matrix, np.cumsum(counts)[:-1]) if counts else []


def sentence_window(embedder: Embedder) -> int:
    """Returns the number of sentences an embedder reads at once, around the one to embed."""
    return getattr(embedder, "sentence_window", 1)


def embed_or_leave(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Embeds (n,) texts -> (n, dimension), NaN if the embedder's server cannot be reached: these episodes are found by
    words and graph, and embedded later (`Maintenance.fill_vectors`)."""
    try:
        return embedder.embed_documents(texts)
    except ModelError:
        return np.full((len(texts), embedder.dimension), np.nan, np.float32)


def put_vectors(conn: Connection, embedder_id: int, embedded: Sequence[episodes.EpisodeText], matrix: Vectors) -> None:
    """Stores vectors of stored episodes, one row each, followed by those of their sentences; skips deleted ones."""
    live = {row.id for row in episodes.read_texts(conn, [row.id for row in embedded])}
    places = [place for place, row in enumerate(embedded) if row.id in live]
    ids = [embedded[place].id for place in places]
    sentences = split_sentences(matrix[len(embedded) :], [len(row.sentences) for row in embedded])
    vectors.put_many(conn, embedder_id, ids, matrix[places], [sentences[place] for place in places])


class Ingestion:
    """Writes a batch within one transaction. `change`: the changes to the graph; `extractions` (by episode): facts of
    new episodes, and of kept ones with changed properties; `redated`: ids of removed episodes whose time was wrong;
    `edited`: start of each source's new version (source id -> ms UTC); `edits`: theses (former, new) changed by it;
    `restated`: those with the same meaning."""

    def __init__(self, conn: Connection, embedder_id: int, now: int) -> None:
        self._conn = conn
        self._embedder_id = embedder_id
        self._now = now
        self.change = GraphChange()
        self.redated: list[int] = []
        self.edited: dict[int, int] = {}
        self.edits: list[tuple[int, int]] = []
        self.restated: list[tuple[int, int]] = []
        self.extractions: dict[int, Extraction] = {}
        self._objects: dict[str, int] = {}
        self._nodes: Iterator[int] = iter(())
        self._episode_rows: list[episodes.EpisodeRow] = []
        self._theses: list[graph.Thesis] = []
        self._edges: list[tuple[graph.EdgeKind, int, int, int, str | None]] = []
        self._first_edge = 0

    def write(self, batch: Sequence[DocumentDraft], diffs: Sequence[VersionDiff], matrix: Vectors) -> list[Receipt]:
        """Writes the batch; `matrix` has the vectors of `texts_to_embed`, NaN if missing."""
        new = _list_new_episodes(batch, diffs)
        count = len(new) + sum(len(episode.sentences) for episode in new)
        first = graph.allocate(self._conn, "node", count)  # in one statement: one per row would cost more than the row
        self._nodes = iter(range(first, first + count))
        self._first_edge = graph.allocate(self._conn, "edge", 0)  # the lock holds until this unit ends
        self._resolve_mentions(batch)
        receipts = [self._write_source(draft, diff) for draft, diff in zip(batch, diffs, strict=True)]
        episodes.insert_many(self._conn, self._episode_rows, self._now)
        graph.insert_theses(self._conn, self._theses, self._now)
        graph.retire_edges(self._conn, self.change.unlinked, self._now)
        first = graph.allocate(self._conn, "edge", len(self._edges))
        rows = [graph.EdgeRow(first + i, *edge) for i, edge in enumerate(self._edges)]
        graph.insert_edges(self._conn, rows, self._now)
        revisions.restate(self._conn, self.restated)
        ids = [row.id for row in self._episode_rows]
        text.add(self._conn, ids)
        sentences = split_sentences(matrix[len(new) :], [len(episode.sentences) for episode in new])
        made = [
            place
            for place, rows_of in enumerate(sentences)
            if not (np.isnan(matrix[place]).any() or np.isnan(rows_of).any())
        ]
        made_sentences = [sentences[place] for place in made]
        vectors.put_many(self._conn, self._embedder_id, [ids[place] for place in made], matrix[made], made_sentences)
        self.change.retired.extend(placed.id for diff in diffs for placed in diff.removed)
        self.redated = [id for diff in diffs for id in diff.redated]
        episodes.retire_many(self._conn, self.redated, self._now)
        return receipts

    def retire_removed(self) -> None:
        """Retires episodes no longer in their source, after new facts are asserted, so that a fact in both versions
        stays the same and a changed one has a predecessor."""
        episodes.retire_many(self._conn, self.change.retired, self._now)

    def _resolve_mentions(self, batch: Sequence[DocumentDraft]) -> None:
        """Finds or creates the object of every norm in the batch; one that is sure nowhere is only found. An alias is
        the object of its note's title."""
        surfaces: dict[str, Mention] = {}
        aliases: dict[str, list[str]] = {}
        drafted = [*chain(*(chain(*(episode.mentions for episode in draft.episodes), draft.shared) for draft in batch))]
        for mention in drafted:
            known_as = surfaces.setdefault(mention.norm, mention)
            if mention_rules.norm(known_as.surface) != known_as.norm == mention_rules.norm(mention.surface):
                surfaces[mention.norm] = mention  # under its full name
        for draft in batch:
            for alias in filter(mention_rules.norm, draft.document.aliases):
                aliases.setdefault(mention_rules.norm(draft.title), []).append(alias)
        self._objects = {name: nodes[0] for name, nodes in graph.objects_by_norm(self._conn, list(surfaces)).items()}
        known = self._objects.keys() | {mention.norm for mention in drafted if mention.sure}
        titles = {mention_rules.norm(alias): title for title, given in aliases.items() for alias in given}
        for name in (mention.norm for mention in drafted if mention.titles):
            titles.pop(name, None)  # a note of its own
        named = [self._objects[mention.norm] for mention in drafted if mention.sure and mention.norm in self._objects]
        graph.name_values(self._conn, named)
        unknown = known - self._objects.keys()
        new = [name for name in surfaces if name in unknown and titles.get(name) not in known]
        first = graph.allocate(self._conn, "node", len(new))
        self._objects.update({name: first + i for i, name in enumerate(new)})
        for name, title in titles.items():
            if title in self._objects:
                self._objects.setdefault(name, self._objects[title])
        kinds = {name: "date" if mention_rules.is_date(name) else surfaces[name].kind for name in new}
        graph.insert_objects(
            self._conn,
            [(self._objects[name], surfaces[name].surface, kinds[name]) for name in new],
            self._now,
        )
        rows = [graph.AliasRow(name, surfaces[name].surface, self._objects[name], "mention") for name in new]
        for name, given in aliases.items():
            if name in self._objects:
                node = self._objects[name]
                # Surer than a mention, so that the alias finds this object first.
                rows += [graph.AliasRow(mention_rules.norm(a), a, node, "frontmatter", 2.0) for a in given]
        graph.insert_aliases(self._conn, rows)
        self.change.objects.extend((self._objects[name], kinds[name] in graph.NO_THINGS) for name in new)

    def _write_source(self, draft: DocumentDraft, diff: VersionDiff) -> Receipt:
        document = draft.document
        since = find_version_begin(document, sources.last_read(self._conn, document.uri), self._now)
        source_id = self._upsert_source(draft)
        episodes.keep_secrets(self._conn, source_id, draft.secrets)
        removed = [placed.id for placed in diff.removed]
        stated = {at for _, at in document.parts if at is not None}
        former: dict[int, dict[int, FormerSentence]] = defaultdict(dict)
        if since is not None:
            self.edited[source_id] = since
            still = [placed for placed in diff.removed if placed.id not in diff.redated]
            for (number, place), sentence in align_versions(self._conn, draft.episodes, diff.kept, still).items():
                former[number][place] = sentence
            episodes.end_many(self._conn, removed, since)
            rewritten = {row.event_from for row in episodes.list_refs(self._conn, removed)}
            stated = {at for at in stated if to_wall(at) not in rewritten}  # text added to a log is from its day
        ids: list[int] = []
        moved: list[episodes.EpisodeRow] = []
        for number, (episode, placed) in enumerate(zip(draft.episodes, diff.kept, strict=True)):
            seq = draft.first + number
            row = self._make_episode_row(draft, episode, placed.id if placed else next(self._nodes), source_id, seq)
            ids.append(row.id)
            if placed is None:
                row = row._replace(since=None if episode.at in stated else since)
                self._add_episode(row, draft, episode, former.get(number, {}))
            else:
                moved.append(row)
                self.change.moved[row.id] = seq
                self._keep_episode(row, draft, episode)
        episodes.restate_many(self._conn, moved)
        self._link_sequence(ids, diff)
        added = sum(placed is None for placed in diff.kept)
        return Receipt(source_id, tuple(ids), added, len(ids) - added, len(diff.removed))

    def _upsert_source(self, draft: DocumentDraft) -> int:
        """Returns the id of its source, which counts as read only with the last piece."""
        document = draft.document
        if draft.is_last:
            return sources.upsert(self._conn, document, draft.title, self._now)
        if source := sources.get(self._conn, document.uri):
            return source.id
        unread = replace(document, sha256=None, size=None, mtime_ns=None)
        return sources.upsert(self._conn, unread, draft.title, self._now)

    def _make_episode_row(
        self, draft: DocumentDraft, episode: Draft, id: int, source_id: int, seq: int
    ) -> episodes.EpisodeRow:
        document = draft.document
        refs = episode.refs or ((document.ref,) if document.ref else ())
        return episodes.EpisodeRow(
            id, source_id, seq, episode.title, episode.text, episode.sha256, len(episode.text.split()),
            episode.speaker or document.speaker, to_wall(episode.at), to_wall(episode.until or episode.at),
            episode.line, episode.end_line, refs, episode.line_map, episode.turns,
        )  # fmt: skip

    def _queue_edge(self, kind: graph.EdgeKind, src: int, dst: int, support: int = 1, role: str | None = None) -> int:
        """Queues an edge; returns its id."""
        self._edges.append((kind, src, dst, support, role))
        return self._first_edge + len(self._edges) - 1

    def _add_episode(
        self, row: episodes.EpisodeRow, draft: DocumentDraft, episode: Draft, former: Mapping[int, FormerSentence]
    ) -> None:
        self._episode_rows.append(row)
        counts, titles = self._count_mentions(draft, episode)
        edges = {
            node: self._queue_edge("mention", row.id, node, count, "title" if node in titles else None)
            for node, count in counts.items()
        }
        self.change.added.append(_make_vertex(row, draft, counts, titles, edges))
        if episode.extraction:
            self.extractions[row.id] = episode.extraction
        self._add_theses(row, episode, former)

    def _count_mentions(self, draft: DocumentDraft, episode: Draft) -> tuple[dict[int, int], frozenset[int]]:
        counts = Counter(self._objects[m.norm] for m in (*episode.mentions, *draft.shared) if m.norm in self._objects)
        return dict(counts), frozenset(self._objects[m.norm] for m in episode.mentions if m.titles)

    def _add_theses(self, row: episodes.EpisodeRow, episode: Draft, former: Mapping[int, FormerSentence]) -> None:
        nodes = [next(self._nodes) for _ in episode.sentences]
        starts = [start for start, _ in episode.sentences]
        members: dict[int, set[int]] = defaultdict(set)
        for mention in episode.mentions:
            place = bisect_right(starts, mention.start) - 1
            node = self._objects.get(mention.norm)
            if node and mention.start >= 0 and place >= 0 and mention.start < episode.sentences[place][1]:
                members[place].add(node)
        for place, (start, end) in enumerate(episode.sentences):
            begin = row.event_from
            if place in former:
                was, is_edited = former[place]
                begin = row.since if is_edited else was.valid_from
                (self.edits if is_edited else self.restated).append((was.id, nodes[place]))
            self._theses.append(graph.Thesis(nodes[place], row.id, start, end, valid_from=begin))
            asserts = self._queue_edge("asserts", row.id, nodes[place])
            edges = {object: self._queue_edge("member", nodes[place], object) for object in sorted(members[place])}
            self.change.theses.append(ThesisVertex(nodes[place], row.id, asserts, edges, begin))

    def _keep_episode(self, row: episodes.EpisodeRow, draft: DocumentDraft, episode: Draft) -> None:
        """Updates mentions and facts of a kept episode to its source's current properties."""
        if row.seq == 0:
            self.extractions[row.id] = episode.extraction
        counts, titles = self._count_mentions(draft, episode)
        mentions = {(node, count, "title" if node in titles else None) for node, count in counts.items()}
        stored = {
            (edge.dst, edge.n_support, edge.role): edge.id for edge in graph.edges_from(self._conn, [row.id], "mention")
        }
        if stored.keys() != mentions:
            self.change.unlinked += [id for key, id in stored.items() if key not in mentions]
            edges = {key[0]: id for key, id in stored.items() if key in mentions}
            new = sorted(mentions - stored.keys(), key=lambda key: key[0])
            edges |= {key[0]: self._queue_edge("mention", row.id, *key) for key in new}
            self.change.remade.append(_make_vertex(row, draft, counts, titles, edges))

    def _link_sequence(self, written: list[int], diff: VersionDiff) -> None:
        """Writes `next` edges along the source and removes others."""
        stored_ids = {placed.id for placed in (*diff.kept, diff.before) if placed}
        ids = [*([diff.before.id] if diff.before else []), *written, *([diff.after.id] if diff.after else [])]
        pairs = set(pairwise(ids))
        edges = graph.edges_from(self._conn, sorted(stored_ids), "next") if stored_ids else []
        stored = {(edge.src, edge.dst): edge.id for edge in edges}
        self.change.unlinked += [id for pair, id in stored.items() if pair not in pairs]
        new = [pair for pair in pairwise(ids) if pair not in stored]
        self.change.links += [Link(self._queue_edge("next", a, b), "next", a, b) for a, b in new]


def _make_vertex(
    row: episodes.EpisodeRow,
    draft: DocumentDraft,
    counts: dict[int, int],
    titles: frozenset[int],
    edges: dict[int, int],
) -> EpisodeVertex:
    is_chat = draft.document.kind == "chat"
    return EpisodeVertex(row.id, row.source_id, row.seq, row.event_from, is_chat, row.words, counts, titles, edges)
