"""Diagnosis: how well the graph served the questions asked, computed from their traces on request.

The six figures and four classes of failures are those of RLM-on-KG; without labels, the cited passages count as the
relevant ones. They use the newest traces that were answered or refused, and the current graph, which has no retired
citations. Forgotten questions have no traces.

Pairs of names that may mean one thing are listed for a person to review; nothing is merged automatically."""

import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import fsum
from statistics import median
from typing import NamedTuple, get_args

import numpy as np
from rapidfuzz import fuzz

from memory.facts.attributes import attribute_of
from memory.graph.arrays import Graph, Ids
from memory.graph.walk import THESIS, Walkable, index
from memory.store import graph as stored
from memory.store import relations, revisions, traces
from memory.store.connect import Connection
from memory.store.traces import Outcome
from memory.text.mentions import norm, same_numbers
from memory.trace import Diagnosis, FailureClass, FailureName
from memory.views import AliasSuspect

TRACES = 200  # the default number of traces
MANY_SHOWN = 5  # passages; at least one should be worth citing
MOST_MS = 1000.0  # limit for a question without a model
MOST_CALLS = 12  # calls of a model, the limit for a question
HOPS = 3
MOST_EDGES = 1000  # a vertex with more edges is a hub, through which a path means nothing
CONTENT = 0.25  # a low confidence above 0, for `memory.answer.threshold`

Names = Callable[[Sequence[int]], Mapping[int, str]]


class _Case(NamedTuple):
    """A question with its remaining evidence, and the distances from its seeds (`measure_hops`)."""

    outcome: Outcome
    cited: tuple[int, ...]
    hops: Mapping[int, int]
    is_hit: bool


def diagnose_newest(conn: Connection, graph: Graph, limit: int = TRACES) -> Diagnosis:
    """Returns the diagnosis from the newest `limit` traces. `graph` is the current graph."""
    diagnosis = diagnose(traces.list_outcomes(conn, limit), graph, partial(stored.object_labels, conn))
    return replace(diagnosis, alias_suspects=list_suspects(conn))


def diagnose(outcomes: Sequence[Outcome], graph: Graph, names: Names) -> Diagnosis:
    """The diagnosis of outcomes in any order; `names` returns the labels of objects.

    The figures, each over the questions for which it is defined:

    no_answer_rate        refused / all questions
    seed_hit_rate         questions with a seed that the cited evidence mentions, in its text or in a thesis that it
                          asserts / questions with evidence that still exists
    reachability[h - 1]   cited episodes within h edges of a seed / cited episodes, both of questions with seeds. Edges
                          of every kind count; `measure_hops` has the exact rule
    cited_per_call        hop efficiency: cited episodes / model calls, of questions that called a model
    neighbourhood_noise   median of episodes shown / episodes cited, of questions that cited any; 1 is the least
    backfill_reliance     cited episodes that only the text brought / cited episodes, where the trace tells: those not
                          among the k that the walk scores best, k being how many are shown
    evidence_redundancy   mean over questions of the mean Jaccard index of the objects that two cited episodes mention;
                          of questions with two or more. Two episodes without objects share nothing
    """
    walk = Walkable(graph, graph.alive)
    cases = []
    for outcome in outcomes:
        cited = tuple(episode for episode in outcome.cited if episode in graph.row_of)
        cases.append(_Case(outcome, cited, *measure_hops(walk, outcome.seeds, cited)))
    with_evidence = [case for case in cases if case.cited]
    with_calls = [outcome for outcome in outcomes if outcome.calls]
    telling = [outcome for outcome in outcomes if outcome.text_only is not None]
    noise = [len(outcome.shown) / len(outcome.cited) for outcome in outcomes if outcome.cited and outcome.shown]
    by_text = sum(len(set(outcome.cited) & set(outcome.text_only or ())) for outcome in telling)
    return Diagnosis(
        questions=len(outcomes),
        no_answer_rate=_divide(sum(outcome.no_answer for outcome in outcomes), len(outcomes)),
        seed_hit_rate=_divide(sum(case.is_hit for case in with_evidence), len(with_evidence)),
        reachability=_measure_reachability([case for case in with_evidence if case.outcome.seeds]),
        cited_per_call=_divide(_count_cited(with_calls), sum(outcome.calls for outcome in with_calls)),
        neighbourhood_noise=median(noise) if noise else None,
        backfill_reliance=_divide(by_text, _count_cited(telling)),
        evidence_redundancy=_measure_redundancy(with_evidence, graph),
        failures=_classify_failures(cases, names),
    )


