"""Theses in a model's words, which are added to the sentences of an episode."""

from collections.abc import Sequence

from memory.facts.extraction import ExtractedThesis
from memory.facts.resolve import Resolver
from memory.graph.change import ThesisVertex
from memory.store import episodes, graph
from memory.store.connect import Connection
from memory.time.timestamps import to_wall


def assert_theses(
    conn: Connection, resolver: Resolver, row: episodes.EpisodeRef, theses: Sequence[ExtractedThesis], now: int
) -> list[ThesisVertex]:
    """Adds theses to an episode, without those that it has already, at `now` (ms UTC); returns the new ones."""
    known = graph.model_theses(conn, row.id)
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
