"""Names that may mean one thing: for a person to look at, never merged by itself."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from rapidfuzz import fuzz

from memory.facts.attributes import attribute_of
from memory.insight.diagnosis import AliasSuspect
from memory.store import graph as stored
from memory.store import predicates, relations, revisions
from memory.store.connect import Connection
from memory.text.mentions import norm, same_numbers

SUSPECTS = 10  # pairs that are told
COMPARED = 10_000  # names that are compared
ALIKE = 90.0  # percent, from which two names are spelt alike
SLIPPED = 80.0  # percent of letters in common, from which a name may be the one that was meant
SHORTEST = 4  # letters: below it one letter makes another name
IDENTIFYING = frozenset(("phone", "email", "address", "birthday"))
LEAST_SIGNS = 2  # that two names mean one
MOST_SHARING = 5  # objects with one value: what more share, such as an office's phone, is no sign


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


def list_suspects(conn: Connection) -> tuple[AliasSuspect, ...]:
    """Pairs of names that may mean one thing: a model or a person called them the same, two signs agree, or one is the
    first name of a contact and the other the only full name that begins with it. Names that already mean one object,
    and names that are merely spelt alike, are left out."""
    values = _read_contacts(conn)
    labels = stored.object_labels(conn, sorted(values))
    pairs = (*list_told_as_one(conn), *_list_sharing(values, labels), *_list_first_names(conn, labels.values()))
    first = {(pair.one, pair.other): pair for pair in reversed(pairs)}
    return tuple(pair for pair in first.values() if not _are_one(conn, pair))[:SUSPECTS]


def _read_contacts(conn: Connection) -> dict[int, set[tuple[str, str]]]:
    """Of each object with a phone, an address or a birthday these: (attribute, value)."""
    attributes = {label: attribute_of(label) for label in predicates.list_labels(conn)}
    known = [label for label, attribute in attributes.items() if attribute in IDENTIFYING]
    found = relations.by_id(conn, relations.list_labelled(conn, known))
    named = stored.object_labels(conn, sorted({relation.object for relation in found}))
    values: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for relation in found:
        values[relation.subject].add((attributes[relation.predicate] or "", norm(named[relation.object])))
    return values


def _list_sharing(values: Mapping[int, set[tuple[str, str]]], labels: Mapping[int, str]) -> Iterator[AliasSuspect]:
    """Pairs with two signs: values that they share, and a name that is spelt alike or holds the other's words."""
    having: dict[tuple[str, str], list[int]] = defaultdict(list)
    for node in sorted(values.keys() & labels.keys()):
        for value in values[node]:
            having[value].append(node)
    pairs = {pair for nodes in having.values() if len(nodes) <= MOST_SHARING for pair in combinations(nodes, 2)}
    for pair in sorted(pairs):
        one, other = sorted(labels[node] for node in pair)
        similarity = fuzz.token_sort_ratio(norm(one), norm(other))
        words = set(norm(one).split()), set(norm(other).split())
        alike = similarity >= ALIKE or words[0] <= words[1] or words[1] <= words[0]
        if len(values[pair[0]] & values[pair[1]]) + alike >= LEAST_SIGNS:
            yield AliasSuspect(one, other, similarity / 100)


def _list_first_names(conn: Connection, contacts: Iterable[str]) -> Iterator[AliasSuspect]:
    """The first names of contacts that are used alone, where no other name begins so."""
    for full in sorted(contacts):
        first, _, rest = full.partition(" ")
        key = norm(first)
        if not rest or len({norm(one) for one in stored.beginning_with(conn, f"{key} ", 2)}) > 1:
            continue
        for label in stored.object_labels(conn, stored.find_by_own_name(conn, key)).values():
            if norm(label) == key:
                yield AliasSuspect(label, full, fuzz.ratio(key, norm(full)) / 100)


def _are_one(conn: Connection, pair: AliasSuspect) -> bool:
    ones, others = stored.all_by_norm(conn, norm(pair.one)), stored.all_by_norm(conn, norm(pair.other))
    return bool(set(ones) & set(others))
