"""The profile of the memory's owner: names, addresses, people, things, and their history.

It contains only facts whose subject is the owner: a phone number in a note about a plumber belongs to the plumber."""

from collections.abc import Mapping

from memory.facts.attributes import CONTACT, FAMILY, attribute_of, attribute_words, title_spellings
from memory.nouns import Fact, Profile, ProfileEntry
from memory.store import facts, graph, sources
from memory.store.connect import Connection
from memory.text.predicates import same_value
from memory.text.words import words
from memory.time.timestamps import from_ms

ORDER = (
    "birthday", "address", "phone", "email", "employer", "role", "manager", "car", "bank", "insurance", "passport",
)  # fmt: skip


def read_profile(conn: Connection, names: Mapping[str, str], now: int) -> Profile:
    """The profile at a time (ms UTC). `names`: names of the owner -> their origin."""
    own = graph.owner(conn)
    called = set(graph.object_labels(conn, own).values())
    about = {uri for uri, _, _ in sources.list_titled(conn, title_spellings())}
    stated = [fact for fact in facts.list_about(conn, own, now, now, True, relations=True) if fact.objects[0] in called]
    slots: dict[str, list[Fact]] = {}
    for fact in stated:
        key = _find_slot(fact.predicate or "", fact.uri in about)
        ended = fact.retired is not None and fact.superseded_by is None
        if key and not ended and fact.modality in ("asserted", "past"):
            slots.setdefault(key, []).append(fact)
    entries = [_make_entry(key, slot_facts, now) for key, slot_facts in slots.items()]
    return Profile(tuple(names), tuple(dict.fromkeys(names.values())), tuple(sorted(entries, key=_find_place)))


def _find_slot(predicate: str, about: bool) -> str | None:
    """The key of a fact in the profile: any field of a note about the owner; of other notes only common attributes of
    people."""
    key = attribute_of(predicate)
    if about:
        return key or predicate
    return key if key and all(word in attribute_words(key) | {"address"} for word in words(predicate)) else None


def _make_entry(key: str, slot_facts: list[Fact], now: int) -> ProfileEntry:
    slot_facts.sort(key=lambda fact: (fact.valid_from or fact.recorded, fact.id), reverse=True)
    at = from_ms(now)
    holding: list[Fact] = []
    before: list[Fact] = []
    for fact in slot_facts:
        holds = (
            fact.superseded_by is None
            and fact.modality == "asserted"
            and (fact.valid_to is None or at is None or fact.valid_to > at)
        )
        compared = holding if holds else [*holding, *before]
        if not any(same_value(fact.objects[-1], other.objects[-1]) for other in compared):
            (holding if holds else before).append(fact)
    return ProfileEntry(key, tuple(holding), tuple(before))


def _find_place(entry: ProfileEntry) -> tuple[int, str]:
    """Sort key: contact details, attributes of everybody, family, others."""
    if entry.key in ORDER:
        return ORDER.index(entry.key), ""
    return len(ORDER) + (entry.key not in CONTACT) + (entry.key not in FAMILY), entry.key
