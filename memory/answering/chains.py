"""Chains of facts: candidates that join what a question names with the candidate that answers it (multi-hop evidence).

"Where was the director of X born?" is answered by two lines: that Y directed X, and where Y was born. The second shares
no word with the question but "born", so by its own score it is seldom shown. Here each of the best candidates is a fact
between the objects that it speaks of; from every object that the question names the best chain of such facts is
followed (`memory.retrieval.chains`), and its candidates are shown in that order.

What this costs depends on what was retrieved, not on how much is remembered.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memory.answering.candidates import AnswerCandidate, stems, titling_objects
from memory.answering.features import AnswerState
from memory.retrieval.chains import Chain, Statement, find_chains, join_objects
from memory.retrieval.state import QuestionState
from memory.stages import AnswerNote
from memory.store import graph as stored
from memory.text.languages import stem

MAX_CANDIDATES_PER_EPISODE = 5  # that are looked at, the best
MAX_OBJECTS_PER_CANDIDATE = 8  # that are looked at, the rarest
LEAST_ROOT_RARITY = 0.5  # of an object at which a chain begins: of N passages at most the square root of N speak of it
MAX_HOPS = 2  # candidates of a chain; with three the same are found
ENTRY_BONUS = 0.8  # what it counts that a chain steps from what is said in passing to a passage about it
MAX_ENDS_NAMED = 3  # of a chain that the trace names
SCORE_DIGITS = 6  # of a candidate's score: what lies behind them depends on where in a matrix a vector stands


ShownChain = tuple[tuple[AnswerCandidate, ...], tuple[str, ...]]
"""Candidates, and the names of the objects before each of them and after the last."""


@dataclass(frozen=True, slots=True)
class ChainEvidence:
    """`candidates`: what to show beside the best one, in the order of the chains. `chains`: those they come from.
    `followed`: how many there were to choose from."""

    candidates: tuple[AnswerCandidate, ...] = ()
    chains: tuple[ShownChain, ...] = ()
    followed: int = 0

    def note(self, shown: Sequence[AnswerCandidate], considered: int) -> AnswerNote:
        """For the trace: how many of the `considered` candidates are shown, how many chains there were, which of the
        shown candidates come from one, by number and by episode, and each chain that is shown whole."""
        number = {one.thesis_id: place for place, one in enumerate(shown, 1)}
        whole = [chain for chain in self.chains if all(one.thesis_id in number for one in chain[0])]
        joining = [one for one in self.candidates if one.thesis_id in number]
        return AnswerNote(
            len(shown),
            considered,
            self.followed,
            tuple(sorted(number[one.thesis_id] for one in joining)),
            tuple(sorted({one.episode.id for one in joining})),
            tuple(_in_words(chain, number) for chain in whole),
        )


NO_CHAINS = ChainEvidence()


def _in_words(chain: ShownChain, number: Mapping[int, int]) -> str:
    """`Free Guy -> [2] -> Shawn Levy -> [3] -> Canada`, by the numbers of the candidates (thesis id -> number)."""
    candidates, names = chain
    parts = [
        part for name, one in zip(names, candidates, strict=False) for part in (name, f"[{number[one.thesis_id]}]")
    ]
    return " -> ".join([*parts, *names[len(candidates) :]])


def join_with_chains(state: AnswerState, candidates: Sequence[AnswerCandidate], most: int) -> ChainEvidence:
    """At most `most` candidates to show with the first of them, which are sorted, the best first.

    Of each object that the question names and few passages speak of: those of its best chain. Of one that leads to no
    other passage: its best one, unless the first candidate speaks of it. None if that one says all that is asked.
    """
    top = candidates[0]
    if _says_all(top, state.question):
        return NO_CHAINS
    best = _best_of_episodes(candidates)
    labels, rarity, statements, roots = _read_statements(state, best)
    if not roots:
        return NO_CHAINS
    stating = dict(enumerate(best, len(labels)))
    triples = join_objects(statements, rarity)
    followed = find_chains(triples, roots, MAX_HOPS, len(triples) ** 2)
    about = {one.id: one.about for one in statements}
    of_top = {node for one in statements if stating[one.id] is top for node in (*one.about, *one.objects)}
    shown: dict[int, ShownChain] = {}
    joined: dict[int, AnswerCandidate] = {}
    for chain in sorted(followed, key=lambda chain: (-_score(chain, about), _numbers(chain), chain.vertices)):
        path = tuple(stating[number] for number in _numbers(chain))
        if chain.root in shown or len({one.episode.id for one in path}) < len(path):
            continue
        if len(path) > 1 or chain.root not in of_top:
            shown[chain.root] = path, _names(chain, labels)
            joined |= {one.thesis_id: one for one in path if one is not top}
        if len(joined) >= most:
            break
    return ChainEvidence(tuple(joined.values())[:most], tuple(shown.values()), len(followed))


def _says_all(candidate: AnswerCandidate, question: QuestionState) -> bool:
    """Whether every word of the question stands in the sentence or in the title it is shown under."""
    title = stems(f"{candidate.episode.title} {candidate.episode.speaker or ''}", question.language)
    asked = {stem(term, question.language) for term in question.topic or question.terms}
    return asked <= {*candidate.words, *title}


def _numbers(chain: Chain) -> tuple[int, ...]:
    """The numbers of a chain's candidates. A fact's label is its candidate, so all ends of a chain come from one."""
    return (*chain.facts, chain.last[0])


def _score(chain: Chain, about: Mapping[int, Collection[int]]) -> float:
    steps = zip(chain.vertices[1:], _numbers(chain), _numbers(chain)[1:], strict=False)
    return chain.score + ENTRY_BONUS * sum(by in about[to] and by not in about[came] for by, came, to in steps)


def _names(chain: Chain, labels: Sequence[str]) -> tuple[str, ...]:
    ends = [labels[end] for end in chain.ends if end < len(labels)]  # of one that speaks of itself alone there is none
    return (*(labels[vertex] for vertex in chain.vertices), *(["; ".join(ends[:MAX_ENDS_NAMED])] if ends else []))


def _best_of_episodes(candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    taken: Counter[int] = Counter()
    kept = []
    for one in sorted(candidates, key=lambda one: (-round(one.score, SCORE_DIGITS), one.episode.title, one.shown)):
        if taken[one.episode.id] < MAX_CANDIDATES_PER_EPISODE:
            taken[one.episode.id] += 1
            kept.append(one)
    return kept


def _read_statements(
    state: AnswerState, candidates: Sequence[AnswerCandidate]
) -> tuple[list[str], dict[int, float], list[Statement], set[int]]:
    """What candidates state, with a number for every object and, behind those, for every candidate: by what they are
    called and how good they are, so that what was written first decides nothing. The names and the rarity of the
    objects, by number; the statements; and the objects at which chains begin."""
    graph = state.found.graph
    subjects = {id: titling_objects(state.found, id) for id in {one.episode.id for one in candidates}}
    members: dict[int, list[int]] = defaultdict(list)
    for edge in stored.edges_from(state.conn, [one.thesis_id for one in candidates], "member"):
        members[edge.src].append(edge.dst)
    nodes = np.unique(np.array([node for of in (*subjects.values(), *members.values()) for node in of], np.int64))
    columns = graph.column_of.find(nodes)  # what is newer than the graph has no column
    nodes, columns = nodes[columns >= 0], columns[columns >= 0]
    labels = stored.object_labels(state.conn, nodes.tolist())
    named = sorted(labels, key=lambda node: (labels[node], node))
    number = {node: place for place, node in enumerate(named)}
    rare = (graph.rarity(columns) / math.log(max(2, graph.n_alive))).tolist()
    rarity = {number[node]: value for node, value in zip(nodes.tolist(), rare, strict=True) if node in number}
    undated = {number[node] for node in nodes[~graph.is_date[columns]].tolist() if node in number}
    known = {number[node] for node in state.found.named_objects if node in number}
    roots = {object for object in known & undated if rarity[object] >= LEAST_ROOT_RARITY}
    scores = [round(one.score, SCORE_DIGITS) for one in candidates]
    low, width = min(scores), (max(scores) - min(scores)) or 1.0
    statements = []
    for place, (one, score) in enumerate(zip(candidates, scores, strict=True), len(named)):
        about = tuple(number[node] for node in subjects[one.episode.id] if node in number)
        objects = {number[node] for node in members[one.thesis_id] if node in number} & undated
        rarest = sorted(objects, key=lambda object: (object not in roots, -rarity[object], object))
        statements.append(Statement(place, about, tuple(rarest[:MAX_OBJECTS_PER_CANDIDATE]), (score - low) / width))
    return [labels[node] for node in named], rarity, statements, roots
