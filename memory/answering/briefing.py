"""Briefings: a summary of one object in a few lines (query-focused summarisation), each with its citation.

First its own current facts, "is" facts before all others, each with its former values, and the beginning of its notes;
then facts of other objects that name it, and the newest informative sentences. Facts and sentences each suffice alone:
a memory without a model has few facts, and one of short messages has no notes."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain

from memory.answering.candidates import (
    AnswerCandidate,
    as_known_then,
    describe_time,
    is_current,
    read_names,
    show_day,
    stems,
    titling_objects,
)
from memory.answering.features import AnswerState
from memory.retrieval.state import RetrievalResult
from memory.store import graph, relations
from memory.store.connect import Connection
from memory.store.relations import Relation
from memory.text.languages import tables, word_set
from memory.text.mentions import norm
from memory.text.predicates import canonical_predicate, same_value, statement

MAX_BRIEFING_LINES = 10
LEAST_WORDS = 3  # of a sentence
_SELF = word_set("briefings", "self")
_IDENTITY = frozenset(chain.from_iterable(tables("briefings", "identity")))


def find_objects(state: AnswerState, subject: str) -> list[int]:
    """Returns the objects of this name, the owner for "me"; empty without one. Includes the object whose longer name
    begins with it: the only such object if the short name has no facts, else the only one that is the title of a
    passage. "Ana" may be in many facts, and "Ana Silva" be the note about her."""
    conn, arrays, key = state.conn, state.result.graph, norm(subject)
    if key in _SELF:
        return graph.owner(conn)
    named = graph.all_by_norm(conn, key)
    named = named or [id for id, name in state.result.named_objects.items() if norm(name) == key]
    if not key:
        return named
    longer = {norm(name) for name in graph.beginning_with(conn, f"{key} ", 50)}
    if len(longer) != 1 or relations.find_incident(conn, named, 1):
        titling = set(arrays.object_ids[arrays.titled.indices].tolist())
        longer = {name for name in longer if not titling.isdisjoint(graph.all_by_norm(conn, name))}
    return named + (graph.all_by_norm(conn, longer.pop()) if len(longer) == 1 else [])


def write_briefing(state: AnswerState, subject: str, candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Returns what is known about `subject`, at most MAX_BRIEFING_LINES. `candidates`: of the retrieved episodes, best
    first."""
    objects = find_objects(state, subject)
    facts, naming = _choose_facts(state, objects) if objects else ([], [])
    own, others = _choose_sentences(state.result, subject, objects, [*facts, *naming], candidates)
    return [*facts, *own, *naming, *others]


# Facts -----------------------------------------------------------------------------------------


def _choose_facts(state: AnswerState, objects: Collection[int]) -> tuple[list[AnswerCandidate], list[AnswerCandidate]]:
    """Returns the facts of the objects, and those of other objects that name them."""
    conn, result = state.conn, state.result
    near = relations.find_incident(conn, sorted(objects), 200)  # the newest, read for an object
    current = [as_known_then(fact, result.time_ms) for fact in near if is_current(fact, result.time_ms)]
    evidence = relations.evidence(conn, [fact.id for fact in current])
    visible = {id for id, episode, _, _ in evidence if result.sees(episode)}
    former = _read_former_values(conn, result, sorted(visible))
    names = read_names(conn, current)
    facts = [fact for fact in current if fact.id in visible]
    facts.sort(key=lambda fact: (not former[fact.id], -(fact.last_asserted or 0), fact.id))
    facts.sort(key=lambda fact: canonical_predicate(fact.predicate) not in _IDENTITY if fact.subject in objects else 2)
    chosen: dict[str, tuple[Relation, str]] = {}
    kinds = Counter[tuple[int, bool]]()
    for fact in facts:
        kind = (fact.canon, fact.subject in objects)
        words = statement(names[fact.subject], fact.predicate, names[fact.object])
        if len(chosen) < 6 and kinds[kind] < 2 and norm(words) not in chosen:
            kinds[kind] += 1
            chosen[norm(words)] = fact, words
    supporting = state.find_supporting([fact.id for fact, _ in chosen.values()], state.read_found())
    own: list[AnswerCandidate] = []
    naming: list[AnswerCandidate] = []
    for fact, words in chosen.values():
        if (line := supporting.get(fact.id)) is not None:
            time = describe_time(fact, line.episode, line.start, line.quote, written=True)
            values = [value for value in former[fact.id] if not same_value(value, names[fact.object])]
            time += [f"before that: {', '.join(values[:2])}"] if values else []  # former values shown with a fact
            shown = f"{words} ({', '.join(time)})" if time else words
            (own if fact.subject in objects else naming).append(replace(line, shown=shown))
    return own, naming


