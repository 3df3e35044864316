"""Selection: the lines of an answer: the best, those that connect it with the question, and the next best; for a
question about a name a briefing, for what somebody wrote their lines; and an answer as lines with their citations.
Every line is in the memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import chain, count, takewhile

from memory.answering.briefing import write_briefing
from memory.answering.candidates import AnswerCandidate, covered_by, show_day, stems
from memory.answering.chains import ShownChain
from memory.answering.confidence import MAX_CANDIDATES, check_kind
from memory.answering.facts import asks_past
from memory.answering.features import AnswerState, QueryFeatures
from memory.events import NOT_PLAIN, NOTHING_READ
from memory.facts.rules.phrases import clean
from memory.nouns import Answer, Citation, Source, Step, Token
from memory.retrieval.state import QuestionState
from memory.settings import AnswerSettings
from memory.text.clauses import Clause
from memory.text.languages import stem, stop_words
from memory.text.mentions import is_date, mentions, norm
from memory.text.predicates import refines
from memory.text.words import document_of, strip_accents
from memory.time.expressions import TimeExpression, is_relative_to_day
from memory.time.timestamps import from_wall, to_wall

NOT_FOUND = "Your memory does not say."
NOT_FOUND_THERE = "That part of your memory does not say."
CLOSEST = "Closest:"
ONE_THING = ("fact", "yes_no", "when_changed", "count")  # types of questions
FEW = 3  # facts that may answer; lines that are shown if none of them is clearly the answer; the closest lines
TIMES = re.compile(r" \((?:planned|as of|since|until|written) [^()]*\)$")

Line = tuple[str, tuple[Citation, ...]]  # of an answer: its text without numbers, and its citations


def is_all_asked(question: QuestionState, line: AnswerCandidate) -> bool:
    """Whether a question asks for anything its writer wrote, with no other topic, and they wrote the line."""
    named = set(_fold_name(question.writer).split())
    topic = {part for term in question.topic for part in _fold_name(term).split()}
    return bool(named) and topic <= named <= _find_writer(line)


def select_written(state: AnswerState, candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Returns the candidates of the question's writer and time, if any. A line of another time stays if it names a day
    of the question's time, or if it covers more of the question than every line of that time; none if the question asks
    for all that somebody wrote at that time."""
    kept = list(candidates)
    if writer := set(_fold_name(state.question.writer).split()):
        own = [line for line in kept if line.place.kind in ("text", "row") and writer <= _find_writer(line)]
        kept = own or kept
    when = state.question.when
    if when is None or when.kind != "range" or when.since is None or when.until is None:
        return kept
    inside = [line for line in kept if _is_inside(line, when) is not False]
    if any(is_all_asked(state.question, line) for line in kept):
        return inside
    most = max((line.features.line_coverage for line in kept), default=0.0)
    return inside if any(line.features.line_coverage >= most for line in inside) else kept


def _fold_name(name: str) -> str:
    return strip_accents(norm(name))


def _find_writer(candidate: AnswerCandidate) -> set[str]:
    turn = candidate.episode.turn_at(candidate.start)
    name = (turn.speaker if turn else "") or candidate.place.speaker or candidate.episode.speaker or ""
    return set(_fold_name(name).split())


def _is_inside(candidate: AnswerCandidate, when: TimeExpression) -> bool | None:
    """Whether a line belongs to a time, by its writing or the days that it names; None if both are unknown."""
    episode, turn = candidate.episode, candidate.episode.turn_at(candidate.start)
    written = (turn.at if turn else None) or (None if episode.is_stamped else episode.at)
    days = [name.norm for name in mentions(candidate.quote) if is_date(name.norm) and name.norm.count("-") == 2]
    if any(_covers(when, date.fromisoformat(day)) for day in days if day[0] != "-"):
        return True
    return None if written is None else _covers(when, written)


def _covers(when: TimeExpression, moment: date) -> bool:
    assert when.since is not None and when.until is not None
    if isinstance(moment, datetime):
        return when.since <= moment < when.until
    return when.since.date() <= moment < when.until.date()


def lead_with_kind(lines: Sequence[AnswerCandidate], features: QueryFeatures) -> list[AnswerCandidate]:
    """Moves the best line with the kind of thing that the question asks for before a first line without it, if it is
    nearly as good: "The area is 12 hectares" before "The area of the new basin"."""
    best = lines[:MAX_CANDIDATES]
    if best and check_kind(best[0], features) == 0:
        near = (line for line in best if line.score >= best[0].score - 2.0)
        if leader := next((line for line in near if check_kind(line, features) == 1), None):
            return [leader, *(line for line in lines if line is not leader)]
    return [*lines]


