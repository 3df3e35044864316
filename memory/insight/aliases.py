"""Names that may mean one thing, spelt alike or told of as one: for a person to look at, never merged by itself."""

from collections.abc import Iterable

import numpy as np
from rapidfuzz import fuzz

from memory.graph.arrays import Graph
from memory.insight.diagnosis import AliasSuspect
from memory.store import graph as stored
from memory.store import revisions
from memory.store.connect import Connection
from memory.text.mentions import norm, same_numbers

SUSPECTS = 10  # pairs that are told
COMPARED = 10_000  # objects whose names are compared, those that most passages mention
ALIKE = 90.0  # percent, from which two names are told
SLIPPED = 80.0  # percent of letters in common, from which a name may be the one that was meant
SHORTEST = 4  # letters: below it one letter makes another name
WINDOW = 10  # each name is compared with so many that follow it in the order of the alphabet


def find_similar(conn: Connection, key: str, most: int) -> list[str]:
    """The names that a mistyped one may have meant, at most `most`, best first: as a whole, or as the first words of a
    longer one. `key` is as `norm` writes it; its first letter is taken as right."""
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


def list_alike(names: Iterable[str], most: int) -> tuple[AliasSuspect, ...]:
    """The `most` pairs of names that are most alike, at least ALIKE, best first; the same whatever their order.
    Compared are their words in the order of the alphabet, by the share of letters that need not change; names with
    other numbers in them are two. The work grows as n log n: a name meets its neighbours in two orders, from its first
    letter and from its last, so that a pair may be missed whose names differ at both ends."""
    spelt = sorted((" ".join(sorted(norm(name).split())), name) for name in names)
    spelt = [(key, name) for key, name in spelt if len(key) >= SHORTEST]
    found: dict[tuple[str, str], float] = {}
    for order in (spelt, sorted(spelt, key=lambda pair: (pair[0][::-1], pair[1]))):
        for place, (key, name) in enumerate(order):
            for other_key, other in order[place + 1 : place + 1 + WINDOW]:
                similarity = fuzz.ratio(key, other_key, score_cutoff=ALIKE)
                if similarity and same_numbers(key, other_key):
                    found[min(name, other), max(name, other)] = similarity / 100
    best = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:most]
    return tuple(AliasSuspect(*pair, similarity) for pair, similarity in best)


def common_objects(graph: Graph) -> list[tuple[int, int]]:
    """The objects (node ids) that most live episodes mention, with how many do, the most frequent first; dates are
    none."""
    frequency = np.where(graph.is_date, 0, graph.document_frequency)
    order = np.lexsort((graph.object_ids, -frequency))[:COMPARED]
    order = order[frequency[order] > 0]
    return list(zip(graph.object_ids[order].tolist(), frequency[order].tolist(), strict=True))


def list_told_as_one(conn: Connection) -> tuple[AliasSuspect, ...]:
    """Pairs of names of which facts of the one took the place of the other's, most facts first: a reading found by
    meaning what the names hide. Without the pairs that are one already."""
    pairs = revisions.count_subject_pairs(conn, COMPARED)
    labels = stored.object_labels(conn, sorted({node for pair in pairs for node in pair[:2]}))
    found: dict[tuple[str, str], AliasSuspect] = {}
    for newer, older, facts in pairs:
        if newer in labels and older in labels:
            one, other = sorted((labels[newer], labels[older]))
            before = found.get((one, other))
            similarity = fuzz.ratio(norm(one), norm(other)) / 100
            found[one, other] = AliasSuspect(one, other, similarity, facts + (before.facts if before else 0))
    told = sorted(found.values(), key=lambda pair: -pair.facts)
    return tuple(pair for pair in told if not _are_one(conn, pair))[:SUSPECTS]


def list_suspects(conn: Connection, graph: Graph) -> tuple[AliasSuspect, ...]:
    """Pairs of names that were told of as one, and then those that are nearly the same, of the names that most passages
    mention; without the pairs that are one already."""
    told = list_told_as_one(conn)
    seen = {(pair.one, pair.other) for pair in told}
    labels = stored.object_labels(conn, [node for node, _ in common_objects(graph)])
    alike = list_alike(labels.values(), SUSPECTS)
    others = (pair for pair in alike if (pair.one, pair.other) not in seen and not _are_one(conn, pair))
    return (*told, *others)[:SUSPECTS]


def _are_one(conn: Connection, pair: AliasSuspect) -> bool:
    ones, others = stored.all_by_norm(conn, norm(pair.one)), stored.all_by_norm(conn, norm(pair.other))
    return bool(set(ones) & set(others))