def _read_former_values(conn: Connection, result: RetrievalResult, facts: Sequence[int]) -> dict[int, list[str]]:
    """Returns {fact: the values it replaced, latest first}, if the question may see a passage that states them."""
    replaced = relations.predecessors(conn, facts)
    rows = relations.get_many(conn, sorted({id for ids in replaced.values() for id in ids}))
    visible = {id for id, episode, _, _ in relations.evidence(conn, [row.id for row in rows]) if result.sees(episode)}
    names = read_names(conn, rows)
    values = {row.id: names[row.object] for row in rows if row.id in visible}
    return {id: list(dict.fromkeys(values[old] for old in olds if old in values)) for id, olds in replaced.items()}


# Sentences -------------------------------------------------------------------------------------


def _choose_sentences(
    result: RetrievalResult,
    subject: str,
    objects: Collection[int],
    facts: Sequence[AnswerCandidate],
    candidates: Sequence[AnswerCandidate],
) -> tuple[list[AnswerCandidate], list[AnswerCandidate]]:
    """Returns the most informative sentences: those of the object's own notes in their order, and the others, newest
    first."""
    name = frozenset(stems(subject, result.question.language))
    passages = {line.episode.id for line in candidates}
    own = {id for id in passages if not set(objects).isdisjoint(titling_objects(result, id))}
    lines = [
        line
        for line in candidates
        if (is_own := line.episode.id in own) or (name and name <= line.words)
        if _is_informative(line, name, is_own)
    ]
    lines = [line for line in lines if not line.earlier] or lines
    own_lines = sorted((line for line in lines if line.episode.id in own), key=_make_order)
    others = sorted(
        (line for line in lines if line.episode.id not in own),
        key=lambda line: (-line.newness, -len(line.values), line.shown),
    )
    chosen = _limit_lines([*_interleave(own_lines), *others], own, facts)
    others = [line for line in chosen if line not in own_lines]
    own_lines = sorted((line for line in own_lines if line in chosen), key=lambda line: line.is_statement)
    return [_add_date(line) for line in own_lines], [_add_date(line) for line in others]


def _make_order(line: AnswerCandidate) -> tuple[bool, str, int, int, int]:
    """Returns a key that orders lines as in their notes, fields last."""
    episode = line.episode
    return (
        re.match(r"[\w -]{1,24}: ", line.shown) is not None,
        episode.source.uri,
        episode.seq,
        line.start,
        line.source.start,
    )


def _interleave(candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Returns the first line of each passage, then the second of each, and so on."""
    counts = Counter[int]()
    turn_of = {line.thesis_id: counts.update((line.episode.id,)) or counts[line.episode.id] for line in candidates}
    return sorted(candidates, key=lambda line: turn_of[line.thesis_id])


def _limit_lines(
    candidates: Sequence[AnswerCandidate], own: Collection[int], facts: Sequence[AnswerCandidate]
) -> list[AnswerCandidate]:
    """Returns the candidates that fit after the `facts`, without duplicates and with few per passage outside its
    `own`."""
    chosen: list[AnswerCandidate] = []
    taken = Counter[int]()
    quoted = {line.thesis_id for line in facts}
    for line in candidates:
        is_own = line.episode.id in own
        if len(facts) + len(chosen) == MAX_BRIEFING_LINES:
            break
        most = 4 if is_own else 1  # sentences of one passage
        if taken[line.episode.id] == most or (is_own and taken.total() == 6):
            continue
        place = next((n for n, other in enumerate(chosen) if line.overlaps(other) and other.shown in line.shown), None)
        if place is not None and chosen[place].shown != line.shown:  # it includes a chosen line
            chosen[place] = line
        elif line.thesis_id not in quoted and not _is_repeated(line, chosen):
            taken[line.episode.id] += 1
            chosen.append(line)
    return chosen


def _is_informative(candidate: AnswerCandidate, name: frozenset[str], is_own: bool) -> bool:
    """Whether a line is long enough and no heading, label or question; a line of the object's note may be shorter."""
    new = candidate.words - {*stems(candidate.episode.title), *name}
    least = 2 if is_own else LEAST_WORDS
    is_statement = candidate.place.kind != "filing" and candidate.shown[-1:] != "?"
    return len(candidate.words - name) >= least and bool(new) and is_statement


def _is_repeated(candidate: AnswerCandidate, shown: Sequence[AnswerCandidate]) -> bool:
    """Whether a shown line has the same text, or most words of the candidate."""
    words = candidate.words
    return any(
        candidate.shown == other.shown or len(words & other.words) >= 0.6 * min(len(words), len(other.words))
        for other in shown
    )


def _add_date(candidate: AnswerCandidate) -> AnswerCandidate:
    """Adds the day on which the sentence was written."""
    episode = candidate.episode
    day = show_day(candidate.newness, episode) if episode.at and not episode.is_stamped else ""
    return candidate if not day or day in candidate.shown else replace(candidate, shown=f"{candidate.shown} ({day})")
