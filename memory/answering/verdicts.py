"""Whether a sentence of a model is proved by the passages that it cites. Pure and quick: no model, no database.

A clause of it is *proved* where all its values (`memory/text/clauses.py`) and half of its words are in one sentence or
row, or in two that follow each other, which have its mood, tense, units and subject; one with nothing but names needs
all its words. It is *contradicted* where the passages have another value of that kind with more of its words, say that
its value ended, deny what it says or the other way round, or count something else with its number. A word that the
passages do not have is not compared with a value: it is the model's own. All else is *unproved*.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Literal, NamedTuple

from memory.text.clauses import MARKS, MONEY, SHARE, Clause, Units, Value, find_measures, find_units, is_over, root
from memory.text.content import content_of, fold, put_digits, undot
from memory.text.languages import ENGLISH, alternatives, guess_language

Verdict = Literal["proved", "unproved", "contradicted"]
Check = Literal["", "rival", "ended", "denied", "counted"]
Window = Sequence[Clause]  # a sentence, or two that follow each other

_ALL = re.compile(rf"\b(?:{alternatives('claims', 'every')})\b", re.IGNORECASE)
_TOKEN = re.compile(r"\w+(?:['’.:-]\w+)*")

YES_OR_NO = re.compile(r"^\W*(?:yes|no|ja|nein)(?:[,.:;]\s+|\W*$)", re.IGNORECASE)


class Finding(NamedTuple):
    """The verdict on a sentence; `what`: the words that are contradicted or not proved; `check`: the check that found
    it."""

    verdict: Verdict
    what: tuple[str, ...] = ()
    check: Check = ""


def judge(claim: str, passages: Sequence[Sequence[Clause]], question: str) -> Finding:
    """Returns the verdict on a sentence that cites these passages (sentences of `read_passage`)."""
    there = [sentence for passage in passages for sentence in passage]
    language = there[0].language if there else ENGLISH
    claim = undot(" ".join(YES_OR_NO.sub("", claim).split())) or f"{question.rstrip('?')}."
    digits = put_digits(claim, language)
    whole = Clause(digits if digits != claim else put_digits(claim, guess_language(claim)), language)
    if len(claim) > 1_000 or any(len(part.values) > 12 for part in whole.clauses):  # too long to compare
        return Finding("unproved")
    known = frozenset[str]().union(*(sentence.roots for sentence in there))
    topics = frozenset[str]().union(*(sentence.head_roots for sentence in there))
    context = {piece: near for passage in passages for piece, near in _neighbours(passage)}
    rivals: list[str] = []
    for part in whole.clauses:
        shared = (part.plain_roots & known) - topics
        evidence = {piece: _evidence(part, piece, shared, near) for piece, near in context.items()}
        for value, is_sure in _find_rivals(part, whole, evidence, shared, context):
            if is_sure:
                return Finding("contradicted", (value.surface,), "rival")
            rivals.append(value.surface)
        if not (part.is_denied or (whole.is_past and not part.ended)) and (ended := _find_ended(part, context)):
            return Finding("contradicted", ended, "ended")
        if _is_denied(part, evidence, shared):
            return Finding("contradicted", (part.text.strip(),), "denied")
        if counted := _find_miscounted(part, there):
            return Finding("contradicted", counted, "counted")
    if rivals:
        return Finding("unproved", tuple(rivals))
    windows: list[Window] = [(sentence,) for sentence in there]
    windows += [pair for passage in passages for pair in pairwise(passage) if pair[1].joins]
    if _is_proved(whole, known, windows):
        return Finding("proved")
    about = [part for part in whole.clauses if part.values or not part.roots.isdisjoint(known)]  # not "as you noted"
    unproved = tuple(part.text.strip() for part in about or [whole] if not _is_proved(part, known, windows))
    return Finding("unproved", unproved) if unproved else Finding("proved")


def _neighbours(passage: Sequence[Clause]) -> Iterator[tuple[Clause, Window]]:
    """Yields each clause of a passage with its sentence and the adjacent ones that continue it."""
    for place, sentence in enumerate(passage):
        before = passage[place - 1 : place] if sentence.joins else ()
        behind = [later for later in passage[place + 1 : place + 2] if later.joins]
        yield from ((piece, (*before, sentence, *behind)) for piece in sentence.clauses)


# Proof ----------------------------------------------------------------------------------------


def _is_proved(part: Clause, known: frozenset[str], windows: Sequence[Window]) -> bool:
    """Whether one of the windows, a sentence or two, proves a clause. One that has nothing but names to compare is
    proved only by all of its words in one sentence."""
    if any(value.kind != "name" for value in part.values):
        wanted = part.plain_roots & known
        return any(_has_half(window, part, wanted) and _proves(window, part) for window in windows)
    return any(part.plain_roots <= window[-1].roots and _proves(window, part) for window in windows)


def _has_half(window: Window, part: Clause, wanted: frozenset[str]) -> bool:
    """Whether the sentences have half of the wanted words that no unit or heading has."""
    wanted -= window[0].head_roots | {root(value.unit, part.language) for value in part.values}
    return 2 * len(wanted & _roots(window)) >= len(wanted)


def _roots(window: Window) -> frozenset[str]:
    return frozenset[str]().union(*(sentence.roots for sentence in window))


def _proves(window: Window, part: Clause) -> bool:
    """Whether the sentences, which have enough words of a clause, have its values and say nothing else of them."""
    last = window[-1]
    if part.roots.isdisjoint(_roots(window) - window[0].head_roots) and not _find_homes(part, window):
        return False  # only what is above it has anything of the clause
    has_other = any(not name.surface.isupper() for name in _other_names(last, part))
    for value in part.values:
        if not any(sentence.holds(value, value.kind != "name" or not has_other) for sentence in window):
            return False
        if any(_has_other_day(sentence, value) for sentence in window) or _is_of_other_clause(value, part, window):
            return False
        if value.kind == "number" and _has_other_measure(value, part, window):
            return False
    clauses = _find_homes(part, [last]) or [clause for clause in last.clauses if clause.roots & part.roots]
    if any(_is_other(part, clause) for clause in clauses) or any(map(part.reverses, last.clauses)):
        return False
    if _says_more(part, window):
        return False
    return not (any(_is_joined(part, sentence.clauses) for sentence in window) or _has_other_roles(part, window))


def _find_homes(part: Clause, window: Window) -> list[Clause]:
    """Returns the clauses of the window that have a value of the part."""
    there = [clause for sentence in window for clause in sentence.clauses]
    return [clause for clause in there if any(clause.holds(value, False) for value in part.values)]


def _is_of_other_clause(value: Value, part: Clause, window: Window) -> bool:
    """Whether the last sentence has another value of that kind and unit, and no clause of it has this one with all the
    words that the part shares with the sentences."""
    last = window[-1]
    others = [other for other in last.values if other.kind == value.kind != "name" and not part.holds(other)]
    if not any(other.unit == value.unit or not (other.unit and value.unit) for other in others):
        return False
    shared = part.roots & _roots(window)
    return not any(clause.holds(value, False) and shared <= clause.roots for clause in last.clauses)


def _is_joined(part: Clause, clauses: Sequence[Clause]) -> bool:
    """Whether a clause joins two statements: "A pays 5, B pays 6" as "B pays 5". Its later values, or without values
    its later words, are in clauses that lack the earlier ones, and begin with something else instead."""
    own, there = _place_tokens(part), [_place_tokens(clause) for clause in clauses]
    values = {root(value.norm, part.language) for value in part.values if value.kind != "name"}
    for later in values or own:
        homes = [places for places in there if later in places]
        for earlier in own:
            if own[earlier] < own.get(later, 0) and not any(earlier in home for home in homes) and homes:
                is_elsewhere = any(earlier in places for places in there)
                if is_elsewhere and all(any(home[word] < home[later] for word in home.keys() - own) for home in homes):
                    return True
    return False


def _place_tokens(clause: Clause) -> dict[str, int]:
    """Returns the roots of its words, its letters and numbers, each with its first place in its text."""
    places: dict[str, int] = {}
    for match in _TOKEN.finditer(clause.text):
        token = root(fold(match[0]), clause.language)
        if token in clause.roots or match[0][0].isdigit() or (len(match[0]) == 1 and match[0].isupper()):
            places.setdefault(token, match.start())
    return places


def _is_other(part: Clause, clause: Clause) -> bool:
    """Whether a clause there supposes, begins with another name, or denies a word or value of the one that it would
    prove, or the other way round. What is nothing but values has the subject of its question."""
    if clause.is_supposed > part.is_supposed:
        return True
    if clause.is_denied != part.is_denied:
        denying, other = (clause, part) if clause.is_denied else (part, clause)
        if any(_shares(denied, other) for denied in denying.ended):
            return True
    opening = clause.text.lstrip(MARKS)
    return bool(part.plain_roots) and any(opening.startswith(name.surface) for name in _other_names(clause, part))


def _shares(part: Clause, other: Clause) -> bool:
    """Whether two clauses have a word or a value in common."""
    return not part.roots.isdisjoint(other.roots) or any(other.holds(value, False) for value in part.values)


def _has_other_day(sentence: Clause, value: Value) -> bool:
    """Whether a day is only that of the note, and the sentence names another."""
    if not sentence.at or value.norm != sentence.at.date().isoformat() or sentence.holds(value, False):
        return False
    return any(other.kind in ("date", "day") for other in sentence.values)


def _has_other_measure(value: Value, part: Clause, window: Window) -> bool:
    """Whether a number has other units in the passage. One that only the clause has at the number must be among those
    of the passage, except a currency where there is no other."""
    theirs = [measure for sentence in window for measure in find_measures(sentence.text) if measure[0] == value.norm]
    text = "\n".join([window[0].head, *(sentence.text for sentence in window)])
    units, alone = find_units(text), find_units(text, is_alone=True)

    def is_same(unit: Units, per: Units, other: Units, other_per: Units) -> bool:
        if not unit:
            is_unit = other != SHARE
        elif other:
            is_unit = bool(unit & other) and (other <= unit or bool(unit & MONEY))
        else:
            is_unit = bool(unit & units) or (bool(unit & MONEY) and not units & MONEY)
        is_free = not other_per and not find_units(" ".join(per))  # by nothing, or by something without a unit
        return is_unit and (not per or is_free or bool(per & (other_per or alone)))

    mine = (units for norm, *units in find_measures(part.text) if norm == value.norm)
    return bool(theirs) and not all(any(is_same(*own, *other) for _, *other in theirs) for own in mine)


def _says_more(part: Clause, window: Window) -> bool:
    """Whether a clause says "all" of what the passage does not, or says that something is done where the passage has
    only what is and will be. A day before that of the note is past anyhow."""
    if _ALL.search(part.text) and not any(_ALL.search(sentence.text) for sentence in window):
        return True
    if not part.is_done or part.is_denied or any(sentence.is_past for sentence in window):
        return False
    days = [value.norm for value in part.values if value.kind == "date"]
    written = window[0].at.date() if window[0].at else None
    is_to_come = bool(days and written) or any(sentence.is_present for sentence in window)
    return is_to_come and not any(map(partial(is_over, at=written), days))


def _other_names(sentence: Clause, part: Clause) -> list[Value]:
    names = [value for value in sentence.values if value.kind == "name" and not part.speaks_of(value)]
    return [name for name in names if not content_of(sentence.head).names(name.norm)]


def _has_other_roles(part: Clause, window: Window) -> bool:
    """Whether the role of a value in the clause belongs to another value there: to a name of the clause, or to any
    other value of that kind."""
    there = [role for sentence in window for role in sentence.roles]
    return any(
        role
        and role not in [other for near, other in there if value.is_same(near)]
        and any(
            role == other and near.kind == value.kind and not value.is_same(near)
            for near, other in there if value.kind != "name" or part.holds(near)
        )
        for value, role in part.roles
    )  # fmt: skip


# Contradiction --------------------------------------------------------------------------------


def _evidence(part: Clause, clause: Clause, shared: Collection[str], near: Window) -> set[object]:
    """Returns which of these words and of the values of `part` are in a clause; unless it names another person, also
    the names of the sentences near it and of its topic."""
    names = [value for value in clause.values if value.kind == "name"]
    is_about = all(part.speaks_of(name) or content_of(clause.head).names(name.norm) for name in names)
    values = {
        value
        for value in part.values
        if clause.holds(value, False) or (is_about and value.kind == "name" and any(line.holds(value) for line in near))
    }
    return {*clause.roots.intersection(shared), *values}


def _find_rivals(
    part: Clause,
    whole: Clause,
    evidence: Mapping[Clause, set[object]],
    shared: Collection[str],
    context: Mapping[Clause, Window],
) -> Iterator[tuple[Value, bool]]:
    """Yields the values of a clause for which the passages have another of that kind that the sentence lacks, with more
    of the clause's words and values around it, or with everything around the value; and whether that is sure: the other
    one has more and everything around the value or, if the value is nowhere, everything in the clause."""
    for value in part.values:
        homes = [clause for clause in evidence if clause.holds(value)]
        if (value.kind == "name" and not homes) or any(ended.holds(value) for ended in part.ended):
            continue
        best = max((evidence[clause] - {value} for clause in homes), key=len, default=set())
        most = len(best) if homes else 1
        around = {sentence for home in homes for sentence in context[home]}
        near: set[object] = set() if homes else {*shared, *part.values}
        for sentence in around:
            near |= _evidence(part, sentence, shared, ())
        near.discard(value)
        is_found = is_sure = False
        for clause, matched in evidence.items():
            has_more = len(matched) > most
            has_all = bool(best) and value.kind != "name" and best <= matched
            if not (has_more or has_all) or clause.holds(value):
                continue
            is_next_row = clause.is_row and bool(homes)
            for other in clause.values:
                if other.kind != value.kind or whole.speaks_of(other) or clause.is_heading_word(other):
                    continue
                if not has_more:
                    is_found |= other.unit == value.unit and not any(ended.holds(other) for ended in clause.ended)
                    continue
                is_alike = value.kind != "number" or is_next_row or other.unit == value.unit != ""
                is_found = is_found or is_alike or not (other.unit and value.unit)
                is_sure = is_sure or (is_alike and near <= matched and (is_next_row or len(matched) > 1))
        if is_found:
            yield value, is_sure


def _find_ended(part: Clause, pieces: Collection[Clause]) -> tuple[str, ...]:
    """Returns a value that the passage calls outdated wherever it occurs, and the clause does not."""
    for value in part.values:
        homes = [piece for piece in pieces if piece.holds(value, False)]
        is_told = any(ended.holds(value) for ended in part.ended)
        if homes and not is_told and all(any(ended.holds(value) for ended in home.ended) for home in homes):
            return (value.surface,)
    return ()


def _is_denied(part: Clause, evidence: Mapping[Clause, set[object]], shared: Collection[str]) -> bool:
    """Whether all clauses that have most of its words deny some of them, and it does not; or the reverse."""
    most = max(map(len, evidence.values()), default=0)
    if most < max(2, 0.7 * (len(shared) + len(part.values))):  # too few of its words and values
        return False
    best = [clause for clause, near in evidence.items() if len(near) == most]
    own = frozenset[str]().union(*(clause.roots for clause in part.ended))
    if part.is_denied:
        return bool(own) and all(not clause.is_denied and not clause.ended and own & clause.roots for clause in best)
    wanted = frozenset(shared) - own
    return all(clause.is_denied and any(wanted & ended.roots for ended in clause.ended) for clause in best)


def _find_miscounted(part: Clause, there: Sequence[Clause]) -> tuple[str, ...]:
    """Returns a number that counts something else in its sentence: "12 sailors and 3 pupils"."""
    for value in part.values:
        if value.kind == "number" and value.unit:
            unit = root(value.unit, part.language)
            counts = {
                other.norm
                for sentence in there if sentence.holds(value)
                for other in sentence.values if other.kind == "number" and root(other.unit, part.language) == unit
            }  # fmt: skip
            homes = [other.unit for sentence in there for other in sentence.values if other.is_same(value)]
            if counts and value.norm not in counts and all(homes):
                return (value.surface,)
    return ()
