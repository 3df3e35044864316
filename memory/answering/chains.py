"""The lines that join what a question names with the line that answers it: evidence in order, not in pieces.

"Where was the director of X born?" is answered by two lines: that Y directed X, and where Y was born. The second shares
no word with the question but "born", so by its own score it is seldom shown. Here each of the best lines of what was
recalled is a fact between the objects that it speaks of; from every object that the question names the best chain of
such facts is followed (`memory.retrieval.chains`), and its lines are shown in that order.

What this costs depends on what was recalled, not on how much is remembered.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memory.answering.candidates import AnswerCandidate, stems
from memory.retrieval.chains import Chain, Statement, chains, facts
from memory.retrieval.result import RetrievalResult
from memory.retrieval.state import QuestionState
from memory.store import graph as stored
from memory.store.connect import Connection
from memory.text.languages import stem

MAX_CANDIDATES_PER_EPISODE = 5  # lines of one episode that are looked at, the best
MAX_OBJECTS_PER_CANDIDATE = 8  # objects of one line that are looked at, the rarest
LEAST_ROOT_RARITY = 0.5  # of an object at which a chain begins: of N passages at most the square root of N speak of it
MAX_HOPS = 2  # lines of a chain; with three the same lines are found
ENTRY_BONUS = 0.8  # what it counts that a chain steps from what is said in passing to a passage about it
MAX_ENDS_NAMED = 3  # of a chain that the trace names
SCORE_DIGITS = 6  # of a line's score: what lies behind them depends on where in a matrix a vector stands


@dataclass(frozen=True, slots=True)
class ShownChain:
    """A chain as it is shown: its lines, and the names of the objects before each of them and after the last."""

    lines: tuple[AnswerCandidate, ...]
    names: tuple[str, ...]

    def text(self, number: Mapping[int, int]) -> str:
        """`Free Guy -> [2] -> Shawn Levy -> [3] -> Canada`, by the numbers of the lines (thesis id -> number)."""
        parts = []
        for name, line in zip(self.names, self.lines, strict=False):
            parts += [name, f"[{number[line.thesis_id]}]"]
        return " -> ".join([*parts, *self.names[len(self.lines) :]])


@dataclass(frozen=True, slots=True)
class ChainEvidence:
    """`lines`: what to show beside the best line, in the order of the chains. `ways`: the chains they come from.
    `followed`: how many there were to choose from."""

    lines: tuple[AnswerCandidate, ...] = ()
    ways: tuple[ShownChain, ...] = ()
    followed: int = 0

    def told(self, shown: Sequence[AnswerCandidate]) -> dict[str, Any]:
        """What the trace says of it: how many chains there were, which of the shown lines come from one, by number
        and by episode, and each chain that is shown whole."""
        number = {line.thesis_id: place for place, line in enumerate(shown, 1)}
        whole = [way for way in self.ways if all(line.thesis_id in number for line in way.lines)]
        return {
            "chains": self.followed,
            "bridging": sorted(number[line.thesis_id] for line in self.lines if line.thesis_id in number),
            "bridged": sorted({line.episode.id for line in self.lines if line.thesis_id in number}),
            "chain": [way.text(number) for way in whole],
        }


NO_CHAINS = ChainEvidence()


@dataclass(frozen=True, slots=True)
class _Told:
    """What the lines tell, with a number for every object and, behind those, for every line: by what they are called
    and how good they are, so that what was written first decides nothing. `labels` and `rarity` by object's number."""

    lines: Sequence[AnswerCandidate]
    labels: Sequence[str]
    rarity: Mapping[int, float]
    statements: Sequence[Statement]
    roots: Collection[int]

    def line(self, fact: int) -> AnswerCandidate:
        return self.lines[fact - len(self.labels)]


def join_with_chains(
    conn: Connection, found: RetrievalResult, lines: Sequence[AnswerCandidate], most: int
) -> ChainEvidence:
    """At most `most` lines to show with the first of `lines`, which are sorted, the best first.

    Of each object that the question names and few passages speak of: the lines of its best chain. Of one that leads to
    no other passage: its best line, unless the first of `lines` speaks of it. None if that one says all that is asked.
    """
    if _says_all(lines[0], found.question):
        return NO_CHAINS
    told = _told(conn, found, _looked_at(lines))
    if not told.roots:
        return NO_CHAINS
    triples = facts(told.statements, told.rarity)
    followed = chains(triples, told.roots, MAX_HOPS, len(triples) ** 2).chains
    about = {one.id: one.about for one in told.statements}
    in_best = {node for one in told.statements if told.line(one.id) is lines[0] for node in (*one.about, *one.objects)}
    ways: dict[int, ShownChain] = {}
    joined: dict[int, AnswerCandidate] = {}
    for chain in sorted(followed, key=lambda chain: (-_worth(chain, about), _facts(chain), chain.vertices)):
        way = [told.line(fact) for fact in _facts(chain)]
        if chain.root in ways or len({line.episode.id for line in way}) < len(way):
            continue
        if len(way) > 1 or chain.root not in in_best:
            ways[chain.root] = ShownChain(tuple(way), _names(chain, told.labels))
            joined |= {line.thesis_id: line for line in way if line is not lines[0]}
        if len(joined) >= most:
            break
    return ChainEvidence(tuple(joined.values())[:most], tuple(ways.values()), len(followed))


