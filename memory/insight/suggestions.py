"""Questions worth asking this memory: about recent changes, plans, and the things that notes are about.

These are proposals: the caller tries each first, because a question without a clear answer is worse than none."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

from memory.facts.attributes import attribute_of
from memory.nouns import Fact
from memory.store import browse, facts, relations
from memory.store.connect import Connection
from memory.time.dates import parse_date
from memory.time.timestamps import now_ms, wall_of

MAX_PASSAGES = 300  # the newest, from which questions are made
MAX_NAMES = 12
MAX_NAME_CHARS, MAX_VALUE_CHARS = 40, 60
OPEN = "What is still open?"
_PLACE = re.compile(r"(?P<verb>live|work|stay|keep)s? (?:in|at|to)")


Proposal = tuple[str, str]  # a question, and words that the first line of a clear answer has


def propose_questions(conn: Connection, changed: Sequence[Fact], has_plans: bool) -> list[Proposal]:
    """Proposals, best first: kinds in turn, then things. `changed`: facts that replaced others."""
    newest = browse.list_newest_episodes(conn, MAX_PASSAGES)
    read = facts.by_id(conn, list(dict.fromkeys(row[0] for row in relations.of_episodes(conn, newest))))
    is_open = has_plans or any((fact.predicate, fact.objects[-1]) == ("status", "open") for fact in read)
    things = browse.list_mentioned_things(conn, newest, MAX_NAMES)
    now = now_ms()
    known = facts.list_about(conn, [id for id, _ in things], now, wall_of(now), relations=True)
    names = [label for _, label in things if len(label) <= MAX_NAME_CHARS and parse_date(label) is None]
    kinds = [
        _ask_about_facts(changed, names),
        iter([(OPEN, "")] if is_open else []),
        _ask_about_facts(known, names),
    ]
    about = ((f"What do you know about {name}?", name) for name in names)
    return list(dict.fromkeys(filter(None, chain(chain.from_iterable(zip_longest(*kinds)), about))))


def _ask_about_facts(candidates: Sequence[Fact], names: Sequence[str]) -> Iterator[Proposal]:
    for fact in candidates:
        if fact.predicate and fact.modality == "asserted" and fact.superseded_by is None and fact.objects[0] in names:
            value, question = fact.objects[-1], _ask_for(fact.objects[0], fact.predicate)
            if question and len(value) <= MAX_VALUE_CHARS:
                yield question, value


def _ask_for(subject: str, predicate: str) -> str:
    """A question for the value of a relation; "" if its predicate is neither a place's nor ends in an attribute."""
    if place := _PLACE.fullmatch(predicate):
        return f"Where does {subject} {place['verb']}?"
    attribute = attribute_of(predicate.rpartition(" ")[2])
    noun = predicate if attribute and predicate.endswith(attribute) else attribute
    return f"{'When' if attribute == 'birthday' else 'What'} is {subject}'s {noun}?" if noun else ""
