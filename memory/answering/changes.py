"""Changes: "what changed about Mara Quill" is answered with each fact that replaced another, its former values and the
sources of both; "what changed since last week" with all facts replaced in that time.

If nothing of the question's topic changed, the result is empty, and sentences answer the question.
"""

from collections.abc import Sequence
from itertools import pairwise

from memory.answering.candidates import AnswerCandidate, begins_ms, read_names, select_current
from memory.answering.facts import MAX_FACTS_NEAR, FactCandidate, show_history
from memory.answering.features import AnswerState
from memory.retrieval.question_type import changed_words
from memory.store import relations, revisions
from memory.store.connect import Connection
from memory.store.relations import Relation
from memory.text.predicates import statement
from memory.time.timestamps import to_wall

MAX_CHANGES = 12  # lines
MAX_REVISIONS = 200  # the newest, read if the question names no object


def list_changes(state: AnswerState) -> list[AnswerCandidate]:
    """A line with the values of each fact that replaced another in the question's time, the latest change first."""
    conn, at = state.conn, state.found.time_ms
    if state.objects:
        near = relations.find_incident(conn, state.objects, MAX_FACTS_NEAR)
    else:
        near = relations.by_id(conn, _list_replacing(conn))
    current = select_current(near, at)
    past = relations.predecessors(conn, [fact.id for fact in current])
    changed = [fact for fact in current if past[fact.id] and _is_in_time(state, begins_ms(fact))]
    changed.sort(key=lambda fact: (-begins_ms(fact), fact.id))
    lines = [line for fact in changed for line in _show_change(state, fact, past[fact.id])]
    topic = _find_topic(state)
    return [line for line in lines if topic <= frozenset(state.features.stem_words(line.shown))][:MAX_CHANGES]


def select_changed(state: AnswerState, lines: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """The lines that are or precede an earlier value, all if there is none; empty if the question asks for any
    change."""
    if not state.objects and not _find_topic(state):
        return []
    pairs = pairwise([*lines, *lines[-1:]])
    return [line for line, following in pairs if line.earlier or following.earlier] or [*lines]


def _list_replacing(conn: Connection) -> list[int]:
    """The relations that replaced others in the newest revisions."""
    rows = revisions.list_by_clauses(
        conn,
        "WHERE relation = 'supersedes' AND state IN ('open', 'kept') AND new_kind = 'relation'"
        " ORDER BY t DESC, id DESC LIMIT ?",
        MAX_REVISIONS,
    )
    return sorted({row.new for row in rows})


def _is_in_time(state: AnswerState, ms: int) -> bool:
    """Whether the time of the question includes a time (ms UTC)."""
    when = state.question.when
    if when is None or when.kind != "range":
        return True
    since, until = to_wall(when.since), to_wall(when.until)
    return (since is None or since <= ms) and (until is None or ms < until)


def _find_topic(state: AnswerState) -> frozenset[str]:
    """The question's stems without those of names, of its time and of words for change."""
    question, stem_words = state.question, state.features.stem_words
    texts = [*state.found.named_objects.values(), question.when.words if question.when else ""]
    stems = frozenset(stem for text in texts for stem in stem_words(text))
    return frozenset(state.features.stems) - stems - changed_words(question.language)


def _show_change(state: AnswerState, fact: Relation, past: Sequence[int]) -> list[AnswerCandidate]:
    """The line of a fact; empty if the question may see no passage that states it."""
    supporting = state.find_supporting([fact.id], [])
    if fact.id not in supporting:
        return []
    names = read_names(state.conn, [fact])
    subject, value = names[fact.subject], names[fact.object]
    words = statement(subject, fact.predicate, value)
    candidate = FactCandidate(fact, subject, value, words, past, (), ())
    return [show_history(state, candidate, supporting[fact.id], [])]
