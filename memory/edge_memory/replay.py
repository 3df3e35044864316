"""Replay: passages that helped with similar questions are found again before any search.

After ReMindRAG (Hu et al. 2025): from the seeds, edges activated by the question are followed, without a model or the
texts. Theirs is an unlimited depth-first search; here the strongest edge goes first and the number of vertices is
limited. The reached vertices join the seeds of the traversers; passages whose reading helped before count as
evidence."""

import heapq
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from memory.edge_memory.edges import ALPHA, SAME, Activation, EdgeMemory, Vector
from memory.graph.arrays import Bools, Floats, Graph
from memory.graph.walk import EPISODE, Moment, Walkable, top_k
from memory.protocols import Vectors
from memory.stages import ReplayNote
from memory.store import queries
from memory.store.connect import Connection
from memory.store.queries import PastQuestion
from memory.text.languages import content_words, guess_language, stem
from memory.text.mentions import mentions, norm, same_numbers
from memory.text.words import words

NODES, DEPTH = 40, 6  # limits of a replay: vertices, and edges to the farthest
STARTS = 8  # best episodes of text search from which it starts, in addition to named objects
TRIED = 10  # edges tried per vertex; some cannot be walked
APART = 0.20  # minimum lead (cosine) of a paraphrase over other questions
_CITATION = re.compile(r"\[\d+\]")
NO_QUERY = np.zeros(0, np.float32)
OFFERED = 10  # similar questions looked at


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """What earlier questions contribute to this one. `query` (d,) is its vector, empty without a lookup. Of the walk:
    `weights`: vertex -> strength in order of reaching, without starts; `followed`: edge -> activation; `read`: episode
    whose text helped before -> strength, strongest first; `activation`: all activated edges. `earlier`
    is the same question, otherwise `like` a clear paraphrase, if its evidence is unchanged; `in_vain`: such a question
    was asked in vain."""

    query: Vectors = field(default_factory=lambda: NO_QUERY, compare=False)
    weights: Mapping[int, float] = field(default_factory=dict)
    followed: Mapping[int, float] = field(default_factory=dict)
    read: Mapping[int, float] = field(default_factory=dict)
    activation: Mapping[int, float] = field(default_factory=dict)
    earlier: PastQuestion | None = None
    like: PastQuestion | None = None
    in_vain: bool = False

    @property
    def past(self) -> PastQuestion | None:
        """Returns the earlier question whose answer may be reused, if any."""
        return self.earlier or self.like

    @property
    def evidence(self) -> tuple[int, ...]:
        """Returns ids of episodes that helped with such questions before, surest first."""
        if self.earlier is not None:
            return self.earlier.cited
        return tuple(dict.fromkeys((*(self.like.cited if self.like is not None else ()), *self.read)))

    def scores(self, graph: Graph) -> Floats:
        """(n,) in [0, 1]: how surely reading an episode helped before."""
        values = np.zeros(len(graph.alive), np.float32)
        cited = self.earlier.cited if self.earlier is not None else ()
        for episode, value in {**self.read, **dict.fromkeys(cited, 1.0)}.items():
            if episode in graph.row_of:
                values[graph.row_of[episode]] = value
        return values

    def note(self) -> ReplayNote:
        """Returns the note for the trace."""
        earlier, like = (match and match.trace_id for match in (self.earlier, self.like))
        return ReplayNote(len(self.activation), len(self.followed), self.evidence, tuple(self.read), earlier, like)


NOT_ASKED_BEFORE = ReplayResult()


def replay_earlier(
    conn: Connection,
    graph: Graph,
    remembered: EdgeMemory,
    query: Vectors,
    starts: Iterable[int],
    allowed: Bools,
    valid_time: Moment,
    as_of: int | None,
    question: str,
) -> ReplayResult:
    """The replay for a question with vector `query` (d,) that starts at `starts` (node ids) and may see `allowed` (n,),
    as of a time in ms UTC. `question`: its text if it names no time; only such a one is matched with earlier ones."""
    key = remembered.key(query) if query.any() else None
    if key is None:
        return ReplayResult(query)
    activation = remembered.activate(key)
    result = NOT_ASKED_BEFORE
    if len(activation.edges):
        result = replay_walk(Walkable(graph, allowed, when=valid_time), starts, activation)
    result = replace(result, query=query, in_vain=remembered.was_in_vain(key))
    if not question:
        return result

    def sees(episode: int) -> bool:
        return episode in graph.row_of and bool(allowed[graph.row_of[episode]])

    asked = find_similar_questions(conn, remembered, key, as_of, sees)
    same = answered_before(asked)
    if not same:
        return replace(result, like=most_alike(asked, question))
    last_try = next((past.replayed for past in same if past.replayed is not None), True)
    return replace(result, earlier=same[0]) if last_try else result


