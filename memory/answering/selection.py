"""Selection: the lines that an answer shows, by the type of its question: one for a fact, one of each side for a
comparison, one of each day for a list; and with the best line those that connect it with the question.

Nothing is counted or inferred here except the day that "yesterday" means: every line is in the memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import PurePosixPath

from memory.answering.briefing import write_briefing
from memory.answering.candidates import AnswerCandidate, show_day, stems
from memory.answering.features import AnswerState
from memory.facts.rules import phrases
from memory.nouns import Episode
from memory.retrieval.question_type import course_words, is_name
from memory.retrieval.state import QuestionState
from memory.settings import AnswerSettings
from memory.text.languages import alternatives
from memory.text.mentions import is_date, mentions
from memory.text.predicates import same_value
from memory.time.expressions import resolve_time
from memory.time.timestamps import to_wall

MAX_LISTED = 12  # lines of a list
LEAST_LIST_ITEMS, MAX_LIST_ITEMS = 2, 30  # of a note's own list
DUPLICATE_OVERLAP = 0.7  # share of words in common from which two lines of a list are duplicates
LEAST_RELEVANCE, LEAST_LATE = 0.4, 0.1  # of a line after the best one
LIST_EXTRA_MARGIN = 1.0  # added to the margin below the best line, for lines of a list
LEAST_TOPIC_SHARE = 0.6  # of the topic that a line and its title cover, to be part of a course of events
_LIST = re.compile(r"(?:^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S.*(?:\n|\Z))+", re.MULTILINE)  # its items, a row each
_FULL = re.compile(r"\d{4}-\d\d-\d\d")
SAME_STATEMENT_OVERLAP = 0.5  # share of words in common, without values
_BEFORE_KEY = re.compile(r": |[.;]\s|\s[–—-]\s")
_RELATIVE = re.compile(rf"\b(?:{alternatives('time', 'relative_day')})\b", re.IGNORECASE)


def select_best(
    candidates: Sequence[AnswerCandidate], joined: Sequence[AnswerCandidate], settings: AnswerSettings
) -> list[AnswerCandidate]:
    """At most `settings.lines` candidates without repeats: the best, those that connect it with the question
    (`joined`), and the next best; former values follow their newer one."""
    floor = candidates[0].score - settings.line_margin
    near = (
        line
        for line in candidates[1:]
        if line.features.relevance >= LEAST_RELEVANCE and line.features.late >= LEAST_LATE
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
    """The line, or its sentence alone if it shares a unit with a selected line; None if it adds nothing or is below
    `least`."""
    if any(line.words == other.words or _adds_nothing(line, other) for other in selected):
        return None
    overlapping = [other for other in selected if line.overlaps(other)]
    if any(line.source.text in other.shown for other in overlapping):
        return None
    if line.is_statement or not overlapping:
        return line
    sentence = line.cut_to_sentence()
    return None if line.score < least or any(sentence.overlaps(other) for other in overlapping) else sentence


def _sort_values(lines: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """The lines in their order, except that lines with former values follow the line with the newest value."""
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


def _adds_nothing(line: AnswerCandidate, better: AnswerCandidate) -> bool:
    """Whether a better line of the same passage has all its values."""
    return line.episode.id == better.episode.id and line.values <= better.values and line.newer is None


def select_by_type(
    state: AnswerState,
    candidates: Sequence[AnswerCandidate],
    usual: Sequence[AnswerCandidate],
    settings: AnswerSettings,
) -> list[AnswerCandidate]:
    """The lines to show, in order. `candidates`: all, the best first; `usual`: the lines for one fact, or for an
    unknown name (in German it may be any noun). Empty if no candidate contains a word of such a name."""
    question, asked = state.question, state.question.type
    selected: Sequence[AnswerCandidate]
    match asked.kind:
        case "about":
            briefing = write_briefing(state, asked.subjects[0], candidates)
            return briefing or (list(usual) if any(line.features.covered for line in candidates) else [])
        case "compare":
            selected = _select_sides(candidates, usual, asked.subjects, settings.lines)
        case "when_changed":
            selected = [add_date(line) for line in _add_former(candidates, usual, settings.lines)]
        case "list" if asked.in_order:
            selected = _select_course(state, candidates, usual)
        case "list" | "count":
            listed = _select_several(state, candidates, usual, settings)
            selected = [add_date(line) for line in listed] if asked.in_order else listed
        case _:
            selected = usual
    return [_add_title(line, question) for line in selected]


def _add_title(line: AnswerCandidate, question: QuestionState) -> AnswerCandidate:
    """The line after its passage's title, if that is the name of its topic: "Boss since July" needs it. Not if the line
    or the question contains a word of it, or the line is a fact in generated words."""
    title = line.episode.title
    name = frozenset(stems(title, question.language))
    named = name & {*line.words, *stems(line.shown, question.language), *stems(question.text, question.language)}
    if named or len(name) < 2 or not is_name(title) or line.is_statement:
        return line
    return replace(line, shown=f"{title}: {line.shown}")


def add_date(line: AnswerCandidate) -> AnswerCandidate:
    """The line with the day on which it was written, and the day that "yesterday" means in it. A fact has its dates
    already; if its sentence names another day, the sentence is quoted."""
    at = line.episode.at
    quote = " ".join(line.quote.split())
    days = _list_days(quote)
    if line.is_statement:
        known = _list_days(line.shown)
        is_new = any(not any(other.endswith(day) for other in known) for day in days)
        return replace(line, shown=f'{line.shown}: "{quote}"') if is_new and not line.also else line
    if at is None or any(day.count("-") == 2 and day[0].isdigit() for day in days):
        return line
    written = f"written {show_day(to_wall(at), line.episode)}"
    relative = _RELATIVE.search(quote)
    when = resolve_time(relative[0], at) if relative else None
    if relative and when and when.since and when.until and when.until - when.since == timedelta(days=1):
        written = f"{relative[0]}: {when.since.date().isoformat()}, {written}"
    return replace(line, shown=f"{line.shown} ({written})")


def _list_days(text: str) -> set[str]:
    """The days and months that a text names; "-09-05" without a year."""
    return {name.norm for name in mentions(text) if is_date(name.norm) and name.norm.count("-") > 1}


def _add_former(lines: Sequence[AnswerCandidate], usual: Sequence[AnswerCandidate], most: int) -> list[AnswerCandidate]:
    """The usual lines; after the first one the line with its former value."""
    shown = {line.thesis_id for line in usual}
    former = [line for line in lines if line.newer == usual[0].thesis_id and line.thesis_id not in shown]
    return [usual[0], *(replace(line, earlier=True) for line in former[:1]), *usual[1:]][:most]


def _select_sides(
    lines: Sequence[AnswerCandidate], usual: Sequence[AnswerCandidate], names: Sequence[str], most: int
) -> list[AnswerCandidate]:
    """The best line of each side of a comparison, then the usual lines."""
    sides = [frozenset(stems(name)) for name in names]
    best_of: dict[int, AnswerCandidate] = {}
    for side in sides:
        others = [other for other in sides if other != side]
        about = [line for line in lines if _is_about(line, side) and line.thesis_id not in best_of]
        alone = (line for line in about if not any(other <= line.words for other in others))
        if (best := next(alone, None) or next(iter(about), None)) is not None:
            best_of[best.thesis_id] = best
    rest = [line for line in usual if line.thesis_id not in best_of]
    return [*best_of.values(), *rest][: max(most, len(best_of))]


def _is_about(line: AnswerCandidate, name: frozenset[str]) -> bool:
    """Whether a line or its title contains a name (stems)."""
    return bool(name) and name <= {*line.words, *stems(line.shown), *stems(line.episode.title)}


def _select_several(
    state: AnswerState, lines: Sequence[AnswerCandidate], usual: Sequence[AnswerCandidate], settings: AnswerSettings
) -> list[AnswerCandidate]:
    """The items of the best line's list, or the usual lines and the best line on the topic of each other passage."""
    topic, language = _find_topic(state), state.question.language
    if items := _list_items(lines, usual[0], topic, state.question):
        return items
    outdated = {line.thesis_id for line in lines if line.earlier}
    # One item of a list is no former value of another.
    chosen = [replace(line, earlier=line.thesis_id in outdated) for line in usual]
    chosen = [line for line in chosen if line is chosen[0] or topic & _stem_line(line, language)]
    passages = {line.episode.id for line in chosen}
    floor = lines[0].score - settings.line_margin - LIST_EXTRA_MARGIN
    least = max(line.features.coverage for line in usual) / 2
    for line in lines:
        if len(chosen) >= MAX_LISTED or line.score < floor:
            break
        is_new = (
            line.episode.id not in passages
            and not line.earlier
            and line.features.coverage >= least
            and topic & line.words
        )
        if is_new and not any(_is_duplicate(line, other) for other in chosen):
            passages.add(line.episode.id)
            chosen.append(line)
    return chosen


