"""Chains: the lines that lead, hop by hop, from what a question names to its answer (multi-hop evidence, after ReG).

"Where was the director of X born?" is answered by two lines: that Y directed X, and where Y was born. The second shares
only "born" with the question, so its own score is low. Therefore each of the best candidates is taken as a statement
that joins the objects it mentions with each other and with those that its passage is about. From each object of the
question chains of at most MAX_HOPS statements are grown in which each begins where the previous one ends (ReG's
Algorithm 1): chains to the same end over different statements are all kept, a prefix of another chain is dropped, and
chains that differ only in their last object are merged. No chain repeats the statements of another in any order.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from memory.answering.candidates import AnswerCandidate, stems, titling_objects
from memory.answering.features import SCORE_DIGITS, AnswerState
from memory.nouns import Citation
from memory.store import graph as stored

MAX_HOPS = 3
ABOUT_WEIGHT, OBJECT_WEIGHT = 0.8, 0.6  # of the topic of a passage and of the objects, in the score of a step
MAX_STEPS = 5000  # steps tried before merging; a clique of statements has millions


@dataclass(frozen=True, slots=True)
class ShownChain:
    """A chain of an answer: its `lines` (h,), and the `names` of its objects (h + 1,), the last one "" if the last line
    mentions nothing else, or several with "; " between them."""

    lines: tuple[AnswerCandidate, ...]
    names: tuple[str, ...]

    def write(self, numbers: Sequence[int]) -> str:
        """`Ana - works at -> Nordlys [1]; Nordlys - is led by -> Tobias Renn [3]`, with the `numbers` (h,) of its
        lines."""
        hops = zip(self.names, self.lines, self.names[1:], numbers, strict=False)
        return "; ".join(
            f"{source} {_write_relation(source, line, target) or '->'} {target} [{number}]" if target
            else f"{source} [{number}]"
            for source, line, target, number in hops
        )  # fmt: skip

    def states_relations(self) -> bool:
        """Whether each of its lines says how its two objects are related."""
        return all(map(_write_relation, self.names, self.lines, self.names[1:]))


def _write_relation(source: str, line: AnswerCandidate, target: str) -> str:
    """Returns the words of a line between two names as an arrow, if they are few, else ""."""
    text = line.claim.casefold()
    begins = [text.find(name.casefold()) if name else -1 for name in (source, target)]
    if min(begins) >= 0:
        first, second = (source, target) if begins[0] < begins[1] else (target, source)
        between = " ".join(line.claim[min(begins) + len(first) : max(begins)].split()).strip(" ,;:—–-|")
        if 0 < len(between.split()) <= 6 and first != second:
            return f"- {between} ->" if first == source else f"<- {between} -"
    return ""


class Statement(NamedTuple):
    """The objects joined by a thesis: those its passage is `about` (its page or note), and those in its own text. Its
    `id` is positive and differs from those of objects; `score` in [0, 1]."""

    id: int
    about: tuple[int, ...]
    objects: tuple[int, ...]
    score: float


class Chain(NamedTuple):
    """A sequence of statements (ids). `vertices` are the objects on the path from the root, without the last; `ends`
    are the last ones: an object, or the statement itself if it has a single object. `score` is the mean score of the
    steps to the best end."""

    vertices: tuple[int, ...]
    facts: tuple[int, ...]
    ends: tuple[int, ...]
    score: float


def find_chains(
    statements: Iterable[Statement], weights: Mapping[int, float], roots: Collection[int], length: int
) -> list[Chain]:
    """Returns the chains of at most `length` statements from the question's objects, the `roots`, with no object twice:
    those through most roots first, then by score. Of chains with the same statements only the first. `weights`: of
    objects, 0 by default."""
    onward = _join_objects(statements, weights)
    best: dict[tuple[int, tuple[int, ...], int], Chain] = {}
    queue = deque(Chain((), (), (root,), 0.0) for root in sorted(roots))  # growing: one end, and a sum as score
    n_steps = 0
    while queue and n_steps < MAX_STEPS:
        chain = queue.popleft()
        if len(chain.facts) == length:
            continue
        vertices = (*chain.vertices, *chain.ends)
        for fact, end, score in onward.get(vertices[-1], ()):
            n_steps += 1
            if end in vertices or fact in chain.facts:
                continue
            longer = Chain(vertices, (*chain.facts, fact), (end,), chain.score + score)
            key = (vertices[0], longer.facts, end)
            if key not in best or longer.score > best[key].score:
                best[key] = longer
                queue.append(longer)
    beginnings = {(path.vertices[: n + 1], path.facts[:n]) for path in best.values() for n in range(1, len(path.facts))}
    alike: dict[tuple[tuple[int, ...], tuple[int, ...]], list[Chain]] = defaultdict(list)
    for path in best.values():
        if ((*path.vertices, *path.ends), path.facts) not in beginnings:
            alike[path.vertices, path.facts].append(path)
    merged = [
        Chain(
            *same, tuple(sorted(path.ends[0] for path in ends)), max(path.score for path in ends) / len(ends[0].facts)
        )
        for same, ends in alike.items()
    ]
    root_counts = {path: len({*path.vertices, *path.ends} & set(roots)) for path in merged}
    merged.sort(key=lambda path: (-root_counts[path], -path.score, path.vertices, path.facts))
    of_facts = {frozenset(path.facts): path for path in reversed(merged)}  # of equals the first
    return [path for path in merged if of_facts[frozenset(path.facts)] is path]


def _join_objects(
    statements: Iterable[Statement], weights: Mapping[int, float]
) -> dict[int, list[tuple[int, int, float]]]:
    """Returns {object: its steps: statement, target object, and score}. A statement joins every two of its objects; a
    statement with a single object joins it with itself. A step to or from the topic of the passage leads further than
    one to an object that it only mentions."""
    steps_of: dict[int, list[tuple[int, int, float]]] = defaultdict(list)
    for statement in statements:
        joined = sorted({*statement.about, *statement.objects})
        pairs = list(combinations(joined, 2)) or [(only, statement.id) for only in joined]
        for a, b in pairs:
            score = statement.score + ABOUT_WEIGHT * (a in statement.about or b in statement.about)
            score += OBJECT_WEIGHT * (weights.get(a, 0.0) + weights.get(b, 0.0)) / 2
            steps_of[a].append((statement.id, b, score))
            steps_of[b].append((statement.id, a, score))
    return {object: sorted(steps) for object, steps in steps_of.items()}


# Of an answer --------------------------------------------------------------------------------------


class ChainEvidence(NamedTuple):
    """The `candidates` to show with the best one, in the order of the `chains`, which are best first."""

    candidates: Sequence[AnswerCandidate] = ()
    chains: Sequence[ShownChain] = ()


NO_CHAINS = ChainEvidence()


def write_chains(chains: Iterable[ShownChain], citations: Sequence[Citation]) -> tuple[str, ...]:
    """Writes each chain of an answer whose hops are all cited, with the number of the first citation of each."""
    written = []
    for chain in chains:
        numbers = [_find_citation(line, citations) for line in chain.lines]
        if all(numbers):
            written.append(chain.write(numbers))
    return tuple(dict.fromkeys(written))


def _find_citation(line: AnswerCandidate, citations: Sequence[Citation]) -> int:
    """Returns the number of the first citation with the words of a line, also as part of a longer line; 0 without
    one."""
    of_passage = (cited for cited in citations if cited.episode_id == line.episode.id)
    return next((cited.n for cited in of_passage if line.quote in cited.quote or line.source.text in cited.quote), 0)


def join_with_chains(state: AnswerState, candidates: Sequence[AnswerCandidate], most: int) -> ChainEvidence:
    """Returns at most `most` candidates to show with the first of `candidates`, which are best first. For each rare
    object of the question: the candidates of its best chain, the more of the question it covers the better; of one of
    several objects that the first candidate does not mention its best candidate, if it leads to no other passage. A
    last hop that covers no more of the question is dropped from a longest chain. None if no chain of a single object
    leads through the passage of the first candidate, or if that covers the whole question."""
    top = candidates[0]
    if _covers_all(top, state):
        return NO_CHAINS
    best = _choose_per_episode([line for line in candidates if not line.earlier])
    labels, weights, statements, roots = _read_statements(state, best)
    if not roots:
        return NO_CHAINS
    stating = dict(enumerate(best, len(labels)))
    chains = find_chains(statements, weights, roots, MAX_HOPS)

    def cover(facts: Sequence[int]) -> float:
        return round(state.features.coverage(*(stating[number].claim for number in facts)), SCORE_DIGITS)

    chains = [chain for chain in chains if len(chain.facts) < MAX_HOPS or cover(chain.facts) > cover(chain.facts[:-1])]
    chains += [chain for chain in find_chains(statements, weights, roots, MAX_HOPS - 1) if chain not in chains]
    about = {each.id: each.about for each in statements}
    of_top = {node for each in statements if stating[each.id] is top for node in (*each.about, *each.objects)}
    shown: dict[int, ShownChain] = {}  # by the object at which it begins

    def worth(chain: Chain) -> float:
        return round(_score(chain, about) + 2.0 * cover(chain.facts), SCORE_DIGITS)

    for chain in sorted(chains, key=lambda chain: (-worth(chain), chain.facts, chain.vertices)):
        path = tuple(stating[number] for number in chain.facts)
        root = chain.vertices[0]
        if root in shown or len({line.episode.id for line in path}) < len(path):
            continue
        if len(path) == 1 and (len(roots) == 1 or root in of_top):
            continue
        if any(set(path) <= set(other.lines) for other in shown.values()):  # the same, from its other end
            continue
        shown[root] = ShownChain(path, _list_names(chain, labels, path[-1].claim))
    paths = [line for chain in shown.values() for line in chain.lines]
    if len(roots) == 1 and not any(line.episode.id == top.episode.id for line in paths):
        return NO_CHAINS
    return ChainEvidence([line for line in dict.fromkeys(paths) if line is not top][:most], [*shown.values()])


def _covers_all(line: AnswerCandidate, state: AnswerState) -> bool:
    """Whether every word of the question is in a line, its title or its speaker's name."""
    title = stems(f"{line.episode.title} {line.episode.speaker or ''}", state.question.language)
    return {*state.features.stems} <= {*line.words, *title}


