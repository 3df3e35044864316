"""Questions worth asking this memory: about recent changes, plans, and frequent names.

These are proposals: the caller tries each first, because a question without an answer is worse than none."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

from memory.facts.attributes import attribute_of
from memory.nouns import Fact
from memory.store import facts, recent, relations
from memory.store.connect import Connection

MAX_PASSAGES = 300  # the newest, from which questions are made
MAX_NAMES = 12
MAX_NAME_CHARS, MAX_VALUE_CHARS = 40, 60
OPEN = "What is still open?"
_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")
_WORD = re.compile(r"[^\W\d_]+(?: [^\W\d_]+)?")
_PLACE = re.compile(r"(?:lives?|works?|stays?|moved|keeps?) (?:in|at|to)")
_FILING = frozenset(("status", "closed", "created", "type", "date", "source", "url", "id"))  # not asked about


def propose_questions(conn: Connection, changed: Sequence[Fact], has_plans: bool) -> list[str]:
    """Proposals, kinds in turn, best first. `changed`: facts that replaced others."""
    newest = recent.list_newest_episodes(conn, MAX_PASSAGES)
    known_facts = facts.by_id(conn, list(dict.fromkeys(row[0] for row in relations.of_episodes(conn, newest))))
    is_open = has_plans or any((fact.predicate, fact.objects[-1]) == ("status", "open") for fact in known_facts)
    kinds = [
        _ask_about_facts(changed),
        iter([OPEN] if is_open else []),
        _ask_about_facts([fact for fact in known_facts if attribute_of(fact.predicate or "")]),
        _ask_about_names(recent.count_mentioned(conn, newest, MAX_NAMES)),
    ]
    return list(dict.fromkeys(filter(None, chain.from_iterable(zip_longest(*kinds)))))


def _ask_about_facts(candidates: Sequence[Fact]) -> Iterator[str]:
    for fact in candidates:
        subject, value = fact.objects[0] if fact.objects else "", fact.objects[-1] if fact.objects else ""
        key = fact.predicate or ""
        fits = len(subject) <= MAX_NAME_CHARS and len(value) <= MAX_VALUE_CHARS and fact.superseded_by is None
        if fits and fact.modality == "asserted" and (question := _ask_for(subject, key, value)):
            yield question


def _ask_for(subject: str, predicate: str, value: str) -> str:
    """A question for the value of a relation; "" if none sounds natural."""
    if not _WORD.fullmatch(predicate) or predicate in _FILING:
        return ""
    if subject.casefold() == "you" or not subject:
        return ""
    if _PLACE.fullmatch(predicate):
        return f"Where does {subject} {_find_base(predicate)}?"
    if _DATE.fullmatch(value):
        ended = predicate.endswith("ed") or predicate in ("born", "built", "bought", "sold", "begun")
        return f"When was {subject} {predicate}?" if ended else f"When is {subject}'s {predicate}?"
    return f"What is {subject}'s {predicate}?" if not predicate.endswith((" in", " at", " to", " by", "ed")) else ""


def _find_base(predicate: str) -> str:
    """`lives in` -> `live`."""
    verb = predicate.partition(" ")[0]
    return {"moved": "live"}.get(verb, verb.removesuffix("s"))


def _ask_about_names(named: Sequence[tuple[str, str]]) -> Iterator[str]:
    for label, _ in named:
        if len(label) <= MAX_NAME_CHARS and " " in label.strip():
            yield f"What do you know about {label}?"