def _stem_line(line: AnswerCandidate, language: str) -> frozenset[str]:
    """The stems of a line and its title."""
    return line.words.union(stems(line.episode.title, language))


def _list_items(
    lines: Sequence[AnswerCandidate], best: AnswerCandidate, topic: frozenset[str], question: QuestionState
) -> list[AnswerCandidate]:
    """The items of the best line's list, in their order, with the same words of the topic and no day outside the
    question's time; all if the best line only precedes the list ("Known bugs:"). Empty without such a list."""
    block = _find_list(best)
    topic = topic & best.words if best.start in block else frozenset()
    items = [line for line in lines if line.episode.id == best.episode.id and line.start in block]
    items = [line for line in items if topic <= line.words and _is_in_time(line, question)]
    if len(items) < LEAST_LIST_ITEMS:
        return []
    items.sort(key=lambda line: line.start)
    return [replace(line.cut_to_sentence(), earlier=False, also=()) for line in items[:MAX_LIST_ITEMS]]


def _find_list(line: AnswerCandidate) -> range:
    """The characters of the list that contains a line, or follows it as its label or heading; empty without a list."""
    text = line.episode.text
    row = text.rfind("\n", 0, line.start) + 1
    end = text.find("\n", line.start) if "\n" in text[line.start :] else len(text)
    is_whole = text[line.start : end].strip() == line.quote.strip()
    is_label = is_whole and (text[row] == "#" or line.quote.rstrip()[-1:] in ":：")
    for block in _LIST.finditer(text):
        follows = is_label and block.start() >= end and not text[end : block.start()].strip()
        if line.start in range(*block.span()) or follows:
            return range(*block.span())
    return range(0)


