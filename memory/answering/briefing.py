"""Briefing: a summary of one object in a few candidates (query-focused summarisation), each with its proof.

First the facts about it that hold: what it is, what belongs to it, what else leads to it, and what was there before
where that has changed. Then what its own note begins with and the newest sentences that tell most. Both work alone: a
memory that no model has read knows few facts, and one made of short messages has no notes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC

from memory.answering.candidates import AnswerCandidate, stems
from memory.answering.supersession import holds_at
from memory.facts.predicates import canonical_predicate, same_value
from memory.retrieval.state import RetrievalResult
from memory.store import episodes, graph, relations
from memory.store.connect import Connection
from memory.store.relations import Relation
from memory.text.mentions import norm
from memory.text.relation_sentences import statement
from memory.time.timestamps import from_ms

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
    r"|(?:dear|hi|hello|liebe[rs]?|hallo|beste)\b[^.!?]{0,60}$",
    re.IGNORECASE,
)
_FIELD = re.compile(r"[\w -]{1,24}: ")  # of a note's properties
# What says what somebody or something is, apart from all that belongs to it.
_IS = frozenset(("is", "is a", "is an", "is the", "was", "job title", "type", "kind", "is called", "means", "species"))
NAMED_WEIGHT, NEWNESS_WEIGHT, VALUES_WEIGHT, LENGTH_WEIGHT = 1.0, 1.0, 1.5, 0.5  # of a sentence; not fitted
ENOUGH_VALUES, ENOUGH_WORDS = 2, 14  # from which on it tells enough, and is long enough


def find_objects(conn: Connection, found: RetrievalResult, subject: str) -> list[int]:
    """The objects that have this name, none if nothing has it; the person whose memory it is for "me".

    Also the one whose longer name begins with it: the only one if no fact tells of the short name, else the only one
    that is the title of a passage. "Ana" may be a word in many facts, and "Ana Silva" the note of her.
    """
    key = norm(subject)
    if key in _SELF:
        return graph.owner(conn)
    named = graph.all_by_norm(conn, key) or [id for id, name in found.named_objects.items() if norm(name) == key]
    if not key:
        return named
    longer = {norm(name) for name in graph.beginning_with(conn, f"{key} ", MAX_LONGER_NAMES)}
    if len(longer) != 1 or relations.find_incident(conn, named, 1):
        longer = {name for name in longer if _has_note(found, graph.all_by_norm(conn, name))}
    return named + (graph.all_by_norm(conn, longer.pop()) if len(longer) == 1 else [])


def _has_note(found: RetrievalResult, objects: Sequence[int]) -> bool:
    """Whether one of these gives a passage its title."""
    titling = found.graph.object_ids[found.graph.titled.indices]
    return not set(objects).isdisjoint(titling.tolist())


_SELF = frozenset(("i", "me", "my", "myself", "mich", "mir", "ich"))


def write_briefing(
    conn: Connection, found: RetrievalResult, subject: str, candidates: Sequence[AnswerCandidate]
) -> list[AnswerCandidate]:
    """What is known of `subject`, at most MAX_BRIEFING_LINES candidates; none if nothing is. `candidates` are those of
    the retrieved episodes, the best first. `conn` must see what the retrieval saw."""
    objects = find_objects(conn, found, subject)
    known = _facts(conn, found, objects) if objects else []
    return [*known, *_sentences(found, subject, objects, known, candidates)]


# Facts -----------------------------------------------------------------------------------------


def _facts(conn: Connection, found: RetrievalResult, objects: Collection[int]) -> list[AnswerCandidate]:
    near = relations.find_incident(conn, sorted(objects), MAX_FACTS_OF_OBJECT)
    holding = [one for one in near if one.modality in ("asserted", "plan") and holds_at(one, found.time_ms)]
    supporting = _supporting(conn, found, holding)
    holding = [one for one in holding if one.id in supporting]
    replaced = _replaced_values(conn, found, holding)
    labels = graph.object_labels(conn, sorted({node for one in holding for node in (one.subject, one.object)}))

    def group(one: Relation) -> int:
        if one.subject not in objects:
            return 2
        return 0 if canonical_predicate(one.predicate) in _IS else 1

    holding.sort(key=lambda one: (group(one), not replaced.get(one.id), -(one.last_asserted or 0), one.id))
    shown: list[AnswerCandidate] = []
    kinds = Counter[tuple[int, bool]]()
    said: set[str] = set()
    for one in holding:
        kind = (one.canon, one.subject in objects)
        words = statement(labels[one.subject], one.predicate, labels[one.object])
        if kinds[kind] == MAX_PER_PREDICATE or norm(words) in said:
            continue
        kinds[kind] += 1
        said.add(norm(words))
        candidate = supporting[one.id]
        before = [old for old in replaced.get(one.id, ()) if not same_value(old, labels[one.object])]
        shown.append(replace(candidate, shown=words + _time(one, candidate, before[:MAX_EARLIER_VALUES])))
        if len(shown) == MAX_BRIEFING_FACTS:
            break
    return shown


def _replaced_values(conn: Connection, found: RetrievalResult, holding: Sequence[Relation]) -> dict[int, list[str]]:
    """The values that each of these replaced, the latest first, as far as the question may see who told it."""
    replaced = relations.predecessors(conn, [one.id for one in holding])
    rows = relations.by_id(conn, sorted({id for ids in replaced.values() for id in ids}))
    seen = {id for id, episode, _, _ in relations.evidence(conn, [row.id for row in rows]) if found.sees(episode)}
    labels = graph.object_labels(conn, sorted({row.object for row in rows}))
    values = {row.id: labels[row.object] for row in rows if row.id in seen}
    return {id: list(dict.fromkeys(values[old] for old in olds if old in values)) for id, olds in replaced.items()}


def _supporting(conn: Connection, found: RetrievalResult, facts: Sequence[Relation]) -> dict[int, AnswerCandidate]:
    """The newest sentence that supports each of these, as far as the question may see one."""
    rows = [row for row in relations.evidence(conn, [one.id for one in facts]) if found.sees(row[1])]
    ids = sorted({episode for _, episode, _, _ in rows})
    there = {episode.id: episode for episode in episodes.by_ids(conn, ids)}
    theses: dict[int, list[episodes.Thesis]] = {}
    for thesis in episodes.theses_of(conn, ids):
        if thesis.origin == "sentence" and thesis.span_from is not None:
            theses.setdefault(thesis.episode_id, []).append(thesis)
    newest: dict[int, AnswerCandidate] = {}
    for fact, id, start, end in rows:
        overlapping = (
            one
            for one in theses.get(id, ())
            if one.span_from is not None and one.span_from < end and start < one.span_from + len(one.text)
        )
        first = next(overlapping, None) if id in there else None
        if first is None:
            continue
        words = frozenset(stems(first.text, found.question.language))
        candidate = replace(AnswerCandidate.from_thesis(there[id], first), words=words, coverage=1.0, shown=first.text)
        if fact not in newest or newest[fact].newness < candidate.newness:
            newest[fact] = candidate
    return newest


def _time(fact: Relation, candidate: AnswerCandidate, before: Sequence[str]) -> str:
    """Since when it holds, as far as that is known, and what was there before."""
    parts = ["planned"] if fact.modality == "plan" else []
    start, end = from_ms(fact.valid_from), from_ms(fact.valid_to)
    if start is not None:
        since = "as of" if fact.valid_from == candidate.newness else "since"
        parts.append(f"{since} {start.astimezone(UTC).date().isoformat()}")
    if end is not None:
        parts.append(f"until {end.astimezone(UTC).date().isoformat()}")
    if before:
        parts.append(f"before that: {', '.join(before)}")
    return f" ({', '.join(parts)})" if parts else ""


# Sentences -------------------------------------------------------------------------------------


def _sentences(
    found: RetrievalResult,
    subject: str,
    objects: Collection[int],
    known: Sequence[AnswerCandidate],
    candidates: Sequence[AnswerCandidate],
) -> list[AnswerCandidate]:
    """The sentences that tell most of it: those of its own notes in their order, then the others, the newest first."""
    name = frozenset(stems(subject, found.question.language))
    own = _titled(found, objects, {one.episode.id for one in candidates})
    telling = [
        one
        for one in candidates
        if (one.episode.id in own or (name and name <= one.words)) and _tells(one, name, one.episode.id in own)
    ]
    telling = [one for one in telling if not one.earlier] or telling
    of_own = [one for one in telling if one.episode.id in own]
    of_own.sort(key=lambda one: (_FIELD.match(one.shown) is not None, one.episode.id, one.start))
    others = _by_score([one for one in telling if one.episode.id not in own], telling, name)
    chosen = _within_limits([*_in_turn(of_own), *others], own, known)
    kept = [one for one in of_own if one in chosen]
    kept += sorted((one for one in chosen if one.episode.id not in own), key=lambda one: -one.newness)
    return [_add_date(one) for one in kept]


def _by_score(
    candidates: Sequence[AnswerCandidate], telling: Sequence[AnswerCandidate], name: frozenset[str]
) -> list[AnswerCandidate]:
    """The candidates, those first that tell most; newness is among all that are `telling`."""
    newest = sorted({one.newness for one in telling})
    newness = {at: (n + 1) / len(newest) for n, at in enumerate(newest)}

    def score(one: AnswerCandidate) -> float:
        return (
            NAMED_WEIGHT * (name <= one.words)
            + NEWNESS_WEIGHT * newness[one.newness]
            + VALUES_WEIGHT * min(len(one.values), ENOUGH_VALUES) / ENOUGH_VALUES
            + LENGTH_WEIGHT * min(len(one.words), ENOUGH_WORDS) / ENOUGH_WORDS
        )

    return sorted(candidates, key=lambda one: (-score(one), one.thesis_id))


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
        if one.thesis_id not in quoted and not _is_repeated(one, chosen):
            taken[one.episode.id] += 1
            chosen.append(one)
    return chosen


def _titled(found: RetrievalResult, objects: Collection[int], ids: Collection[int]) -> set[int]:
    """Which of these episodes have one of the objects as their title."""
    kept = set()
    for id in ids:
        row = found.graph.row_of.get(id)
        if row is None:
            continue
        begin, end = found.graph.titled.indptr[row : row + 2]
        columns = found.graph.titled.indices[begin:end]
        if not set(found.graph.object_ids[columns].tolist()).isdisjoint(objects):
            kept.add(id)
    return kept


def _tells(candidate: AnswerCandidate, name: frozenset[str], is_own: bool) -> bool:
    """Whether it is more than a heading, a label or a question, and long enough; of a note about it less will do."""
    beside = candidate.words - {*stems(candidate.episode.title), *name}
    least = LEAST_WORDS_OWN if is_own else LEAST_WORDS
    is_statement = not _FILING.match(candidate.shown) and candidate.shown[-1:] != "?"
    return len(candidate.words - name) >= least and bool(beside) and is_statement


def _is_repeated(candidate: AnswerCandidate, shown: Sequence[AnswerCandidate]) -> bool:
    """Whether a candidate that is shown says most of it."""
    words = candidate.words
    return any(len(words & other.words) >= DUPLICATE_OVERLAP * min(len(words), len(other.words)) for other in shown)


def _add_date(candidate: AnswerCandidate) -> AnswerCandidate:
    """The sentence with the day on which it was written."""
    day = candidate.episode.at.astimezone(UTC).date().isoformat() if candidate.episode.at else ""
    return candidate if not day or day in candidate.shown else replace(candidate, shown=f"{candidate.shown} ({day})")
