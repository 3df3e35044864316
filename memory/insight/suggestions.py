"""Questions worth asking of this memory: made from what changed lately, what is planned, and what is much spoken of.

They are only proposals: whoever shows one asks it first, for a question without an answer is worse than none.
"""

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
_FILING = frozenset(("status", "closed", "created", "type", "date", "source", "url", "id"))  # that nobody asks for


def propose_questions(conn: Connection, changed: Sequence[Fact], has_plans: bool) -> list[str]:
    """Proposals, those of each kind in turn, the best of it first. `changed`: facts that took the place of others."""
    newest = recent.list_newest_episodes(conn, MAX_PASSAGES)
    told = facts.by_id(conn, list(dict.fromkeys(row[0] for row in relations.of_episodes(conn, newest))))
    is_open = has_plans or any((one.predicate, one.objects[-1]) == ("status", "open") for one in told)
    kinds = [
        _about_facts(changed),
        iter([OPEN] if is_open else []),
        _about_facts([one for one in told if attribute_of(one.predicate or "")]),
        _about_names(recent.count_mentioned(conn, newest, MAX_NAMES)),
    ]
    return list(dict.fromkeys(one for one in chain.from_iterable(zip_longest(*kinds)) if one))


def _about_facts(found: Sequence[Fact]) -> Iterator[str]:
    for one in found:
        subject, value = one.objects[0] if one.objects else "", one.objects[-1] if one.objects else ""
        key = one.predicate or ""
        fits = len(subject) <= MAX_NAME_CHARS and len(value) <= MAX_VALUE_CHARS and one.superseded_by is None
        if fits and one.modality == "asserted" and (question := _ask_for(subject, key, value)):
            yield question


def _ask_for(subject: str, predicate: str, value: str) -> str:
    """A question for the value of a relation; "" where no plain one can be made."""
    if not _WORD.fullmatch(predicate) or predicate in _FILING:
        return ""
    if subject.casefold() == "you" or not subject:
        return ""
    if _PLACE.fullmatch(predicate):
        return f"Where does {subject} {_base(predicate)}?"
    if _DATE.fullmatch(value):
        ended = predicate.endswith("ed") or predicate in ("born", "built", "bought", "sold", "begun")
        return f"When was {subject} {predicate}?" if ended else f"When is {subject}'s {predicate}?"
    return f"What is {subject}'s {predicate}?" if not predicate.endswith((" in", " at", " to", " by", "ed")) else ""


def _base(predicate: str) -> str:
    """`lives in` -> `live`."""
    verb = predicate.partition(" ")[0]
    return {"moved": "live"}.get(verb, verb.removesuffix("s"))


def _about_names(named: Sequence[tuple[str, str]]) -> Iterator[str]:
    for label, _ in named:
        if len(label) <= MAX_NAME_CHARS and " " in label.strip():
            yield f"What do you know about {label}?"
