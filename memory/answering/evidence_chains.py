"""Evidence chains: the lines that connect the best line with what the question names (multi-hop evidence).

"Where was the director of X born?" is answered by two lines: that Y directed X, and where Y was born. The second shares
only "born" with the question, so its own score is low. Therefore each of the best candidates is taken as a fact between
the objects that it mentions; the best chain of such facts from every object of the question is found
(`memory.retrieval.chains`), and its candidates are shown in that order (multi-hop evidence).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from memory.answering.candidates import AnswerCandidate, ShownChain, stems, titling_objects
from memory.answering.features import SCORE_DIGITS, AnswerState
from memory.retrieval.chains import Chain, Statement, find_chains
from memory.stages import AnswerNote
from memory.store import graph as stored

MAX_CANDIDATES_PER_EPISODE = 5  # the best
MAX_OBJECTS_PER_CANDIDATE = 8  # the rarest
LEAST_ROOT_RARITY = 0.5  # of a chain's first object: of N passages at most the square root of N mention it
MAX_HOPS = 2  # candidates of a chain; three find the same
ENTRY_BONUS = 0.8  # of a step from a mention of an object to a passage about it
MAX_ENDS_NAMED = 3  # of a chain in the trace

ChainEvidence = tuple[Sequence[AnswerCandidate], Sequence[ShownChain], int]
"""The candidates to show with the best one, in the order of the chains; these chains; how many there were."""

NO_CHAINS: ChainEvidence = (), (), 0


def note_selection(shown: Sequence[AnswerCandidate], considered: int, evidence: ChainEvidence) -> AnswerNote:
    """For the trace: the number of lines shown, of `considered` candidates and of chains; the shown lines that come
    from a chain, by number and episode; each chain that is shown whole."""
    candidates, chains, followed = evidence
    number = {line.thesis_id: place for place, line in enumerate(shown, 1)}
    complete = (chain for chain in chains if all(line.thesis_id in number for line in chain[0]))
    whole = tuple(_write_chain(chain, number) for chain in complete)
    joining = [line for line in candidates if line.thesis_id in number]
    lines = tuple(sorted(number[line.thesis_id] for line in joining))
    episodes = tuple(sorted({line.episode.id for line in joining}))
    return AnswerNote(len(shown), considered, followed, lines, episodes, whole)


def _write_chain(chain: ShownChain, number: Mapping[int, int]) -> str:
    """`Free Guy -> [2] -> Shawn Levy -> [3] -> Canada`, by the numbers of the candidates (thesis id -> number)."""
    candidates, names = chain
    parts = [
        part for name, line in zip(names, candidates, strict=False) for part in (name, f"[{number[line.thesis_id]}]")
    ]
    return " -> ".join([*parts, *names[len(candidates) :]])


def join_with_chains(state: AnswerState, candidates: Sequence[AnswerCandidate], most: int) -> ChainEvidence:
    """At most `most` candidates to show with the first of `candidates`, which are sorted, the best first.

    For each rare object of the question: the candidates of its best chain; its best candidate if it leads to no other
    passage, unless the first candidate mentions it. None if the first candidate covers the whole question.
    """
    top = candidates[0]
    if _covers_all(top, state):
        return NO_CHAINS
    best = _choose_per_episode(candidates)
    labels, rarity, statements, roots = _read_statements(state, best)
    if not roots:
        return NO_CHAINS
    stating = dict(enumerate(best, len(labels)))
    followed = find_chains(statements, rarity, roots, MAX_HOPS)
    about = {each.id: each.about for each in statements}
    of_top = {node for each in statements if stating[each.id] is top for node in (*each.about, *each.objects)}
    shown: dict[int, ShownChain] = {}
    joined: dict[int, AnswerCandidate] = {}
    for chain in sorted(followed, key=lambda chain: (-_score(chain, about), chain.facts, chain.vertices)):
        path = tuple(stating[number] for number in chain.facts)
        root = chain.vertices[0]
        if root in shown or len({line.episode.id for line in path}) < len(path):
            continue
        if len(path) > 1 or root not in of_top:
            shown[root] = path, _list_names(chain, labels)
            joined |= {line.thesis_id: line for line in path if line is not top}
        if len(joined) >= most:
            break
    return [*joined.values()][:most], [*shown.values()], len(followed)


def _covers_all(line: AnswerCandidate, state: AnswerState) -> bool:
    """Whether every word of the question is in a line, its title or its speaker's name."""
    title = stems(f"{line.episode.title} {line.episode.speaker or ''}", state.question.language)
    return {*state.features.stems} <= {*line.words, *title}


def _score(chain: Chain, about: Mapping[int, Collection[int]]) -> float:
    steps = zip(chain.vertices[1:], chain.facts, chain.facts[1:], strict=False)
    return chain.score + ENTRY_BONUS * sum(by in about[to] and by not in about[came] for by, came, to in steps)


def _list_names(chain: Chain, labels: Sequence[str]) -> tuple[str, ...]:
    ends = [labels[end] for end in chain.ends if end < len(labels)]  # a candidate may mention nothing else
    return (*(labels[vertex] for vertex in chain.vertices), *(["; ".join(ends[:MAX_ENDS_NAMED])] if ends else []))


def _choose_per_episode(candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    taken: Counter[int] = Counter()
    kept = []
    for line in sorted(candidates, key=lambda line: (-round(line.score, SCORE_DIGITS), line.episode.title, line.shown)):
        if taken[line.episode.id] < MAX_CANDIDATES_PER_EPISODE:
            taken[line.episode.id] += 1
            kept.append(line)
    return kept


def _read_statements(
    state: AnswerState, candidates: Sequence[AnswerCandidate]
) -> tuple[list[str], dict[int, float], list[Statement], set[int]]:
    """The labels and rarity of objects by number; the statements of candidates, which are numbered after the objects;
    the objects at which chains begin. Numbers are by label and rank, independent of ids."""
    graph = state.found.graph
    subjects = {id: titling_objects(state.found, id) for id in {line.episode.id for line in candidates}}
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
    rare = (graph.rarity(columns) / math.log(max(2, graph.n_alive))).tolist()
    rarity = {number[node]: value for node, value in zip(nodes.tolist(), rare, strict=True) if node in number}
    undated = {number[node] for node in nodes[~graph.is_date[columns]].tolist() if node in number}
    known = {number[node] for node in state.found.named_objects if node in number}
    roots = {object for object in known & undated if rarity[object] >= LEAST_ROOT_RARITY}
    scores = [round(line.score, SCORE_DIGITS) for line in candidates]
    low, width = min(scores), (max(scores) - min(scores)) or 1.0
    statements = []
    for place, (line, score) in enumerate(zip(candidates, scores, strict=True), len(named)):
        about = tuple(number[node] for node in subjects[line.episode.id] if node in number)
        objects = {number[node] for node in members[line.thesis_id] if node in number} & undated
        rarest = sorted(objects, key=lambda object: (object not in roots, -rarity[object], object))
        statements.append(Statement(place, about, tuple(rarest[:MAX_OBJECTS_PER_CANDIDATE]), (score - low) / width))
    return [labels[node] for node in named], rarity, statements, roots
