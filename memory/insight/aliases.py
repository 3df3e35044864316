"""Suggests pairs of names that may mean one thing, for a person to review; nothing is merged automatically."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from rapidfuzz import fuzz

from memory.facts.attributes import attribute_of
from memory.store import graph as stored
from memory.store import relations, revisions
from memory.store.connect import Connection
from memory.text.mentions import norm, same_numbers
from memory.views import AliasSuspect

SUSPECTS = 10  # pairs reported
COMPARED = 10_000  # names compared
ALIKE = 90.0  # percent similarity from which two names are spelt alike
SLIPPED = 80.0  # percent of common letters from which a name may be meant
SHORTEST = 4  # letters; a change of one letter makes another name in shorter ones
IDENTIFYING = frozenset(("phone", "email", "address", "birthday"))
LEAST_SIGNS = 2  # evidence that two names mean one thing
MOST_SHARING = 5  # objects with one value; a value shared by more, such as an office's phone, is no evidence


def find_similar(conn: Connection, key: str, most: int) -> list[str]:
    """Up to `most` names that a mistyped one may mean, best first: as a whole or as the first words of a longer one.
    `key` is a norm whose first letter is assumed correct."""
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
    """Lists pairs of names where facts about one replaced facts about the other, most facts first: a model or person
    treated them as one. Without merged pairs."""
    pairs = revisions.count_subject_pairs(conn, COMPARED)
    labels = stored.object_labels(conn, sorted({node for pair in pairs for node in pair[:2]}))
    suspects: dict[tuple[str, str], AliasSuspect] = {}
    for newer, older, facts in pairs:
        if newer in labels and older in labels:
            name, other = sorted((labels[newer], labels[older]))
            before = suspects.get((name, other))
            suspects[name, other] = AliasSuspect(name, other, facts + (before.facts if before else 0))
    ranked = sorted(suspects.values(), key=lambda pair: -pair.facts)
    return tuple(pair for pair in ranked if not _are_one(conn, pair))[:SUSPECTS]


def list_suspects(conn: Connection) -> tuple[AliasSuspect, ...]:
    """Lists pairs of names that may mean one thing: a model or person equated them, two signs agree, or one is the
    first name of a contact and the other the only full name that begins with it. Without merged pairs and names that
    are merely spelt alike."""
    values = _read_contacts(conn)
    labels = stored.object_labels(conn, sorted(values))
    pairs = (*list_told_as_one(conn), *_list_sharing(values, labels), *_list_first_names(conn, labels.values()))
    first = {(pair.one, pair.other): pair for pair in reversed(pairs)}
    return tuple(pair for pair in first.values() if not _are_one(conn, pair))[:SUSPECTS]


def _read_contacts(conn: Connection) -> dict[int, set[tuple[str, str]]]:
    """{object: its (attribute, value) pairs of phone, address and birthday}."""
    attributes = {label: attribute_of(label) for label in relations.list_predicates(conn)}
    identifying = [label for label, attribute in attributes.items() if attribute in IDENTIFYING]
    contacts = relations.by_id(conn, relations.list_labelled(conn, identifying))
    named = stored.object_labels(conn, sorted({relation.object for relation in contacts}))
    values: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for relation in contacts:
        values[relation.subject].add((attributes[relation.predicate] or "", norm(named[relation.object])))
    return values


def _list_sharing(values: Mapping[int, set[tuple[str, str]]], labels: Mapping[int, str]) -> Iterator[AliasSuspect]:
    """Pairs with two signs: shared values, and a similar or contained name."""
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
    """The first names of contacts used alone, if no other name begins with them."""
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