def select_best(
    candidates: Sequence[AnswerCandidate], joined: Sequence[AnswerCandidate], settings: AnswerSettings
) -> list[AnswerCandidate]:
    """Returns at most `settings.lines` candidates without repeats: the best, those that connect it with the question
    (`joined`), and the next best; former values follow their newer one."""
    floor = candidates[0].score - settings.line_margin
    near = (
        line
        for line in candidates[1:]
        if line.features.relevance >= 0.4 and line.features.late >= 0.1  # of a line after the best one
    )
    others = [line for line in near if line not in joined and line.score >= floor]
    selected: list[AnswerCandidate] = []
    for line in [candidates[0], *joined, *others]:
        if len(selected) == settings.lines:
            break
        if (addition := _cut_to_addition(line, selected, floor + settings.line_margin / 2)) is not None:
            selected.append(addition)
    return _sort_values(selected)


def _cut_to_addition(
    line: AnswerCandidate, selected: Sequence[AnswerCandidate], least: float
) -> AnswerCandidate | None:
    """Returns the line, or its sentence alone if it shares a unit with a selected line; None if it adds nothing or is
    below `least`."""
    if any(line.words == other.words for other in selected):
        return None
    overlapping = [other for other in selected if line.overlaps(other)]
    if any(line.source.text in other.shown for other in overlapping):
        return None
    if line.is_statement or not overlapping:
        return line
    sentence = line.cut_to_sentence()
    return None if line.score < least or any(sentence.overlaps(other) for other in overlapping) else sentence