def measure_hops(walk: Walkable, seeds: Iterable[int], episodes: Sequence[int]) -> tuple[dict[int, int], bool]:
    """({episode: edges on the shortest path from any seed, 1 to HOPS; farther ones are missing}, whether one of the
    episodes mentions a seed, or asserts a thesis about one). Episodes must be visible; invisible seeds are ignored.

    No inner vertex of a path has more than MOST_EDGES edges. The search is bidirectional, between the neighbours of the
    seeds and those of the episode and its neighbours: three hops cost one lookup per neighbour of the episode."""
    near = np.zeros(len(index(walk.graph).kinds), np.bool_)
    for seed in seeds:
        if walk.visible(seed):
            near[walk.neighbours(seed).vertices] = True

    def is_way(vertex: int) -> bool:
        return len(walk.neighbours(int(vertex)).edges) <= MOST_EDGES

    def meets(vertices: Ids) -> bool:
        return any(map(is_way, vertices[near[vertices]]))

    def count(episode: int) -> int:
        """Returns 0 for more than HOPS."""
        around = walk.neighbours(episode).vertices
        if near[episode] or meets(around):
            return 1 if near[episode] else 2
        return HOPS * any(is_way(vertex) and meets(walk.neighbours(vertex).vertices) for vertex in around)

    def is_hit(episode: int) -> bool:
        around = walk.neighbours(episode).vertices
        return bool(near[episode] or near[around[walk.kinds(around) == THESIS]].any())

    return {episode: hops for episode in episodes if (hops := count(episode))}, any(map(is_hit, episodes))


