"""Changes: "what changed about Mara Quill" is answered with each fact that took the place of another, what it was
before, and the sources of both; "what changed since last week" with what was replaced in the whole memory.

Nothing is found where nothing changed, or nothing that the question asks of; then the sentences answer.
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
MAX_REVISIONS = 200  # looked at, the newest, where no object is named


def list_changes(state: AnswerState) -> list[AnswerCandidate]:
    """A line for each fact that was replaced in the time asked of, by default ever: what held, one after the other.
    What changed last comes first."""
    conn, at = state.conn, state.found.time_ms
    if state.objects:
        near = relations.find_incident(conn, state.objects, MAX_FACTS_NEAR)
    else:
        near = relations.by_id(conn, _list_replacing(conn))
    current = select_current(conn, near, at)
    past = relations.predecessors(conn, [one.id for one in current])
    changed = [one for one in current if past[one.id] and _is_asked_of(state, begins_ms(one))]
    changed.sort(key=lambda one: (-begins_ms(one), one.id))
    lines = [line for one in changed for line in _show(state, one, past[one.id])]
    asked = _topic(state)
    about = [one for one in lines if asked <= frozenset(state.features.stem_words(one.shown))]
    return about[:MAX_CHANGES]


def select_changed(state: AnswerState, lines: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Of an answer's lines those that stand above an earlier value, and these; all if there is none. None where the
    question asks for whatever changed."""
    if not state.objects and not _topic(state):
        return []
    over = [one.earlier or after.earlier for one, after in pairwise([*lines, *lines[-1:]])]
    return [one for one, is_over in zip(lines, over, strict=True) if is_over] or [*lines]


def _list_replacing(conn: Connection) -> list[int]:
    """The relations that took the place of others, those of the newest revisions."""
    rows = revisions.list_by_clauses(
        conn,
        "WHERE relation = 'supersedes' AND state IN ('open', 'kept') AND new_kind = 'relation'"
        " ORDER BY t DESC, id DESC LIMIT ?",
        MAX_REVISIONS,
    )
    return sorted({one.new for one in rows})


def _is_asked_of(state: AnswerState, ms: int) -> bool:
    """Whether the question asks of that time (ms UTC)."""
    when = state.question.when
    if when is None or when.kind != "range":
        return True
    since, until = to_wall(when.since), to_wall(when.until)
    return (since is None or since <= ms) and (until is None or ms < until)


def _topic(state: AnswerState) -> frozenset[str]:
    """The stems of what it asks for beside names, times and the words by which a change is asked for."""
    question = state.question
    named = {word for name in state.found.named_objects.values() for word in state.features.stem_words(name)}
    said = {*state.features.stem_words(question.when.words)} if question.when else set[str]()
    return frozenset(state.features.stems) - named - said - changed_words(question.language)


def _show(state: AnswerState, fact: Relation, past: Sequence[int]) -> list[AnswerCandidate]:
    """The line of a fact, if the question may see a passage that tells it."""
    supporting = state.find_supporting([fact.id], [])
    if fact.id not in supporting:
        return []
    names = read_names(state.conn, [fact])
    subject, value = names[fact.subject], names[fact.object]
    words = statement(subject, fact.predicate, value)
    told = FactCandidate(fact, subject, value, words, past, (), ())
    return [show_history(state, told, supporting[fact.id], [])]
