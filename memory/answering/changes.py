"""Changes: "What changed about Mara Quill" is answered by each replaced fact, with its values and their sources."""

from collections.abc import Sequence
from itertools import pairwise

from memory.answering.candidates import AnswerCandidate, begins_ms, select_current
from memory.answering.facts import MAX_FACTS_NEAR, make_fact_candidates, show_history
from memory.answering.features import AnswerState
from memory.retrieval.question_type import changed_words
from memory.store import relations, revisions
from memory.time.timestamps import to_wall

MAX_CHANGES = 12  # lines
MAX_REVISIONS = 200  # the newest, read if the question names no object
_REPLACING = (
    "WHERE relation = 'supersedes' AND state IN ('open', 'kept') AND new_kind = 'relation'"
    " ORDER BY t DESC, id DESC LIMIT ?"
)


def list_changes(state: AnswerState) -> list[AnswerCandidate]:
    """Returns a line with the values of each fact replaced in the question's time, latest change first, if the question
    may see a passage with it."""
    conn, at, when = state.conn, state.result.time_ms, state.question.when
    if state.objects:
        near = relations.find_incident(conn, state.objects, MAX_FACTS_NEAR)
    else:
        rows = revisions.list_by_clauses(conn, _REPLACING, MAX_REVISIONS)
        near = relations.get_many(conn, sorted({row.new for row in rows}))
    since, until = (to_wall(when.since), to_wall(when.until)) if when and when.kind == "range" else (None, None)
    changed = [
        fact
        for fact in make_fact_candidates(state, select_current(near, at))
        if fact.past
        and (since is None or since <= begins_ms(fact.relation))
        and (until is None or begins_ms(fact.relation) < until)
    ]
    changed.sort(key=lambda fact: (-begins_ms(fact.relation), fact.relation.id))
    supporting = state.find_supporting([fact.relation.id for fact in changed], [])
    lines = (
        show_history(state, fact, supporting[fact.relation.id], [])
        for fact in changed
        if fact.relation.id in supporting
    )
    topic = _find_topic(state)
    return [line for line in lines if topic <= frozenset(state.features.stem_words(line.shown))][:MAX_CHANGES]


def select_changed(state: AnswerState, lines: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Returns the lines that are or precede an earlier value, all if there are no such lines; empty if the question
    asks for any change."""
    if not state.objects and not _find_topic(state):
        return []
    pairs = pairwise([*lines, *lines[-1:]])
    return [line for line, following in pairs if line.earlier or following.earlier] or [*lines]


def _find_topic(state: AnswerState) -> frozenset[str]:
    """Returns the question's stems without those of names, of its time and of words for change."""
    question, stem_words = state.question, state.features.stem_words
    texts = [*state.result.named_objects.values(), question.when.words if question.when else ""]
    return frozenset(state.features.stems).difference(*map(stem_words, texts), changed_words(question.language))