def _says_all(line: AnswerCandidate, question: QuestionState) -> bool:
    """Whether every word of the question stands in the line or in the title it is shown under."""
    title = stems(f"{line.episode.title} {line.episode.speaker or ''}", question.language)
    return {stem(term, question.language) for term in question.topic or question.terms} <= {*line.words, *title}


def _facts(chain: Chain) -> tuple[int, ...]:
    """The numbers of a chain's lines. A fact's label is its line, so all ends of a chain come from the same one."""
    return (*chain.facts, chain.last[0])


def _worth(chain: Chain, about: Mapping[int, Collection[int]]) -> float:
    steps = zip(chain.vertices[1:], _facts(chain), _facts(chain)[1:], strict=False)
    return chain.score + ENTRY_BONUS * sum(by in about[to] and by not in about[came] for by, came, to in steps)


def _names(chain: Chain, labels: Sequence[str]) -> tuple[str, ...]:
    ends = [labels[end] for end in chain.ends if end < len(labels)]  # of one that speaks of itself alone there is none
    return (*(labels[vertex] for vertex in chain.vertices), *(["; ".join(ends[:MAX_ENDS_NAMED])] if ends else []))


def _looked_at(lines: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    taken: Counter[int] = Counter()
    kept = []
    for line in sorted(lines, key=lambda line: (-round(line.score, SCORE_DIGITS), line.episode.title, line.shown)):
        if taken[line.episode.id] < MAX_CANDIDATES_PER_EPISODE:
            taken[line.episode.id] += 1
            kept.append(line)
    return kept


def _told(conn: Connection, found: RetrievalResult, lines: Sequence[AnswerCandidate]) -> _Told:
    graph, titled = found.graph, found.graph.titled
    subjects: dict[int, list[int]] = {}
    for id in {line.episode.id for line in lines}:
        row = graph.row_of.get(id)  # an episode that is newer than the graph has none
        begin, end = (0, 0) if row is None else titled.indptr[row : row + 2]
        subjects[id] = graph.object_ids[titled.indices[begin:end]].tolist()
    members: dict[int, list[int]] = defaultdict(list)
    for edge in stored.edges_from(conn, [line.thesis_id for line in lines], "member"):
        members[edge.src].append(edge.dst)
    nodes = np.unique(np.array([node for of in (*subjects.values(), *members.values()) for node in of], np.int64))
    columns = graph.column_of.find(nodes)  # what is newer than the graph has no column
    nodes, columns = nodes[columns >= 0], columns[columns >= 0]
    labels = stored.object_labels(conn, nodes.tolist())
    named = sorted(labels, key=lambda node: (labels[node], node))
    number = {node: place for place, node in enumerate(named)}
    rare = (graph.rarity(columns) / math.log(max(2, graph.n_alive))).tolist()
    rarity = {number[node]: value for node, value in zip(nodes.tolist(), rare, strict=True) if node in number}
    undated = {number[node] for node in nodes[~graph.is_date[columns]].tolist() if node in number}
    roots = {
        number[node] for node in found.named_objects if node in number and rarity[number[node]] >= LEAST_ROOT_RARITY
    } & undated
    scores = [round(line.score, SCORE_DIGITS) for line in lines]
    low, width = min(scores), (max(scores) - min(scores)) or 1.0
    statements = []
    for place, (line, score) in enumerate(zip(lines, scores, strict=True), len(named)):
        about = tuple(number[node] for node in subjects[line.episode.id] if node in number)
        said = {number[node] for node in members[line.thesis_id] if node in number} & undated
        kept = sorted(said, key=lambda object: (object not in roots, -rarity[object], object))[
            :MAX_OBJECTS_PER_CANDIDATE
        ]
        statements.append(Statement(place, about, tuple(kept), (score - low) / width))
    return _Told(lines, [labels[node] for node in named], rarity, statements, roots)
