"""Briefing: a summary of one object in a few candidates (query-focused summarisation), each with its proof.

First the facts about it that hold: what it is, what belongs to it, what else leads to it, and what was there before
where that has changed. Then what its own note begins with and the newest sentences that tell most. Both work alone: a
memory that no model has read knows few facts, and one made of short messages has no notes.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain

from memory.answering.candidates import (
    AnswerCandidate,
    as_told_then,
    describe_time,
    is_current,
    read_evidence,
    read_names,
    show_day,
    stems,
    titling_objects,
)
from memory.answering.features import AnswerState
from memory.retrieval.state import RetrievalResult
from memory.store import episodes, relations
from memory.store import graph as objects
from memory.store.connect import Connection
from memory.store.relations import Relation
from memory.text.languages import alternatives, tables, word_set
from memory.text.mentions import norm
from memory.text.predicates import canonical_predicate, same_value, statement

MAX_BRIEFING_LINES, MAX_BRIEFING_FACTS = 10, 6  # shown at most
MAX_LONGER_NAMES = 50  # longer names that are looked at, the shortest
MAX_FACTS_OF_OBJECT = 200  # facts of the object that are looked at, the newest
MAX_PER_PREDICATE = 2  # facts with one predicate
MAX_PER_EPISODE, MAX_PER_OWN_NOTE = 1, 4  # sentences of one passage; of a note about nothing else
MAX_OWN_SENTENCES = 6  # of all notes about nothing else
DUPLICATE_OVERLAP = 0.6  # share of its words that a sentence may have in common with one line that is shown
MAX_EARLIER_VALUES = 2  # older values that are shown with a fact
LEAST_WORDS, LEAST_WORDS_OWN = 3, 2  # words that a sentence has at least; one of a note about it

# A line that only files a note, or greets.
_FILING = re.compile(
    r"(?:from|to|cc|bcc|subject|date|title|tags?|aliases|created|updated|category|id|status): "
    rf"|(?:{alternatives('briefings', 'greetings')})\b[^.!?]{{0,60}}$",
    re.IGNORECASE,
)
_FIELD = re.compile(r"[\w -]{1,24}: ")  # of a note's properties
_SELF = word_set("briefings", "self")
_IDENTITY = frozenset(chain.from_iterable(tables("briefings", "identity")))
NAMED_WEIGHT, NEWNESS_WEIGHT, VALUES_WEIGHT, LENGTH_WEIGHT = 1.0, 1.0, 1.5, 0.5  # of a sentence; not fitted
ENOUGH_VALUES, ENOUGH_WORDS = 2, 14  # from which on it tells enough, and is long enough


def find_objects(state: AnswerState, subject: str) -> list[int]:
    """The objects that have this name, none if nothing has it; the person whose memory it is for "me". Also the one
    whose longer name begins with it: the only one if no fact tells of the short name, else the only one that is the
    title of a passage. "Ana" may be a word in many facts, and "Ana Silva" the note of her."""
    conn, graph, key = state.conn, state.found.graph, norm(subject)
    if key in _SELF:
        return objects.owner(conn)
    named = objects.all_by_norm(conn, key)
    named = named or [id for id, name in state.found.named_objects.items() if norm(name) == key]
    if not key:
        return named
    longer = {norm(name) for name in objects.beginning_with(conn, f"{key} ", MAX_LONGER_NAMES)}
    if len(longer) != 1 or relations.find_incident(conn, named, 1):
        titling = set(graph.object_ids[graph.titled.indices].tolist())
        longer = {name for name in longer if not titling.isdisjoint(objects.all_by_norm(conn, name))}
    return named + (objects.all_by_norm(conn, longer.pop()) if len(longer) == 1 else [])


def write_briefing(state: AnswerState, subject: str, candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """What is known of `subject`, at most MAX_BRIEFING_LINES candidates; none if nothing is. `candidates` are those of
    the retrieved episodes, the best first."""
    about = find_objects(state, subject)
    known = _facts(state, about) if about else []
    return [*known, *_sentences(state.found, subject, about, known, candidates)]


# Facts -----------------------------------------------------------------------------------------


def _facts(state: AnswerState, about: Collection[int]) -> list[AnswerCandidate]:
    conn, found = state.conn, state.found
    near = relations.find_incident(conn, sorted(about), MAX_FACTS_OF_OBJECT)
    current = [as_told_then(one, found.time_ms) for one in near if is_current(one, found.time_ms)]
    supporting = _supporting(conn, found, [one.id for one in current])
    current = [one for one in current if one.id in supporting]
    replaced = _replaced_values(conn, found, [one.id for one in current])
    names = read_names(conn, current)

    def group(one: Relation) -> int:
        if one.subject not in about:
            return 2
        return 0 if canonical_predicate(one.predicate) in _IDENTITY else 1

    current.sort(key=lambda one: (group(one), not replaced[one.id], -(one.last_asserted or 0), one.id))
    shown: dict[str, AnswerCandidate] = {}
    kinds = Counter[tuple[int, bool]]()
    for one in current:
        kind = (one.canon, one.subject in about)
        words = statement(names[one.subject], one.predicate, names[one.object])
        if kinds[kind] == MAX_PER_PREDICATE or norm(words) in shown:
            continue
        kinds[kind] += 1
        candidate = supporting[one.id]
        time = describe_time(one, candidate.episode, candidate.start, candidate.quote, written=True)
        before = [old for old in replaced[one.id] if not same_value(old, names[one.object])][:MAX_EARLIER_VALUES]
        time += [f"before that: {', '.join(before)}"] if before else []
        shown[norm(words)] = replace(candidate, shown=f"{words} ({', '.join(time)})" if time else words)
        if len(shown) == MAX_BRIEFING_FACTS:
            break
    return list(shown.values())


def _replaced_values(conn: Connection, found: RetrievalResult, facts: Sequence[int]) -> dict[int, list[str]]:
    """The values that each of these replaced, the latest first, as far as the question may see who told it."""
    replaced = relations.predecessors(conn, facts)
    rows = relations.by_id(conn, sorted({id for ids in replaced.values() for id in ids}))
    seen = {id for id, episode, _, _ in relations.evidence(conn, [row.id for row in rows]) if found.sees(episode)}
    names = read_names(conn, rows)
    values = {row.id: names[row.object] for row in rows if row.id in seen}
    return {id: list(dict.fromkeys(values[old] for old in olds if old in values)) for id, olds in replaced.items()}


def _supporting(conn: Connection, found: RetrievalResult, facts: Sequence[int]) -> dict[int, AnswerCandidate]:
    """The newest sentence that supports each of these, as far as the question may see one; of copies of a passage that
    of the one that was found."""
    unlike = {hit.episode.content: hit.episode for hit in found.recall.hits}
    evidence = {
        fact: [(unlike.setdefault(episode.content, episode), start, end) for episode, start, end in places]
        for fact, places in read_evidence(conn, found, facts).items()
    }
    theses = defaultdict[int, list[episodes.Thesis]](list)
    for thesis in episodes.theses_of(conn, sorted({place[0].id for places in evidence.values() for place in places})):
        if thesis.origin == "sentence" and thesis.span_from is not None:
            theses[thesis.episode_id].append(thesis)
    newest = {}
    for fact, places in evidence.items():
        sentences = (
            AnswerCandidate.from_thesis(episode, one)
            for episode, start, end in places
            for one in theses[episode.id]
            if one.span_from is not None and one.span_from < end and start < one.span_from + len(one.text)
        )
        if (first := next(sentences, None)) is not None:
            newest[fact] = first
    return newest


# Sentences -------------------------------------------------------------------------------------


def _sentences(
    found: RetrievalResult,
    subject: str,
    about: Collection[int],
    known: Sequence[AnswerCandidate],
    candidates: Sequence[AnswerCandidate],
) -> list[AnswerCandidate]:
    """The sentences that tell most of it: those of its own notes in their order, then the others, the newest first."""
    name = frozenset(stems(subject, found.question.language))
    passages = {one.episode.id for one in candidates}
    own = {id for id in passages if not set(about).isdisjoint(titling_objects(found, id))}
    telling = [
        one
        for one in candidates
        if (one.episode.id in own or (name and name <= one.words)) and _tells(one, name, one.episode.id in own)
    ]
    telling = [one for one in telling if not one.earlier] or telling
    of_own = [one for one in telling if one.episode.id in own]
    of_own.sort(key=_order_in_notes)
    others = _by_score([one for one in telling if one.episode.id not in own], telling, name)
    chosen = _within_limits([*_in_turn(of_own), *others], own, known)
    kept = [one for one in of_own if one in chosen]
    kept += sorted((one for one in chosen if one.episode.id not in own), key=lambda one: (-one.newness, one.shown))
    return [_add_date(one) for one in kept]


def _order_in_notes(line: AnswerCandidate) -> tuple[bool, str, int, int, int]:
    """The order of lines in their notes, fields last."""
    episode = line.episode
    return _FIELD.match(line.shown) is not None, episode.source.uri, episode.seq, line.start, line.sentence_start


def _by_score(
    candidates: Sequence[AnswerCandidate], telling: Sequence[AnswerCandidate], name: frozenset[str]
) -> list[AnswerCandidate]:
    """The candidates, those first that tell most; newness is among all that are `telling`."""
    newest = sorted({one.newness for one in telling})
    newness = {at: (n + 1) / len(newest) for n, at in enumerate(newest)}

    def score(one: AnswerCandidate) -> float:
        about = NAMED_WEIGHT * (name <= one.words) + NEWNESS_WEIGHT * newness[one.newness]
        return about + weigh_words(one.values, one.words)

    return sorted(candidates, key=lambda one: (-score(one), one.shown))


def weigh_words(values: Collection[str], words: Collection[str]) -> float:
    """How much a line says with these values and stems."""
    value = VALUES_WEIGHT * min(len(values), ENOUGH_VALUES) / ENOUGH_VALUES
    return value + LENGTH_WEIGHT * min(len(words), ENOUGH_WORDS) / ENOUGH_WORDS


def _in_turn(candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """The first of each passage, then the second of each, and so on: of two notes about it both begin."""
    turn = Counter[int]()
    turns = {one.thesis_id: turn.update((one.episode.id,)) or turn[one.episode.id] for one in candidates}
    return sorted(candidates, key=lambda one: turns[one.thesis_id])


def _within_limits(
    candidates: Sequence[AnswerCandidate], own: Collection[int], known: Sequence[AnswerCandidate]
) -> list[AnswerCandidate]:
    """As many of these as there is room for beside what is `known`: none twice, and few of one passage; more of a note
    about the object itself (`own`)."""
    chosen: list[AnswerCandidate] = []
    taken = Counter[int]()
    quoted = {one.thesis_id for one in known}
    for one in candidates:
        is_own = one.episode.id in own
        if len(known) + len(chosen) == MAX_BRIEFING_LINES:
            break
        most = MAX_PER_OWN_NOTE if is_own else MAX_PER_EPISODE
        if taken[one.episode.id] == most or (is_own and taken.total() == MAX_OWN_SENTENCES):
            continue
        within = next((n for n, other in enumerate(chosen) if one.overlaps(other) and other.shown in one.shown), None)
        if within is not None and chosen[within].shown != one.shown:  # it goes on from there, and is shown with it
            chosen[within] = one
        elif one.thesis_id not in quoted and not _is_repeated(one, chosen):
            taken[one.episode.id] += 1
            chosen.append(one)
    return chosen


def _tells(candidate: AnswerCandidate, name: frozenset[str], is_own: bool) -> bool:
    """Whether it is more than a heading, a label or a question, and long enough; of a note about it less will do."""
    beside = candidate.words - {*stems(candidate.episode.title), *name}
    least = LEAST_WORDS_OWN if is_own else LEAST_WORDS
    is_statement = not _FILING.match(candidate.shown) and candidate.shown[-1:] != "?"
    return len(candidate.words - name) >= least and bool(beside) and is_statement


def _is_repeated(candidate: AnswerCandidate, shown: Sequence[AnswerCandidate]) -> bool:
    """Whether a candidate that is shown says most of it, or is shown with the same line."""
    words = candidate.words
    return any(
        candidate.shown == other.shown
        or len(words & other.words) >= DUPLICATE_OVERLAP * min(len(words), len(other.words))
        for other in shown
    )


def _add_date(candidate: AnswerCandidate) -> AnswerCandidate:
    """The sentence with the day on which it was written."""
    episode = candidate.episode
    day = show_day(candidate.newness, episode) if episode.at and not episode.is_stamped else ""
    return candidate if not day or day in candidate.shown else replace(candidate, shown=f"{candidate.shown} ({day})")