def _sort_values(lines: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Moves lines with former values after the line with the newest value; otherwise keeps the order."""
    ordered: list[AnswerCandidate] = []
    while lines:
        first = lines[0]
        group = [line for line in lines if line is first or line.newer == first.thesis_id or _restates(line, first)]
        lines = [line for line in lines if line not in group]
        group.sort(key=lambda line: (line.newer is not None, line.by_agent, -line.newness, -line.score, line.shown))
        ordered.append(group[0])
        for line in group[1:]:  # a line without a date may not be earlier
            ordered.append(replace(line, earlier=line.newness > 0 and line.by_agent <= group[0].by_agent))
    return ordered


def _restates(line: AnswerCandidate, first: AnswerCandidate) -> bool:
    """Whether it gives another value of the same thing, and covers all words of the question that the first does."""
    return first.features.covered <= line.features.covered and same_statement(line, first)


def select_by_type(
    state: AnswerState, candidates: Sequence[AnswerCandidate], usual: Sequence[AnswerCandidate]
) -> list[AnswerCandidate]:
    """Returns the lines to show, in order: a briefing, or the usual lines, with their dates for a question about times;
    for a course of events by time, with their other values. `candidates`: all, best first. Empty if no candidate
    contains a word of the unknown name of a requested briefing (in German it may be any noun)."""
    asked = state.question.type
    if asked.kind == "about":
        briefing = write_briefing(state, asked.subjects[0], candidates)
        return briefing or (list(usual) if any(line.features.covered for line in candidates) else [])
    if asked.in_order:
        values = [candidate for candidate in candidates if any(same_statement(candidate, line) for line in usual)]
        course = list({line.shown: replace(line, earlier=False) for line in (*usual, *values)}.values())[:12]
        usual = sorted(course, key=lambda line: (not line.also, line.newness))
    return [add_date(line) for line in usual] if asked.in_order or asked.kind == "when_changed" else list(usual)


def add_date(line: AnswerCandidate) -> AnswerCandidate:
    """Adds the day on which the line was written. A fact has its dates already; if its sentence names another day, the
    sentence is quoted."""
    at = line.episode.at
    quote = " ".join(line.quote.split())
    days = _list_days(quote)
    if line.is_statement:
        known = _list_days(line.shown)
        is_new = any(not any(other.endswith(day) for other in known) for day in days)
        return replace(line, shown=f'{line.shown}: "{quote}"') if is_new and not line.also else line
    if at is None or any(day.count("-") == 2 and day[0].isdigit() for day in days):
        return line
    return replace(line, shown=f"{line.shown} (written {show_day(to_wall(at), line.episode)})")


def date_relative(line: AnswerCandidate, today: date) -> AnswerCandidate:
    """Adds the day on which the line was written, if it says "today" or "last week" of another day."""
    at = line.episode.at
    if at is None or at.date() == today or TIMES.search(line.shown) or not is_relative_to_day(line.shown):
        return line
    day = show_day(to_wall(at), line.episode)
    return line if day in line.shown else replace(line, shown=f"{line.shown} (written {day})")


def _list_days(text: str) -> set[str]:
    """Returns the days and months that a text names; "-09-05" without a year."""
    return {name.norm for name in mentions(text) if is_date(name.norm) and name.norm.count("-") > 1}


def same_statement(a: AnswerCandidate, b: AnswerCandidate) -> bool:
    """Whether two lines of different times state the same thing with other values of the same kind: they share most of
    their other words, two at least, apart from the speaker's name. A name at the beginning of a line is its subject:
    "Flights cost 210" is no earlier value of "The press costs 400". Two fields state the same if their keys are equal,
    in one note or in versions of one note, and neither value adds detail to the other."""
    if a.newness == b.newness or not _are_same_kind(a.values - b.values, b.values - a.values):
        return False
    (key, value), (other_key, other) = _split_field(a), _split_field(b)
    if key and other_key:
        return key == other_key and not refines(value, other) and _is_same_note(a.episode.source, b.episode.source)
    if _has_other_subject(a, b) or _has_other_subject(b, a):
        return False
    left, right = a.words - _stem_values(a.values), b.words - _stem_values(b.values)
    shared = left & right
    topic = shared.difference(stems(a.episode.speaker or ""), stems(b.episode.speaker or ""))
    return bool(topic) and len(shared) >= 2 and len(shared) / len(left | right) >= 0.5


def contradicts(line: AnswerCandidate, first: AnswerCandidate, state: AnswerState) -> bool:
    """Whether a line has another value for the first line's statement, and neither is known to be outdated. It has
    another value of the same field and covers as much of the question, or only their values differ, or it has the words
    of the question that the first one has and another number of the same unit ("75 mcg" and "raised to 88 mcg")."""
    if all(": " in candidate.source.text for candidate in (line, first)):
        (key, value), (other_key, other) = _split_field(line), _split_field(first)
        if key and key == other_key:
            covers = line.features.line_coverage >= first.features.line_coverage
            return covers and not refines(value, other) and not refines(other, value)
    left, right = (candidate.words - _stem_values(candidate.values) for candidate in (line, first))
    if left == right:
        return _are_same_kind(line.values - first.values, first.values - line.values)
    asked = first.words.intersection(state.features.stems)
    if not asked or not asked <= line.words:
        return False
    others, numbers = (_read_amounts(name, state.question.language) for name in (line, first))
    return any(numbers[unit].isdisjoint(others[unit]) for unit in numbers.keys() & others.keys())


def _read_amounts(line: AnswerCandidate, language: str) -> dict[str, set[str]]:
    """Returns the numbers of a line by what they count."""
    amounts: dict[str, set[str]] = {}
    for value in Clause(line.shown, language).values:
        if value.kind == "number" and value.unit:
            amounts.setdefault(value.unit, set()).add(value.norm)
    return amounts


def _split_field(line: AnswerCandidate) -> tuple[str, str]:
    """Returns the key in lower case and the value of a field; the key is "" if it is a speaker's name."""
    before, _, value = line.source.text.rpartition(": ")
    key = clean(re.split(r": |[.;]\s|\s[–—-]\s", before)[-1]).casefold()
    return ("" if key == (line.episode.speaker or "").casefold() else key), value


def _is_same_note(a: Source, b: Source) -> bool:
    """Whether two sources are one, or versions of one note: they have one title, and the name of one begins that of the
    other."""
    short, long = sorted((document_of(source.uri.casefold())[0] for source in (a, b)), key=len)
    is_begun = long.startswith(short) and "/" not in long[len(short) :]
    return a.id == b.id or (a.title.casefold() == b.title.casefold() and is_begun)


def _has_other_subject(line: AnswerCandidate, other: AnswerCandidate) -> bool:
    """Whether a line begins with a name that the other does not contain."""
    first, names = next(iter(stems(line.shown)), ""), [value for value in line.values if not value[0].isdigit()]
    return first not in other.words and first in _stem_values(frozenset(names))


def _are_same_kind(values: frozenset[str], others: frozenset[str]) -> bool:
    """Whether both contain a number, or both a name."""
    return bool({value[0].isdigit() for value in values} & {value[0].isdigit() for value in others})


def _stem_values(values: frozenset[str]) -> frozenset[str]:
    return frozenset(word for value in values for word in stems(value))


@dataclass(frozen=True, slots=True)
class ExtractiveAnswer:
    """An answer with its lines, none if it is a refusal. `candidates`: those that it shows, then the others, the best
    first; `chains`: the ways that lead to them. A digest uses its candidates only."""

    answer: Answer
    lines: tuple[Line, ...]
    step: Step
    candidates: tuple[AnswerCandidate, ...] = ()
    is_digest: bool = False
    chains: tuple[ShownChain, ...] = ()


def make_answer(lines: Sequence[Line], confidence: float) -> Answer:
    """An answer of these lines, numbered, with their citations."""
    events = list(stream_lines(lines))
    text = "".join(event.text for event in events if isinstance(event, Token)).rstrip()
    citations = tuple(event for event in events if isinstance(event, Citation))
    return Answer(text, citations, confidence=confidence)


def stream_lines(lines: Iterable[Line], behind: int = 0) -> Iterator[Token | Citation]:
    """Each line with its numbers, which start after the offset, after its citations."""
    for text, cited in lines:
        numbered = [replace(citation, n=citation.n + behind) for citation in cited]
        yield from numbered
        yield Token(" ".join([text, *(f"[{citation.n}]" for citation in numbered)]) + "\n")


def cite_lines(selected: Sequence[AnswerCandidate]) -> tuple[Line, ...]:
    """Returns a numbered line for each candidate."""
    n = count(1)
    marks = ("earlier: " if line.earlier else "" for line in selected)
    cited = (tuple(proof.citation(next(n)) for proof in (line, *line.also)) for line in selected)
    return tuple((f"- {mark}{line.shown}", of_line) for mark, line, of_line in zip(marks, selected, cited, strict=True))


def refuse(
    state: AnswerState, candidates: Sequence[AnswerCandidate], absent: Sequence[str], settings: AnswerSettings
) -> Answer:
    """Returns a refusal with what is unknown, and the closest lines. Only `absent` names are reported as unknown; a
    term is missing only if no passage that was read contains it."""
    result = state.result
    if not result.n_allowed or result.is_of_empty_time:
        nothing = "No note is about that time." if result.n_allowed else "No note is within these limits."
        return Answer(nothing if result.graph.n_alive else NOTHING_READ, no_answer=True)
    covered, language = covered_by(state.read_found()), result.question.language
    candidates = candidates or select_written(state, state.read_found())
    when = result.question.when.words.lower() if result.question.when else ""  # the time was understood
    terms = (term for term in result.question.terms if term not in stop_words(language) and term not in when)
    unread = (term for term in terms if stem(term, language) not in covered)
    missing = (tuple(absent) or tuple(unread))[:5]  # a text that was pasted has hundreds
    numbered = (stems(name, language) for name in absent if any(map(str.isdigit, name)))
    label = set(filter(str.isalpha, chain.from_iterable(numbered)))  # other boxes are close to "box 999"
    near = [line for line in candidates if line.features.line_coverage >= 0.2 and (not absent or label & line.words)]
    near = select_best(near, (), replace(settings, lines=FEW)) if near else []
    within = result.n_allowed < result.graph.n_alive
    refusal = NOT_FOUND_THERE if within else NOT_PLAIN if near else NOT_FOUND
    if absent:
        names = " and ".join(absent)
        refusal = f"There is nothing in your memory about {names}."
        if within:
            refusal = f"There is nothing about {names} in that part of your memory."
    closest = make_answer(cite_lines(near), 0.0)
    text = f"{refusal} {CLOSEST}\n{closest.text}" if near else refusal
    return Answer(text, closest.citations, no_answer=True, missing=missing)


def describe_age(state: AnswerState, lines: Sequence[AnswerCandidate]) -> str:
    """Describes the age of an answer about the present, if its newest line is over a year old or has no date."""
    question = state.question
    if question.when or question.type.kind not in ONE_THING or asks_past(question) or lines[0].place.kind == "event":
        return ""
    newest = max(line.newness for line in lines)
    shown = [line for line in lines if not (line.earlier or line.folded)]
    if not newest:
        is_dated = any(map(is_date, chain.from_iterable(line.values for line in shown)))
        none_dated = "None of these lines has a date, so which one is the newest is not known."
        return none_dated if len(shown) > 1 and not is_dated else ""
    is_then = question.as_of is not None and question.today < date.today()
    today = date.today() if question.as_of and not is_then else question.today  # nothing is from days to come
    months = (today - from_wall(newest).date()).days * 12 // 365
    if months <= 12:
        return ""
    age = f"{months} months" if months < 24 else f"{months // 12} years"
    n = 1 + sum(1 + len(line.also) for line in takewhile(lambda line: line.newness < newest, lines))
    line = f"[{n}]" if len(shown) == 1 else f"The newest line, [{n}],"
    return f"{line} was written {age} {'before that day' if is_then else 'ago'}."
