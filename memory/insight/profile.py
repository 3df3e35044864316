"""The profile of the person whose memory it is: their names, addresses, people, things, and how each changed.

It is made of the facts whose subject is the owner, and of no others: a phone number in a note about a plumber, or a
manager in a note about a project, is theirs.
"""

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
    """What is known of the owner at a time (ms UTC). `names`: what they are called -> what says so."""
    own = graph.owner(conn)
    called = set(graph.object_labels(conn, own).values())
    about = {uri for uri, _, _ in sources.list_titled(conn, title_spellings())}
    found = [one for one in facts.list_about(conn, own, now, now, True, relations=True) if one.objects[0] in called]
    slots: dict[str, list[Fact]] = {}
    for one in found:
        key = _slot(one.predicate or "", one.uri in about)
        ended = one.retired is not None and one.superseded_by is None
        if key and not ended and one.modality in ("asserted", "past"):
            slots.setdefault(key, []).append(one)
    entries = [_entry(key, told, now) for key, told in slots.items()]
    return Profile(tuple(names), tuple(dict.fromkeys(names.values())), tuple(sorted(entries, key=_place)))


def _slot(predicate: str, about: bool) -> str | None:
    """Under what a fact stands in the profile: of a note about the owner each field, of others what all people have."""
    key = attribute_of(predicate)
    if about:
        return key or predicate
    return key if key and all(word in attribute_words(key) | {"address"} for word in words(predicate)) else None


def _entry(key: str, told: list[Fact], now: int) -> ProfileEntry:
    told.sort(key=lambda one: (one.valid_from or one.recorded, one.id), reverse=True)
    at = from_ms(now)
    holding: list[Fact] = []
    before: list[Fact] = []
    for one in told:
        holds = (
            one.superseded_by is None
            and one.modality == "asserted"
            and (one.valid_to is None or at is None or one.valid_to > at)
        )
        known = holding if holds else [*holding, *before]
        if not any(same_value(one.objects[-1], other.objects[-1]) for other in known):
            (holding if holds else before).append(one)
    return ProfileEntry(key, tuple(holding), tuple(before))


def _place(entry: ProfileEntry) -> tuple[int, str]:
    """Contacts first, then what all have one of, the family, and the rest."""
    if entry.key in ORDER:
        return ORDER.index(entry.key), ""
    return len(ORDER) + (entry.key not in CONTACT) + (entry.key not in FAMILY), entry.key
