"""Facts and how they changed, what a person decides about that, and its news; names, tags, the owner's profile."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set
from datetime import datetime

from daemon import wire
from daemon.api.services import Services
from daemon.calls.knowledge import State, Verdict
from daemon.jobs.activity import quote_sentences
from memory import Memory
from memory.errors import InvalidInputError, NotFoundError
from memory.nouns import TOLD, Document, Fact
from memory.revisions import Revision
from memory.text.mentions import norm

MOST = 1000  # revisions of one object that are looked at
SAME_WORDS = 0.6  # share of a sentence's words that its relations have, so that it says no more than they
WORD = re.compile(r"\w+")
MOST_NAMES = 100
MOST_TAGS = 1000
PROFILE = "note:me/"  # how the uris of entries begin that were set by hand
PROFILE_TITLE = "About me"
MOST_KEY, MOST_VALUE = 40, 120  # characters
NEWEST = 20  # revisions that are looked at


def revisions(memory: Memory, state: State, about: str | None, limit: int) -> wire.RevisionsReply:
    with memory.store.reading():
        listed = quote_sentences(memory, memory.knowledge.revisions(state, max(0, min(limit, MOST)), about))
        told_as_one = memory.knowledge.names_told_as_one()
        return wire.RevisionsReply(tuple(listed), memory.knowledge.count_open_revisions(), told_as_one)


def revision(memory: Memory, id: int) -> wire.Revision:
    with memory.store.reading():
        return quote_sentences(memory, [memory.knowledge.revision(id)])[0]


def names(memory: Memory, one: str, other: str, same: bool) -> wire.Names:
    decide = memory.knowledge.join_names if same else memory.knowledge.separate_names
    return wire.Names(one, other, same, decide(one, other))


def names_beginning(memory: Memory, begin: str, limit: int) -> tuple[str, ...]:
    if not 0 <= limit <= MOST_NAMES:
        raise InvalidInputError(f"limit is {limit}; ask for 0 to {MOST_NAMES} names.")
    folded = norm(begin)
    return tuple(memory.knowledge.names_beginning(folded, limit)) if folded else ()


def tags(memory: Memory) -> tuple[wire.Tag, ...]:
    return tuple(wire.Tag(*row) for row in memory.sources.count_tags(MOST_TAGS))


def facts(
    memory: Memory, about: str, as_of: datetime | None, known_on: datetime | None, history: bool
) -> wire.FactsReply:
    """The relations, then the sentences that say something else.

    Sentences that say hardly more than their relations, or state a relation that no longer holds, are left out.
    """
    with memory.store.reading():
        listed = memory.knowledge.facts(about, as_of=as_of, history=history, known_on=known_on)
        ever = listed if history else memory.knowledge.facts(about, history=True)
        open_ones = memory.knowledge.revisions("open", MOST, about)
        sentences = [fact for fact in listed if fact.origin == "sentence"]
        known = [fact for fact in ever if known_on is None or fact.recorded <= known_on]
        relations = _list_relations(memory, sentences, known)
    holding = {fact.id for fact in listed}
    covered = {fact.id for fact in sentences if _is_covered(fact, relations[fact.episode_id], holding)}
    listed = sorted((fact for fact in listed if fact.id not in covered), key=lambda fact: fact.kind != "relation")
    shown = {fact.id for fact in listed}
    disputes = [pair for pair in open_ones if pair.relation == "contradicts" and {pair.old.id, pair.new.id} <= shown]
    return wire.FactsReply(about, tuple(listed), tuple(disputes))


def history(memory: Memory, about: str) -> wire.HistoryReply:
    with memory.store.reading():
        listed = memory.knowledge.facts(about, history=True)
        known = memory.knowledge.revisions("all", MOST, about)
    return wire.HistoryReply(about, strands(listed, known))


def settle(services: Services, id: int, verdict: Verdict) -> wire.Revision:
    return settle_revision(services.memory, services.activity.publish, id, verdict)


def settle_revision(memory: Memory, publish: Callable[[wire.Event], None], id: int, verdict: str) -> wire.Revision:
    """Decides about a revision, within a unit of the writer. InvalidInputError, NotFoundError."""
    settled = memory.knowledge.undo(id) if verdict == "undo" else memory.knowledge.settle(id, verdict)  # type: ignore[arg-type]
    seen = revision(memory, settled.id)
    publish(wire.FactChanged(seen))
    return seen


def strands(listed: Iterable[Fact], known: Iterable[Revision]) -> tuple[wire.Strand, ...]:
    """Relations of one subject and predicate, each strand in order of time, what changed last first.

    Predicates that revisions lead across ("works at", "moved to") are one strand, under the newest name; so are
    sentences that were edited one into the other, under the name of their note.
    """
    ended = {pair.old.id: pair for pair in sorted(known, key=lambda pair: pair.id) if _is_ending(pair)}
    relations = {fact.id: fact for fact in listed if fact.kind == "relation" and fact.predicate}
    relations |= {
        fact.id: fact for pair in ended.values() for fact in (pair.old, pair.new) if fact.origin == "sentence"
    }
    for id in [id for id, fact in relations.items() if fact.retired and fact.predicate and id not in ended]:
        del relations[id]  # a duplicate, or never true: it has no time
    of: dict[int, object] = {
        id: (fact.objects[0], fact.predicate) if fact.predicate else id for id, fact in relations.items()
    }
    for pair in ended.values():
        if pair.old.id in of and pair.new.id in of and of[pair.old.id] != of[pair.new.id]:
            old, new = of[pair.old.id], of[pair.new.id]
            of = {id: new if strand == old else strand for id, strand in of.items()}
    woven: dict[object, list[Fact]] = {}
    for id, fact in relations.items():
        woven.setdefault(of[id], []).append(fact)
    rows = [sorted(row, key=_find_begin) for row in woven.values()]
    rows.sort(key=lambda row: _find_begin(row[-1]), reverse=True)
    return tuple(
        wire.Strand(
            row[-1].objects[0] if row[-1].predicate else row[-1].uri.rpartition("/")[2],
            row[-1].predicate or "",
            tuple(wire.HeldValue(fact, ended.get(fact.id)) for fact in row),
        )
        for row in rows
    )


def _list_relations(
    memory: Memory, sentences: Iterable[Fact], known: Iterable[Fact]
) -> dict[int, list[tuple[str, Fact]]]:
    """By the episodes of these sentences: the relations that each tells, with the words that do."""
    relations = {fact.id: fact for fact in known if fact.kind == "relation"}
    ids = sorted({fact.episode_id for fact in sentences})
    by_episode: dict[int, list[tuple[str, Fact]]] = {id: [] for id in ids}
    texts = {episode.id: episode.text for episode in memory.sources.episodes(ids)}
    for id, episode, start, end in memory.knowledge.quotes_in(ids):
        if id in relations and episode in texts:
            by_episode[episode].append((texts[episode][start:end], relations[id]))
    for fact in relations.values():  # retired ones are not among those
        if fact.episode_id in by_episode:
            by_episode[fact.episode_id].append((fact.quote, fact))
    return by_episode


def _is_covered(sentence: Fact, relations: Iterable[tuple[str, Fact]], holding: Set[int]) -> bool:
    """Whether a sentence says hardly more than the relations read out of it, or says one that holds no longer."""
    read = [(quote, fact) for quote, fact in relations if quote.strip() and quote.strip() in sentence.text]
    if any(fact.id not in holding and (fact.valid_to or fact.retired or fact.superseded_by) for _, fact in read):
        return True
    shown = [(quote, fact) for quote, fact in read if fact.id in holding]
    sentence_words = WORD.findall(sentence.text.lower())
    words = {word for quote, fact in shown for word in WORD.findall(f"{fact.text} {quote}".lower())}
    return bool(shown) and sum(word in words for word in sentence_words) >= SAME_WORDS * len(sentence_words)


def _is_ending(revision: Revision) -> bool:
    """Whether the old fact has ended by it; it has not if a person said that the new one was never true."""
    stands = revision.state == "open" or (revision.state == "kept" and revision.new.retired is None)
    return stands and revision.relation in ("supersedes", "negates")


def _find_begin(fact: Fact) -> tuple[object, int]:
    return fact.valid_from or fact.valid_to or fact.recorded, fact.id


# A profile that a person enters by hand: each key is a separate note, so that it has a date and a history, and can be
# undone like any other.


def profile(memory: Memory) -> wire.ProfileReply:
    return wire.ProfileReply(memory.knowledge.profile())


def set_profile(memory: Memory, key: str, value: str) -> wire.ProfileReply:
    key, value = _check_key(key), " ".join(value.split())
    if not 0 < len(value) <= MOST_VALUE:
        raise InvalidInputError(f"The value has {len(value)} characters; write 1 to {MOST_VALUE}.")
    uri, now = PROFILE + key, datetime.now().astimezone()
    note = Document(uri, f"{key}: {value}", title=PROFILE_TITLE, reader=TOLD, at=now, properties={key: value})
    memory.ingest.remember_many([note])
    made = [
        change
        for change in memory.knowledge.revisions("all", NEWEST)
        if change.new.uri == uri and change.state == "open"
    ]
    changes = [change for change in made if change.new.objects[-1:] == (value,)]  # a sentence of the note has no value
    return wire.ProfileReply(memory.knowledge.profile(), tuple(changes))


def remove_from_profile(memory: Memory, key: str) -> wire.ProfileReply:
    uri = PROFILE + _check_key(key)
    if memory.sources.get(uri) is None:
        facts = next((entry.facts for entry in memory.knowledge.profile().entries if entry.key == _check_key(key)), ())
        remedy = f" It is in {facts[0].uri}; edit it there." if facts else ""
        raise NotFoundError(f"You have not stated your {key} here.{remedy}")
    memory.ingest.retire(uri)
    return profile(memory)


def _check_key(key: str) -> str:
    key = " ".join(key.casefold().split())
    if not 0 < len(key) <= MOST_KEY or not all(char.isalnum() or char in " -" for char in key):
        raise InvalidInputError(f"{key[:MOST_KEY]!r} is no name of a thing. Write one like phone, address or sister.")
    return key