def _is_in_time(line: AnswerCandidate, question: QuestionState) -> bool:
    """Whether a line names no day, or one in the question's time."""
    when = question.when
    if when is None or when.kind != "range":
        return True
    days = [datetime.fromisoformat(day).astimezone() for day in _list_days(line.quote) if _FULL.fullmatch(day)]
    return not days or any(
        (when.since is None or when.since <= day) and (when.until is None or day < when.until) for day in days
    )


def _is_duplicate(line: AnswerCandidate, other: AnswerCandidate) -> bool:
    """Whether two lines share most words, and the first has no value that the second lacks."""
    shared, both = line.words & other.words, line.words | other.words
    return line.values <= other.values and len(shared) >= DUPLICATE_OVERLAP * len(both)


def _select_course(
    state: AnswerState, lines: Sequence[AnswerCandidate], usual: Sequence[AnswerCandidate]
) -> list[AnswerCandidate]:
    """The usual lines with a whole history, then the best line on the topic of each passage, by time."""
    topic, language = _find_topic(state), state.question.language
    histories = [line for line in usual if line.also]
    shown = {line.thesis_id for history in histories for line in (history, *history.also)}
    passages: dict[int, AnswerCandidate] = {}
    for line in lines:
        covered = topic & _stem_line(line, language)
        is_on_topic = topic & line.words and len(covered) >= LEAST_TOPIC_SHARE * len(topic) and line.values
        if is_on_topic and line.thesis_id not in shown and not line.also:
            passages.setdefault(line.episode.id, line)
    course = sorted(list(passages.values())[:MAX_LISTED], key=lambda line: (line.newness, line.shown))
    if len(course) + len(histories) < 2:
        return list(usual)
    return [*histories, *(add_date(replace(line, earlier=False)) for line in course)][:MAX_LISTED]