def _divide(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _count_cited(outcomes: Sequence[Outcome]) -> int:
    return sum(len(outcome.cited) for outcome in outcomes)


def _measure_reachability(cases: Sequence[_Case]) -> tuple[float, ...]:
    total = sum(len(case.cited) for case in cases)
    hops = [hops for case in cases for hops in case.hops.values()]
    return tuple(sum(n <= most for n in hops) / total for most in range(1, HOPS + 1)) if total else ()


def _measure_redundancy(cases: Sequence[_Case], graph: Graph) -> float | None:
    def objects(episode: int) -> set[int]:
        row = graph.row_of[episode]
        return set(graph.counts.indices[slice(*graph.counts.indptr[row : row + 2])].tolist())

    means = []
    for case in cases:
        pairs = combinations(map(objects, case.cited), 2)
        alike = [len(first & second) / (len(first | second) or 1) for first, second in pairs]  # Jaccard index
        if alike:
            means.append(fsum(alike) / len(alike))
    return _divide(fsum(means), len(means))


def _classify_failures(cases: Sequence[_Case], names: Names) -> tuple[FailureClass, ...]:
    """The first matching class counts: coverage (no seeds, or refused with an unknown name), connectivity (seeds, but
    cited evidence out of their reach), provenance (MANY_SHOWN or more shown, none cited). In addition, queryability
    (over MOST_CALLS, or without a model over MOST_MS). Of a repeated question the last time counts. The example is
    the newest question of a class, preferably one without an answer."""
    of_class: dict[FailureName, list[Outcome]] = {name: [] for name in get_args(FailureName)}
    asked = sorted(cases, key=lambda case: case.outcome.id)
    newest = {" ".join(case.outcome.question.casefold().split()): case for case in asked}  # the last time counts
    for case in newest.values():
        outcome = case.outcome
        if not outcome.seeds or (outcome.no_answer and outcome.unknown):
            of_class["coverage"].append(outcome)
        elif len(case.hops) < len(case.cited):
            of_class["connectivity"].append(outcome)
        elif len(outcome.shown) >= MANY_SHOWN and not outcome.cited:
            of_class["provenance"].append(outcome)
        if outcome.calls > MOST_CALLS or (not outcome.calls and outcome.ms > MOST_MS):
            of_class["queryability"].append(outcome)
    return tuple(_make_failure_class(name, failed, names) for name, failed in of_class.items() if failed)


def _make_failure_class(name: FailureName, failed: Sequence[Outcome], names: Names) -> FailureClass:
    example = max(failed, key=lambda outcome: (outcome.no_answer, outcome.id))
    unanswered = sum(outcome.no_answer for outcome in failed)
    labels = names(example.seeds)
    known_names = [labels[seed] for seed in example.seeds if seed in labels]
    advice = repair(name, example.question, example.id, example.unknown, known_names)
    return FailureClass(name, len(failed), unanswered, example.question, example.id, advice)


def repair(name: FailureName, question: str, trace: int, unknown: Sequence[str] = (), known: Sequence[str] = ()) -> str:
    """Suggests a repair: a sentence or two, then a command per line with its effect after a #. `unknown`: names in the
    question without an object; `known`: the first known ones."""
    asked = _quote_word(question)
    match name:
        case "coverage":
            missing = _join_lines(unknown[0]) if unknown else "NAME"
            problem = f"does not know the name {missing}" if unknown else "knows no name in the question"
            lines = [
                f"The memory {problem}. If it has another name in your notes, add this one:"
                f" [[{missing}]] in the text, or `aliases: [{missing}]` at the top of the note.",
                "pal add PATH  # if you have unread files about it",
                "pal status --skipped  # what could not be read",
                f"pal remember {_quote_word(f'{missing} is another name of OTHER.')}"
                "  # if the memory knows it as OTHER; then",
                f"pal same {_quote_word(missing)} OTHER",
            ]
        case "connectivity":
            lines = [
                "There is no link between the names in the question and the passages that answered it. Name both in one"
                " passage, or link them with [[NAME]].",
                f"pal facts {_quote_word(_join_lines(known[0]) if known else 'NAME')}  # its links",
                "pal remember TEXT  # a passage that names both",
                "pal models  # a model that reads your notes finds more such links",
            ]
        case "provenance":
            lines = [
                "Passages were shown, but none contained a sure enough answer.",
                f"pal recall {asked}  # is the answer among them?",
                f"pal ask --effort deep {asked}  # searches further with a model, if you have one",
                f"pal config set memory.answer.threshold {CONTENT}  # without a model: accept less sure lines",
                "pal daemon restart  # to apply it",
            ]
        case "queryability":
            lines = [
                "The question took too long. Its names are mentioned very often: add a rarer one.",
                f"pal why {trace} --steps  # which stage took the time",
                f"pal ask --effort quick {asked}  # calls a model once at most",
                "pal config set memory.recall.strategy spread  # the fastest strategy, if you chose another",
                "pal daemon restart  # to apply it",
            ]
    return "\n".join(lines)


def _join_lines(text: str) -> str:
    return " ".join(text.split())


def _quote_word(text: str) -> str:
    """Quotes a shell word; in double quotes where possible, which every shell supports."""
    line = _join_lines(text)
    quoted = shlex.quote(line)
    return quoted if quoted == line or set(line) & set('"$`\\!') else f'"{line}"'


SUSPECTS = 10  # pairs reported
COMPARED = 10_000  # names compared
ALIKE = 90.0  # percent similarity from which two names are spelt alike
SLIPPED = 80.0  # percent of common letters from which a name may be meant
SHORTEST = 4  # letters; a change of one letter makes another name in shorter ones
IDENTIFYING = frozenset(("phone", "email", "address", "birthday"))
LEAST_SIGNS = 2  # evidence that two names mean one thing
MOST_SHARING = 5  # objects with one value; a value shared by more, such as an office's phone, is no evidence


def find_similar(conn: Connection, key: str, most: int) -> list[str]:
    """Returns up to `most` names that a mistyped one may mean, best first: as a whole or as the first words of a longer
    one. `key` is a norm whose first letter is assumed correct."""
    if len(key) < SHORTEST:
        return []
    words = len(key.split())
    scored = []
    for label in stored.beginning_with(conn, key[0], COMPARED):
        name = norm(label)
        likeness = max(fuzz.ratio(key, name), fuzz.ratio(key, " ".join(name.split()[:words])))
        if likeness >= SLIPPED and same_numbers(key, " ".join(name.split()[:words])):
            scored.append((-likeness, label))
    return [label for _, label in sorted(scored)[:most]]


def list_cross_replacements(conn: Connection) -> tuple[AliasSuspect, ...]:
    """Lists pairs of names where facts about one replaced facts about the other, most facts first: a model or person
    treated them as one. Without merged pairs."""
    pairs = revisions.count_subject_pairs(conn, COMPARED)
    labels = stored.object_labels(conn, sorted({node for pair in pairs for node in pair[:2]}))
    counts: Counter[tuple[str, ...]] = Counter()
    for newer, older, facts in pairs:
        if newer in labels and older in labels:
            counts[tuple(sorted((labels[newer], labels[older])))] += facts
    ranked = (AliasSuspect(name, other, facts) for (name, other), facts in counts.most_common())
    return tuple(pair for pair in ranked if not _are_one(conn, pair))[:SUSPECTS]


def list_suspects(conn: Connection) -> tuple[AliasSuspect, ...]:
    """Lists pairs of names that may mean one thing: a model or person equated them, two signs agree, or one is the
    first name of a contact and the other the only full name that begins with it. Without merged pairs and names that
    are merely spelt alike."""
    values = _read_contacts(conn)
    labels = stored.object_labels(conn, sorted(values))
    pairs = (*list_cross_replacements(conn), *_list_sharing(values, labels), *_list_first_names(conn, labels.values()))
    first = {(pair.one, pair.other): pair for pair in reversed(pairs)}
    return tuple(pair for pair in first.values() if not _are_one(conn, pair))[:SUSPECTS]


def _read_contacts(conn: Connection) -> dict[int, set[tuple[str, str]]]:
    """Returns {object: its (attribute, value) pairs of phone, address and birthday}."""
    attributes = {label: attribute_of(label) for label in relations.list_predicates(conn)}
    identifying = [label for label, attribute in attributes.items() if attribute in IDENTIFYING]
    contacts = relations.get_many(conn, relations.list_labelled(conn, identifying))
    named = stored.object_labels(conn, sorted({relation.object for relation in contacts}))
    values: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for relation in contacts:
        values[relation.subject].add((attributes[relation.predicate] or "", norm(named[relation.object])))
    return values


def _list_sharing(values: Mapping[int, set[tuple[str, str]]], labels: Mapping[int, str]) -> Iterator[AliasSuspect]:
    """Yields pairs with two signs: shared values, and a similar or contained name."""
    having: dict[tuple[str, str], list[int]] = defaultdict(list)
    for node in sorted(values.keys() & labels.keys()):
        for value in values[node]:
            having[value].append(node)
    pairs = {pair for nodes in having.values() if len(nodes) <= MOST_SHARING for pair in combinations(nodes, 2)}
    for pair in sorted(pairs):
        name, other = sorted(labels[node] for node in pair)
        similarity = fuzz.token_sort_ratio(norm(name), norm(other))
        words = set(norm(name).split()), set(norm(other).split())
        alike = similarity >= ALIKE or words[0] <= words[1] or words[1] <= words[0]
        if len(values[pair[0]] & values[pair[1]]) + alike >= LEAST_SIGNS:
            yield AliasSuspect(name, other)


def _list_first_names(conn: Connection, contacts: Iterable[str]) -> Iterator[AliasSuspect]:
    """Yields the first names of contacts used alone, if no other name begins with them."""
    for full in sorted(contacts):
        first, _, rest = full.partition(" ")
        key = norm(first)
        if not rest or len({norm(name) for name in stored.beginning_with(conn, f"{key} ", 2)}) > 1:
            continue
        for label in stored.object_labels(conn, stored.find_by_own_name(conn, key)).values():
            if norm(label) == key:
                yield AliasSuspect(label, full)


def _are_one(conn: Connection, pair: AliasSuspect) -> bool:
    ones, others = stored.all_by_norm(conn, norm(pair.one)), stored.all_by_norm(conn, norm(pair.other))
    return bool(set(ones) & set(others))
