"""Questions worth asking this memory: about recent changes, and the facts of things that notes are about.

These are proposals: the caller tries each first, because a question without one clear answer is worse than none."""

import re
from collections.abc import Iterator, Sequence

from memory.facts.attributes import attribute_of
from memory.facts.rules.phrases import value_kind
from memory.nouns import Fact
from memory.store import browse, facts
from memory.store.connect import Connection
from memory.text.mentions import is_name
from memory.time.timestamps import now_ms, wall_of

MAX_PASSAGES = 300  # the newest, from which questions are made
MAX_NAMES = 12
MAX_NAME_CHARS, MAX_VALUE_CHARS = 40, 60
_PLACE = re.compile(r"(?P<verb>live|work|stay|keep)s? (?:in|at|to)")


Proposal = tuple[str, str]  # a question, and words that the line of a clear answer has


def propose_questions(conn: Connection, changed: Sequence[Fact]) -> list[Proposal]:
    """Proposals, best first. `changed`: facts that replaced others."""
    things = browse.list_mentioned_things(conn, browse.list_newest_episodes(conn, MAX_PASSAGES), MAX_NAMES)
    now = now_ms()
    known = facts.list_about(conn, [id for id, _ in things], now, wall_of(now), relations=True)
    names = [label for _, label in things if len(label) <= MAX_NAME_CHARS and is_name(label)]
    return list(dict.fromkeys(_ask_about_facts([*changed, *known], names)))


def _ask_about_facts(candidates: Sequence[Fact], names: Sequence[str]) -> Iterator[Proposal]:
    for fact in candidates:
        if fact.predicate and fact.modality == "asserted" and fact.superseded_by is None and fact.objects[0] in names:
            value, question = fact.objects[-1], _ask_for(fact.objects[0], fact.predicate)
            is_value = is_name(value) or value_kind(value) != "word"
            if question and is_value and len(value) <= MAX_VALUE_CHARS:
                yield question, value


def _ask_for(subject: str, predicate: str) -> str:
    """A question for the value of a relation; "" if its predicate is neither a place's nor ends in an attribute."""
    if place := _PLACE.fullmatch(predicate):
        return f"Where does {subject} {place['verb']}?"
    attribute = attribute_of(predicate.rpartition(" ")[2])
    noun = predicate if attribute and predicate.endswith(attribute) else attribute
    return f"{'When' if attribute == 'birthday' else 'What'} is {subject}'s {noun}?" if noun else ""
