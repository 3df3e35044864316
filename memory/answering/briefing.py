"""A briefing: what is known of one object, in a few lines, each with its proof.

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
from memory.retrieval.result import RetrievalResult
from memory.store import episodes, graph, relations
from memory.store.connect import Connection
from memory.store.relations import Relation
from memory.text.mentions import norm
from memory.text.relation_sentences import statement
from memory.time.timestamps import from_ms, to_ms

MAX_BRIEFING_LINES, MAX_BRIEFING_FACTS = 10, 6  # shown at most
MAX_LONGER_NAMES = 50  # longer names that are looked at, the shortest
MAX_FACTS_OF_OBJECT = 200  # facts of the object that are looked at, the newest
MAX_PER_PREDICATE = 2  # facts with one predicate
MAX_PER_EPISODE, MAX_PER_OWN_NOTE, MAX_OWN_SENTENCES = (
    1,
    4,
    6,
)  # sentences of one passage; of one about nothing else, and of all these
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
_NAMED, _NEW, _TELLS, _LONG = 1.0, 1.0, 1.5, 0.5  # what counts for a sentence: not fitted
_VALUES, _WORDS = 2, 14  # from which on it tells enough, and is long enough


def objects_of(conn: Connection, found: RetrievalResult, subject: str) -> list[int]:
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
    if len(longer) != 1 or relations.touching(conn, named, 1):
        longer = {name for name in longer if _has_note(found, graph.all_by_norm(conn, name))}
    return named + (graph.all_by_norm(conn, longer.pop()) if len(longer) == 1 else [])


def _has_note(found: RetrievalResult, objects: Sequence[int]) -> bool:
    """Whether one of these gives a passage its title."""
    titling = found.graph.object_ids[found.graph.titled.indices]
    return not set(objects).isdisjoint(titling.tolist())


_SELF = frozenset(("i", "me", "my", "myself", "mich", "mir", "ich"))


def write_briefing(
    conn: Connection, found: RetrievalResult, subject: str, lines: Sequence[AnswerCandidate]
) -> list[AnswerCandidate]:
    """What is known of `subject`, at most LINES lines; none if nothing is. `lines` are those of the recalled episodes,
    the best first. `conn` must see what the recall saw."""
    objects = objects_of(conn, found, subject)
    known = _facts(conn, found, objects) if objects else []
    return [*known, *_sentences(found, subject, objects, known, lines)]


# Facts -----------------------------------------------------------------------------------------


def _facts(conn: Connection, found: RetrievalResult, objects: Collection[int]) -> list[AnswerCandidate]:
    near = relations.touching(conn, sorted(objects), MAX_FACTS_OF_OBJECT)
    holding = [one for one in near if one.modality in ("asserted", "plan") and holds_at(one, found.time_ms)]
    tellers = _tellers(conn, found, holding)
    holding = [one for one in holding if one.id in tellers]
    past = _past(conn, found, holding)
    labels = graph.object_labels(conn, sorted({node for one in holding for node in (one.subject, one.object)}))

    def group(one: Relation) -> int:
        if one.subject not in objects:
            return 2
        return 0 if canonical_predicate(one.predicate) in _IS else 1

    holding.sort(key=lambda one: (group(one), not past.get(one.id), -(one.last_asserted or 0), one.id))
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
        line = tellers[one.id]
        before = [was for was in past.get(one.id, ()) if not same_value(was, labels[one.object])][:MAX_EARLIER_VALUES]
        shown.append(replace(line, shown=words + _time(one, line, before)))
        if len(shown) == MAX_BRIEFING_FACTS:
            break
    return shown


def _past(conn: Connection, found: RetrievalResult, holding: Sequence[Relation]) -> dict[int, list[str]]:
    """The values that each of these took the place of, the latest first, as far as the question may see who told it."""
    replaced = relations.predecessors(conn, [one.id for one in holding])
    rows = relations.by_id(conn, sorted({id for ids in replaced.values() for id in ids}))
    seen = {id for id, episode, _, _ in relations.evidence(conn, [row.id for row in rows]) if found.sees(episode)}
    labels = graph.object_labels(conn, sorted({row.object for row in rows}))
    values = {row.id: labels[row.object] for row in rows if row.id in seen}
    return {id: list(dict.fromkeys(values[old] for old in olds if old in values)) for id, olds in replaced.items()}


def _tellers(conn: Connection, found: RetrievalResult, facts: Sequence[Relation]) -> dict[int, AnswerCandidate]:
    """The newest sentence that tells each of these, as far as the question may see one."""
    rows = [row for row in relations.evidence(conn, [one.id for one in facts]) if found.sees(row[1])]
    ids = sorted({episode for _, episode, _, _ in rows})
    there = {episode.id: episode for episode in episodes.by_ids(conn, ids)}
    theses: dict[int, list[episodes.Thesis]] = {}
    for thesis in episodes.theses_of(conn, ids):
        if thesis.origin == "sentence" and thesis.span_from is not None:
            theses.setdefault(thesis.episode_id, []).append(thesis)
    found_lines: dict[int, AnswerCandidate] = {}
    for fact, episode_id, start, end in rows:
        episode = there.get(episode_id)
        if episode is None:
            continue
        for thesis in theses.get(episode_id, ()):
            begin = thesis.span_from or 0
            if begin < end and start < begin + len(thesis.text):
                at = to_ms(episode.at) if episode.at else 0
                none = frozenset[str]()
                words = frozenset(stems(thesis.text, found.question.language))
                line = AnswerCandidate(
                    episode, thesis.id, begin, thesis.text, thesis.text, words, none, none, 1.0, 0.0, 0.0, at
                )  # fmt: skip
                before = found_lines.get(fact)
                if before is None or before.newness < line.newness:
                    found_lines[fact] = line
                break
    return found_lines


def _time(fact: Relation, line: AnswerCandidate, before: Sequence[str]) -> str:
    """Since when it holds, as far as that is known, and what was there before."""
    parts = ["planned"] if fact.modality == "plan" else []
    start, end = from_ms(fact.valid_from), from_ms(fact.valid_to)
    if start is not None:
        since = "as of" if fact.valid_from == line.newness else "since"
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
    lines: Sequence[AnswerCandidate],
) -> list[AnswerCandidate]:
    """The sentences that tell most of it: those of its own note in their order, then the others, the newest first."""
    language = found.question.language
    name = frozenset(stems(subject, language))
    titled = _titled(found, objects, {line.episode.id for line in lines})
    own = {id for id in {line.episode.id for line in lines} if id in titled}
    named = [line for line in lines if line.episode.id in own or (name and name <= line.words)]
    telling = [line for line in named if _tells(line, name, LEAST_WORDS_OWN if line.episode.id in own else LEAST_WORDS)]
    about = [line for line in telling if not line.earlier] or telling
    newest = sorted({line.newness for line in about})
    place = {at: (n + 1) / len(newest) for n, at in enumerate(newest)}

    def worth(line: AnswerCandidate) -> float:
        return (
            _NAMED * (name <= line.words)
            + _NEW * place[line.newness]
            + _TELLS * min(len(line.values), _VALUES) / _VALUES
            + _LONG * min(len(line.words), _WORDS) / _WORDS
        )

    mine = sorted(
        (line for line in about if line.episode.id in own),
        key=lambda line: (_FIELD.match(line.shown) is not None, line.episode.id, line.start),
    )
    turn = Counter[int]()
    turns = {line.thesis_id: turn.update((line.episode.id,)) or turn[line.episode.id] for line in mine}
    first = sorted(mine, key=lambda line: turns[line.thesis_id])  # of two notes about it both begin
    others = sorted((line for line in about if line not in first), key=lambda line: (-worth(line), line.thesis_id))
    chosen: list[AnswerCandidate] = []
    taken = Counter[int]()
    quoted = {line.thesis_id for line in known}
    for line in [*first, *others]:
        is_own = line.episode.id in own
        if len(known) + len(chosen) == MAX_BRIEFING_LINES:
            break
        if taken[line.episode.id] == (MAX_PER_OWN_NOTE if is_own else MAX_PER_EPISODE) or (
            is_own and taken.total() == MAX_OWN_SENTENCES
        ):
            continue
        if line.thesis_id not in quoted and not _alike(line, chosen):
            taken[line.episode.id] += 1
            chosen.append(line)
    mine = [line for line in mine if line in chosen]
    others = sorted((line for line in chosen if line not in mine), key=lambda line: -line.newness)
    chosen = [*mine, *others]
    return [_dated(line) for line in chosen]


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


def _tells(line: AnswerCandidate, name: frozenset[str], least: int) -> bool:
    """Whether it is more than a heading, a label or a question; of so many words at least."""
    said = line.words - {*stems(line.episode.title), *name}
    return len(line.words - name) >= least and bool(said) and not _FILING.match(line.shown) and line.shown[-1:] != "?"


def _alike(line: AnswerCandidate, shown: Sequence[AnswerCandidate]) -> bool:
    """Whether a line that is shown says most of it."""
    return any(
        len(line.words & other.words) >= DUPLICATE_OVERLAP * min(len(line.words), len(other.words)) for other in shown
    )


def _dated(line: AnswerCandidate) -> AnswerCandidate:
    """The sentence with the day on which it was written."""
    day = line.episode.at.astimezone(UTC).date().isoformat() if line.episode.at else ""
    return line if not day or day in line.shown else replace(line, shown=f"{line.shown} ({day})")