def _find_topic(state: AnswerState) -> frozenset[str]:
    """The question's stems without those of words that ask for a course of events."""
    return frozenset(state.features.stems) - course_words(state.question.language)


# Restatements ---------------------------------------------------------------------------------


def same_statement(a: AnswerCandidate, b: AnswerCandidate) -> bool:
    """Whether two lines of different times state the same thing with other values of the same kind.

    They share most of their other words, two at least, apart from the speaker's name. A name at the beginning of a line
    is its subject: "Flights cost 210" is no earlier value of "The press costs 400". Two fields state the same if their
    keys are equal, in one note or in versions of one note.
    """
    if a.newness == b.newness:
        return False
    (key, value), (other_key, other_value) = _split_field(a), _split_field(b)
    if key and other_key:
        return key == other_key and _is_other_value(value, other_value) and _is_same_note(a.episode, b.episode)
    if not _are_same_kind(a.values - b.values, b.values - a.values):
        return False
    if _has_other_subject(a, b) or _has_other_subject(b, a):
        return False
    left, right = a.words - _stem_values(a.values), b.words - _stem_values(b.values)
    shared = left & right
    topic = shared.difference(stems(a.episode.speaker or ""), stems(b.episode.speaker or ""))
    return bool(topic) and len(shared) >= 2 and len(shared) / len(left | right) >= SAME_STATEMENT_OVERLAP


def _is_other_value(value: str, other: str) -> bool:
    """Whether two values of a field differ and are of one kind."""
    if same_value(value, other) or phrases.value_kind(value) != phrases.value_kind(other):
        return False
    return phrases.value_kind(value) != "word" or (phrases.is_name(value) and phrases.is_name(other))


def _split_field(line: AnswerCandidate) -> tuple[str, str]:
    """The key in lower case and the value of a field; the key is "" if it is a speaker's name."""
    before, _, value = line.source.text.rpartition(": ")
    key = phrases.clean(_BEFORE_KEY.split(before)[-1]).casefold()
    return ("" if key == (line.episode.speaker or "").casefold() else key), phrases.clean(value)


def _is_same_note(a: Episode, b: Episode) -> bool:
    """Whether two passages are of one note, or of versions of it: one title and folder, one file name begins the
    other."""
    if a.source.id == b.source.id:
        return True
    if a.at is None or b.at is None or a.source.title.casefold() != b.source.title.casefold():
        return False
    path, other = (PurePosixPath(passage.source.uri.partition("#")[0]) for passage in (a, b))
    shorter, longer = sorted((path.stem.casefold(), other.stem.casefold()), key=len)
    return path.parent == other.parent and longer.startswith(shorter)


def _has_other_subject(line: AnswerCandidate, other: AnswerCandidate) -> bool:
    """Whether a line begins with a name that the other does not contain."""
    first, names = next(iter(stems(line.shown)), ""), [value for value in line.values if not value[0].isdigit()]
    return first not in other.words and first in _stem_values(frozenset(names))


def _are_same_kind(values: frozenset[str], others: frozenset[str]) -> bool:
    """Whether both contain a number, or both a name."""
    return bool({value[0].isdigit() for value in values} & {value[0].isdigit() for value in others})


def _stem_values(values: frozenset[str]) -> frozenset[str]:
    return frozenset(word for value in values for word in stems(value))