def replay_walk(
    walk: Walkable, starts: Iterable[int], activation: Activation, nodes: int = NODES, depth: int = DEPTH
) -> ReplayResult:
    """Returns the vertices reached from `starts` (node ids) over activated edges that the question may walk, strongest
    first, on ties the smaller id; at most `nodes` vertices within `depth` edges. Deterministic; the cost depends on the
    reached vertices only."""
    seen = [vertex for vertex in dict.fromkeys(starts) if walk.visible(vertex)]
    depths = dict.fromkeys(seen, 0)
    weights: dict[int, float] = {}
    followed: dict[int, float] = {}
    waiting: list[tuple[float, int, int, int]] = []  # (-weight, vertex, edge, previous vertex)
    for vertex in depths:
        _add_edges(waiting, vertex, activation)
    pops = nodes * TRIED
    while waiting and len(weights) < nodes and pops:
        pops -= 1
        negative, vertex, edge, before = heapq.heappop(waiting)
        if not walk.follows(edge, before, vertex):
            continue
        if vertex not in depths:
            depths[vertex], weights[vertex] = depths[before] + 1, -negative
            if depths[vertex] < depth:
                _add_edges(waiting, vertex, activation)
        followed[edge] = activation.activation_of[edge]
    read = {}
    for vertex in depths:
        opening = activation.openings.get(vertex)
        if opening is not None and walk.kinds([vertex])[0] == EPISODE:
            read[vertex] = followed[opening] = activation.activation_of[opening]
    read = {episode: read[episode] for episode in sorted(read, key=lambda episode: (-read[episode], episode))}
    return ReplayResult(weights=weights, followed=followed, read=read, activation=activation.activation_of)


def text_starts(graph: Graph, episode_scores: Floats, allowed: Bools) -> tuple[int, ...]:
    """Returns the best episodes (node ids) of text search, which are starts in addition to the question's objects."""
    return tuple(int(graph.episode_ids[row]) for row in top_k(episode_scores, allowed, STARTS))


def find_similar_questions(
    conn: Connection, remembered: EdgeMemory, key: Vector, as_of: int | None, sees: Callable[[int], bool]
) -> list[tuple[PastQuestion, float]]:
    """Returns (question, cosine) of up to ten similar well-answered questions with the same `as_of` (ms UTC), most
    similar first, whose evidence is visible and unchanged. Not for questions that name a time: "last week" means
    another one now. The similarity threshold is calibrated so that hardly any two questions with different evidence
    reach it. Evidence of a rejected answer is not offered for similar questions."""
    alike = remembered.nearest(key, remembered.threshold)
    if bad := remembered.rejected_traces(key):
        wrong = queries.find_rejected(conn, [trace for trace, _ in alike], bad)
        alike = [(trace, cosine) for trace, cosine in alike if trace not in wrong]
    alike = alike[:OFFERED]
    by_trace = queries.find_answers(conn, [trace for trace, _ in alike]) if alike else {}
    candidates = [(by_trace[trace], cosine) for trace, cosine in alike if trace in by_trace]
    return [
        (past, cosine)
        for past, cosine in candidates
        if past.unchanged and past.as_of == as_of and all(map(sees, past.cited))
    ]


def answered_before(candidates: Sequence[tuple[PastQuestion, float]]) -> list[PastQuestion]:
    """Returns the candidates in (nearly) the same words, newest first: the evidence of the first is reused and its text
    regenerated."""
    same = [question for question, cosine in candidates if cosine >= SAME]
    return sorted(same, key=lambda question: -question.trace_id)


def most_alike(candidates: Sequence[tuple[PastQuestion, float]], question: str) -> PastQuestion | None:
    """Returns the candidate that is clearly a paraphrase: it has the same names, and the next one with other evidence
    is much less similar. Similarity alone means little if all questions are about the same few people."""
    if not candidates:
        return None
    first, alike = candidates[0]
    strange = (cosine for other, cosine in candidates if not set(first.cited) & set(other.cited))
    is_clear = alike - next(strange, 0.0) >= APART
    return first if is_clear and _names_same(question, first.question) else None


def _names_same(question: str, other: str) -> bool:
    """Whether each name in one question is part of the other, and both have the same numbers."""
    pairs = (question, norm(other)), (other, norm(question))
    are_named = all(mention.norm in text for asked, text in pairs for mention in mentions(asked))
    return are_named and same_numbers(norm(question), norm(other))


def agrees(answer: str, past: PastQuestion, question: str) -> bool:
    """Whether the answer matches that of the `past` question: of the words in neither question, the shorter answer
    shares at least half with the longer one; without such words, both begin alike ("yes", "no")."""
    language = guess_language(question)
    texts = [_CITATION.sub(" ", text) for text in (f"{question} {past.question}", answer, past.answer)]
    asked, now, before = ({stem(word, language) for word in content_words(text, language)} for text in texts)
    now, before = now - asked, before - asked
    if not now or not before:
        return words(texts[1])[:1] == words(texts[2])[:1]
    return 2 * len(now & before) >= min(len(now), len(before))


def _add_edges(waiting: list[tuple[float, int, int, int]], vertex: int, activation: Activation) -> None:
    for edge, other in activation.around.get(vertex, []):
        heapq.heappush(waiting, (-(1 - ALPHA) * activation.activation_of[edge], other, edge, vertex))
