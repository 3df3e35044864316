"""A small honest writer for tests: texts become episodes, sentences theses, capitalised words objects."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from memory.nouns import Document, Fact
from memory.store import episodes, facts, graph, schema, sources, text, vectors
from memory.store.connect import Connection
from memory.time.timestamps import to_ms

DIMENSION = 8


@dataclass
class HashEmbedder:
    """Each text its own random direction; a text without letters has none."""

    name: str = "hash"
    dimension: int = DIMENSION
    batch: int = 64
    query_prefix: str = ""
    document_prefix: str = ""

    def embed_documents(self, texts: list[str]) -> np.ndarray:
        rows = [self.embed_query(one) for one in texts]
        return np.array(rows, np.float32).reshape(len(texts), self.dimension)

    def embed_query(self, text: str) -> np.ndarray:
        if not re.search(r"\w", text):
            return np.zeros(self.dimension, np.float32)
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        vector = np.random.default_rng(seed).standard_normal(self.dimension).astype(np.float32)
        return vector / np.linalg.norm(vector)


def sha(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()


def nearest(conn: Connection, embedder_id: int, query: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The `k` episodes whose vectors are nearest to a unit vector -> (ids, cosines), nearest first."""
    pieces = list(vectors.pieces_of(conn, embedder_id))
    ids = np.concatenate([np.zeros(0, np.int64), *(ids for ids, _ in pieces)])
    cosines = np.concatenate([np.zeros(0, np.float32), *(matrix @ query for _, matrix in pieces)])
    order = np.argsort(-cosines, kind="stable")[:k]
    return ids[order], cosines[order]


def remember(conn: Connection, uri: str, *texts: str, now: int = 1000, title: str = "A title", tags=()) -> list[int]:
    """Writes a new source with one episode for each text; returns the episodes' ids."""
    embedder = HashEmbedder()
    embedder_id = vectors.register(conn, embedder)
    source = sources.upsert(conn, Document(uri=uri, tags=tags), title, now)
    first = graph.allocate(conn, "node", len(texts))
    ids = list(range(first, first + len(texts)))
    start = len(episodes.list_by_source(conn, source))
    episodes.insert_many(
        conn,
        [
            episodes.EpisodeRow(id, source, start + n, title, one, sha(one), len(one.split()), line_from=1, line_to=1)
            for n, (id, one) in enumerate(zip(ids, texts, strict=True))
        ],
        now,
    )
    theses, edges = [], []
    for id, one in zip(ids, texts, strict=True):
        for sentence in re.finditer(r"[^.]+\.?", one):
            thesis = graph.allocate(conn, "node", 1)
            theses.append(graph.Thesis(thesis, id, *sentence.span()))
            edges.append(("asserts", id, thesis))
            edges += [("member", thesis, object) for object in objects(conn, sentence.group(), now)]
        edges += [("mention", id, object) for object in objects(conn, one, now)]
    edges += [("next", a, b) for a, b in pairwise(ids)]
    graph.insert_theses(conn, theses, now)
    first = graph.allocate(conn, "edge", len(edges))
    graph.insert_edges(conn, [graph.EdgeRow(first + n, *edge) for n, edge in enumerate(edges)], now)
    text.add(conn, ids)
    if ids:
        matrix = embedder.embed_documents(list(texts))
        sentences = [embedder.embed_documents(re.findall(r"[^.]+\.?", one)) for one in texts]
        vectors.put_many(conn, embedder_id, ids, matrix, sentences)
    return ids


def objects(conn: Connection, words: str, now: int) -> list[int]:
    """The objects of the capitalised words, made where they are new."""
    names = sorted(set(re.findall(r"\b[A-Z]\w+", words)))
    known = graph.objects_by_norm(conn, [name.lower() for name in names])
    for name in names:
        if name.lower() not in known:
            id = graph.allocate(conn, "node", 1)
            graph.insert_objects(conn, [(id, name, None)], now)
            graph.insert_aliases(conn, [graph.AliasRow(name.lower(), name, id, "mention")])
            known[name.lower()] = [id]
    return [known[name.lower()][0] for name in names]


def about(
    conn: Connection, name: str, now: int, as_of: datetime | None = None, history: bool = False
) -> list[Fact] | None:
    """What is known of a name at `now` (ms); None if nothing has it."""
    objects = graph.all_by_norm(conn, name)
    return facts.list_about(conn, objects, now, now if as_of is None else to_ms(as_of), history) if objects else None


def row_at(id: int, seq: int, **given: Any) -> episodes.EpisodeRow:
    """An episode's row with its new place."""
    return episodes.EpisodeRow(id, 0, seq, "", "", "", 0, **given)


def use_steps(monkeypatch: pytest.MonkeyPatch, *steps: schema.Step) -> None:
    """Makes a memory of a later format."""
    monkeypatch.setattr(schema, "STEPS", steps)