def _score(chain: Chain, about: Mapping[int, Collection[int]]) -> float:
    steps = zip(chain.vertices[1:], chain.facts, chain.facts[1:], strict=False)
    return chain.score + 0.8 * sum(by in about[to] and by not in about[came] for by, came, to in steps)


def _list_names(chain: Chain, labels: Sequence[str], claim: str) -> tuple[str, ...]:
    """Returns the names of a chain's objects. Of its ends those in the `claim` of its last line, if any: the others are
    the topic of its passage."""
    ends = [labels[end] for end in chain.ends if end < len(labels)]  # a candidate may mention nothing else
    rest = claim.casefold().replace(labels[chain.vertices[-1]].casefold(), " ")
    claimed = [end for end in ends if end.casefold() in rest]
    return (*(labels[vertex] for vertex in chain.vertices), "; ".join((claimed or ends)[:3]))


def _choose_per_episode(candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    taken: Counter[int] = Counter()
    kept = []
    for line in sorted(candidates, key=lambda line: (-round(line.score, SCORE_DIGITS), line.episode.title, line.shown)):
        if taken[line.episode.id] < 5:  # the best
            taken[line.episode.id] += 1
            kept.append(line)
    return kept


def _read_statements(
    state: AnswerState, candidates: Sequence[AnswerCandidate]
) -> tuple[list[str], dict[int, float], list[Statement], set[int]]:
    """Returns the labels and weights of objects by number; the statements of candidates, numbered after the objects;
    the objects at which chains begin. Numbers are by label and rank, independent of ids."""
    graph = state.result.graph
    subjects = {id: titling_objects(state.result, id) for id in {line.episode.id for line in candidates}}
    members: dict[int, list[int]] = defaultdict(list)
    for edge in stored.edges_from(state.conn, [line.thesis_id for line in candidates], "member"):
        members[edge.src].append(edge.dst)
    groups = (*subjects.values(), *members.values())
    nodes = np.unique(np.array([node for group in groups for node in group], np.int64))
    columns = graph.column_of.find(nodes)  # -1 for objects newer than the graph
    nodes, columns = nodes[columns >= 0], columns[columns >= 0]
    labels = stored.object_labels(state.conn, nodes.tolist())
    named = sorted(labels, key=lambda node: (labels[node], node))
    number = {node: place for place, node in enumerate(named)}
    rarity = graph.rarity(columns) / math.log(max(2, graph.n_alive))
    weight = rarity + np.float32(0.5) * np.sqrt(state.result.walked[columns])
    weight_of = dict(zip(nodes.tolist(), weight.tolist(), strict=True))
    weights = {number[node]: weight_of[node] for node in named}
    undated = {number[node] for node in nodes[~graph.leads_nowhere[columns]].tolist() if node in labels}
    # Those that at most the square root of all passages mention.
    rare = {number[node] for node in nodes[rarity >= 0.5].tolist() if node in labels}
    roots = {number[node] for node in state.result.named_objects if node in number} & undated & rare
    scores = [round(line.score, SCORE_DIGITS) for line in candidates]
    low, width = min(scores, default=0.0), max(scores, default=0.0) - min(scores, default=0.0) or 1.0
    statements = []
    for place, (line, score) in enumerate(zip(candidates, scores, strict=True), len(named)):
        about = tuple(number[node] for node in subjects[line.episode.id] if number.get(node) in undated)
        objects = {number[node] for node in members[line.thesis_id] if node in number} & undated
        rarest = sorted(objects, key=lambda object: (object not in roots, -weights[object], object))
        statements.append(Statement(place, about, tuple(rarest[:8]), (score - low) / width))  # the rarest
    return [labels[node] for node in named], weights, statements, roots
