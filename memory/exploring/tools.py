"""Nine tools with which a model explores what a question may see.

A `Toolbox` belongs to one question. Invariants: no tool returns anything of an episode that the question may not see,
or, with `only_open`, of a local-only text; only `collected` is evidence; each result has at most a few thousand
characters. Text of notes is data: every result puts it between two lines with a random word that its author cannot
know.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from rapidfuzz import fuzz

from memory.errors import InvalidInputError
from memory.exploring.guided import Reading, visible_rows
from memory.exploring.labels import MAX_PREVIEW_CHARS, best_sentences, name_objects, name_relations, preview
from memory.exploring.tool_calls import check_arguments
from memory.graph.arrays import Floats, Ids, Ints
from memory.graph.walk import EPISODE, OBJECT, Walkable, top_k
from memory.llm import Message, ToolCall
from memory.nouns import Episode
from memory.retrieval.pipeline import search_passages
from memory.retrieval.state import RetrievalResult
from memory.retrieval.traversers import PropagatedRelevance
from memory.store import episodes
from memory.store import graph as stored
from memory.store.connect import Connection
from memory.text.mentions import norm
from memory.text.quotes import make_fence, one_line, strip_unseen
from memory.text.words import words

MAX_READ_CHARS = 3_000  # of one that is read
MAX_QUOTED_CHARS = 1_500  # of one that is given to a sub-query
MAX_ANSWER_CHARS = 600  # of what a sub-query says
MAX_SUMMARY_SENTENCES = 2  # of a passage in a summary
MAX_RESULTS = 10  # objects or passages that a search gives
MAX_NEIGHBOURS = 15  # neighbours of an object
MAX_RELATIONS = 3  # relations of one neighbour, the newest
MAX_OBJECTS_OF_PASSAGE = 12  # objects of a passage that is read
MAX_FRONTIER = 10  # objects that the state names
MAX_COLLECTED = 20  # passages that can be collected
LEAST_EXACT_MATCHES = 3  # objects of exactly that name, below which similar names are looked for
LEAST_NAME_RATIO = 90.0  # of 100, how alike a similar name is
MAX_PREFIX_MATCHES = 200  # names that are looked at for a similar one
MAX_COOCCURRING = 500  # passages of an object in which its neighbours are looked for

SubQuery = Callable[[str, str], str]
"""A question and the passages for it, as text in a fence -> a short answer. How a sub-query is asked; InvalidInputError
if it is not."""


class Toolbox:
    """The tools over the retrieval of one question. `reading` opens a connection for one call of a tool. With
    `only_open` nothing is shown of sources whose text must stay on this machine."""

    def __init__(self, reading: Reading, result: RetrievalResult, *, only_open: bool = False) -> None:
        self.fence = make_fence()
        self.only_open = only_open
        self.collected: dict[int, float] = {}
        self.explored: dict[int, None] = {}  # objects, in the order of exploration
        self.child: SubQuery | None = None
        self._reading, self._retrieval = reading, result
        self._walk = Walkable(result.graph, visible_rows(reading, result, only_open), when=result.seeds.guidance.when)
        self._ranking = result.relevance(self._walk.allowed)
        self._relevance = PropagatedRelevance(result.graph, self._ranking, self._walk.allowed)
        self._labels: dict[int, str] = {}  # names that may be shown, by node
        self._numbers: dict[int, int] = {}
        self._nodes: list[int] = []
        self._results: dict[str, str] = {}

    def call(self, call: ToolCall) -> Message:
        """The result of a tool; a repeated call gets the same result. Raises only the ModelError of a sub-query."""
        try:
            return call.make_result(self._result(call.name, check_arguments(call.name, call.arguments)))
        except InvalidInputError as error:
            return call.make_result(one_line(str(error)), failed=True)

    def _result(self, name: str, arguments: Mapping[str, Any]) -> str:
        key = json.dumps([name, arguments, sorted(self.collected) if name == "rerank_evidence" else 0])
        if key in self._results:
            return f"You asked that before; it gives the same.\n{self._results[key]}"
        if name == "sub_query":  # a model thinks for long, and nothing may be open meanwhile
            text = self._sub_query(**arguments)
        else:
            with self._reading() as conn:
                text = getattr(self, f"_{name}")(conn, **arguments)
        if name != "collect_chunk":
            self._results[key] = text
        return text

    def state(self) -> str:
        """Returns the state of the search: the collected and explored passages, and where to look next."""
        ahead = [self._name(node) for node in self._frontier() if self._labels.get(node)]
        parts = [
            f"Collected: {self._list_numbers(self.collected)}.",
            f"Explored: {self._list_numbers([*self.explored][-MAX_FRONTIER:])}.",
        ]
        return " ".join(parts) + (f"\nNot explored yet:\n{self._fence_rows(ahead)}" if ahead else "")

    # The tools -------------------------------------------------------------------------------------

    def _entity_search(self, conn: Connection, query: str) -> str:
        graph = self._retrieval.graph
        scores, columns = self._search(conn, query)
        exact = np.array(sorted(columns), np.int64)
        nodes = graph.object_ids[exact[np.argsort(-graph.rarity(exact), kind="stable")]].tolist()
        if len(nodes) < LEAST_EXACT_MATCHES:
            nodes += self._find_similar(conn, query, scores)
        nameable = self._filter_nameable(conn, [node for node in nodes if self._walk.visible(node)][: 2 * MAX_RESULTS])
        rows = [
            f"{self._name(node)}, {_count_passages(len(self._passages_of(node)))}" for node in nameable[:MAX_RESULTS]
        ]
        if not rows:
            return "No object has such a name. vector_search finds passages by what they say."
        return f"{len(rows)} found:\n{self._fence_rows(rows)}"

    def _get_chunks_for_entity(self, conn: Connection, object: int) -> str:
        node = self._resolve_number(object, OBJECT)
        self.explored[node] = None
        rows = self._passages_of(node)
        if not len(rows):
            return "No passage speaks of it."
        scores = self._relevance(self._retrieval.graph.episode_ids[rows].astype(np.int32))
        order = np.lexsort((rows, -self._ranking[rows], -scores))[:MAX_RESULTS]
        name = self._labels[node] if self._filter_nameable(conn, [node]) else ""
        previews = self._list_previews(conn, rows[order], [*words(self._retrieval.question.text), *words(name)])
        more = f" of {len(rows)}; vector_search finds the others" if len(rows) > len(order) else ""
        return f"{len(order)} passages{more}:\n{self._fence_rows(previews)}"

    def _vector_search(self, conn: Connection, query: str, k: int) -> str:
        if not 1 <= k <= MAX_RESULTS:
            raise InvalidInputError(f"k must be from 1 to {MAX_RESULTS}.")
        scores, _ = self._search(conn, query)
        rows = top_k(scores, self._walk.allowed, k)
        if not len(rows):
            return "Nothing is found by these words. Try others."
        return f"{len(rows)} found:\n{self._fence_rows(self._list_previews(conn, rows, [*words(query)], scores))}"

    def _expand_neighbors(self, conn: Connection, object: int) -> str:
        node = self._resolve_number(object, OBJECT)
        self.explored[node] = None
        shared = self._count_shared(node)
        related = name_relations(conn, self._walk, node, self.only_open)
        around = np.array(sorted({*shared, *related} - {node}), np.int32)
        scores = self._score(around)
        counts = np.array([shared.get(neighbour, 0) for neighbour in around.tolist()])
        order = np.lexsort((around, -counts, -scores))
        nameable = self._filter_nameable(conn, around[order][: 2 * MAX_NEIGHBOURS].tolist())[:MAX_NEIGHBOURS]
        rows = []
        for neighbour in nameable:
            common = [f"{_count_passages(shared[neighbour])} in common"] if neighbour in shared else []
            rows.append("; ".join([self._name(neighbour), *related.get(neighbour, [])[-MAX_RELATIONS:], *common]))
        if not rows:
            return "Nothing is around it."
        more = f" of {len(around)}" if len(around) > len(rows) else ""
        return f"{len(rows)} objects{more}:\n{self._fence_rows(rows)}"

    def _read_chunk(self, conn: Connection, passage: int) -> str:
        node = self._resolve_number(passage, EPISODE)
        episode = self._texts(conn, [node])[0]
        near = self._walk.neighbours(node)
        within = near.vertices[self._walk.kinds(near.vertices) == OBJECT]
        within = within[np.lexsort((within, -self._score(within)))][:MAX_OBJECTS_OF_PASSAGE]
        nameable = self._filter_nameable(conn, within.tolist())
        rows = [
            self._head(episode),
            *(row for row in strip_unseen(episode.text)[:MAX_READ_CHARS].splitlines() if row.strip()),
        ]
        if nameable:
            rows.append("Objects: " + ", ".join(map(self._name, nameable)))
        before, after = episodes.neighbours(conn, [node]).get(node, (None, None))
        adjacent = [
            (word, neighbour)
            for word, neighbour in (("before", before), ("after", after))
            if neighbour and self._walk.visible(neighbour)
        ]
        context = "".join(f" The passage {word} it is [{self._number(neighbour)}]." for word, neighbour in adjacent)
        return f"Passage [{passage}].{context}\n{self._fence_rows(rows)}"

    def _sub_query(self, question: str, passages: Sequence[int]) -> str:
        if self.child is None:
            raise InvalidInputError("No turn is left for a sub-query.")
        with self._reading() as conn:
            texts = self._texts(conn, [self._resolve_number(passage, EPISODE) for passage in passages])
        quoted = self._fence_rows(
            [f"{self._head(passage)}: {one_line(passage.text)[:MAX_QUOTED_CHARS]}" for passage in texts]
        )
        answer = one_line(self.child(one_line(question), quoted))[:MAX_ANSWER_CHARS]
        return f"From these passages alone:\n{self._fence_rows([answer])}"

    def _summarize_chunks(self, conn: Connection, passages: Sequence[int], focus: str) -> str:
        terms = [*words(focus)]
        rows = []
        for passage in self._texts(conn, [self._resolve_number(passage, EPISODE) for passage in passages]):
            spans = best_sentences(passage.text, terms, MAX_SUMMARY_SENTENCES)
            summary = " ".join(one_line(passage.text[start:end]) for start, end in spans)
            rows.append(f"{self._head(passage)}: {summary[: 2 * MAX_PREVIEW_CHARS]}")
        return f"What they say about it:\n{self._fence_rows(rows)}"

    def _collect_chunk(self, conn: Connection, passage: int, relevance: float) -> str:
        node = self._resolve_number(passage, EPISODE)
        if node in self.collected:
            return f"[{passage}] is collected already."
        if len(self.collected) >= MAX_COLLECTED:
            raise InvalidInputError(f"{MAX_COLLECTED} passages are collected, which is all there is room for. End now.")
        self.collected[node] = relevance
        return f"[{passage}] is collected; {len(self.collected)} in all."

    def _rerank_evidence(self, conn: Connection, query: str) -> str:
        if not self.collected:
            raise InvalidInputError("Nothing is collected yet.")
        scores, _ = self._search(conn, query)
        rows = self._walk.rows(list(self.collected))
        order = np.lexsort((rows, -scores[rows]))
        return f"The best first:\n{self._fence_rows(self._list_previews(conn, rows[order], [*words(query)], scores))}"

    # What they are made of -------------------------------------------------------------------------

    def _search(self, conn: Connection, query: str) -> tuple[Floats, list[int]]:
        return search_passages(conn, self._retrieval, query, self._walk.allowed)

    def _number(self, node: int) -> int:
        """Returns the number of a vertex in this conversation; it has no meaning outside."""
        if node not in self._numbers:
            self._nodes.append(node)
            self._numbers[node] = len(self._nodes)
        return self._numbers[node]

    def _list_numbers(self, nodes: Iterable[int]) -> str:
        return " ".join(f"[{self._number(node)}]" for node in nodes) or "nothing"

    def _filter_nameable(self, conn: Connection, nodes: Iterable[int]) -> list[int]:
        nodes = list(dict.fromkeys(nodes))
        new = [node for node in nodes if node not in self._labels]
        self._labels |= name_objects(conn, self._walk, new, self.only_open)
        return [node for node in nodes if self._labels[node]]

    def _name(self, node: int) -> str:
        return f'[{self._number(node)}] "{self._labels[node]}"'

    def _resolve_number(self, number: int, kind: int) -> int:
        """Returns the node of a vertex of that kind by its number. InvalidInputError."""
        node = self._nodes[number - 1] if 1 <= number <= len(self._nodes) else None
        if node is None:
            raise InvalidInputError(f"There is no [{number}]. Use the numbers that the tools have shown.")
        if int(self._walk.kinds([node])[0]) != kind:
            raise InvalidInputError(f"[{number}] is no {'object' if kind == OBJECT else 'passage'}.")
        return node

    def _frontier(self) -> list[int]:
        ahead = [node for node in self._nodes if node not in self.explored]
        nodes = np.array(ahead, np.int32)[self._walk.kinds(ahead) == OBJECT] if ahead else np.empty(0, np.int32)
        nodes = nodes[~self._retrieval.graph.leads_nowhere[self._walk.rows(nodes)]]
        best: list[int] = nodes[np.lexsort((nodes, -self._score(nodes)))][:MAX_FRONTIER].tolist()
        return best

    def _score(self, nodes: Ids) -> Floats:
        """(v,) relevance times hub penalty."""
        scores: Floats = self._relevance(nodes) * self._walk.penalties(nodes)
        return scores

    def _passages_of(self, node: int) -> Ints:
        """Returns rows of the visible episodes that mention an object."""
        _, mentioning, _ = self._retrieval.graph.mentioned.find(self._walk.rows([node]))
        visible: Ints = mentioning[self._walk.allowed[mentioning]].astype(np.int64)
        return visible

    def _count_shared(self, node: int) -> dict[int, int]:
        """Object -> the number of passages it shares with this one; without dates."""
        graph = self._retrieval.graph
        rows = self._passages_of(node)
        rows = rows[np.lexsort((rows, -self._ranking[rows]))][:MAX_COOCCURRING]
        columns, counts = np.unique(graph.counts.columns_of(rows), return_counts=True)
        is_object = ~graph.leads_nowhere[columns]
        return dict(zip(graph.object_ids[columns[is_object]].tolist(), counts[is_object].tolist(), strict=True))

    def _find_similar(self, conn: Connection, query: str, scores: Floats) -> list[int]:
        """Returns objects with a similar name: by prefix, and among the best passages."""
        name_norm = norm(query)
        names = stored.beginning_with(conn, name_norm[:3], MAX_PREFIX_MATCHES) if len(name_norm) > 2 else []
        near = [
            norm(name)
            for name in names
            if fuzz.ratio(norm(name), name_norm) >= LEAST_NAME_RATIO or norm(name).startswith(name_norm)
        ]
        by_prefix = sorted({node for nodes in stored.objects_by_norm(conn, near).values() for node in nodes})
        graph = self._retrieval.graph
        columns = np.unique(graph.counts.columns_of(top_k(scores, self._walk.allowed, 2 * MAX_RESULTS)))
        labels = stored.object_labels(conn, graph.object_ids[columns].tolist())
        inside = [
            node
            for node, label in sorted(labels.items())
            if fuzz.partial_ratio(norm(label), name_norm) >= LEAST_NAME_RATIO
            and min(len(norm(label)), len(name_norm)) > 2
        ]
        return [*by_prefix, *inside]

    def _texts(self, conn: Connection, nodes: Sequence[int]) -> list[Episode]:
        """These episodes without those that were forgotten or closed since the question was asked."""
        passages = episodes.get_many(conn, list(dict.fromkeys(nodes)))
        passages = [passage for passage in passages if not self.only_open or passage.source.policy == "any"]
        if not passages:
            raise InvalidInputError("That is not there any more.")
        return passages

    def _list_previews(
        self, conn: Connection, rows: Ints | Ids, terms: Sequence[str], scores: Floats | None = None
    ) -> list[str]:
        passages = self._texts(conn, self._retrieval.graph.episode_ids[rows].tolist())
        row_of = self._retrieval.graph.row_of
        fits = (
            {hit.id: f" (fits {float(scores[row_of[hit.id]]):.2f})" for hit in passages} if scores is not None else {}
        )
        return [f"{self._head(hit)}{fits.get(hit.id, '')}: {preview(hit.text, terms)}" for hit in passages]

    def _head(self, episode: Episode) -> str:
        parts = [f'[{self._number(episode.id)}] "{one_line(episode.title)[:MAX_PREVIEW_CHARS]}"']
        parts += [episode.at.date().isoformat()] if episode.at else []
        parts += [f"by {one_line(episode.speaker)[:MAX_PREVIEW_CHARS]}"] if episode.speaker else []
        return ", ".join(parts)

    def _fence_rows(self, rows: Sequence[str]) -> str:
        return "\n".join([self.fence, *rows, self.fence])


def _count_passages(count: int) -> str:
    return f"{count} passage{'s' if count != 1 else ''}"
